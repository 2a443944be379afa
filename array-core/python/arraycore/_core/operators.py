"""Python's operators on arrays. Each operator calls array-core once.

An operator of two arrays, or of an array and a Python number, calls the bridge directly. Other
operands go through the ufunc of the same name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .._runtime import operations, session
from .._runtime.dtypes import DTYPES
from .._runtime.scalars import EXACT, FLOAT, INT, is_scalar
from .._runtime.session import BACKLOG, bridge, check, drain, freed, recover
from . import ufuncs
from .creation import array, full
from .ndarray import ndarray
from .ufuncs import ufunc


def _operands(a: Any, b: object) -> bool:
    """Return whether arraycore computes `a OP b`.

    An array of NumPy's is copied to the device. By CuPy's rules it raises TypeError.
    """
    if isinstance(b, np.ndarray) and b.ndim > 0:
        if session.takes_numpys():
            return b.dtype in DTYPES
        raise TypeError(f"Unsupported type {type(b)}")
    return isinstance(b, ndarray) or is_scalar(b)


def _listed(b: object) -> bool:
    """Return whether an operand is a list that NumPy's operators take as an array."""
    return isinstance(b, list | tuple) and session.takes_numpys()


def _again(status: int, call: Callable[..., int], *arguments: Any) -> int:
    """Free all arrays that wait to be freed, repeat a failed call, and raise if it fails again."""
    recover(status)
    return check(call(*arguments, 0, 0))


#: Python's operator of each comparison. NumPy's ufuncs raise where its operators give an array.
_PYTHONS = {
    ufuncs.equal: operator.eq,
    ufuncs.not_equal: operator.ne,
    ufuncs.less: operator.lt,
    ufuncs.less_equal: operator.le,
    ufuncs.greater: operator.gt,
    ufuncs.greater_equal: operator.ge,
}


def _refuse(function: ufunc, a: Any, b: object) -> Any:
    """Leave an operand that is no array, list or number to its own reflected operator."""
    return function(a, array(b)) if _listed(b) else NotImplemented  # type: ignore[arg-type]


def _compare(function: ufunc, a: Any, b: Any) -> Any:
    """Compare an array with an object that is neither an array of NumPy's nor a number.

    The result is NumPy's: an array, whatever the object is. The elements are read from the device
    only if they are compared with Python objects one by one, which ``cpu_ops`` counts.
    """
    kind: Any = type(b)
    if getattr(kind, "__array_ufunc__", kind) is None or getattr(kind, "__array_priority__", 0) > 0:
        return NotImplemented  # such as Chainer's variables
    # None has its own __eq__ since Python 3.13.
    if b is None or kind.__eq__ is object.__eq__:  # what equals nothing but itself
        if function not in (ufuncs.equal, ufuncs.not_equal):
            return NotImplemented
        return full(a.shape, function is ufuncs.not_equal, bool)
    try:
        given = np.asarray(b)
    except TypeError:  # a list of arrays of arraycore, which are stacked on the device
        return function(a, array(b))
    if given.dtype in DTYPES:
        return function(a, array(given))
    # Whether texts and other elements of no number's dtype can be compared depends on the dtype.
    elements = np.broadcast_to(np.zeros((), a.dtype), a.shape)
    if given.dtype.kind == "O":
        operations.helped()
        elements = a.get()
    return array(_PYTHONS[function](elements, given), bool)


def _binary(
    function: ufunc, otherwise: Callable[[ufunc, Any, Any], Any] = _refuse
) -> Callable[[Any, Any], Any]:
    """Return the method of ``self OP other``; ``otherwise`` takes objects that are no operands."""
    number = bridge.ufunc_number(function.__name__)
    arrays, scalar, pop = bridge.binary, bridge.binary_scalar, freed.pop

    def method(self: Any, other: Any) -> Any:
        cls = self.__class__
        kind = other.__class__
        if kind is cls:
            if len(freed) > BACKLOG:
                drain()
            result = arrays(
                number, self._id, other._id, pop() if freed else 0, pop() if freed else 0
            )
            if result < 0:
                result = _again(result, arrays, number, self._id, other._id)
            return cls._adopt(result)
        if kind is float or (kind is int and -EXACT < other < EXACT):
            weak = FLOAT if kind is float else INT
            if len(freed) > BACKLOG:
                drain()
            result = scalar(
                number, self._id, other, weak, 0, pop() if freed else 0, pop() if freed else 0
            )
            if result < 0:
                result = _again(result, scalar, number, self._id, other, weak, 0)
            return cls._adopt(result)
        if _operands(self, other):
            return function(self, other)
        return otherwise(function, self, other)

    return method


def _reflected(function: ufunc) -> Callable[[Any, Any], Any]:
    """Return the method of ``other OP self``, where ``other`` is no array of arraycore."""
    number = bridge.ufunc_number(function.__name__)
    scalar, pop = bridge.binary_scalar, freed.pop

    def method(self: Any, other: Any) -> Any:
        kind = other.__class__
        if kind is float or (kind is int and -EXACT < other < EXACT):
            weak = FLOAT if kind is float else INT
            if len(freed) > BACKLOG:
                drain()
            result = scalar(
                number, self._id, other, weak, 1, pop() if freed else 0, pop() if freed else 0
            )
            if result < 0:
                result = _again(result, scalar, number, self._id, other, weak, 1)
            return self.__class__._adopt(result)
        if _operands(self, other):
            return function(other, self)
        return function(array(other), self) if _listed(other) else NotImplemented

    return method


