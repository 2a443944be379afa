"""Kernels that users write: CuPy's elementwise and reduction kernels, and shaders in WGSL.

``src/abi/calls/kernels.h`` describes a kernel's texts, and the words that encode a call. A call
crosses from Python into array-core once, and once more for each new output after the first.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._runtime import opcodes, operations, session
from .._runtime.calls import call, int64, int64s, integers
from .._runtime.scalars import scalar_words
from .ndarray import ndarray

_ELEMENTWISE, _REDUCTION, _RAW, _PROGRAM = range(4)
_ARRAY, _BORROWED = -1, -2
_MOST_GROUPS = 0xFFFFFFFF


class _Kernel:
    """A kernel: its texts, and the number that array-core gave it."""

    __slots__ = ("__weakref__", "_kind", "_number", "_texts", "name")

    def __init__(self, kind: int, name: str, texts: Sequence[str]) -> None:
        for text in texts:
            if "\0" in text:
                raise ValueError(f"kernel {name!r}: its text holds a zero character")
        self.name = name
        self._kind = kind
        self._texts = "".join(text + "\0" for text in texts)
        self._number = self._made()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def _made(self) -> int:
        return session.check(session.bridge.kernel(self._kind, self._texts))

    def _call(self, operation: int, words: list[int]) -> int:
        """Run the kernel. If the library was closed and opened again, it does not know the kernel,
        so the kernel is made again first.
        """
        try:
            return call(operation, self._number, *words)
        except ValueError as error:
            if getattr(error, "code", "") != "unknown_kernel":
                raise
        self._number = self._made()
        return call(operation, self._number, *words)


class _TypedKernel(_Kernel):
    """The base of elementwise and reduction kernels: encodes the inputs and outputs of a call."""

    __slots__ = ("nargs", "nin", "nout")

    def __init__(
        self, kind: int, name: str, in_params: str, out_params: str, texts: Sequence[str]
    ) -> None:
        super().__init__(kind, name, (name, in_params, out_params, *texts))
        self.nin = _number_of_params(in_params)
        self.nout = _number_of_params(out_params)
        self.nargs = self.nin + self.nout

    def _argument_words(self, words: list[int], args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Append the words of a call's arguments to ``words``; return the outputs among these."""
        nin = self.nin
        if len(args) != nin and len(args) != self.nargs:
            raise TypeError(f"Wrong number of arguments for {self.name!r}")
        words.append(nin)
        for argument in args[:nin]:
            if isinstance(argument, ndarray):
                words += (_ARRAY, argument._id)
            else:
                words += scalar_words(argument)
        return self._output_words(words, args[nin:])

    @staticmethod
    def _output_words(words: list[int], out: tuple[Any, ...]) -> tuple[Any, ...]:
        words.append(len(out))
        for array in out:
            if not isinstance(array, ndarray):
                raise TypeError(f"Output arguments must be arraycore.ndarray, not {type(array)}")
            words.append(array._id)
        return out

    def _outputs(self, first: int) -> tuple[ndarray, ...]:
        """Return the arrays that a call made for its outputs; ``first`` is the first one's id."""
        if self.nout == 0:
            return ()
        made = [ndarray._adopt(first)]
        made += [ndarray._adopt(operations.kernel_result(which)) for which in range(1, self.nout)]
        return tuple(made)


class ElementwiseKernel(_TypedKernel):
    """A kernel that runs once for each element, as CuPy's ``ElementwiseKernel``.

    Its texts are in CuPy's dialect of C++ (``docs/dialect.md``). They are compiled once for each
    combination of dtypes that it is called with.

    Parameters
    ----------
    in_params, out_params : str
        Such as ``"T x, raw S y, float32 z"``: a dtype or a type letter, and a name; ``raw`` marks
        an array that the text indexes.
    operation : str
        The code that runs for each element.
    name : str
        The name that error messages show.
    preamble : str
        Functions and macros for the operation.
    no_return : bool
        Whether a call returns None.
    return_tuple : bool
        Whether a call returns a tuple even if there is one output.
    loop_prep, after_loop : str
        Code that runs before and after each element's operation.
    reduce_dims, options
        Accepted for compatibility with CuPy; without effect, but options for macros are refused.

    Raises
    ------
    ValueError
        A parameter list cannot be read.
    """

    __slots__ = ("no_return", "operation", "return_tuple")

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        *,
        loop_prep: str = "",
        after_loop: str = "",
        options: Sequence[str] = (),
    ) -> None:
        _check_options(name, options)
        texts = (operation, preamble, loop_prep, after_loop)
        super().__init__(_ELEMENTWISE, name, in_params, out_params, texts)
        self.operation = operation
        self.no_return = no_return
        self.return_tuple = return_tuple

    def __call__(
        self, *args: Any, size: int | None = None, stream: Any = None, block_size: int = 128
    ) -> Any:
        """Run the kernel.

        Parameters
        ----------
        *args : ndarray or scalar
            The inputs, then either all outputs or none. Without outputs new arrays are made.
        size : int, optional
            The number of elements; needed if every array is raw.
        stream, block_size
            Accepted for compatibility with CuPy; without effect.

        Returns
        -------
        ndarray, tuple of ndarray or None
            The outputs.

        Raises
        ------
        CompileError
            A text is not in the dialect; the message shows line and column.
        TypeError
            The arguments do not fit the parameters.
        ValueError
            The shapes do not broadcast, an output has another shape, or the size is unknown.
        """
        words = [0] if size is None else [1, *int64(size)]
        out = self._argument_words(words, args)
        first = self._call(opcodes.KERNEL, words)
        if self.no_return:
            if not out:
                self._outputs(first)
            return None
        out = out or self._outputs(first)
        return out[0] if len(out) == 1 and not self.return_tuple else out


