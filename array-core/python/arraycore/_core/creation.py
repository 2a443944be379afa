"""Functions that make arrays from Python's and NumPy's values, and convert them back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._runtime import operations, session
from .._runtime.calls import integers
from .._runtime.devices import check_device
from .._runtime.dtypes import supported
from .._runtime.errors import coded
from .._runtime.parameters import refuse_parameter
from .ndarray import memory_order, ndarray, order_number, require_array

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "asnumpy",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

_MOST_AXES = 32
_ORDERS = "CFAK"


def array(
    object: npt.ArrayLike | ndarray,
    dtype: npt.DTypeLike | None = None,
    copy: bool | None = True,
    order: str | None = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    ndmax: int = 0,
    like: Any = None,
) -> ndarray:
    """Return an array of anything that :func:`numpy.array` accepts, or a copy of an array.

    Parameters
    ----------
    object : array_like
        NumPy's arrays and Python's nested lists and numbers are copied to the device. Lists may
        hold arrays of arraycore that have one shape: these are stacked on the device.
    dtype : dtype, optional
        As for :func:`numpy.array`.
    copy : bool, optional
        If False or None, an array of arraycore that has the dtype and the order is returned itself.
    order : {"K", "A", "C", "F"}
        The copy's layout; elements from the host are laid out in C order, except for "F". None is
        "K".
    subok : bool
        Ignored: there are no subclasses.
    ndmin : int
        The least number of axes; new ones of extent 1 come first.
    ndmax : int
        The most axes that nested lists are searched for; 0 is no limit. Deeper lists would be
        objects, which arraycore does not have.
    like : ndarray, optional
        Accepted for compatibility with NumPy: the result is always an array of arraycore.

    Raises
    ------
    NotImplementedError
        ``like`` is an array of another library.
    TypeError
        arraycore has no such dtype.
    MemoryError
        All arrays together would need more memory than :func:`arraycore.open` allows.
    """
    check_like(like)
    letter = _ORDERS[order_number(order, _ORDERS, "K")]
    if ndmax and not isinstance(object, ndarray):
        object = np.array(object, dtype, ndmax=ndmax)
    if isinstance(object, ndarray):
        target = object.dtype if dtype is None else dtype
        # An array that need not be copied has any layout that "A" and "K" ask for.
        keeps = not copy and letter == "A" and object.dtype == target
        made = object.astype(target, order="K" if keeps else letter, copy=bool(copy))
    elif _holds_arrays(object):
        made = _stacked(object)
        target = made.dtype if dtype is None else dtype
        made = made.astype(target, order="F" if letter == "F" else "C", copy=False)
    else:
        elements = np.array(object, dtype, order="C", copy=None, ndmin=ndmin)
        if elements.dtype.byteorder not in "=|<":
            elements = elements.astype(elements.dtype.newbyteorder("="))
        made = ndarray._adopt(session.create(elements.shape, elements, elements.dtype))
        if letter == "F":
            made = made.copy("F")
    missing = ndmin - made.ndim if ndmin > 0 else 0
    return made[(None,) * missing] if missing > 0 else made


def _holds_arrays(object: Any) -> bool:
    """Return whether a list or the lists inside it hold an array of arraycore.

    Of the lists in a list, only the first one is searched.
    """
    while isinstance(object, (list, tuple)) and object:
        if any(isinstance(each, ndarray) for each in object):
            return True
        object = object[0]
    return False


def _stacked(object: Any) -> ndarray:
    """Return nested lists of arrays as one array of their common dtype."""
    if isinstance(object, ndarray):
        return object
    if not isinstance(object, (list, tuple)):
        return array(object)
    parts = [_stacked(each) for each in object]
    shape = parts[0].shape
    if any(part.shape != shape for part in parts):
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous "
            "shape."
        )
    made = empty((len(parts), *shape), np.result_type(*(part.dtype for part in parts)))
    for place, part in enumerate(parts):
        made[place] = part
    return made


def check_like(like: Any) -> None:
    """Raise NotImplementedError if ``like`` is an array of another library."""
    if not isinstance(like, ndarray | None):
        refuse_parameter("like")


def asarray(
    a: npt.ArrayLike | ndarray,
    dtype: npt.DTypeLike | None = None,
    order: str | None = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> ndarray:
    """Return ``a`` itself if it is an array of this dtype and order, else a new array.

    Parameters
    ----------
    a, dtype, order, like
        As for :func:`array`.
    device : Device, optional
        The only device, or None.
    copy : bool, optional
        True: always a new array; False: ValueError where a new array is needed.
    """
    check_device(device)
    made = array(a, dtype, copy=bool(copy), order=order, like=like)
    if copy is False and made is not a:
        message = "Unable to avoid copy while creating an array as requested."
        raise coded(ValueError(message), "needs_copy")
    return made


asanyarray = asarray


def as_device_array(a: Any) -> ndarray:
    """Return ``a`` itself if it is an array of arraycore, else a new array of its elements."""
    return a if isinstance(a, ndarray) else asarray(a)


_OPERANDS = (np.ndarray, np.generic, list, tuple, bool, int, float, complex)


def operand_array(a: Any) -> ndarray:
    """Return an operand as an array of arraycore.

    NumPy's arrays, lists and numbers are copied to the device, as NumPy's functions take them.
    Under CuPy's names (``import cupy``) they are refused, as in CuPy.

    Raises
    ------
    TypeError
        ``a`` is none of these.
    """
    if isinstance(a, ndarray):
        return a
    if isinstance(a, _OPERANDS) and session.takes_numpys():
        return array(a)
    return require_array(a)  # raises


def ascontiguousarray(
    a: npt.ArrayLike | ndarray, dtype: npt.DTypeLike | None = None, *, like: Any = None
) -> ndarray:
    """Return a C-contiguous array of at least one dimension; ``a`` itself if it is one."""
    return array(a, dtype, copy=False, order="C", ndmin=1, like=like)


def asfortranarray(
    a: npt.ArrayLike | ndarray, dtype: npt.DTypeLike | None = None, *, like: Any = None
) -> ndarray:
    """Return an array of at least one dimension in Fortran order; ``a`` itself if it is one."""
    return array(a, dtype, copy=False, order="F", ndmin=1, like=like)


def asnumpy(a: Any) -> npt.NDArray[Any]:
    """Return an array of arraycore, or anything that NumPy accepts, as a NumPy array."""
    return a.get() if isinstance(a, ndarray) else np.asarray(a)


# ---- arrays of one value


def zeros(
    shape: Any,
    dtype: npt.DTypeLike | None = float,
    order: str | None = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> ndarray:
    """Return a new array of zeros."""
    check_device(device)
    check_like(like)
    extents = integers(shape)
    if order_number(order, "CF"):
        return ndarray._adopt(session.create(extents[::-1], None, supported(dtype))).T
    return ndarray._adopt(session.create(extents, None, supported(dtype)))


def empty(
    shape: Any,
    dtype: npt.DTypeLike | None = float,
    order: str | None = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> ndarray:
    """Return a new array whose elements are arbitrary."""
    check_device(device)
    check_like(like)
    extents = integers(shape)
    fortran = order_number(order, "CF")
    if len(extents) > _MOST_AXES:
        return zeros(shape, dtype, order)  # raises NumPy's error
    if fortran:
        return empty(extents[::-1], dtype).T
    return ndarray._adopt(operations.empty(supported(dtype), extents))


def ones(
    shape: Any,
    dtype: npt.DTypeLike | None = float,
    order: str | None = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> ndarray:
    """Return a new array of ones."""
    check_device(device)
    check_like(like)
    return full(shape, 1, supported(dtype), order)


def full(
    shape: Any,
    fill_value: Any,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> ndarray:
    """Return a new array filled with a scalar, or with an array that broadcasts to the shape."""
    check_device(device)
    check_like(like)
    if dtype is None:
        own = isinstance(fill_value, ndarray)
        dtype = fill_value.dtype if own else np.asarray(fill_value).dtype
    made = empty(shape, dtype, order)
    made[...] = _filling(fill_value, made.dtype)
    return made


def _filling(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a value to fill with; a complex one loses its imaginary part where NumPy drops it."""
    if dtype.kind == "c" or not np.iscomplexobj(value) or isinstance(value, ndarray):
        return value
    return np.asarray(value).real


