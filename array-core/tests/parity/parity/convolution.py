"""Compares convolutions and their gradients with a direct sum in NumPy, in float64.

The operands are random numbers. An element may differ from the exact sum by the rounding of every
term and every partial sum. This is at most (terms + 4) units in the last place of the sum of the
terms' magnitudes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import arraycore as ac
import numpy as np
from arraycore._runtime import session

from .cases import Case, Operand
from .judge import Verdict
from .runner import CPU_OPS, Outcome
from .values import Array

GROUP = "convolution"
DTYPES = ("float16", "float32", "float64")

Ints = tuple[int, ...]


@dataclass(frozen=True)
class Geometry:
    """Extents and options of a convolution; ``pads`` has (before, behind) for each axis."""

    images: int
    channels: int
    results: int
    space: Ints
    window: Ints
    stride: Ints
    pads: tuple[tuple[int, int], ...]
    dilation: Ints
    groups: int = 1

    @property
    def places(self) -> Ints:
        return tuple(
            (s + sum(p) - (k - 1) * d - 1) // step + 1
            for s, p, k, d, step in zip(
                self.space, self.pads, self.window, self.dilation, self.stride, strict=True
            )
        )

    @property
    def shapes(self) -> tuple[Ints, Ints, Ints]:
        """The shapes of the data, the weights and the result."""
        return (
            (self.images, self.channels, *self.space),
            (self.results, self.channels // self.groups, *self.window),
            (self.images, self.results, *self.places),
        )

    @property
    def title(self) -> str:
        return (
            f"{self.images}x{self.channels}x{self.space} by {self.results}x{self.window} stride "
            f"{self.stride} pads {self.pads} dilation {self.dilation} groups {self.groups}"
        )

    @property
    def options(self) -> dict[str, Any]:
        return {"stride": self.stride, "padding": self.pads, "dilation": self.dilation,
                "groups": self.groups}  # fmt: skip

    def taps(self) -> Iterator[tuple[Ints, tuple[slice, ...]]]:
        """Yield each place of the window, and the slices of the padded data that it multiplies."""
        for place in itertools.product(*map(range, self.window)):
            yield (
                place,
                tuple(
                    slice(k * d, k * d + (count - 1) * step + 1, step)
                    for k, d, step, count in zip(
                        place, self.dilation, self.stride, self.places, strict=True
                    )
                ),
            )


def _grouped(geometry: Geometry, x: Array, w: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return views with an axis of groups: data (N, G, C, ...), weights (G, O, C, ...), result."""
    groups = geometry.groups
    return (
        x.reshape(x.shape[0], groups, -1 if x.size else x.shape[1] // groups, *x.shape[2:]),
        w.reshape(groups, w.shape[0] // groups, *w.shape[1:]),
        y.reshape(y.shape[0], groups, y.shape[1] // groups, *y.shape[2:]),
    )


def forward(geometry: Geometry, x: Array, w: Array) -> Array:
    wide = np.pad(x, ((0, 0), (0, 0), *geometry.pads))
    y = np.zeros(geometry.shapes[2])
    seen, taps, result = _grouped(geometry, wide, w, y)
    for place, cut in geometry.taps():
        result += np.einsum("ngc...,goc->ngo...", seen[(..., *cut)], taps[(..., *place)])
    return y


def data_gradient(geometry: Geometry, gy: Array, w: Array) -> Array:
    wide = np.pad(np.zeros(geometry.shapes[0]), ((0, 0), (0, 0), *geometry.pads))
    seen, taps, result = _grouped(geometry, wide, w, gy)
    for place, cut in geometry.taps():
        seen[(..., *cut)] += np.einsum("ngo...,goc->ngc...", result, taps[(..., *place)])
    inner = tuple(
        slice(before, before + extent)
        for (before, _), extent in zip(geometry.pads, geometry.space, strict=True)
    )
    return wide[(..., *inner)]


def weight_gradient(geometry: Geometry, x: Array, gy: Array) -> Array:
    wide = np.pad(x, ((0, 0), (0, 0), *geometry.pads))
    gw = np.zeros(geometry.shapes[1])
    seen, taps, result = _grouped(geometry, wide, gw, gy)
    letters = "xyz"[: len(geometry.window)]
    for place, cut in geometry.taps():
        taps[(..., *place)] = np.einsum(
            f"ngc{letters},ngo{letters}->goc", seen[(..., *cut)], result
        )
    return gw


def _ours(function: str, geometry: Geometry, a: Any, b: Any) -> Any:
    if function == "conv":
        return ac.nn.conv(a, b, **geometry.options)
    if function == "conv_data_gradient":
        return ac.nn.conv_data_gradient(a, b, geometry.space, **geometry.options)
    return ac.nn.conv_weight_gradient(a, b, geometry.window, **geometry.options)


#: For each function: its operands, as indices into (data, weights, result), and the function that
#: computes the reference.
FUNCTIONS = {
    "conv": ((0, 1), forward),
    "conv_data_gradient": ((2, 1), data_gradient),
    "conv_weight_gradient": ((0, 2), weight_gradient),
}
_LAYOUTS = ("contiguous", "turned", "channels last")


def _geometries() -> Iterator[Geometry]:
    one, none = (1, 1), (0, 0)
    # One axis.
    for window, stride, pad, dilation in (
        (1, 1, none, 1), (3, 1, one, 1), (5, 2, (2, 1), 1), (3, 3, none, 4), (2, 5, one, 1),
        (19, 1, none, 1), (4, 1, (3, 0), 3),
    ):  # fmt: skip
        yield Geometry(2, 4, 6, (19,), (window,), (stride,), (pad,), (dilation,), 2)
        yield Geometry(1, 3, 5, (19,), (window,), (stride,), (pad,), (dilation,))
    # Two axes: every window with every stride.
    for window, stride in itertools.product(((1, 1), (3, 3), (2, 5), (7, 1)), (1, 2, 3)):
        yield Geometry(2, 3, 4, (11, 9), window, (stride, stride), (one, one), (1, 1))
    for dilation, stride in itertools.product(((2, 2), (3, 1)), ((1, 1), (2, 3), (6, 4))):
        yield Geometry(2, 4, 4, (13, 12), (3, 3), stride, ((2, 0), (1, 3)), dilation, 2)
    for groups in (1, 2, 4, 8):
        yield Geometry(2, 8, 16, (6, 7), (3, 3), (1, 1), (one, one), (1, 1), groups)
        yield Geometry(3, 8, 8, (6, 8), (1, 1), (1, 1), (none, none), (1, 1), groups)
    yield Geometry(1, 16, 40, (14, 14), (3, 3), (1, 1), (one, one), (1, 1))
    yield Geometry(1, 70, 33, (4, 4), (3, 3), (1, 1), (one, one), (1, 1))
    yield Geometry(5, 3, 8, (1, 1), (3, 3), (1, 1), (one, one), (1, 1))
    yield Geometry(1, 1, 1, (1, 1), (1, 1), (1, 1), (none, none), (1, 1))
    yield Geometry(2, 3, 4, (5, 5), (5, 5), (1, 1), (none, none), (1, 1))
    # An extent of 0.
    yield Geometry(0, 3, 4, (5, 5), (3, 3), (1, 1), (one, one), (1, 1))
    yield Geometry(2, 0, 4, (5, 5), (3, 3), (1, 1), (one, one), (1, 1))
    yield Geometry(2, 3, 0, (5, 5), (3, 3), (1, 1), (one, one), (1, 1))
    yield Geometry(2, 3, 4, (0, 5), (2, 3), (1, 1), (one, one), (1, 1))
    # Three axes.
    for window, stride in (((3, 3, 3), (1, 1, 1)), ((1, 2, 3), (2, 1, 3)), ((1, 1, 1), (1, 1, 1))):
        for groups in (1, 2):
            pads = (none, one, (2, 0))
            yield Geometry(2, 2, 4, (4, 6, 5), window, stride, pads, (1, 2, 1), groups)


def _values(shape: Ints, dtype: str, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _all() -> Iterator[Case]:
    for number, geometry in enumerate(_geometries()):
        for dtype in DTYPES:
            for place, (function, (operands, _)) in enumerate(FUNCTIONS.items()):
                layout = _LAYOUTS[(number + place) % len(_LAYOUTS)]
                made = tuple(
                    Operand(_values(geometry.shapes[each], dtype, seed), layout)
                    for seed, each in enumerate(operands)
                )
                yield Case(GROUP, function, made, detail=geometry.title,
                           options={"geometry": geometry})  # fmt: skip


#: A short run takes each 7th case. 7 is a prime, so that functions and dtypes take turns.
_SELECTED = 7


def cases(short: bool) -> Iterator[Case]:
    """Yield all cases, or each 7th if ``short``."""
    yield from itertools.islice(_all(), 0, None, _SELECTED if short else 1)


def _laid(base: Array, layout: str) -> Any:
    """Return an arraycore array with the values of ``base``, in memory as ``layout`` says."""
    if layout == "turned":
        return ac.array(np.ascontiguousarray(base[:, ::-1, ..., ::-1]))[:, ::-1, ..., ::-1]
    if layout == "channels last":
        order = (0, *range(2, base.ndim), 1)
        back = (0, base.ndim - 1, *range(1, base.ndim - 1))
        return ac.array(np.ascontiguousarray(base.transpose(order))).transpose(back)
    return ac.array(base)


def run(case: Case, backend: str) -> Outcome:
    """Run one case on the back end that is open."""
    geometry: Geometry = case.options["geometry"]
    bases = [operand.base for operand in case.operands if operand.base is not None]
    arrays = [_laid(base, case.layout.split(",")[0]) for base in bases]
    counter = session.bridge.counter
    on_cpu = counter(CPU_OPS)
    result = _ours(case.function, geometry, *arrays)
    ran = backend if counter(CPU_OPS) == on_cpu else "cpu"
    on_gpu = bases[0].dtype != np.float64
    return Outcome(case, ran, _verdict(case, geometry, result, bases), on_gpu, on_gpu)


def _verdict(case: Case, geometry: Geometry, result: Any, bases: list[Array]) -> Verdict:
    reference = FUNCTIONS[case.function][1]
    exact = reference(geometry, *(base.astype("d") for base in bases))
    got, dtype = result.get(), bases[0].dtype
    if got.shape != exact.shape or got.dtype != dtype:
        return Verdict(np.inf, f"{got.dtype} of shape {got.shape}, not {dtype} of {exact.shape}")
    size = reference(geometry, *(np.abs(base.astype("d")) for base in bases))
    unit = size * np.finfo(dtype).eps + np.finfo(dtype).tiny
    off = float(np.max(np.abs(got.astype("d") - exact) / unit, initial=0.0))
    window, places = int(np.prod(geometry.window)), int(np.prod(geometry.places))
    terms = {
        "conv": geometry.channels // geometry.groups * window,
        "conv_data_gradient": geometry.results // geometry.groups * window,
        "conv_weight_gradient": geometry.images * places,
    }[case.function]
    return Verdict(off, "" if off <= terms + 4 else f"off by {off:.1f} units of {terms + 4}")
