"""Judges results by the operation table's bounds, in units in the last place.

A device may replace subnormal float32 operands and results with 0 (WGSL allows it); the CPU must
not do so. All NaNs are equal. The sign of an exact zero counts, except for ``maximum`` and similar
functions, where NumPy does not define it either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .values import Array

#: For these functions, NumPy's vector code may return a zero of either sign.
_EITHER_ZERO = {"maximum", "minimum", "fmax", "fmin"}


@dataclass(frozen=True)
class Bound:
    """An allowed error, in units in the last place. For 0, the bits must be equal.

    Numbers below ``floor`` may have the error that is allowed for ``floor``.
    """

    ulp: float
    floor: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """The distance of the worst element, and a sentence about it if it is too far."""

    error_ulp: float
    message: str = ""

    @property
    def good(self) -> bool:
        return not self.message


def flushed(values: Array) -> Array:
    """Return float32 and complex64 with 0 of the same sign in place of subnormal parts."""
    if values.dtype.char not in "fF":
        return values
    parts = np.ascontiguousarray(values).view(np.float32)
    small = np.abs(parts) < np.finfo(np.float32).tiny
    return np.where(small, np.copysign(np.float32(0), parts), parts).view(values.dtype).reshape(
        values.shape
    )  # fmt: skip


def distances(ours: Array, right: Array) -> Array:
    """Return how many floats apart elements are: 0 for two NaNs or zeros, infinity for one NaN."""
    size = ours.dtype.itemsize
    unsigned = np.dtype(f"u{size}")
    top = unsigned.type(1 << (8 * size - 1))

    def ordered(values: Array) -> Array:
        bits = np.ascontiguousarray(values).view(unsigned)
        return np.where(bits & top, ~bits, bits | top)

    a, b = ordered(ours), ordered(right)
    apart = (np.maximum(a, b) - np.minimum(a, b)).astype(np.float64)
    apart[ours == right] = 0
    nan_a, nan_b = np.isnan(ours), np.isnan(right)
    apart[nan_a | nan_b] = np.inf
    apart[nan_a & nan_b] = 0
    return apart


def compare(function: str, ours: Array, choices: list[Array], bound: Bound, gpu: bool) -> Verdict:
    """Return the verdict on results: each must be near the same element of one of ``choices``."""
    shape, dtype = choices[0].shape, choices[0].dtype
    if ours.shape != shape or ours.dtype != dtype:
        return Verdict(
            np.inf, f"{ours.dtype} of shape {ours.shape}, NumPy {dtype} of shape {shape}"
        )
    if ours.size == 0:
        return Verdict(0.0)
    off = np.full(ours.size, np.inf)
    far = np.full(ours.size, np.inf)
    for right in choices:
        each_off, each_far = _errors(function, ours.ravel(), right.ravel(), bound, gpu)
        nearer = (each_far < far) | ((each_far == far) & (each_off < off))
        off, far = np.where(nearer, each_off, off), np.where(nearer, each_far, far)
    at = int(np.argmax(far))
    worst = float(np.max(off[far <= 1], initial=0.0))
    if far[at] <= 1:
        return Verdict(worst)
    return Verdict(
        float(off[at]),
        f"element {at} is {ours.ravel()[at]!r}, NumPy {choices[0].ravel()[at]!r}, "
        f"{off[at]:.4g} units apart where {bound.ulp:g} are allowed",
    )


def _errors(
    function: str, ours: Array, right: Array, bound: Bound, gpu: bool
) -> tuple[Array, Array]:
    """Return each element's distance, and this distance as a share of the allowed one."""
    kind = right.dtype.kind
    if kind in "biu":
        different = (ours != right).astype(np.float64)
        return different, 2 * different
    if kind == "c":
        return _complex_errors(ours, right, bound, gpu)
    off = distances(ours, right)
    size = np.full(right.shape, bound.floor)
    return off, _share(function, ours, right, off, size, bound, gpu)


def _share(
    function: str, ours: Array, right: Array, off: Array, size: Array, bound: Bound, gpu: bool
) -> Array:
    """Return each element's error as a share of the allowed one. Above 1, the error is too
    large.
    """
    dtype = right.dtype
    if bound.ulp == 0:
        same_zero = np.signbit(ours) == np.signbit(right)
        open_zero = function in _EITHER_ZERO or np.isnan(right) | (right != 0)
        share = np.where((off == 0) & (same_zero | open_zero), 0.0, 2.0)
    else:
        with np.errstate(all="ignore"):
            # A number below `size` may have the error that is allowed for `size`.
            unit = np.spacing(size.astype(dtype)).astype(np.float64)
            apart = np.abs(ours.astype(np.float64) - right.astype(np.float64))
            near = (size > 0) & (apart <= bound.ulp * unit)
        share = np.where(near, 0.0, off / bound.ulp)
    if gpu and dtype == np.float32:
        tiny = np.finfo(np.float32).tiny
        # 0 of either sign may replace a subnormal, and a subnormal may replace 0. But the sign of
        # an exact 0 counts.
        small = (np.abs(right) <= tiny) & (np.abs(ours) <= tiny) & ((right != 0) | (ours != 0))
        if bound.ulp > 0:
            with np.errstate(all="ignore"):
                small |= np.abs(ours.astype(np.float64) - right.astype(np.float64)) <= tiny
        share = np.where(small, 0.0, share)
    return share


def _complex_errors(ours: Array, right: Array, bound: Bound, gpu: bool) -> tuple[Array, Array]:
    """Return the errors of complex numbers. The error of the worse part counts, in units in the
    last place of the larger part.
    """
    part = np.float32 if right.dtype.itemsize == 8 else np.float64
    finite = np.isfinite(right)
    larger = np.maximum(np.abs(right.real), np.abs(right.imag))
    size = np.where(finite, np.maximum(larger, bound.floor), bound.floor).astype(part)
    off, share = np.zeros(right.shape), np.zeros(right.shape)
    for mine, other in ((ours.real, right.real), (ours.imag, right.imag)):
        mine, other = mine.astype(part), other.astype(part)
        apart = distances(mine, other)
        each = _share("", mine, other, apart, size, bound, gpu)
        if bound.ulp > 0:
            with np.errstate(all="ignore"):
                units = np.abs(mine - other) / np.spacing(size)
            apart = np.where(np.isfinite(units), np.minimum(apart, units), apart)
        off, share = np.maximum(off, apart), np.maximum(share, each)
    if bound.ulp > 0:
        # C leaves open which part of a product or quotient with infinities and NaNs is NaN.
        open_ends = ~finite & ~np.isfinite(ours)
        off, share = np.where(open_ends, 0.0, off), np.where(open_ends, 0.0, share)
    return off, share