def _like(
    make: Any, prototype: Any, dtype: npt.DTypeLike | None, order: str | None, shape: Any
) -> ndarray:
    """Return ``make(shape, dtype, order)`` with what is not given taken from an array.

    The order "K" is the layout of the array in memory, if its number of axes is the result's.
    """
    a = operand_array(prototype)
    wanted = a.dtype if dtype is None else supported(dtype)
    number = order_number(order, _ORDERS, "K")
    extents = a.shape if shape is None else integers(shape)
    if _ORDERS[number] == "A":
        number = order_number("F" if a.flags.fnc else "C", _ORDERS)
    if _ORDERS[number] != "K":
        return make(extents, wanted, _ORDERS[number])  # type: ignore[no-any-return]
    axes = memory_order(a.shape, a.strides)
    if len(extents) != a.ndim or axes == sorted(axes):
        return make(extents, wanted, "C")  # type: ignore[no-any-return]
    made = make(tuple(extents[axis] for axis in axes), wanted, "C")
    return made.transpose(sorted(range(len(axes)), key=axes.__getitem__))  # type: ignore[no-any-return]


def zeros_like(
    a: Any,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    """Return zeros of the shape, dtype and layout of ``a``, unless others are given.

    Parameters
    ----------
    a : ndarray
        The array whose shape, dtype and layout are taken.
    dtype : dtype, optional
        Another dtype.
    order : {"K", "A", "C", "F"}
        The layout; "K" is that of ``a``, if ``shape`` has as many axes.
    subok : bool
        Ignored: there are no subclasses.
    shape : int or ints, optional
        Another shape.
    device : Device, optional
        The only device, or None.
    """
    check_device(device)
    return _like(zeros, a, dtype, order, shape)


def empty_like(
    prototype: Any,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    """Return an array of arbitrary elements; the parameters are those of :func:`zeros_like`."""
    check_device(device)
    return _like(empty, prototype, dtype, order, shape)


def ones_like(
    a: Any,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    """Return ones; the parameters are those of :func:`zeros_like`."""
    check_device(device)
    return _like(ones, a, dtype, order, shape)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    """Return an array filled with one value, or with an array that broadcasts to the shape.

    The other parameters are those of :func:`zeros_like`.
    """
    check_device(device)
    made = _like(empty, a, dtype, order, shape)
    made[...] = _filling(fill_value, made.dtype)
    return made
