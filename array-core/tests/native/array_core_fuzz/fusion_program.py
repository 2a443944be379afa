"""Makes random programs over arrays. Their steps depend only on a seed, shapes and dtypes.

So a program has the same steps with and without fusion: operations of one and of two operands,
casts, slices, transposes, reshapes and broadcasts, ``out=``, ``where=``, in-place operators,
assignments to views, kernels of users, reductions, reads in between, and arrays that are deleted.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import arraycore as ac
import numpy as np
import numpy.typing as npt
from arraycore._runtime import session

STEPS = (8, 40)
_MOST_ARRAYS = 9
_EXTENTS = (1, 2, 3, 5, 7)
_LONG = 300  # more than one block of the CPU's interpreter
_DTYPES = ("bool", "int8", "uint8", "int32", "int64", "float16", "float32", "complex64")
_CPU_DTYPES = ("float64", "complex128")
_UNARY = (
    "negative", "absolute", "square", "sqrt", "exp", "sin", "floor", "sign", "logical_not",
    "isnan", "invert", "positive", "tanh", "reciprocal", "conjugate", "rint", "signbit",
)  # fmt: skip
_BINARY = (
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "equal", "greater_equal",
    "logical_and", "logical_xor", "bitwise_and", "bitwise_xor", "floor_divide", "remainder",
    "power", "copysign", "hypot", "fmax", "not_equal",
)  # fmt: skip
#: Operations whose results on a device have (nearly) the same bits however they are computed.
_STEADY_UNARY = ("negative", "absolute", "sign", "logical_not", "floor", "positive", "isnan")
_STEADY_BINARY = (
    "add", "subtract", "multiply", "maximum", "minimum", "less", "equal", "logical_and",
    "bitwise_and", "bitwise_xor", "fmax", "not_equal",
)  # fmt: skip
_SCALARS: tuple[Any, ...] = (0, 1, -1, 2, 3, 0.5, -1.5, 1e-3, True, 7, np.float32(0.1), np.int8(3))

_blend = ac.ElementwiseKernel("T x, T y", "T z", "z = x * x + y", "blend")
_split = ac.ElementwiseKernel(
    "T x, raw T y", "T a, T b", "a = x; if (x > y[0]) a = y[i % y.size()]; b = a + x", "split"
)
_total = ac.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
_product = ac.ReductionKernel("T x, T w", "T y", "x * w", "a + b", "y = a + 1", "0", "dot")


_REFUSALS = (
    TypeError, ValueError, IndexError, OverflowError, NotImplementedError, ac.CompileError,
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """The first ``steps`` steps of a program. If ``apart`` is true, the last of them runs without
    fusion.
    """

    steps: int
    apart: bool


class _PartIsDoneError(Exception):
    """Raised when all steps of a part have run."""


@dataclass
class Outcome:
    """The results of one run of a program."""

    steps: list[str] = field(default_factory=list)
    read: list[tuple[str, Any]] = field(default_factory=list)  # errors and elements, in order
    live: list[int] = field(default_factory=list)  # bytes after each step
    dispatches: int = 0
    fused: int = 0
    errors: int = 0
    # These three are about the last step of a part, if it ran without fusion: its operands, other
    # magnitudes to which its errors are relative, and the number of operations that it chains.
    operands: list[npt.NDArray[Any]] = field(default_factory=list)
    sizes: list[npt.NDArray[Any]] = field(default_factory=list)
    operations: int = 1


class Program:
    """One run of a seed's program, or of a part of it.

    Parameters
    ----------
    seed : int
        The program's seed.
    steady : bool
        Use only operations that do not amplify a device's errors, and dtypes that it computes.
    part : Part, optional
        The part to run. By default all steps run, and fusion stays as it is set.
    """

    def __init__(self, seed: int, *, steady: bool, part: Part | None = None) -> None:
        self.random = random.Random(seed)
        self.part = part
        self.dtypes = _DTYPES if steady else _DTYPES + _CPU_DTYPES
        self.unary = _STEADY_UNARY if steady else _UNARY
        self.binary = _STEADY_BINARY if steady else _BINARY
        self.arrays: list[ac.ndarray] = []
        self.outcome = Outcome()
        extents = [self.random.choice(_EXTENTS) for _ in range(2)]
        if self.random.random() < 0.1:
            extents[1] = _LONG
        rows, columns = extents
        self.shapes = ((rows, columns),) * 4 + ((columns,), (1, columns), (rows, 1), ())
        # Most arrays of a program share a dtype, so that operations often combine equal dtypes.
        self.main = self.random.choice(self.dtypes)

    def run(self) -> Outcome:
        """Run every step of the program, or of its part if one is given, then read every array."""
        ac.reset()
        if self.part is not None:
            session.set_fusing(True)
        with np.errstate(all="ignore"), suppress(_PartIsDoneError):
            self._take_steps()
        while self.arrays:
            self.outcome.read.append(("last", self.arrays.pop(0).get()))
        counted = ac.counters()
        self.outcome.dispatches, self.outcome.fused = counted["dispatches"], counted["fused"]
        return self.outcome

    def _take_steps(self) -> None:
        kinds: list[tuple[Callable[[], str], int]] = [
            (self._unary, 5), (self._binary, 10), (self._scalar, 8), (self._cast, 2),
            (self._view, 3), (self._out, 3), (self._in_place, 4), (self._assign, 3),
            (self._where, 1), (self._kernel, 2), (self._reduce, 2), (self._read, 1),
            (self._let_go, 4), (self._create, 2),
        ]  # fmt: skip
        steps = [step for step, _ in kinds]
        weights = [weight for _, weight in kinds]
        for _ in range(3):
            self._step(self._create)
        for _ in range(self.random.randint(*STEPS)):
            self._step(self.random.choices(steps, weights)[0])
            while len(self.arrays) > _MOST_ARRAYS:
                self._step(self._let_go)

    @property
    def _is_watched(self) -> bool:
        part = self.part
        return part is not None and part.apart and len(self.outcome.steps) == part.steps - 1

    def _step(self, step: Callable[[], str]) -> None:
        if self.part is not None and len(self.outcome.steps) == self.part.steps:
            raise _PartIsDoneError
        if self._is_watched:
            session.set_fusing(False)
        try:
            text = step()
        except _REFUSALS as error:
            text = f"{step.__name__[1:]}: {type(error).__name__}"
            self.outcome.read.append((text, None))
            self.outcome.errors += 1
        self.outcome.steps.append(text)
        self.outcome.live.append(ac.counters()["live_bytes"])

    def _pick(self) -> ac.ndarray:
        # The newest array is picked most often, as in real code.
        picked = self.arrays[-1]
        if self.random.random() >= 0.5:
            picked = self.random.choice(self.arrays)
        if self._is_watched:
            self.outcome.operands.append(picked.get())
        return picked

    def _number(self, numbers: tuple[Any, ...] = _SCALARS) -> Any:
        number = self.random.choice(numbers)
        if not isinstance(number, ac.ndarray):  # _pick() has noted arrays
            self._errs_by(1, lambda: np.asarray(np.abs(number), np.float64))
        return number

    def _errs_by(self, operations: int, size: Callable[[], npt.NDArray[Any]]) -> None:
        """Note how many operations the step chains, and a magnitude to which its errors are
        relative.
        """
        if self._is_watched:
            self.outcome.operations = max(self.outcome.operations, operations)
            self.outcome.sizes.append(size())

    def _add(self, array: ac.ndarray, text: str) -> str:
        self.arrays.append(array)
        return f"a{len(self.arrays) - 1} = {text} -> {array.dtype}{array.shape}"

    def _create(self) -> str:
        dtype = self.main if self.random.random() < 0.7 else self.random.choice(self.dtypes)
        shape = self.random.choice(self.shapes)
        noise = np.random.default_rng(self.random.randrange(1 << 30))
        values = noise.integers(-4 if np.dtype(dtype).kind in "ifc" else 0, 5, shape)
        elements = (values * (0.37 if np.dtype(dtype).kind in "fc" else 1)).astype(dtype)
        return self._add(ac.array(elements), "create")

    def _unary(self) -> str:
        name = self.random.choice(self.unary)
        return self._add(getattr(ac, name)(self._pick()), name)

    def _binary(self) -> str:
        name = self.random.choice(self.binary)
        return self._add(getattr(ac, name)(self._pick(), self._pick()), name)

    def _scalar(self) -> str:
        name, scalar = self.random.choice(self.binary), self._number()
        function = getattr(ac, name)
        if self.random.random() < 0.2:
            return self._add(function(scalar, self._pick()), f"{name}({scalar}, .)")
        return self._add(function(self._pick(), scalar), f"{name}(., {scalar})")

    def _cast(self) -> str:
        if self.random.random() < 0.3:
            return self._add(self._pick().copy(), "copy")
        dtype = self.random.choice(self.dtypes)
        return self._add(self._pick().astype(dtype), f"astype {dtype}")

    def _slice(self) -> slice:
        pick = self.random.choice
        return slice(pick((None, 0, 1)), pick((None, None, -1, 2)), pick((None, None, 1, 2, -1)))

    def _key(self, array: ac.ndarray) -> tuple[slice, ...]:
        return tuple(self._slice() for _ in range(array.ndim))

    def _view(self) -> str:
        array = self._pick()
        kind = self.random.randrange(5)
        if kind == 0:
            return self._add(array.T, "transpose")
        if kind == 1:
            return self._add(array.reshape(-1), "ravel")
        if kind == 2:
            return self._add(ac.broadcast_to(array, self.shapes[0]), "broadcast")
        if kind == 3:
            return self._add(array.real, "real")
        key = self._key(array)
        return self._add(array[key], f"view {key}")

    def _out(self) -> str:
        name, out = self.random.choice(self.binary), self._pick()
        operands = self._pick(), self._number((self._pick(), *_SCALARS))
        getattr(ac, name)(*operands, out=out, casting="unsafe")
        return f"{name} out="

    def _in_place(self) -> str:
        array, other = self._pick(), self._pick()
        value = other if self.random.random() < 0.6 else self._number()
        kind = self.random.randrange(3)
        if kind == 0:
            array += value
        elif kind == 1:
            array *= value
        else:
            array -= value
        return f"in place {'+*-'[kind]}"

    def _assign(self) -> str:
        array, value = self._pick(), self._pick()
        key: Any = self._key(array) if self.random.random() < 0.6 else ...
        if self.random.random() < 0.3:
            array[key] = self._number(_SCALARS[:6])
        elif self.random.random() < 0.5:
            self._errs_by(2, lambda: np.abs(value.get()) * 2 + 1)
            array[key] = value[key] * 2 + 1
        else:
            array[key] = value
        return f"assign {key}"

    def _where(self) -> str:
        mask = self._pick() != 0
        if self.random.random() < 0.5:
            return self._add(ac.add(self._pick(), self._pick(), where=mask), "add where=")
        ac.multiply(self._pick(), 2, out=self._pick(), where=mask, casting="unsafe")
        return "multiply out= where="

    def _kernel(self) -> str:
        array, other = self._pick(), self._pick()
        if self.random.random() < 0.6:
            self._errs_by(2, lambda: np.abs(array.get()) ** 2)
            return self._add(_blend(array, other.astype(array.dtype)), "blend")
        # _split reads the first element of its second operand, so there must be one.
        first, second = _split(array, (other if other.size else array).astype(array.dtype))
        self._add(first, "split")
        return self._add(second, "split")

    def _reduce(self) -> str:
        array = self._pick()
        axis = self.random.choice((None, *range(array.ndim)))
        # The source is either a chain of operations that only this step holds, or an array of the
        # program.
        made = self.random.random() < 0.7
        source = array * 2 + array if made else array
        terms = array.size if axis is None else array.shape[axis]
        self._errs_by(3 + terms.bit_length(), lambda: _size_of_sum(array.get(), axis))
        if self.random.random() < 0.5:
            result = _total(source, axis=axis)
        else:
            result = _product(source, array.astype(source.dtype), axis=axis)
        return self._add(result, f"reduce axis={axis}")

    def _read(self) -> str:
        array = self._pick()
        self.outcome.read.append(("read", array.get()))
        return "read"

    def _let_go(self) -> str:
        if len(self.arrays) > 1:
            self.arrays.pop(self.random.randrange(len(self.arrays)))
        return "let go"


def _size_of_sum(array: npt.NDArray[Any], axis: int | None) -> npt.NDArray[Any]:
    """Return the sum of the magnitudes of the terms that a step sums.

    A device adds in the order in which operands lie in memory. The order may change if a chain
    becomes part of the sum's launch.
    """
    size = np.abs(array).astype(np.float64)
    return np.asarray((3 * size * (1 + size)).sum(axis))
