"""Python's operators on arrays. Each operator calls array-core once.

An operator of two arrays, or of an array and a Python number, calls the bridge directly. Other
operands go through the ufunc of the same name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._runtime.scalars import EXACT, FLOAT, INT, is_scalar
from .._runtime.session import BACKLOG, bridge, check, drain, freed, recover
from . import ufuncs
from .ndarray import ndarray
from .ufuncs import ufunc


def _operands(a: Any, b: object) -> bool:
    """Return whether arraycore computes `a OP b`; a NumPy array raises TypeError, as in CuPy."""
    if isinstance(b, np.ndarray) and b.ndim > 0:
        raise TypeError(f"Unsupported type {type(b)}")
    return isinstance(b, ndarray) or is_scalar(b)


def _again(status: int, call: Callable[..., int], *arguments: Any) -> int:
    """Free all arrays that wait to be freed, repeat a failed call, and raise if it fails again."""
    recover(status)
    return check(call(*arguments, 0, 0))


def _binary(function: ufunc) -> Callable[[Any, Any], Any]:
    """Return the method of ``self OP other``."""
    number = bridge.ufunc_number(function.__name__)
    arrays, scalar, pop = bridge.binary, bridge.binary_scalar, freed.pop

    def operator(self: Any, other: Any) -> Any:
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
            return cls(result)
        if kind is float or (kind is int and -EXACT < other < EXACT):
            weak = FLOAT if kind is float else INT
            if len(freed) > BACKLOG:
                drain()
            result = scalar(
                number, self._id, other, weak, 0, pop() if freed else 0, pop() if freed else 0
            )
            if result < 0:
                result = _again(result, scalar, number, self._id, other, weak, 0)
            return cls(result)
        return function(self, other) if _operands(self, other) else NotImplemented

    return operator


def _reflected(function: ufunc) -> Callable[[Any, Any], Any]:
    """Return the method of ``other OP self``, where ``other`` is no array of arraycore."""
    number = bridge.ufunc_number(function.__name__)
    scalar, pop = bridge.binary_scalar, freed.pop

    def operator(self: Any, other: Any) -> Any:
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
            return self.__class__(result)
        return function(other, self) if _operands(self, other) else NotImplemented

    return operator


def _in_place(function: ufunc) -> Callable[[Any, Any], Any]:
    """Return the method of ``self OP= other``, which calls the ufunc with `out=self`."""

    def operator(self: Any, other: Any) -> Any:
        return function(self, other, out=self) if _operands(self, other) else NotImplemented

    return operator


def _unary(function: ufunc) -> Callable[[Any], Any]:
    """Return the method of ``OP self``."""
    number = bridge.ufunc_number(function.__name__)
    call, pop = bridge.unary, freed.pop

    def operator(self: Any) -> Any:
        if len(freed) > BACKLOG:
            drain()
        result = call(number, self._id, pop() if freed else 0, pop() if freed else 0)
        if result < 0:
            result = _again(result, call, number, self._id)
        return self.__class__(result)

    return operator


class Operators:
    """The operators of :class:`arraycore.ndarray`, and NumPy's ufuncs called with arrays."""

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Call arraycore's ufunc of the same name; NumPy's arrays are not converted, as in CuPy."""
        ours = ufuncs.BY_NAME.get(function.__name__)
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

    __lt__ = _binary(ufuncs.less)
    __le__ = _binary(ufuncs.less_equal)
    __gt__ = _binary(ufuncs.greater)
    __ge__ = _binary(ufuncs.greater_equal)
    __eq__ = _binary(ufuncs.equal)
    __ne__ = _binary(ufuncs.not_equal)

    def __divmod__(self, other: Any) -> Any:
        return ufuncs.divmod(self, other) if _operands(self, other) else NotImplemented

    def __rdivmod__(self, other: Any) -> Any:
        return ufuncs.divmod(other, self) if _operands(self, other) else NotImplemented
