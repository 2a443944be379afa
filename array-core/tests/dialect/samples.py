"""Repeats recorded calls in other dtypes, and checks the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import meaning
import numpy as np
from arithmetic import TYPES, truncated
from calls import Array, Call, Engine, Memory, Window, view_of

DTYPES = ("float16", "float32", "int32", "int64")
# Type letters of indices and counts, for which C++ takes only integers.
INTEGERS = {
    "inverse_indices": "S",
    "embed_id_bwd": "S",
    "embed_id_bwd_ignore_label": "S",
    "ctc_label_prob_sum": "I",
    "negative_sampling_calculate_gx": "S",
    "negative_sampling_calculate_gw": "S",
    "crossent_fwd": "S",
    "softmax_crossent_no_reduce_fwd": "S",
    "softmax_crossent_bwd": "S",
    "softmax_crossent_weight_bwd": "S",
    "binary_hierarchical_softmax_max_length": "T",
    "resize_images_interpolate_bilinear": "S",
    "resize_images_interpolate_grad_bilinear": "S",
}
# Allowed difference between a kernel's result and that of the Python function made of its C++
# (meaning.py), relative to the larger of 1 and the value. Both compute floats in float32, but in
# different orders, and with different last digits of exp and similar functions. With float16, each
# variable is rounded to 11 bits.
TOLERANCE = {"float16": 8e-3, "float32": 5e-5}
# From this size on, the last digits of an integer that was computed in float32 may be wrong.
LARGE = 2**24
# A kernel may differ by this many times the rounding error of the computation in Python. If a
# kernel subtracts nearly equal numbers, the last digits of a device's division or root become
# leading digits.
NOISE = 8
UNWRITTEN = 77  # no result is 77, so an element that is not written is found


class Wrong(AssertionError):
    """A kernel gave another result than the Python function made of its C++."""


def _cast(values: Array, to: np.dtype[Any]) -> Array:
    if values.dtype.kind == "f" and to.kind in "iu":
        return np.rint(values * 3).astype(to)  # a few different integers
    return values.astype(to)


def _scalar(value: Any, to: np.dtype[Any]) -> Any:
    kind = TYPES[str(to)]
    value = np.asarray(value)[()]
    return truncated(value, kind) if value.dtype.kind == "f" and to.kind in "iub" else kind(value)


class Sample:
    """A copy of a call: its texts, its scalars, and its arrays with the memory that they share."""

    def __init__(self, call: Call) -> None:
        memory = Memory(call.arrays())
        self.call = call
        self.flats = [flat.copy() for flat in memory.flats]
        windows = iter(memory.windows)
        self.ins = [next(windows) if isinstance(v, np.ndarray) else v for v in call.ins]
        self.outs = [next(windows) for _ in call.outs]
        self.shape = call.result_shape()

    def letters(self) -> list[str]:
        every = [p.type for p in self.call.inputs + self.call.outputs if p.is_letter]
        return sorted(set(every))

    def bindings(self, only: tuple[str, ...] = DTYPES) -> list[dict[str, str]]:
        """Return dictionaries that bind type letters to a dtype, one for each dtype of ``only``.

        Letters in ``INTEGERS`` are bound to int32 instead of a float.
        """
        integers = INTEGERS.get(self.call.name, "")
        found: list[dict[str, str]] = []
        for dtype in only:
            narrowed = dtype if dtype.startswith("int") else "int32"
            bound = {k: narrowed if k in integers else dtype for k in self.letters()}
            if bound not in found:
                found.append(bound)
        return found

    def again(self, bound: Mapping[str, str]) -> Call:
        """Return the call on new memory, with the dtypes that ``bound`` gives for its letters.
        ``outs`` of the new call is never empty.
        """
        flats: dict[tuple[int, str], Array] = {}

        def view(window: Window, to: np.dtype[Any]) -> Array:
            key = (window.owner, str(to))
            if key not in flats:
                flats[key] = _cast(self.flats[window.owner], to)
            return view_of(flats[key], window)

        ins = []
        for p, value in zip(self.call.inputs, self.ins, strict=True):
            to = p.dtype(bound)
            ins.append(view(value, to) if isinstance(value, Window) else _scalar(value, to))
        outs = [
            view(window, p.dtype(bound))
            for p, window in zip(self.call.outputs, self.outs, strict=False)
        ]
        if not outs:
            outs = [np.full(self.shape, UNWRITTEN, p.dtype(bound)) for p in self.call.outputs]
        old = self.call
        return Call(old.kind, old.texts, ins, outs, old.size, old.axis, old.keepdims)


@cache
def _meaning(kind: str, texts: str, bound: str) -> Callable[..., None]:
    make = meaning.elementwise if kind == "elementwise" else meaning.reduction
    return make(json.loads(texts), json.loads(bound))


def mean(call: Call) -> None:
    """Compute a call's outputs with the Python function that `meaning` makes of its C++."""
    both = [*zip(call.inputs, call.ins, strict=True), *zip(call.outputs, call.outs, strict=True)]
    bound = {p.name: str(value.dtype) for p, value in both}
    run = _meaning(call.kind, json.dumps(call.texts), json.dumps(bound))
    arguments = {p.name: value for p, value in both}
    if call.kind == "reduction":  # with keepdims: views without the reduced axes
        arguments |= {p.name: arguments[p.name].reshape(call.kept()) for p in call.outputs}
    with np.errstate(all="ignore"):
        if call.kind == "elementwise":
            run(call.loop(), arguments)
        else:
            run(call.loop(), arguments, call.reduced())


