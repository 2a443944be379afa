"""Lists the cases of reductions and running totals, which :mod:`.reduction_runner` runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .cases import Case, Operand, placed
from .values import LETTERS, Array, edge_values

#: Reductions in groups, which differ in the values that they are tested with.
SUMS = ("sum", "mean", "var", "std", "nansum", "nanmean", "nanvar", "nanstd", "cumsum", "nancumsum")
PRODUCTS = ("prod", "nanprod", "cumprod", "nancumprod")
CHOICES = ("max", "min", "nanmax", "nanmin", "argmax", "argmin", "nanargmax", "nanargmin", "ptp")
TRUTHS = ("any", "all", "count_nonzero")
RUNNING = ("cumsum", "cumprod", "nancumsum", "nancumprod")
#: Reductions that take at most one axis.
ONE_AXIS = (*RUNNING, "argmax", "argmin", "nanargmax", "nanargmin")
AVERAGES = ("mean", "var", "std", "nanmean", "nanvar", "nanstd")
#: Ufuncs that may be reduced in any order, and those for which the order counts.
TREES = (
    "add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_or", "logical_and",
    "logical_xor", "bitwise_or", "bitwise_and", "bitwise_xor", "hypot", "logaddexp", "logaddexp2",
)  # fmt: skip
IN_ORDER = (
    "subtract", "divide", "floor_divide", "remainder", "fmod", "copysign", "gcd", "lcm",
    "left_shift", "right_shift", "heaviside", "less", "equal", "nextafter",
)  # fmt: skip

_LAYOUTS = ("contiguous", "strided", "negative", "rows", "transposed", "box", "box_turned")
_AXES: dict[int, tuple[Any, ...]] = {
    1: (None, 0, -1, ()),
    2: (None, 0, 1, -2, (0, 1)),
    3: (None, 0, 1, 2, (0, 2), (-1, 1), (0, 1, 2)),
}
_NDIM = {"rows": 2, "transposed": 2, "box": 3, "box_turned": 3, "broadcast": 2}
_COUNT = 61


def numbers(letter: str, function: str, kind: str) -> Array:
    """Return unsorted values of a dtype; ``kind`` is one of those of :func:`_kinds`.

    No partial sum or product of them overflows, because then no result would be right.
    """
    dtype = np.dtype(letter)
    random = np.random.default_rng(LETTERS.index(letter))
    if dtype.kind == "b":
        return random.integers(0, 2, _COUNT).astype(bool)
    if dtype.kind in "iu":
        low = 0 if dtype.kind == "u" else -9
        ordinary = random.integers(low, 10, _COUNT).astype(dtype)
        return random.permutation(edge_values(letter)) if kind == "ends" else ordinary
    if function in PRODUCTS or function in ("multiply", "divide"):
        values = random.uniform(0.6, 1.6, _COUNT) * random.choice([-1, 1], _COUNT)
    else:
        values = random.uniform(-100, 100, _COUNT).round(2)
    if dtype.kind == "c":
        turned = random.uniform(-1, 1, _COUNT)
        values = values * np.exp(1j * turned)
    made: Array = values.astype(dtype)
    if kind == "zeros":
        made[::3] = 0
    if kind == "nan":
        made[5::17] = np.nan
    if kind == "all_nan":
        made[:] = np.nan
    if kind == "infinite":
        made[7::23] = np.inf
        if function in CHOICES or function in TREES:
            made[11::29] = -np.inf
    return made


def _kinds(letter: str, function: str) -> tuple[str, ...]:
    if letter == "?":
        return ("ordinary",)
    if letter in "bBhHiIqQ":
        return ("ordinary", "ends")
    if letter in "FD" and function in (*PRODUCTS, "multiply"):
        return ("ordinary", "zeros")  # otherwise it is not defined which part is NaN
    if function.startswith("nanarg"):
        return ("ordinary", "nan", "zeros", "infinite")  # NumPy raises if all are NaN
    return ("ordinary", "nan", "zeros", "infinite", "all_nan")


def _case(function: str, values: Array, layout: str, detail: str, **options: Any) -> Case:
    operand = placed(values, layout)
    return Case("reduction", function, (operand,), "reduce", detail=detail, options=options)


def _axis_of(function: str, layout: str, turn: int) -> Any:
    axes = _AXES[_NDIM.get(layout, 1)]
    if function in ONE_AXIS:
        axes = tuple(axis for axis in axes if not isinstance(axis, tuple))
    return axes[turn % len(axes)]


def _table(short: bool) -> Iterator[Case]:
    """Yield every reduction, dtype and kind of values; layouts and axes take turns."""
    turn = 0
    for function in (*SUMS, *PRODUCTS, *CHOICES, *TRUTHS):
        for letter in LETTERS:
            for kind in _kinds(letter, function):
                # Layouts take turns: every function runs on each, with several dtypes.
                layouts = 3 if kind == "ordinary" else 1
                for layout in (_LAYOUTS[(turn + k * 2) % len(_LAYOUTS)] for k in range(layouts)):
                    turn += 1
                    if short and turn % 17:
                        continue
                    axis = _axis_of(function, layout, turn)
                    options: dict[str, Any] = {"axis": axis}
                    if function not in RUNNING and turn % 3 == 0:
                        options["keepdims"] = True
                    yield _case(
                        function, numbers(letter, function, kind), layout,
                        f"{kind} axis={axis}" + (" keepdims" if "keepdims" in options else ""),
                        **options,
                    )  # fmt: skip


def _shapes() -> Iterator[Case]:
    """Yield cases of no element, one element, 0 dimensions, broadcast arrays and wrong axes."""
    for function in (*SUMS, *PRODUCTS, *CHOICES, *TRUTHS):
        for letter in "?iqefF":
            values = numbers(letter, function, "ordinary")
            for axis in (None, 0, 1):
                if function != "ptp" or letter != "?":  # both raise, for another reason
                    yield _case(function, values, "empty", f"axis={axis}", axis=axis)
                yield _case(function, values, "broadcast", f"axis={axis}", axis=axis)
            yield _case(function, values[:1], "contiguous", "one", axis=0)
            yield _case(function, values, "zero_d", "", axis=None)
        values = numbers("f", function, "ordinary")
        yield _case(function, values, "rows", "axis=2", axis=2)
        yield _case(function, values, "rows", "axis=-3", axis=-3)
        if function not in ONE_AXIS:
            yield _case(function, values, "rows", "axis=(0, 0)", axis=(0, 0))


def _long() -> Iterator[Case]:
    """Yield cases for every way in which a device divides a reduction.

    They have long rows that several workgroups share, columns, or many short rows.
    """
    random = np.random.default_rng(1)
    shapes: tuple[tuple[tuple[int, ...], Any], ...] = (
        ((70_000,), 0), ((3, 9_001), 1), ((3, 40_000), 1), ((40_000, 3), 0), ((300, 50), 0),
        ((3_000, 7), 1), ((40, 300), 1), ((200, 33), None), ((30, 20, 40), (0, 2)),
    )  # fmt: skip
    for function in (*SUMS, *PRODUCTS, *CHOICES, *TRUTHS):
        for number, letter in enumerate("?biefF"):
            for turn, (shape, axis) in enumerate(shapes):
                if function in ONE_AXIS and isinstance(axis, tuple):
                    continue
                # Float32 is tested with every shape; the other dtypes take turns.
                if letter != "f" and (turn + number) % 3:
                    continue
                length = int(np.prod(shape))
                values = np.resize(numbers(letter, function, "ordinary"), length)
                if letter in "efF" and function in PRODUCTS:
                    # The factors are 1 and -1. A product of this many other factors would overflow,
                    # or have too large an error.
                    values = random.choice([-1, 1], length).astype(letter)
                if letter == "e" and function in SUMS:
                    values = (values / 64).astype(letter)
                operand = Operand(values.reshape(shape), "contiguous")
                options = {"axis": axis}
                yield Case("reduction", function, (operand,), "reduce",
                           detail=f"{shape} axis={axis}", options=options)  # fmt: skip


def _arguments() -> Iterator[Case]:
    """Yield cases with ``dtype=``, ``out=``, ``where=``, ``initial=`` and ``ddof=``."""
    mask = placed(np.arange(_COUNT) % 3 != 1, "contiguous")
    for function in (*SUMS, *PRODUCTS):
        for letter in LETTERS:
            for wanted in "iqefdF":
                if np.dtype(wanted).kind != "c" and letter in "FD":
                    continue
                if function in ("var", "std", "nanvar", "nanstd") and wanted in "F" + letter:
                    continue  # a variance is real
                if wanted in "iq" and function not in ("sum", "prod", "cumsum"):
                    continue
                values = numbers(letter, function, "ordinary")
                yield _case(function, values, "strided", f"dtype={wanted}", axis=0, dtype=wanted)
    for function in ("sum", "prod", "max", "min", "mean", "var", "any", "argmax", "cumsum"):
        for letter in LETTERS:
            values = numbers(letter, function, "ordinary")
            out = {"any": "?", "argmax": "q"}.get(function)
            own = letter if letter in "efdFD" else "d" if function in ("mean", "var") else "q"
            if function == "var" and letter in "FD":
                own = letter.lower()
            yield _case(function, values, "rows", "out", axis=1, out=out or own)
    for function in ("sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "nansum"):
        for letter in LETTERS:
            values = numbers(letter, function, "nan" if function == "nansum" else "ordinary")
            yield _case(function, values, "contiguous", "where", axis=0, where=mask)
            if function not in ("mean", "var", "std", "any", "all"):
                initial = False if letter == "?" else 3
                yield _case(function, values, "rows", "initial", axis=0, initial=initial)
                yield _case(function, values, "contiguous", "where initial", axis=0, where=mask,
                            initial=initial)  # fmt: skip
                yield _case(function, values, "empty", "initial", axis=0, initial=initial)
    for function in ("var", "std", "nanvar", "nanstd"):
        for letter in "iefdFD":
            for ddof in (1, 0.5, 60, 61):
                values = numbers(letter, function, "ordinary")
                yield _case(function, values, "contiguous", f"ddof={ddof}", axis=0, ddof=ddof)


def _ufuncs() -> Iterator[Case]:
    """Yield cases of ``reduce`` and ``accumulate`` of every kind of ufunc."""
    turn = 0
    for function in (*TREES, *IN_ORDER):
        turn += 1
        for letter in LETTERS:
            values = numbers(letter, function, "ordinary")[:13]
            if function in ("hypot", "logaddexp", "logaddexp2"):
                values = np.abs(values)
            for method in ("reduce", "accumulate"):
                turn += 1
                for layout, axis in (("contiguous", 0), ("transposed", 1))[turn % 2 :][:1]:
                    yield _case(f"{function}.{method}", values, layout, f"axis={axis}", axis=axis)
        values = numbers("f", function, "ordinary")[:12]
        yield _case(f"{function}.reduce", values, "rows", "axis=(0, 1)", axis=(0, 1))
        yield _case(f"{function}.reduce", values, "empty", "axis=0", axis=0)


def _long_in_order() -> Iterator[Case]:
    """Yield cases of rows with more elements than one launch processes in order."""
    for function in ("subtract", "floor_divide", "gcd"):
        for letter in "if" if function != "gcd" else "i":
            values = np.resize(numbers(letter, function, "ordinary"), (2, 70_001))
            for method in ("reduce", "accumulate"):
                yield _case(f"{function}.{method}", values, "contiguous", "long", axis=1)


#: A short run takes each 31st case. 31 is a prime, so that functions, dtypes, forms take turns.
_SELECTED = 31


def reductions(short: bool) -> Iterator[Case]:
    """Yield every case, or a fixed selection if ``short``."""
    yield from _table(short)
    rest = (*_shapes(), *_long(), *_arguments(), *_ufuncs(), *_long_in_order())
    for at, case in enumerate(rest):
        if not short or at % _SELECTED == 0:
            yield case
