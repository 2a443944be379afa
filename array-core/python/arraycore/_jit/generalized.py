"""The decorator ``guvectorize``: functions of small arrays, over the other axes of larger ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.creation import array, zeros
from .._core.kernels import ProgramKernel
from .._core.ndarray import ndarray
from .._manipulation.views import broadcast_to
from .arguments import check_count, prepared, type_names, types_of
from .arrays import ArrayRef
from .compiler import Compiler, FunctionBody, Inferred
from .decorators import Jitted, stored
from .errors import coded, error_at
from .operators import Value
from .plain import joined
from .program import Program
from .types import PYTHON_BOOL, Type, floating_for

_CORE = re.compile(r"\(([^()]*)\)")
_MOST_PASSES = 8


@dataclass(frozen=True)
class Layout:
    """The core axes of inputs and outputs, by name: ``(m,n),(n)->(m)``."""

    inputs: tuple[tuple[str, ...], ...]
    outputs: tuple[tuple[str, ...], ...]


def layout_of(text: str) -> Layout:
    """Parse the layout of a generalised ufunc.

    Raises
    ------
    ValueError
        ``jit_layout``: the text is none, or an output has an axis that no input has.
    """
    sides = text.replace(" ", "").split("->")
    parts = [
        tuple(tuple(filter(None, core.split(","))) for core in _CORE.findall(side))
        for side in sides
    ]
    plain = [re.sub(r"\([A-Za-z0-9_,]*\)", "()", side) for side in sides]
    well = len(sides) == 2 and all(re.fullmatch(r"\(\)(,\(\))*", side) for side in plain)
    names = [name for side in parts for core in side for name in core]
    well = well and all(name.isidentifier() for name in names)
    known = {name for core in parts[0] for name in core}
    if not well or any(name not in known for core in parts[-1] for name in core):
        message = (
            f"{text!r} is no layout such as '(m,n),(n)->(m)', whose outputs have inputs' axes."
        )
        raise coded(ValueError(message), "jit_layout")
    return Layout(parts[0], parts[1])


class _CoreBody(FunctionBody):
    """The body of a function that computes one core of each output.

    The position among the outer axes is kept in variables, from which each array's index begins.
    """

    def __init__(self, *args: Any, outer: int, first: int) -> None:
        super().__init__(*args)
        self._outer, self._first = outer, first

    def run(self) -> Inferred:
        number = self.program.expr("loop_index", "int32")
        at: list[int] = []
        for axis in range(self._outer - 1, -1, -1):
            place = self.program.constant(axis, "int32")
            extent = self.program.expr("param_shape", "int32", [place], index=self._first)
            here = number
            if axis > 0:
                here = self.program.expr("remainder", "int32", [number, extent])
                number = self.program.expr("divide", "int32", [number, extent])
            target = self.program.local("at", "int32")
            self.program.stmt("assign", target=target, value=here)
            at.insert(0, self.program.expr("local", "int32", index=target))
        for ref in self.arrays.values():
            ref.outer = tuple(at)
        return super().run()

    def index(self, array: ArrayRef, node: ast.expr) -> list[int]:
        if array.ndim > 0 or not array.writes:
            return super().index(array, node)
        if not isinstance(node, ast.Constant) or node.value != 0:
            raise self.error(
                node, "jit_index", f"{array.name!r} has one element", f"write {array.name}[0]"
            )
        return list(array.outer) or [self.program.constant(0, "int32")]

    def store_at(self, node: ast.Subscript, value: Value) -> None:
        target = self.array_of(node.value)
        if not target.writes:
            raise self.error(
                node, "jit_index", f"{target.name!r} is an input and cannot be written",
                "write to a parameter after '->' of the layout",
            )  # fmt: skip
        target.joins(value.type)
        super().store_at(node, value)

    def _subscript(self, node: ast.Subscript) -> Value:
        is_array = isinstance(node.value, ast.Name) and node.value.id in self.arrays
        target = self.array_of(node.value) if is_array else None
        if target is not None and target.writes and target.kind is None:
            # Nothing was written yet: what is read is 0, whose type is the narrowest.
            target.reads = True
            return Value(PYTHON_BOOL, self.program.constant(False, "bool"))
        return super()._subscript(node)

    def give(self, node: ast.Return) -> None:
        if node.value is not None:
            raise self.error(
                node, "jit_return", "this function returns no value", "write it to an output"
            )
        self.program.stmt("give")

    def at_end(self) -> None:
        """The function may end without ``return``."""


class Generalized(Jitted):
    """A function of cores of arrays, called with arrays whose further axes broadcast."""

    def __init__(self, function: Callable[..., Any], layout: str, debug: bool = False) -> None:
        super().__init__(function, debug)
        self.layout = layout
        self._layout = layout_of(layout)
        self._kernels: dict[Any, tuple[ProgramKernel, list[str]]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.py_func, self.layout, self.debug)

    def __call__(self, *args: Any) -> Any:
        """Compute the function for each position among the outer axes.

        Parameters
        ----------
        *args : array_like
            The inputs.

        Returns
        -------
        ndarray or tuple of ndarray
            The outputs. Elements that the function does not write are 0.

        Raises
        ------
        CompileError
            The function cannot be compiled; the message shows the place, and a remedy.
        TypeError
            ``jit_arguments``: another number of arguments, or no array.
        ValueError
            ``jit_shapes``: an array has too few axes, or axes of one name have other extents.
        """
        name = self.py_func.__name__
        inputs, outputs = self._layout.inputs, self._layout.outputs
        check_count(name, len(inputs), len(args))
        arguments = prepared(name, args)
        if not any(isinstance(a, ndarray) for a in arguments):
            raise coded(TypeError(f"{name}() takes arrays."), "jit_arguments")
        outer, sizes = self._shapes(name, arguments)
        spread = [
            broadcast_to(a, (*outer, *(sizes[n] for n in core))) if isinstance(a, ndarray) else a
            for a, core in zip(arguments, inputs, strict=True)
        ]
        shapes = [(*outer, *(sizes[n] for n in core)) for core in outputs]
        if self._plain():
            return self._run_plainly(spread, outer, shapes)
        kernel, dtypes = self._kernel(spread, len(outer))
        made = tuple(zeros(s, d) for s, d in zip(shapes, dtypes, strict=True))
        kernel.run([*spread, *made], int(np.prod(outer, dtype=object)))
        return made[0] if len(made) == 1 else made

    def _shapes(
        self, name: str, arguments: Sequence[Any]
    ) -> tuple[tuple[int, ...], dict[str, int]]:
        sizes: dict[str, int] = {}
        outers = []
        for place, (argument, core) in enumerate(
            zip(arguments, self._layout.inputs, strict=True), 1
        ):
            shape = argument.shape if isinstance(argument, ndarray) else ()
            if len(shape) < len(core):
                message = (
                    f"{name}(): argument {place} has {len(shape)} axes, and ({','.join(core)})"
                )
                raise coded(ValueError(f"{message} names {len(core)}."), "jit_shapes")
            own = len(shape) - len(core)
            outers.append(shape[:own])
            for axis, extent in zip(core, shape[own:], strict=True):
                if sizes.setdefault(axis, extent) != extent:
                    message = f"{name}(): the axis {axis!r} is {sizes[axis]} and {extent} long."
                    raise coded(ValueError(message), "jit_shapes")
        return np.broadcast_shapes(*outers), sizes

    def _kernel(self, arguments: Sequence[Any], outer: int) -> tuple[ProgramKernel, list[str]]:
        kinds, floating = types_of(self.py_func.__name__, arguments)
        places = tuple(isinstance(argument, ndarray) for argument in arguments)
        key = (kinds, places, floating, outer)
        if key not in self._kernels:
            self._kernels[key] = self._compiled(kinds, places, floating, outer)
        return self._kernels[key]

    def _compiled(
        self, kinds: Sequence[Type], places: Sequence[bool], floating: str, outer: int
    ) -> tuple[ProgramKernel, list[str]]:
        source = self._jit_source()
        cores = [*self._layout.inputs, *self._layout.outputs]
        given: list[Value | ArrayRef] = []
        for place, core in enumerate(cores):
            is_output = place >= len(kinds)
            kind = None if is_output else kinds[place]
            number = place
            if is_output or (places[place] and core):
                name = "float32" if kind is None else kind.name
                ref = ArrayRef(f"a{place}", name, len(core), number, writes=is_output)
                given.append(ref)
            else:
                assert kind is not None
                given.append(Value(kind, 0, positive=kind.kind == "u"))
        self._check_parameters(len(given))
        first = places.index(True)
        compiler = Compiler(floating)
        compiler.enter(source)
        outs = [a for a in given[len(kinds) :] if isinstance(a, ArrayRef)]
        for _ in range(_MOST_PASSES):
            before = [ref.kind for ref in outs]
            inferred = compiler.inferred(_CoreBody, source, given, outer=outer, first=first)
            for ref in outs:
                ref.dtype = stored(ref.kind or Type("float32")).name
            if [ref.kind for ref in outs] == before:
                break
        unwritten = [ref.name for ref in outs if ref.kind is None]
        if unwritten:
            raise error_at(
                source, None, "jit_return", "an output is written nowhere",
                "assign to its elements, as in out[0] = x",
            )  # fmt: skip
        program = Program()
        program_args = self._declared(program, given, kinds, places, outer)
        with program.block() as body:
            _CoreBody(
                compiler, source, program, program_args, inferred, outer=outer, first=first
            ).run()
        dtypes = [ref.dtype for ref in outs]
        return ProgramKernel(source.name, program.text(body[0]), len(kinds), len(outs)), dtypes

    def _check_parameters(self, wanted: int) -> None:
        source = self._jit_source()
        if self.py_func.__code__.co_argcount != wanted:
            raise error_at(
                source, None, "jit_statement",
                f"the layout {self.layout!r} has {wanted} parts, and the function other parameters",
                "write a parameter for each input, and then for each output",
            )  # fmt: skip

    @staticmethod
    def _declared(
        program: Program, given: Sequence[Value | ArrayRef], kinds: Sequence[Type],
        places: Sequence[bool], outer: int,
    ) -> list[Value | ArrayRef]:  # fmt: skip
        """Declare the parameters. An array without core axes is read at the outer position."""
        out: list[Value | ArrayRef] = []
        for place, argument in enumerate(given):
            if isinstance(argument, ArrayRef):
                access = "read"
                if argument.writes:
                    access = "read_write" if argument.reads else "write"
                ndim = (outer + argument.ndim) or -1
                program.param(f"a{place}", argument.dtype, "raw", access=access, ndim=ndim)
                out.append(argument)
            elif places[place]:
                param = program.param(f"a{place}", kinds[place].name, "raw", ndim=outer or -1)
                out.append(_outer_element(program, argument, param, outer))
            else:
                param = program.param(f"a{place}", kinds[place].name, "scalar")
                read = program.expr("param", kinds[place].name, index=param)
                out.append(Value(argument.type, read, positive=argument.positive))
        return out

    def _run_plainly(
        self, arguments: Sequence[Any], outer: tuple[int, ...], shapes: Sequence[tuple[int, ...]]
    ) -> Any:
        held = [a.get() if isinstance(a, ndarray) else a for a in arguments]
        floating = floating_for(type_names(arguments))
        outs = [np.zeros(s if s[len(outer) :] else (*s, 1), object) for s in shapes]
        with np.errstate(all="ignore"):
            for index in np.ndindex(*outer):
                inputs = [a[index] if isinstance(a, np.ndarray) else a for a in held]
                self.py_func(*inputs, *(o[index] for o in outs))
        typed = [joined(o.ravel().tolist(), floating) for o in outs]
        made = tuple(array(o.reshape(shape)) for o, shape in zip(typed, shapes, strict=True))
        return made[0] if len(made) == 1 else made


def _outer_element(program: Program, value: Value, param: int, outer: int) -> Value:
    """Return the element of an array that has outer axes only."""
    number = program.expr("loop_index", "int32")
    at: list[int] = []
    for axis in range(outer - 1, -1, -1):
        here = number
        if axis > 0:
            place = program.constant(axis, "int32")
            extent = program.expr("param_shape", "int32", [place], index=param)
            here = program.expr("remainder", "int32", [number, extent])
            number = program.expr("divide", "int32", [number, extent])
        at.insert(0, here)
    if not at:
        at = [program.constant(0, "int32")]
    read = program.expr("param_at", value.type.name, at, index=param)
    return Value(value.type, read, positive=value.positive)


def guvectorize(layout: str, *, debug: bool = False) -> Callable[[Callable[..., Any]], Generalized]:
    """Make a function of small arrays one of larger arrays, compiled to one kernel.

    Parameters
    ----------
    layout : str
        The axes that the function sees, as for NumPy's generalised ufuncs: ``"(m,n),(n)->(m)"``.
        ``()`` of an input is a number. The outputs are the function's last parameters, to whose
        elements it writes; ``()`` of an output has one element.
    debug : bool
        As for :func:`vectorize`.

    Returns
    -------
    Generalized
        Called with the inputs, whose further axes broadcast.

    Examples
    --------
    >>> @guvectorize("(n),()->(n)")
    ... def add_to_each(x, y, out):
    ...     for i in range(x.shape[0]):
    ...         out[i] = x[i] + y
    """
    return lambda function: Generalized(function, layout, debug)
