"""Kernels over a grid: functions that write elements of arrays at positions of their own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from .._core.creation import array
from .._core.kernels import ProgramKernel
from .._core.ndarray import ndarray
from .arguments import check_count, prepared, types_of
from .arrays import ArrayRef, Threads
from .compiler import Compiler, FunctionBody, Inferred
from .errors import coded, error_at
from .operators import Value
from .positions import each_thread
from .program import Program
from .source import Source
from .types import Type

#: The largest number of threads in a grid.
MOST_THREADS: Final = 2**31 - 1
#: The threads in a block where `forall` chooses them.
_FORALL_THREADS: Final = 128


class _GridBody(FunctionBody):
    """The body of a kernel over a grid."""

    def __init__(self, *args: Any, threads: Threads) -> None:
        super().__init__(*args)
        self.threads = threads

    def give(self, node: ast.Return) -> None:
        if node.value is not None and not (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            raise self.error(
                node, "jit_return", "a kernel over a grid returns no value",
                "write it to an element of an array",
            )  # fmt: skip
        self.program.stmt("give")

    def at_end(self) -> None:
        """A kernel may end without ``return``."""


@dataclass(frozen=True)
class GridKernel:
    """A compiled kernel.

    Attributes
    ----------
    kernel : ProgramKernel
    inputs, outputs : tuple of int
        The places of the arguments that are read only, and of those that are written.
    """

    kernel: ProgramKernel
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def compile_grid(source: Source, arguments: Sequence[Any], axes: int) -> GridKernel:
    """Compile a kernel for the types of its arguments and a grid of ``axes`` axes."""
    kinds, floating = types_of(source.name, arguments)
    compiler = Compiler(floating)
    compiler.enter(source)
    given = [_argument(place, a, kinds[place]) for place, a in enumerate(arguments)]
    empty = Threads((0,) * axes, (0,) * axes)
    # A first pass finds which arrays are written, because inputs precede outputs.
    inferred: Inferred = compiler.inferred(_GridBody, source, given, threads=empty)
    outputs = tuple(p for p, a in enumerate(given) if isinstance(a, ArrayRef) and a.writes)
    inputs = tuple(p for p in range(len(given)) if p not in outputs)
    if not outputs:
        raise error_at(
            source, None, "jit_return", "this kernel writes to no array",
            "assign to an element, as in out[i] = x, or take @arraycore.vectorize",
        )  # fmt: skip
    program = Program()
    numbers = {place: _declared(program, given[place], place) for place in inputs}
    words = [program.param(f"launch{k}", "int32", "scalar") for k in range(2 * axes)]
    numbers |= {place: _declared(program, given[place], place) for place in outputs}
    final = [_placed(program, a, numbers[place]) for place, a in enumerate(given)]
    threads = Threads(tuple(words[:axes]), tuple(words[axes:]))
    with program.block() as body:
        _GridBody(compiler, source, program, final, inferred, threads=threads).run()
    nin = len(inputs) + len(words)
    return GridKernel(
        ProgramKernel(source.name, program.text(body[0]), nin, len(outputs)), inputs, outputs
    )


def _argument(place: int, argument: Any, kind: Type) -> Value | ArrayRef:
    if isinstance(argument, ndarray):
        return ArrayRef(f"a{place}", kind.name, argument.ndim, place)
    return Value(kind, 0, positive=kind.kind == "u")


def _declared(program: Program, argument: Value | ArrayRef, place: int) -> int:
    name = f"a{place}"
    if isinstance(argument, Value):
        return program.param(name, argument.type.name, "scalar")
    access = "read"
    if argument.writes:
        access = "read_write" if argument.reads else "write"
    ndim = argument.ndim or -1
    return program.param(
        name, argument.dtype, "raw", access=access, ndim=ndim, atomic=argument.atomics
    )


def _placed(program: Program, argument: Value | ArrayRef, number: int) -> Value | ArrayRef:
    if isinstance(argument, ArrayRef):
        return replace(argument, number=number)
    read = program.expr("param", argument.type.name, index=number)
    return replace(argument, id=read)


def extents(name: str, given: Any) -> tuple[int, ...]:
    """Return the extents of a grid or block: an int, or up to three of them.

    Raises
    ------
    ValueError
        ``jit_grid``: they are no such numbers.
    """
    parts = given if isinstance(given, (tuple, list)) else (given,)
    numbers = [int(part) for part in parts if isinstance(part, (int, np.integer))]
    if not 1 <= len(parts) <= 3 or len(numbers) != len(parts) or min(numbers) < 0:
        message = f"{name}: a grid has one to three whole numbers, not {given!r}."
        raise coded(ValueError(message), "jit_grid")
    return tuple(numbers)


class GridLaunch:
    """A kernel with its grid: a call runs it once for each thread.

    Parameters
    ----------
    jitted : Jitted
        The function.
    blocks, threads : int or sequence of int
        The blocks, and the threads of each block, along x, y and z.
    """

    def __init__(self, jitted: Any, blocks: Any, threads: Any) -> None:
        self._jitted = jitted
        name = jitted.py_func.__name__
        blocks, threads = extents(name, blocks), extents(name, threads)
        axes = max(len(blocks), len(threads))
        self._blocks = (*blocks, 1, 1)[:axes]
        self._threads = (*threads, 1, 1)[:axes]
        self._size = int(np.prod([*self._blocks, *self._threads], dtype=object))
        if self._size > MOST_THREADS:
            message = f"{name}: the grid has {self._size} threads, and at most {MOST_THREADS} run."
            raise coded(ValueError(message), "jit_grid")

    def __call__(self, *args: Any) -> None:
        """Run the kernel. Arrays that it writes must be arraycore's.

        Raises
        ------
        CompileError
            The function cannot be compiled; the message shows the place, and a remedy.
        TypeError
            ``jit_arguments``: the arguments do not fit.
        """
        jitted = self._jitted
        name = jitted.py_func.__name__
        check_count(name, jitted.py_func.__code__.co_argcount, len(args))
        arguments = prepared(name, args)
        if jitted._plain():
            _run_plainly(jitted.py_func, self._blocks, self._threads, arguments)
            return
        found = self._compiled(arguments)
        for place in found.outputs:
            if not isinstance(args[place], ndarray):
                message = (
                    f"{name}(): the kernel writes to argument {place + 1}, which is a "
                    f"{type(args[place]).__name__}: pass an array of arraycore."
                )
                raise coded(TypeError(message), "jit_arguments")
        words = [*self._threads, *self._blocks]
        ordered = [*(arguments[p] for p in found.inputs), *words]
        found.kernel.run([*ordered, *(arguments[p] for p in found.outputs)], self._size)

    def _compiled(self, arguments: Sequence[Any]) -> GridKernel:
        jitted = self._jitted
        axes = len(self._threads)
        kinds, floating = types_of(jitted.py_func.__name__, arguments)
        ndims = tuple(a.ndim if isinstance(a, ndarray) else -1 for a in arguments)
        key = (kinds, ndims, floating, axes)
        if key not in jitted._grids:
            jitted._grids[key] = compile_grid(jitted._jit_source(), arguments, axes)
        found: GridKernel = jitted._grids[key]
        return found


def for_all(jitted: Any, count: int) -> Callable[..., None]:
    """Return the launch of a kernel over a grid of one axis, with exactly ``count`` threads."""
    if count % _FORALL_THREADS == 0:
        return GridLaunch(jitted, count // _FORALL_THREADS, _FORALL_THREADS)
    return GridLaunch(jitted, count, 1)


def _run_plainly(
    function: Callable[..., Any], blocks: tuple[int, ...], threads: tuple[int, ...],
    arguments: Sequence[Any],
) -> None:  # fmt: skip
    """Run the function for each thread, one after the other, on NumPy's arrays."""
    held = [a.get() if isinstance(a, ndarray) else a for a in arguments]
    before = [a.tobytes() if isinstance(a, np.ndarray) else b"" for a in held]
    with np.errstate(all="ignore"):
        for _ in each_thread(blocks, threads):
            function(*held)
    for argument, values, old in zip(arguments, held, before, strict=True):
        if isinstance(values, np.ndarray) and values.tobytes() != old:
            argument[...] = array(values)
