"""The decorator ``reduce``: functions that combine two numbers, over the axes of arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .._core.creation import array
from .._core.kernels import ProgramKernel
from .._core.ndarray import ndarray
from .._runtime.calls import integers
from .arguments import check_count, prepared, type_names, types_of
from .compiler import Compiler, parameters_of
from .decorators import Jitted, stored
from .errors import coded, error_at
from .operators import Operators, Refused, Value
from .plain import joined
from .program import NONE, Program
from .types import Type, floating_for, promote

_MOST_TRIALS: Final = 8


class Reduced(Jitted):
    """A function that combines two numbers; called with arrays, it combines elements along axes.

    Elements are combined in no particular order.

    Parameters
    ----------
    function : function
        It takes two numbers and returns one, associative and commutative.
    identity : number, optional
        The result of no elements.
    map : function, optional
        It computes the numbers that are combined from the elements.
    debug : bool
        Whether to run plain Python.
    """

    def __init__(
        self, function: Callable[..., Any], identity: Any = None, map: Any = None,
        debug: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(function, debug)
        self.identity = identity.item() if isinstance(identity, np.generic) else identity
        self.map = map if map is None or isinstance(map, Jitted) else Jitted(map)
        self._kernels: dict[Any, ProgramKernel] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.py_func, self.identity, self.map, self.debug)

    def __call__(
        self, *arrays: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False
    ) -> Any:
        """Combine elements.

        Parameters
        ----------
        *arrays : array_like
            One array, or as many as ``map`` takes, which broadcast. Two numbers give the function's
            own value.
        axis : int or sequence of int, optional
            The axes that are combined; None combines all.
        keepdims : bool
            Whether these axes are kept, with extent 1.

        Returns
        -------
        ndarray
            The results, of the dtype that the function gives for the elements' dtype.

        Raises
        ------
        CompileError
            A function cannot be compiled; the message shows the place, and a remedy.
        TypeError
            ``jit_arguments``: another number of arguments, or no array.
        ValueError
            ``empty_reduction``: there are neither elements nor an identity.
        """
        name = self.py_func.__name__
        if len(arrays) == 2 and not any(isinstance(a, (ndarray, np.ndarray)) for a in arrays):
            return self.py_func(*arrays)
        wanted = 1 if self.map is None else self.map.py_func.__code__.co_argcount
        check_count(name, wanted, len(arrays))
        arguments = prepared(name, arrays)
        if not any(isinstance(argument, ndarray) for argument in arguments):
            raise coded(TypeError(f"{name}() combines the elements of an array."), "jit_arguments")
        axes = None if axis is None else integers(axis)
        if self._plain():
            return self._run_plainly(arguments, axes, keepdims)
        return self._kernel(arguments).reduce(arguments, axes, keepdims)[0]

    def _kernel(self, arguments: Sequence[Any]) -> ProgramKernel:
        kinds, floating = types_of(self.py_func.__name__, arguments)
        places = tuple(isinstance(argument, ndarray) for argument in arguments)
        key = (kinds, places, floating)
        if key not in self._kernels:
            self._kernels[key] = self._compiled(kinds, places, floating)
        return self._kernels[key]

    def _mapped(
        self, compiler: Compiler, ops: Operators, kinds: Sequence[Type], places: Sequence[bool]
    ) -> Value:
        """Declare the inputs; return the value that an element gives."""
        program = ops.program
        values = []
        for place, (kind, is_array) in enumerate(zip(kinds, places, strict=True)):
            param = program.param(f"a{place}", kind.name, "elementwise" if is_array else "scalar")
            values.append(Value(kind, program.expr("param", kind.name, index=param)))
        if self.map is None:
            return values[0]
        return compiler.invoked(ops, self.map._jit_source(), values)

    def _combined(self, compiler: Compiler, ops: Operators, kind: Type) -> tuple[Value, list[int]]:
        """Return the combination of two values of a type, and the locals of the two."""
        both = [ops.program.local(name, kind.name) for name in ("a", "b")]
        values = [Value(kind, ops.program.expr("local", kind.name, index=each)) for each in both]
        return compiler.invoked(ops, self._jit_source(), values), both

    def _compiled(
        self, kinds: Sequence[Type], places: Sequence[bool], floating: str
    ) -> ProgramKernel:
        source = self._jit_source()
        if len(parameters_of(source)) != 2:
            raise error_at(
                source, None, "jit_statement", "a reduction's function takes two numbers",
                "write: def combine(a, b)",
            )  # fmt: skip
        compiler = Compiler(floating)
        kind = self._total_type(compiler, kinds, places)
        program = Program()
        ops = Operators(program, floating)
        mapped = self._mapped(compiler, ops, kinds, places)
        result = program.param("r", kind.name, "elementwise", access="write")
        element = program.local("mapped", kind.name)
        value, both = self._combined(compiler, ops, kind)
        combine = ops.id_of(ops.convert(value, kind))
        with program.block() as body:
            program.stmt("assign", target=element, value=ops.id_of(ops.convert(mapped, kind)))
        with program.block() as post:
            total = program.expr("local", kind.name, index=both[0])
            program.stmt("store", target=result, value=total)
        identity = self._identity(ops, kind)
        program.reduction([(element, *both, combine, identity)], post[0])
        return ProgramKernel(source.name, program.text(body[0]), len(kinds), 1)

    def _total_type(
        self, compiler: Compiler, kinds: Sequence[Type], places: Sequence[bool]
    ) -> Type:
        """Return the type that holds an element, and each combination of two values."""
        ops = Operators(Program(), compiler.floating)
        kind = stored(self._mapped(compiler, ops, kinds, places).type)
        for _ in range(_MOST_TRIALS):
            wider = promote(kind, self._combined(compiler, ops, kind)[0].type)
            if wider == kind:
                return kind
            kind = wider
        raise error_at(
            self._jit_source(), None, "jit_type", "the type of the result cannot be decided",
            "return a value of the parameters' type",
        )  # fmt: skip

    def _identity(self, ops: Operators, kind: Type) -> int:
        if self.identity is None:
            return NONE
        try:
            return ops.id_of(ops.convert(ops.number(self.identity), kind))
        except (Refused, OverflowError, ValueError):
            name = self.py_func.__name__
            message = f"{name}(): the identity {self.identity!r} does not fit {kind}."
            raise coded(TypeError(message), "jit_arguments") from None

    def _run_plainly(
        self, arguments: Sequence[Any], axes: Sequence[int] | None, keepdims: bool
    ) -> ndarray:
        held = [a.get() if isinstance(a, ndarray) else a for a in arguments]
        shape = np.broadcast_shapes(*(np.shape(a) for a in held))
        spread = [np.broadcast_to(a, shape) if isinstance(a, np.ndarray) else a for a in held]
        every = range(len(shape)) if axes is None else axes
        gone = {axis % max(len(shape), 1) for axis in every}
        kept = [1 if axis in gone else extent for axis, extent in enumerate(shape)]
        rows: dict[tuple[int, ...], list[Any]] = {index: [] for index in np.ndindex(*kept)}
        with np.errstate(all="ignore"):
            for index in np.ndindex(*shape):
                element = [a[index] if isinstance(a, np.ndarray) else a for a in spread]
                value = element[0] if self.map is None else self.map.py_func(*element)
                row = tuple(0 if axis in gone else at for axis, at in enumerate(index))
                rows[row].append(value)
            totals = [self._total(row) for row in rows.values()]
        floating = floating_for(type_names(arguments))
        result = joined(totals, floating).reshape(kept) if totals else np.zeros(kept)
        if not keepdims:
            result = result.reshape([e for axis, e in enumerate(shape) if axis not in gone])
        return array(result)

    def _total(self, row: list[Any]) -> Any:
        if row:
            return functools.reduce(self.py_func, row)
        if self.identity is None:
            message = f"{self.py_func.__name__}(): no elements, and no identity."
            raise coded(ValueError(message), "empty_reduction")
        return self.identity


def reduce(
    function: Callable[..., Any] | None = None, *, identity: Any = None, map: Any = None,
    debug: bool = False,
) -> Any:  # fmt: skip
    """Make a function that combines two numbers a reduction of arrays, compiled to one kernel.

    Parameters
    ----------
    function : function
        It takes two numbers and returns one. It has to be associative and commutative, because
        elements are combined in no particular order.
    identity : number, optional
        The result of no elements; without it an empty reduction is an error.
    map : function, optional
        It computes the numbers that are combined from the elements of one or more arrays.
    debug : bool
        As for :func:`vectorize`.

    Returns
    -------
    Reduced
        Called with an array, ``axis=`` and ``keepdims=``.

    Examples
    --------
    >>> @reduce(identity=0)
    ... def largest(a, b):
    ...     return a if abs(a) > abs(b) else b
    """
    if function is None:
        return lambda made: Reduced(made, identity, map, debug)
    return Reduced(function, identity, map, debug)