def difference(got: Array, wanted: Array, noise: Array | float = 0.0) -> str:
    """Return how the arrays differ, or "". Integers below ``LARGE`` must be equal; NaN equals NaN.

    ``noise`` is the distance of ``wanted`` from its value in a wider type.
    """
    floating = wanted.dtype.kind == "f"
    tolerance = TOLERANCE.get(str(wanted.dtype), 0.0) if floating else TOLERANCE["float32"]
    with np.errstate(all="ignore"):
        g, w = got.astype("d"), wanted.astype("d")
        near = np.isclose(g, w, rtol=tolerance, atol=tolerance, equal_nan=True)
        if floating:
            near |= np.abs(g - w) <= NOISE * noise
        else:
            near = (got == wanted) | (near & (np.abs(w) >= LARGE))
    if near.all():
        return ""
    at = int(np.flatnonzero(~near)[0])
    return f"{(~near).sum()} of {near.size} differ; at {at} {got[at]!r} instead of {wanted[at]!r}"


def _noise(sample: Sample, bound: Mapping[str, str], wanted: Call) -> list[Array]:
    """Return how far each element of the call's memory is from its value in float64."""
    wide = sample.again({k: "float64" if v == "float32" else v for k, v in bound.items()})
    mean(wide)
    pairs = zip(Memory(wanted.arrays()).flats, Memory(wide.arrays()).flats, strict=True)
    with np.errstate(all="ignore"):
        return [np.nan_to_num(np.abs(a.astype("d") - b.astype("d")), posinf=0.0) for a, b in pairs]


def check(engine: Engine, sample: Sample, bound: Mapping[str, str]) -> None:
    """Run the call on the engine and in Python; raise Wrong if the results differ."""
    call, wanted = sample.again(bound), sample.again(bound)
    engine.run(call)
    mean(wanted)
    left, right = Memory(call.arrays()), Memory(wanted.arrays())
    noise: list[Array] | None = None
    for number, (got, flat) in enumerate(zip(left.flats, right.flats, strict=True)):
        if not difference(got, flat):
            continue
        noise = noise or _noise(sample, bound, wanted)
        if wrong := difference(got, flat, noise[number]):
            raise Wrong(f"{call.name}, {dict(bound)}, memory {number}: {wrong}")


def retype(
    engine: Engine, records: Iterable[Any], only: tuple[str, ...] = DTYPES
) -> dict[str, str]:
    """Repeat every record's first call in every dtype; return "ok" or the error for each."""
    results: dict[str, str] = {}
    for record in records:
        if record.sample is None:
            continue
        for bound in record.sample.bindings(only):
            types = " ".join(f"{letter}={dtype}" for letter, dtype in bound.items())
            label = f"{record.file}:{record.line} {record.texts['name']} {types}".rstrip()
            if label in results:
                continue
            try:
                check(engine, record.sample, bound)
                results[label] = "ok"
            except Exception as error:
                results[label] = f"{type(error).__name__}: {str(error)[:400]}"
    return results