class ReductionKernel(_TypedKernel):
    """A kernel that combines the elements along axes, as CuPy's ``ReductionKernel``.

    Parameters
    ----------
    in_params, out_params : str
        As for :class:`ElementwiseKernel`.
    map_expr : str
        The expression that maps the inputs' elements to a value.
    reduce_expr : str
        The expression that combines two values ``a`` and ``b``; the order is not defined.
    post_map_expr : str
        The statement that stores the combined value ``a``, usually ``"y = a"``.
    identity : str
        The value of a reduction of no elements. If it is empty or None, a reduction of no elements
        is an error.
    name : str
        The name that error messages show.
    reduce_type : str, optional
        The type of the combined values; by default the first output's type.
    preamble : str
        Functions and macros for the expressions.
    reduce_dims, options
        As for :class:`ElementwiseKernel`.

    Raises
    ------
    ValueError
        A parameter list cannot be read.
    """

    __slots__ = ("identity", "map_expr", "post_map_expr", "reduce_expr", "reduce_type")

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
    ) -> None:
        _check_options(name, options)
        start = "" if identity is None else str(identity)
        texts = (map_expr, reduce_expr, post_map_expr, start, reduce_type or "", preamble)
        super().__init__(_REDUCTION, name, in_params, out_params, texts)
        self.map_expr = map_expr
        self.reduce_expr = reduce_expr
        self.post_map_expr = post_map_expr
        self.identity = identity
        self.reduce_type = reduce_type

    def __call__(
        self,
        *args: Any,
        out: ndarray | None = None,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        stream: Any = None,
    ) -> Any:
        """Reduce the inputs, broadcast to one shape.

        Parameters
        ----------
        *args : ndarray or scalar
            The inputs, then either all outputs or none.
        out : ndarray, optional
            The only output, which receives the result instead of a new array.
        axis : int or sequence of int, optional
            The axes to reduce; None reduces all axes.
        keepdims : bool
            Whether the reduced axes are kept, with extent 1.
        stream
            Accepted for compatibility with CuPy; without effect.

        Returns
        -------
        ndarray or tuple of ndarray
            The outputs.

        Raises
        ------
        CompileError
            A text is not in the dialect; the message shows line and column.
        TypeError
            The arguments do not fit the parameters.
        ValueError
            There is no such axis, the shapes do not fit, or there is neither an element nor an
            identity.
        """
        if out is not None:
            if self.nout != 1:
                raise NotImplementedError(f"{self.name!r} has {self.nout} outputs: pass them all")
            if len(args) != self.nin:
                raise ValueError("cannot specify 'out' as both a positional and keyword argument")
            args = (*args, out)
        words = [int(bool(keepdims))]
        if axis is None:
            words.append(0)
        else:
            axes = integers(axis)
            words += (1, len(axes), *int64s(axes))
        given = self._argument_words(words, args)
        first = self._call(opcodes.KERNEL, words)
        results = given or self._outputs(first)
        return results[0] if len(results) == 1 else results


