"""The decorators ``jit`` and ``vectorize``."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, Final

from .._core.kernels import ProgramKernel
from .._core.ndarray import ndarray
from . import plain
from .arguments import check_count, prepared, types_of
from .compiler import Compiler, FunctionBody, Inferred, parameters_of
from .errors import coded
from .kernels import GridKernel, GridLaunch, for_all
from .operators import Value
from .program import Program
from .source import Source
from .types import Type

#: Numba's options that change nothing here.
_OPTIONS: Final = frozenset(
    ("nopython", "cache", "fastmath", "inline", "device", "nogil", "target", "parallel", "identity")
)


def is_plain() -> bool:
    """Return whether ``ARRAYCORE_JIT=0`` asks for plain Python."""
    return os.environ.get("ARRAYCORE_JIT", "1") == "0"


class Jitted:
    """A Python function that compiled functions may call, or a kernel over a grid.

    Called from Python it is the function itself. ``kernel[blocks, threads](...)`` runs it for each
    thread of a grid.

    Attributes
    ----------
    py_func : function
        The function.
    """

    def __init__(self, function: Callable[..., Any], debug: bool = False) -> None:
        if not callable(function) or not hasattr(function, "__code__"):
            raise TypeError(f"A Python function is compiled, not {type(function).__name__}.")
        functools.update_wrapper(self, function)
        self.py_func = function
        self.debug = debug
        self._source: Source | None = None
        self._grids: dict[Any, GridKernel] = {}

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)

    def __getitem__(self, launch: Any) -> GridLaunch:
        """Return the launch over a grid: ``kernel[blocks, threads](...)``, each along up to three
        axes. CUDA's stream and size of shared memory may follow, and change nothing.
        """
        if not isinstance(launch, tuple) or not 2 <= len(launch) <= 4:
            message = f"Write {self.py_func.__name__}[blocks, threads](...)."
            raise coded(ValueError(message), "jit_grid")
        return GridLaunch(self, launch[0], launch[1])

    def forall(self, count: int) -> Callable[..., None]:
        """Return the launch over ``count`` threads along one axis."""
        return for_all(self, count)

    def __reduce__(self) -> tuple[Any, ...]:
        # A study's bundle writes the function's source, and not what was compiled from it.
        return type(self), (self.py_func, self.debug)

    def __repr__(self) -> str:
        return f"<arraycore.{type(self).__name__.lower()} {self.py_func.__name__!r}>"

    def _jit_source(self) -> Source:
        """Return the definition, read once."""
        if self._source is None:
            self._source = Source(self.py_func)
        return self._source

    def _plain(self) -> bool:
        return self.debug or is_plain()


def stored(kind: Type) -> Type:
    """Return the type of a result's elements. Python's ints become int64, as in NumPy."""
    return Type("int64" if kind.weak and kind.kind == "i" else kind.name)


class _ElementBody(FunctionBody):
    """The body of a kernel that computes one element of each result."""

    def __init__(self, *args: Any, outputs: list[int] | None = None) -> None:
        super().__init__(*args)
        self._outputs = outputs

    def give(self, node: Any) -> None:
        values = self.returned(node)
        if self._outputs is None:
            return  # a pass that only finds types
        for target, value in zip(self._outputs, values, strict=True):
            result = self.ops.id_of(self.ops.convert(value, stored(value.type)))
            self.program.stmt("store", target=target, value=result)
        self.program.stmt("give")


class Vectorized(Jitted):
    """A function of numbers that is called with arrays, and computes each element of its results.

    Arrays broadcast. Each combination of dtypes is compiled once.
    """

    def __init__(self, function: Callable[..., Any], debug: bool = False) -> None:
        super().__init__(function, debug)
        self._kernels: dict[Any, tuple[ProgramKernel, int]] = {}

    def __call__(self, *args: Any, out: Any = None) -> Any:
        """Compute the function for each element.

        Parameters
        ----------
        *args : array_like
            Arrays, and numbers, of which Python's have no dtype of their own, as in NumPy. Without
            an array the plain function is called.
        out : ndarray or tuple of ndarray, optional
            Arrays that receive the results.

        Returns
        -------
        ndarray or tuple of ndarray
            One array for each value that the function returns.

        Raises
        ------
        CompileError
            The function cannot be compiled; the message shows the place, and a remedy.
        TypeError
            ``jit_arguments``: another number of arguments, or one that is no number or array.
        """
        name = self.py_func.__name__
        if not self._plain():
            self._jit_source()
            parameters_of(self._jit_source())
        check_count(name, self.py_func.__code__.co_argcount, len(args))
        arguments = prepared(name, args)
        if not any(isinstance(argument, ndarray) for argument in arguments):
            if out is not None:
                raise coded(
                    TypeError(f"{name}(): 'out' needs an array among the arguments."),
                    "jit_arguments",
                )
            return self.py_func(*arguments)
        outputs = () if out is None else out if isinstance(out, tuple) else (out,)
        if self._plain():
            return plain.vectorize(self.py_func, arguments, outputs)
        kernel, nout = self._kernel(arguments)
        if outputs and len(outputs) != nout:
            message = f"{name}() has {nout} results, and 'out' has {len(outputs)}."
            raise coded(TypeError(message), "jit_arguments")
        results = kernel.run([*arguments, *outputs])
        return results[0] if nout == 1 else results

    def _kernel(self, arguments: Sequence[Any]) -> tuple[ProgramKernel, int]:
        kinds, floating = types_of(self.py_func.__name__, arguments)
        arrays = tuple(isinstance(argument, ndarray) for argument in arguments)
        key = (kinds, arrays, floating)
        if key not in self._kernels:
            self._kernels[key] = self._compiled(kinds, arrays, floating)
        return self._kernels[key]

    def _compiled(
        self, kinds: Sequence[Type], arrays: Sequence[bool], floating: str
    ) -> tuple[ProgramKernel, int]:
        source = self._jit_source()
        compiler = Compiler(floating)
        compiler.enter(source)
        program = Program()
        arguments = []
        for place, (kind, is_array) in enumerate(zip(kinds, arrays, strict=True)):
            param = program.param(f"a{place}", kind.name, "elementwise" if is_array else "scalar")
            read = program.expr("param", kind.name, index=param)
            arguments.append(Value(kind, read, positive=kind.kind == "u"))
        inferred: Inferred = compiler.inferred(_ElementBody, source, arguments)
        outputs = [
            program.param(f"r{place}", stored(kind).name, "elementwise", access="write")
            for place, kind in enumerate(inferred.results)
        ]
        with program.block() as body:
            _ElementBody(compiler, source, program, arguments, inferred, outputs=outputs).run()
        kernel = ProgramKernel(source.name, program.text(body[0]), len(kinds), len(outputs))
        return kernel, len(outputs)


def _decorated(kind: type[Any], function: Any, debug: bool, options: dict[str, Any]) -> Any:
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise TypeError(f"There is no option {unknown[0]!r}; docs/jit.md lists the options.")
    if isinstance(function, (str, list, tuple)):
        raise TypeError("Types are those of the arguments: leave the signature out.")
    if function is None:
        return lambda made: kind(made, debug)
    return kind(function, debug)


def jit(function: Callable[..., Any] | None = None, *, debug: bool = False, **options: Any) -> Any:
    """Compile a function, for others that call it, or as a kernel over a grid.

    Parameters
    ----------
    function : function
        A function of numbers, or a kernel that writes elements of arrays at its position in a
        grid (``docs/jit.md`` says what is compiled).
    debug : bool
        Whether kernels of this function run as plain Python, so that breakpoints stop in it.
    **options
        Numba's options ``nopython``, ``cache``, ``fastmath``, ``inline``, ``device``, ``nogil``,
        ``target``, ``parallel`` and ``identity``, which change nothing here.
    """
    return _decorated(Jitted, function, debug, options)


def vectorize(
    function: Callable[..., Any] | None = None, *, debug: bool = False, **options: Any
) -> Any:
    """Make a function of numbers one of arrays, compiled to one kernel.

    Parameters
    ----------
    function : function
        It takes and returns numbers; several results are a tuple (``docs/jit.md`` says what is
        compiled).
    debug : bool
        Whether to run plain Python for each element, so that breakpoints stop in the function.
        ``ARRAYCORE_JIT=0`` asks for this everywhere.
    **options
        As for :func:`jit`.

    Returns
    -------
    Vectorized
        Called with arrays, which broadcast.

    Examples
    --------
    >>> @vectorize
    ... def clipped(x, limit):
    ...     return limit if x > limit else x
    """
    return _decorated(Vectorized, function, debug, options)