def _in_place(function: ufunc) -> Callable[[Any, Any], Any]:
    """Return the method of ``self OP= other``, which calls the ufunc with `out=self`."""

    def method(self: Any, other: Any) -> Any:
        if _operands(self, other) or _listed(other):
            return function(self, other, out=self)
        return NotImplemented

    return method


def _unary(function: ufunc) -> Callable[[Any], Any]:
    """Return the method of ``OP self``."""
    number = bridge.ufunc_number(function.__name__)
    call, pop = bridge.unary, freed.pop

    def method(self: Any) -> Any:
        if len(freed) > BACKLOG:
            drain()
        result = call(number, self._id, pop() if freed else 0, pop() if freed else 0)
        if result < 0:
            result = _again(result, call, number, self._id)
        return self.__class__._adopt(result)

    return method


#: NumPy's generalised ufuncs by name; the modules that define them add themselves.
PRODUCTS: dict[str, Any] = {}


class Operators:
    """The operators of :class:`arraycore.ndarray`, and NumPy's ufuncs called with arrays."""

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Call arraycore's ufunc, or product of arrays, of the same name."""
        ours = ufuncs.BY_NAME.get(function.__name__) or PRODUCTS.get(function.__name__)
        if ours is None or method not in ("__call__", "reduce", "accumulate", "outer", "at"):
            return NotImplemented
        if kwargs.get("out") is not None and len(kwargs["out"]) == 1:
            kwargs["out"] = kwargs["out"][0]
        called = ours if method == "__call__" else getattr(ours, method)
        return called(*inputs, **kwargs)

    __add__ = _binary(ufuncs.add)
    __radd__ = _reflected(ufuncs.add)
    __iadd__ = _in_place(ufuncs.add)
    __sub__ = _binary(ufuncs.subtract)
    __rsub__ = _reflected(ufuncs.subtract)
    __isub__ = _in_place(ufuncs.subtract)
    __mul__ = _binary(ufuncs.multiply)
    __rmul__ = _reflected(ufuncs.multiply)
    __imul__ = _in_place(ufuncs.multiply)
    __truediv__ = _binary(ufuncs.divide)
    __rtruediv__ = _reflected(ufuncs.divide)
    __itruediv__ = _in_place(ufuncs.divide)
    __floordiv__ = _binary(ufuncs.floor_divide)
    __rfloordiv__ = _reflected(ufuncs.floor_divide)
    __ifloordiv__ = _in_place(ufuncs.floor_divide)
    __mod__ = _binary(ufuncs.remainder)
    __rmod__ = _reflected(ufuncs.remainder)
    __imod__ = _in_place(ufuncs.remainder)
    __pow__ = _binary(ufuncs.power)  # three arguments are refused by its signature
    __rpow__ = _reflected(ufuncs.power)
    __ipow__ = _in_place(ufuncs.power)
    __lshift__ = _binary(ufuncs.left_shift)
    __rlshift__ = _reflected(ufuncs.left_shift)
    __ilshift__ = _in_place(ufuncs.left_shift)
    __rshift__ = _binary(ufuncs.right_shift)
    __rrshift__ = _reflected(ufuncs.right_shift)
    __irshift__ = _in_place(ufuncs.right_shift)
    __and__ = _binary(ufuncs.bitwise_and)
    __rand__ = _reflected(ufuncs.bitwise_and)
    __iand__ = _in_place(ufuncs.bitwise_and)
    __or__ = _binary(ufuncs.bitwise_or)
    __ror__ = _reflected(ufuncs.bitwise_or)
    __ior__ = _in_place(ufuncs.bitwise_or)
    __xor__ = _binary(ufuncs.bitwise_xor)
    __rxor__ = _reflected(ufuncs.bitwise_xor)
    __ixor__ = _in_place(ufuncs.bitwise_xor)

    __neg__ = _unary(ufuncs.negative)
    __pos__ = _unary(ufuncs.positive)
    __abs__ = _unary(ufuncs.absolute)
    __invert__ = _unary(ufuncs.invert)

    __lt__ = _binary(ufuncs.less, _compare)
    __le__ = _binary(ufuncs.less_equal, _compare)
    __gt__ = _binary(ufuncs.greater, _compare)
    __ge__ = _binary(ufuncs.greater_equal, _compare)
    __eq__ = _binary(ufuncs.equal, _compare)
    __ne__ = _binary(ufuncs.not_equal, _compare)

    def __divmod__(self, other: Any) -> Any:
        taken = _operands(self, other) or _listed(other)
        return ufuncs.divmod(self, other) if taken else NotImplemented

    def __rdivmod__(self, other: Any) -> Any:
        taken = _operands(self, other) or _listed(other)
        return ufuncs.divmod(other, self) if taken else NotImplemented