class ProgramKernel(_TypedKernel):
    """A kernel in array-core's own representation, as text (``src/ir/read.h``); not public.

    Parameters
    ----------
    name : str
        The name that error messages show.
    program : str
        The kernel.
    nin, nout : int
        How many of its parameters are inputs and outputs.
    """

    __slots__ = ()

    def __init__(self, name: str, program: str, nin: int, nout: int) -> None:
        _Kernel.__init__(self, _PROGRAM, name, (name, program))
        self.nin, self.nout, self.nargs = nin, nout, nin + nout

    def run(self, args: Sequence[Any], size: int | None = None) -> tuple[Any, ...]:
        """Run a kernel without a reduction; return its outputs.

        Parameters
        ----------
        args : sequence of ndarray or scalar
            The inputs, then either all outputs or none.
        size : int, optional
            The number of elements; needed if every array is raw.
        """
        words = [0] if size is None else [1, *int64(size)]
        out = self._argument_words(words, tuple(args))
        first = self._call(opcodes.KERNEL, words)
        return out or self._outputs(first)

    def reduce(
        self, args: Sequence[Any], axes: Sequence[int] | None, keepdims: bool
    ) -> tuple[Any, ...]:
        """Run a kernel with a reduction over axes, or over all; return its outputs."""
        words = [int(keepdims)]
        words += (0,) if axes is None else (1, len(axes), *int64s(axes))
        out = self._argument_words(words, tuple(args))
        first = self._call(opcodes.KERNEL, words)
        return out or self._outputs(first)


class RawKernel(_Kernel):
    """A compute shader in WGSL, with bindings and a grid of its own; runs on WebGPU only.

    Parameters
    ----------
    code : str
        The shader. Arrays are ``var<storage, read>`` or ``var<storage, read_write>`` of group 0;
        numbers are one ``var<uniform>``.
    name : str
        The entry point's name.

    Raises
    ------
    CompileError
        The shader cannot be launched with these declarations; the message shows line and column.

    Examples
    --------
    >>> double = RawKernel('''
    ...     @group(0) @binding(0) var<storage, read> x: array<f32>;
    ...     @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    ...     @compute @workgroup_size(64)
    ...     fn double(@builtin(global_invocation_id) id: vec3u) {
    ...       if (id.x < arrayLength(&y)) { y[id.x] = 2.0 * x[id.x]; }
    ...     }''', "double")
    >>> double((1,), (x, y))  # doctest: +SKIP
    """

    __slots__ = ("code",)

    def __init__(self, code: str, name: str) -> None:
        super().__init__(_RAW, name, (name, code))
        self.code = code

    def __call__(
        self, grid: int | Sequence[int], args: Sequence[Any], *, uniforms: Any = None
    ) -> None:
        """Run the shader.

        Parameters
        ----------
        grid : int or sequence of int
            Workgroups along x, y and z.
        args : sequence
            Arrays in the order of their binding numbers, and numbers, or sequences of numbers,
            in the order of the uniform block's members. A NumPy array is copied to the device
            without a conversion of its elements; the shader may only read it.
        uniforms : bytes-like, optional
            The bytes of the uniform block, instead of numbers in ``args``.

        Raises
        ------
        TypeError
            ``args`` do not fit the shader's declarations.
        NotImplementedError
            The back end is not WebGPU.
        DeviceError
            The device's compiler refused the shader. The next wait for the device raises this.
        """
        words = list(_grid_words(grid))
        if uniforms is None:
            words.append(-1)
        else:
            data = memoryview(uniforms).tobytes()
            padded = data.ljust(-(-len(data) // 4) * 4, b"\0")
            words += (len(padded) // 4, *struct.unpack(f"<{len(padded) // 4}i", padded))
        held: list[ndarray] = []  # until the call has been made
        place = len(words)
        words.append(0)
        for argument in args:
            words[place] += _raw_argument_words(words, argument, held)
        self._call(opcodes.RAW_KERNEL, words)


def _number_of_params(params: str) -> int:
    return sum(1 for param in params.split(",") if param.strip())


def _check_options(name: str, options: Sequence[str]) -> None:
    for option in options:
        if option.startswith(("-D", "-U", "-include")):
            raise NotImplementedError(
                f"kernel {name!r}: option {option!r} is not taken; write a macro into the preamble"
            )


def _grid_words(grid: int | Sequence[int]) -> tuple[int, int, int]:
    groups = integers(grid)
    if not 1 <= len(groups) <= 3:
        raise ValueError(f"a grid has 1 to 3 extents, not {len(groups)}")
    for extent in groups:
        if not 0 <= extent <= _MOST_GROUPS:
            raise ValueError(f"a grid has no extent {extent}")
    x, y, z = (*groups, 1, 1)[:3]
    return x, y, z


def _raw_argument_words(words: list[int], argument: Any, held: list[ndarray]) -> int:
    """Append the words of an argument; return how many values it has (a sequence has several)."""
    if isinstance(argument, ndarray):
        words += (_ARRAY, argument._id)
        return 1
    if isinstance(argument, np.ndarray) and argument.ndim > 0:
        elements = np.ascontiguousarray(argument, argument.dtype.newbyteorder("="))
        held.append(ndarray._adopt(session.create(elements.shape, elements, elements.dtype)))
        words += (_BORROWED, held[-1]._id)
        return 1
    if isinstance(argument, (tuple, list)):
        return sum(_raw_argument_words(words, each, held) for each in argument)
    words += scalar_words(argument)
    return 1
