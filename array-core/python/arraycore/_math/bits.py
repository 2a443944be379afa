"""Packs bits into bytes, unpacks them, and splits floats, under NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.creation import as_device_array, empty, zeros
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray, order_number
from .._manipulation.joining import axis_of
from .._manipulation.views import copyto, moveaxis
from .._runtime.dtypes import check_cast, supported
from .._runtime.parameters import refuse_parameter

__all__ = ["frexp", "packbits", "unpackbits"]

_pack = elementwise(
    "raw T x, int32 extent, int32 bytes, bool little",
    "uint8 y",
    "int begin = i / bytes * extent; int place = i % bytes * 8; int made = 0;"
    "for (int k = 0; k < 8; ++k)"
    " if (place + k < extent && x[begin + place + k] != T(0)) made |= 1 << (little ? k : 7 - k);"
    "y = made",
    "pack_bits",
)
_unpack = elementwise(
    "raw uint8 x, int32 bytes, int32 extent, bool little",
    "uint8 y",
    "int place = i % extent; int from = place / 8; int bit = little ? place % 8 : 7 - place % 8;"
    "y = from < bytes ? ((int)x[i / extent * bytes + from] >> bit) & 1 : 0",
    "unpack_bits",
)
# The kernel scales by exact powers of two. For subnormal numbers, the result depends on how the
# device treats them.
_frexp = elementwise(
    "T x, T tiny, int32 lifted, int32 top",
    "T mantissa, int32 exponent",
    "T size = x < T(0) ? -x : x; int e = 0;"
    "if (isfinite(x) && size > T(0)) {"
    " if (size < tiny) { size = ldexp(size, lifted); e = -lifted; }"
    " for (int k = top; k >= 0; --k) { int step = 1 << k;"
    "  if (size >= ldexp(T(1), step)) { size = ldexp(size, -step); e += step; }"
    "  else if (size < ldexp(T(1), 1 - step)) { size = ldexp(size, step); e -= step; } }"
    " mantissa = ldexp(x < T(0) ? -size : size, -1); exponent = e + 1;"
    "} else { mantissa = x; exponent = 0; }",
    "frexp",
)


def frexp(
    x: Any,
    out1: Any = None,
    out2: Any = None,
    /,
    out: Any = (None, None),
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str | None = "K",
    dtype: Any = None,
    subok: bool = True,
    signature: Any = None,
) -> tuple[ndarray, ndarray]:
    """Return mantissas and exponents (int32) with ``x == mantissa * 2**exponent``.

    A mantissa is 0 or its magnitude is in [0.5, 1). For infinities and NaN the mantissa is ``x``
    and the exponent 0. Integers of 8 bits are cast to float16, of 16 bits to float32, others to
    float64, as in NumPy. The keywords are those of :class:`arraycore.ufunc`; elements where
    ``where`` is false keep the values in ``out``, and are 0 in a new result.

    Raises
    ------
    TypeError
        ``x`` is complex.
    """
    if signature is not None:
        refuse_parameter("signature")
    values = as_device_array(x)
    if dtype is not None:
        check_cast(values.dtype, supported(dtype), casting)
        values = values.astype(dtype, copy=False)
    if values.dtype.kind == "c":
        raise TypeError("ufunc 'frexp' not supported for complex numbers")
    if values.dtype.kind != "f":
        small = values.dtype.itemsize
        values = values.astype(np.float16 if small == 1 else np.float32 if small == 2 else float)
    computed = values.astype(np.float32) if values.dtype == np.float16 else values
    limits = np.finfo(computed.dtype)
    mantissa, exponent = _frexp(computed, limits.tiny, limits.nmant + 1, limits.nexp - 2)
    given = out if isinstance(out, tuple) else (out, None)
    targets = [first if first is not None else second
               for first, second in zip((out1, out2), given, strict=True)]  # fmt: skip
    results = (mantissa.astype(values.dtype, copy=False), exponent)
    fortran = order_number(order, "CFAK", "K") == order_number("F", "CF")
    first, second = (
        _stored(made.copy("F") if fortran else made, target, where, casting)
        for made, target in zip(results, targets, strict=True)
    )
    return first, second


def _stored(made: ndarray, target: Any, where: Any, casting: str) -> ndarray:
    """Return a result, or ``target`` with the result written where ``where`` is true."""
    if where is True and target is None:
        return made
    if target is None:
        shape = np.broadcast_shapes(made.shape, getattr(where, "shape", ()))
        target = zeros(shape, made.dtype)
    copyto(target, made, casting, where=where)
    return target  # type: ignore[no-any-return]


def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> ndarray:
    """Return bytes (uint8) whose bits say which elements are not 0; the last byte ends with zeros.

    Parameters
    ----------
    a : array_like
        An array of bools or integers.
    axis : int, optional
        The axis to work along; None flattens the array.
    bitorder : {"big", "little"}
        "big" puts the first element into a byte's highest bit, "little" into its lowest.
    """
    values = as_device_array(a)
    if values.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    little = _is_little(bitorder)
    flat, along = _rows(values, axis)
    extent = flat.shape[-1]
    made = empty((*flat.shape[:-1], -(-extent // 8)), np.uint8)
    if made.size:
        _pack(flat, extent, made.shape[-1], little, made)
    return moveaxis(made, -1, along)


def unpackbits(
    a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> ndarray:
    """Return the bits of bytes as elements (uint8).

    Parameters
    ----------
    a : array_like
        An array of uint8.
    axis, bitorder
        See :func:`packbits`.
    count : int, optional
        The number of bits to return; bits beyond the bytes are 0. A negative number omits that
        many bits at the end.
    """
    values = as_device_array(a)
    if values.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    little = _is_little(bitorder)
    flat, along = _rows(values, axis)
    length = flat.shape[-1]
    bits = 8 * length if count is None else count if count >= 0 else 8 * length + count
    if bits < 0:
        raise ValueError(f"-count must be less than or equal to {8 * length}")
    made = empty((*flat.shape[:-1], bits), np.uint8)
    if made.size:
        _unpack(flat, length, bits, little, made)
    return moveaxis(made, -1, along)


def _is_little(bitorder: str) -> bool:
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    return bitorder == "little"


def _rows(values: ndarray, axis: int | None) -> tuple[ndarray, int]:
    """Return the array with the axis moved to the end, and the axis's old position."""
    if axis is None or (values.ndim == 0 and axis in (0, -1)):
        return values.ravel(), 0
    along = axis_of(axis, values.ndim)
    return moveaxis(values, along, -1), along
