"""The array class, which holds the id of an array in array-core.

A method that makes a view or an array crosses into array-core once. This module has the methods
that need no function of the package. ``arraycore/_array_methods.py`` binds the operators, indexing
and the methods that call functions, once those functions exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from .._runtime import operations, session
from .._runtime.calls import integers
from .._runtime.devices import Stream
from .._runtime.dtypes import DTYPES, check_cast, supported
from .flags import Flags

if TYPE_CHECKING:
    # Only type checkers see this base class. At run time the import would be circular, and bind()
    # adds the methods later.
    from .._array_methods import ArrayMethods
else:
    ArrayMethods = object

Description = tuple[int, tuple[int, ...], tuple[int, ...]]

_ORDERS = {"C": 0, "F": 1, "A": 2, "K": 3}
# Modes of a reshape (src/abi/calls/views.h).
_ANY, _RAVEL, _COPY, _NEVER = range(4)


class ndarray(ArrayMethods):
    """An n-dimensional array on array-core's device.

    :func:`arraycore.array` and operations make arrays. ``ndarray(shape, dtype)`` does what
    :func:`arraycore.zeros` does; the shape is an integer or several. Slices, transposes and most
    reshapes are views of the same memory, as in NumPy.
    """

    __slots__ = ("__weakref__", "_description", "_id")

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        shape: SupportsIndex | Sequence[SupportsIndex],
        dtype: npt.DTypeLike | None = float,
        *,
        order: str = "C",
    ) -> None:
        self._id = 0  # the id of no array, for __del__ if a line below raises
        self._description: Description | None = None
        extents = integers(shape)
        if order_number(order, "CF") == _ORDERS["F"]:
            reverse = ndarray(extents[::-1], dtype)
            self._id = operations.transpose(reverse, None)
        else:
            self._id = session.create(extents, None, supported(dtype))

    @classmethod
    def _adopt(cls, array_id: int, _new: Any = object.__new__) -> ndarray:
        """Return the array with an id that a call of array-core returned, and own it.

        An id is a plain int. So no public call takes one: an id that already has an owner would be
        freed twice.
        """
        made: ndarray = _new(cls)
        made._id = array_id
        made._description = None
        return made

    # This method does not call array-core, because the garbage collector may run at any moment,
    # also during a call of array-core.
    def __del__(self, _note: Any = session.freed.append) -> None:
        _note(self._id)

    # ---- properties

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each axis. Assigning a shape reshapes in place, if no copy is needed."""
        return self._described()[1]

    @shape.setter
    def shape(self, shape: Any) -> None:
        try:
            reshaped = self._reshaped(_NEVER, 0, integers(shape))
        except ValueError as error:
            if getattr(error, "code", "") != "reshape_needs_copy":
                raise
            raise AttributeError(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy "
                "with the desired shape."
            ) from None
        self._id, reshaped._id = reshaped._id, self._id
        self._description = None

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next along each axis."""
        return self._described()[2]

    @property
    def dtype(self) -> np.dtype[Any]:
        return DTYPES[self._described()[0]]

    @property
    def ndim(self) -> int:
        return len(self._described()[1])

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self._described()[1])

    @property
    def itemsize(self) -> int:
        """The size of one element in bytes."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes; a broadcast view takes less memory."""
        return self.size * self.dtype.itemsize

    @property
    def flags(self) -> Flags:
        """The array's memory layout, and whether it can be written to."""
        number, shape, strides = self._described()
        return Flags(shape, strides, DTYPES[number].itemsize)

    @property
    def _c_contiguous(self) -> bool:
        """Always False, whatever the strides are.

        Callers of CuPy's property read memory by address if it is true, and a device's memory has
        no addresses. Since it is False, Chainer's ``pad_sequence`` assigns to slices instead.
        ``flags`` has the layout.
        """
        return False

    def _described(self) -> Description:
        if self._description is None:
            self._description = session.describe(self._id)
        return self._description

    # ---- views

    @property
    def T(self) -> ndarray:
        """A view with all axes reversed."""
        return ndarray._adopt(operations.transpose(self, None))

    @property
    def mT(self) -> ndarray:
        """A view with the last two axes swapped."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> ndarray:
        """A view of the real parts; a real array gives a view of all its elements."""
        return ndarray._adopt(operations.real(self))

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> ndarray:
        """A view of the imaginary parts; a real array gives a new array of zeros."""
        return ndarray._adopt(operations.imag(self))

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self.imag[...] = value

    def view(self, dtype: npt.DTypeLike | None = None) -> ndarray:
        """Return a view of the same bytes, as another dtype if one is given.

        Raises
        ------
        NotImplementedError
            Arrays of one dtype live on the device and those of the other on the CPU.
        """
        if dtype is None:
            return ndarray._adopt(operations.index(self, ()))
        return ndarray._adopt(operations.reinterpret(self, np.dtype(dtype)))

    def reshape(self, *shape: Any, order: str | None = "C", copy: bool | None = None) -> ndarray:
        """Return the elements in another shape: a view if strides can describe it, else a copy.

        Parameters
        ----------
        shape : int or tuple of ints
            One extent may be -1.
        order : {"C", "F", "A"}
            The order in which elements are read and placed.
        copy : bool, optional
            True: always a copy; False: ValueError where one is needed.
        """
        if len(shape) == 1:
            shape = integers(shape[0])
        mode = _ANY if copy is None else _COPY if copy else _NEVER
        return self._reshaped(mode, order_number(order, "CFA"), shape)

    def ravel(self, order: str | None = "C") -> ndarray:
        """Return all elements as a vector: a view if the array is contiguous, else a copy.

        Parameters
        ----------
        order : {"C", "F", "A", "K"}
            The order in which elements are read; "K" is the order in memory.
        """
        return self._flattened(_RAVEL, order)

    def flatten(self, order: str | None = "C") -> ndarray:
        """Return a copy of all elements as a vector, in the order that :meth:`ravel` has."""
        return self._flattened(_COPY, order)

    def _flattened(self, mode: int, order: str | None) -> ndarray:
        number = order_number(order, "CFAK")
        if number != _ORDERS["K"]:
            return self._reshaped(mode, number, (-1,))
        _, shape, strides = self._described()
        axes = memory_order(shape, strides)
        ordered = self if axes == sorted(axes) else self.transpose(axes)
        return ordered._reshaped(mode, 0, (-1,))

    def _reshaped(self, mode: int, order: int, shape: tuple[Any, ...]) -> ndarray:
        return ndarray._adopt(operations.reshape(self, mode, order, shape))

    def transpose(self, *axes: Any) -> ndarray:
        """Return a view with its axes in another order; by default they are reversed."""
        if len(axes) == 1:
            axes = (None,) if axes[0] is None else integers(axes[0])
        if not axes or axes[0] is None:
            return self.T
        return ndarray._adopt(operations.transpose(self, axes))

    def swapaxes(self, axis1: int, axis2: int) -> ndarray:
        """Return a view with two axes exchanged."""
        return ndarray._adopt(operations.swap_axes(self, axis1, axis2))

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> ndarray:
        """Return a view without the given (or all) axes of extent 1."""
        return ndarray._adopt(operations.squeeze(self, axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
        """Return a view whose last axis is the diagonal; unlike NumPy's it can be written to."""
        return ndarray._adopt(operations.diagonal(self, offset, axis1, axis2))

    # ---- copies

    def copy(self, order: str | None = "C") -> ndarray:
        """Return a copy with memory of its own."""
        return ndarray._adopt(operations.copy(self, None, order_number(order, "CFAK")))

    def astype(
        self,
        dtype: npt.DTypeLike,
        order: str | None = "K",
        casting: str = "unsafe",
        subok: bool | None = None,
        copy: bool = True,
    ) -> ndarray:
        """Return a copy as another dtype; the array itself if ``copy`` is False and none is needed.

        Floats are cast to integers towards zero. NaN becomes 0, and a number that the integer dtype
        does not hold becomes the nearest one that it holds.
        """
        target = supported(dtype)
        layout = order_number(order, "CFAK", "K")
        if casting != "unsafe":
            check_cast(self.dtype, target, casting)
        if not copy and target == self.dtype and self._lies_in(layout):
            return self
        return ndarray._adopt(operations.copy(self, target, layout))

    def _lies_in(self, order: int) -> bool:
        if order == _ORDERS["K"]:
            return True
        flags = self.flags
        return (
            flags.c_contiguous
            if order == _ORDERS["C"]
            else flags.f_contiguous or (order == _ORDERS["A"] and flags.c_contiguous)
        )

    def fill(self, value: Any) -> None:
        """Set every element to a scalar."""
        if isinstance(value, ndarray) and value.ndim > 0:
            raise ValueError("setting an array element with a sequence.")
        self[...] = value

    def set(self, source: npt.NDArray[Any], stream: Stream | None = None) -> None:
        """Overwrite the elements by those of a NumPy array of the same shape and dtype.

        The elements are copied at once, so the caller may change ``source`` afterwards. ``stream``
        has no effect: operations run in order.
        """
        if not isinstance(source, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to arraycore.ndarray")
        if source.dtype != self.dtype:
            raise TypeError(f"{source.dtype} array cannot be set to {self.dtype} array")
        if source.shape != self.shape:
            raise ValueError(f"Shape mismatch: {source.shape} cannot be set to {self.shape}")
        self[...] = source

    # ---- to the host

    def get(
        self,
        stream: Stream | None = None,
        order: str | None = "C",
        out: npt.NDArray[Any] | None = None,
        blocking: bool = True,
    ) -> npt.NDArray[Any]:
        """Return the elements as a NumPy array of the same shape and dtype.

        Parameters
        ----------
        stream : Stream, optional
            Accepted for compatibility with CuPy: operations run in order, and reading waits.
        order : {"C", "F", "A"}
            The result's layout.
        out : numpy.ndarray, optional
            A C-contiguous array of the same shape and dtype, which is written and returned.
        blocking : bool
            Accepted for compatibility with CuPy: reading always waits.
        """
        number, shape, _ = self._described()
        if out is None:
            wanted = order_number(order, "CFA")
            lies_in_f = self._lies_in(_ORDERS["F"]) and not self._lies_in(_ORDERS["C"])
            if wanted == _ORDERS["F"] or (wanted and lies_in_f):
                turned: npt.NDArray[Any] = self.T.get().T
                return turned
            out = np.empty(shape, DTYPES[number])
        elif out.dtype != DTYPES[number] or out.shape != shape or not out.flags.c_contiguous:
            raise ValueError("out must be C-contiguous and have the array's shape and dtype")
        session.read(self._id, out)
        return out

    def _single(self) -> npt.NDArray[Any]:
        """Return a NumPy array for a conversion that accepts exactly one element."""
        number, shape, _ = self._described()
        if self.size == 1:
            return self.get()
        # The caller's conversion raises NumPy's error for this shape whatever the elements are. So
        # no element is read from the device.
        return np.broadcast_to(np.zeros((), DTYPES[number]), shape)

    def item(self, *args: Any) -> Any:
        """Return one element as a Python scalar; the arguments select it as in
        :meth:`numpy.ndarray.item`.
        """
        if not args:
            return self._single().item()
        where = args[0] if len(args) == 1 else args
        if not isinstance(where, tuple):
            size = self.size
            flat = integers(where)[0]
            if not -size <= flat < size:
                raise IndexError(f"index {flat} is out of bounds for size {size}")
            where = tuple(int(i) for i in np.unravel_index(flat % size, self.shape))
        if len(where) != self.ndim:
            raise ValueError("incorrect number of indices for array")
        return self[where].get().item()

    def tolist(self) -> Any:
        """Return nested lists of Python scalars."""
        return self.get().tolist()

    def tobytes(self, order: str | None = "C") -> bytes:
        """Return the elements' bytes."""
        return self.get(order=order).tobytes(order="A")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def _scalar(self) -> Any:
        """Return the only element: a float if one call of array-core can return it, otherwise a
        NumPy array.
        """
        value = session.item(self._id)
        if value is False:
            raise session.failure()
        return self._single() if value is True else value

    def __bool__(self) -> bool:
        return bool(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._single())

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self.get())

    def __len__(self) -> int:
        shape = self._described()[1]
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __iter__(self) -> Iterator[ndarray]:
        if not self._described()[1]:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __format__(self, spec: str) -> str:
        return format(self.get(), spec)

    def __copy__(self) -> ndarray:
        return self.copy("K")

    def __deepcopy__(self, memo: Any) -> ndarray:
        return self.copy("K")


