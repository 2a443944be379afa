"""Calls a function of both libraries and compares what they do."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import arraycore as ac
import numpy as np

#: What a case may come to; the last five are failures.
SAME, REFUSED = "same", "refused"
VALUE, DTYPE, SHAPE, RAISED, ACCEPTED, OTHER_ERROR = (
    "value",
    "dtype",
    "shape",
    "raised",
    "accepted",
    "other error",
)
FAILURES = (VALUE, DTYPE, SHAPE, RAISED, ACCEPTED, OTHER_ERROR)

#: Relative errors: sums of a few products, and functions that differ in the last place.
_RTOL = {2: 4e-3, 4: 2e-5, 8: 1e-10}


@dataclass(frozen=True)
class Verdict:
    """What a case came to, and a sentence that says more."""

    kind: str
    message: str = ""


def converted(value: Any, form: str, place: int = 0) -> Any:
    """Return an argument for arraycore: NumPy's arrays on the device, or as the form says.

    The layout of an array in memory is kept. Forms are "device", "host" (every second array stays
    NumPy's, though not all) and "list" (the second array becomes a list).
    """
    if isinstance(value, np.ndarray) and value.ndim == 0 and form != "device":
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        if form == "host" and place % 2:
            return value
        if form == "list" and place % 2:
            return value.tolist()
        return on_device(value)
    if isinstance(value, list | tuple):
        return type(value)(converted(each, form, place + at) for at, each in enumerate(value))
    if isinstance(value, dict):
        return {name: converted(each, form) for name, each in value.items()}
    return value


def for_numpy(value: Any, form: str, place: int) -> Any:
    """Return an argument for NumPy: a copy of an array, or the list that arraycore gets too."""
    if isinstance(value, np.ndarray):
        is_list = form == "list" and place % 2 and value.ndim and value.dtype != object
        return value.tolist() if is_list else np.array(value, order="K")
    if isinstance(value, list | tuple):
        return type(value)(for_numpy(each, form, place + at) for at, each in enumerate(value))
    return value


def on_device(a: Any) -> Any:
    order = sorted(range(a.ndim), key=lambda axis: -abs(a.strides[axis]))
    back = sorted(range(a.ndim), key=order.__getitem__)
    return (
        ac.array(
            np.ascontiguousarray(a.transpose(order)).reshape([a.shape[each] for each in order])
        ).transpose(back)
        if a.ndim
        else ac.array(a)
    )


def outcome(function: Any, args: Any, kwargs: Any) -> tuple[Any, Exception | None]:
    """Return a call's result, or its exception."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs), None
        except Exception as error:
            return None, error


def find(module: Any, path: str) -> Any:
    """Return the function of a dotted path in a module, for example ``linalg.norm``."""
    found = module
    for part in path.split("."):
        found = getattr(found, part)
    return found


def judge(path: str, args: Any, kwargs: Any, form: str = "device") -> Verdict:
    """Compare one call of both libraries.

    A path that begins with ``ndarray.`` is a method of the first argument. Functions that write an
    argument are compared by the argument after the call.
    """
    theirs_args = [for_numpy(each, form, at) for at, each in enumerate(args)]
    ours_args, ours_kwargs = (
        [converted(each, form, at) for at, each in enumerate(args)],
        converted(kwargs, "device"),
    )
    if path.startswith("ndarray."):
        name = path.removeprefix("ndarray.")
        mine, numpys = (
            lambda a, *rest, **others: getattr(a, name)(*rest, **others) for _ in range(2)
        )
    else:
        mine, numpys = find(ac, path), find(np, path)
    expected, their_error = outcome(numpys, theirs_args, kwargs)
    got, error = outcome(mine, ours_args, ours_kwargs)
    if isinstance(error, NotImplementedError):
        named = ":" in str(error)
        return Verdict(REFUSED if named else RAISED, str(error))
    if error is not None and their_error is None:
        return Verdict(RAISED, f"{type(error).__name__}: {error}")
    if error is None and isinstance(their_error, AttributeError):
        return Verdict(SAME)  # a list or a number that NumPy's own code does not expect
    if error is None and their_error is not None:
        return Verdict(ACCEPTED, f"NumPy: {type(their_error).__name__}: {their_error}")
    if error is not None:
        alike = isinstance(error, type(their_error)) or isinstance(their_error, type(error))
        both = (
            f"{type(error).__name__}: {error} | NumPy: {type(their_error).__name__}: {their_error}"
        )
        return Verdict(SAME) if alike else Verdict(OTHER_ERROR, both)
    if expected is None:
        return compare(ours_args[0], theirs_args[0])
    return compare(got, expected, min([8, *sizes((args, kwargs))]))


def sizes(value: Any) -> list[int]:
    """Return the sizes of the floats in arguments: results are as exact as the least exact one."""
    if isinstance(value, np.ndarray | np.generic):
        half = 2 if value.dtype.kind == "c" else 1
        return [value.dtype.itemsize // half] if value.dtype.kind in "fc" else []
    if isinstance(value, dict):
        value = list(value.values())
    return (
        [each for part in value for each in sizes(part)] if isinstance(value, list | tuple) else []
    )


def compare(ours: Any, theirs: Any, least: int = 8) -> Verdict:
    """Compare two results, of which floats are at least ``least`` bytes long."""
    if isinstance(theirs, tuple | list):
        if isinstance(ours, ac.ndarray) or len(ours) != len(theirs):
            return Verdict(SHAPE, f"{len(theirs)} results expected")
        parts = [compare(one, other, least) for one, other in zip(ours, theirs, strict=True)]
        return next((part for part in parts if part.kind != SAME), Verdict(SAME))
    if isinstance(theirs, np.dtype | type | str | bytes | slice) or theirs is None:
        return Verdict(SAME if ours == theirs else VALUE, f"{ours!r} | NumPy: {theirs!r}")
    expected = np.asarray(theirs)
    got = ours.get() if isinstance(ours, ac.ndarray) else np.asarray(ours)
    if got.shape != expected.shape:
        return Verdict(SHAPE, f"{got.shape} | NumPy: {expected.shape}")
    if isinstance(ours, ac.ndarray) and got.dtype != expected.dtype:
        return Verdict(DTYPE, f"{got.dtype} | NumPy: {expected.dtype}")
    if are_close(got, expected, least):
        return Verdict(SAME)
    return Verdict(VALUE, f"{got.tolist()} | NumPy: {expected.tolist()}"[:400])


def are_close(got: Any, expected: Any, least: int) -> bool:
    if expected.dtype.kind in "biu" or got.dtype.kind in "biu":
        return bool((got == expected).all())
    parts = [(got, expected)]
    if expected.dtype.kind == "c":
        parts = [(got.real, expected.real), (got.imag, expected.imag)]
        size = expected.dtype.itemsize // 2
    else:
        size = expected.dtype.itemsize
    size = min(size, least)
    finite = np.abs(expected)[np.isfinite(expected)]
    # The error of a sum is relative to its terms, which are about as large as the largest result.
    largest = float(finite.max()) if finite.size else 0.0
    return all(
        np.allclose(
            one.astype(float),
            other.astype(float),
            _RTOL[size],
            _RTOL[size] * largest,
            equal_nan=True,
        )
        for one, other in parts
    )