def require_array(a: Any) -> ndarray:
    """Return ``a``, which has to be an array of arraycore.

    Raises
    ------
    TypeError
        ``a`` is no array of arraycore. As in CuPy, nothing is copied to the device implicitly.
    """
    if not isinstance(a, ndarray):
        raise TypeError(f"Unsupported type {type(a)}")
    return a


def memory_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """Return an array's axes, sorted so that steps in memory become smaller.

    This is NumPy's order "K". Axes with one element or without a step have no place of their own
    and stay between their neighbours.
    """
    axes: list[int] = []
    for axis in reversed(range(len(shape))):  # from the last axis, whose steps are usually small
        step = abs(strides[axis]) if shape[axis] != 1 else 0
        place = len(axes)
        for before in range(len(axes) - 1, -1, -1):
            other = axes[before]
            other_step = abs(strides[other]) if shape[other] != 1 else 0
            if step and other_step:
                if other_step <= step:
                    break
                place = before
        axes.insert(place, axis)
    return axes[::-1]


def order_number(order: str | None, allowed: str, default: str = "C") -> int:
    """Return the number of an order, which may be a small letter; None is the default."""
    chosen = default if order is None else order.upper()
    if len(chosen) != 1 or chosen not in allowed:
        names = ", ".join(f"'{letter}'" for letter in allowed[:-1])
        raise ValueError(f"order must be one of {names}, or '{allowed[-1]}' (got {order!r})")
    return _ORDERS[chosen]
