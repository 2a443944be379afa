"""Lists the cases of the comparison. One case is one operation on given operands."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import reference, special
from .layouts import LAYOUTS, OF_ONE, OF_TWO, UNPAIRED
from .values import DTYPES, LETTERS, Array, cast_values, edge_values, inside, pairs

#: Ufuncs by number of operands. The names are NumPy's and scipy.special's, so a ufunc that
#: array-core lacks is a failure.
UNARY = (
    "negative", "positive", "absolute", "fabs", "sign", "conjugate", "square", "reciprocal",
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
    "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh",
    "arctanh", "degrees", "radians", "floor", "ceil", "trunc", "rint", "modf", "spacing",
    "logical_not", "isnan", "isinf", "isfinite", "signbit", "invert", "bitwise_count",
)  # fmt: skip
BINARY = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "divmod",
    "power", "float_power", "hypot", "gcd", "lcm", "logaddexp", "logaddexp2", "arctan2",
    "ldexp", "copysign", "nextafter", "heaviside", "maximum", "minimum", "fmax", "fmin",
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
    "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift",
    "right_shift",
)  # fmt: skip
#: Python's scalars. All except bool are weak: they do not widen an array's dtype.
WEAK: dict[str, Any] = {"bool": True, "int": 3, "float": 2.5, "complex": 1.5 - 2j}
MODES = ("numpy2", "cupy")


@dataclass(frozen=True)
class Operand:
    """An operand: an array (its base and its layout) or a scalar."""

    base: Array | None = None
    layout: str = ""
    scalar: Any = None

    def made(self, module: Any, array: Callable[[Array], Any]) -> Any:
        """Return the operand in NumPy or arraycore; ``array`` makes the module's arrays."""
        if self.base is None:
            return self.scalar
        return LAYOUTS[self.layout].view(array(self.base), module)

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The dtype; None for a Python scalar."""
        if self.base is not None:
            return self.base.dtype
        return getattr(self.scalar, "dtype", None)

    @property
    def label(self) -> str:
        if self.base is not None:
            return self.base.dtype.name
        return str(self.dtype) + " scalar" if self.dtype is not None else type(self.scalar).__name__


@dataclass(frozen=True)
class Case:
    """One operation.

    ``form`` says how the operation is called: ``call`` and ``reduce`` call the function;
    ``operator`` and ``in_place`` call ``python``, a function of the module operator; ``out`` gives
    an output; ``overlap`` gives one that shares memory with an operand; ``cast`` and ``assign``
    convert.
    """

    group: str
    function: str
    operands: tuple[Operand, ...]
    form: str = "call"
    mode: str = "numpy2"
    python: Callable[..., Any] | None = None
    out: Operand | None = None
    detail: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def layout(self) -> str:
        return ",".join(operand.layout or "scalar" for operand in self.operands)

    @property
    def title(self) -> str:
        labels = ", ".join(operand.label for operand in self.operands)
        return f"{self.group} {self.function}({labels}) {self.layout} {self.mode} {self.detail}"


def placed(values: Array, layout: str) -> Operand:
    return Operand(LAYOUTS[layout].base(values), layout)


def sets_of(function: str, letters: str) -> list[Array]:
    return inside(function, letters, [edge_values(letter) for letter in letters], True)


def pair_of(function: str, letters: str, layouts: tuple[str, str]) -> tuple[Operand, ...]:
    """Return two operands that hold every pair of values of their dtypes."""
    sets = sets_of(function, letters)
    values = sets if layouts in UNPAIRED else pairs(sets)
    return tuple(placed(each, layout) for each, layout in zip(values, layouts, strict=True))


def ufuncs(short: bool) -> Iterator[Case]:
    """Yield cases of every ufunc, in every loop of NumPy and every layout."""
    for function in (*UNARY, *special.NAMES):
        for number, loop in enumerate(reference.loops(function)):
            letters = loop.split("->")[0]
            for at, layout in enumerate(OF_ONE):
                if short and at != number % len(OF_ONE):
                    continue
                values = sets_of(function, letters)[0]
                yield Case("ufunc", function, (placed(values, layout),))
    for function in BINARY:
        for number, loop in enumerate(reference.loops(function)):
            letters = loop.split("->")[0]
            for at, layouts in enumerate(OF_TWO):
                if short and at != number % len(OF_TWO):
                    continue
                yield Case("ufunc", function, pair_of(function, letters, layouts))


def scalars() -> Iterator[Case]:
    """Yield cases of an array and a scalar, in either order; the scalar is weak or not."""
    for function in BINARY:
        for number, letter in enumerate(LETTERS):
            array = placed(sets_of(function, letter + letter)[0], "contiguous")
            other = placed(sets_of(function, letter + letter)[1], "strided")
            for at, (name, value) in enumerate(WEAK.items()):
                weak, left, right = Operand(scalar=value), array, other
                if name == "complex":  # the function's complex loop, and its values
                    sets = inside(function, "D", [edge_values(letter)], True)
                    left, right = placed(sets[0], "contiguous"), placed(sets[0], "strided")
                if name == "int" or (at + number) % 2 == 0:
                    yield Case("scalar", function, (left, weak), detail=name)
                if name == "int" or (at + number) % 2 == 1:
                    yield Case("scalar", function, (weak, right), detail=name)
            own = np.ones((), letter)[()]
            strong = (("numpy2", own), ("numpy2", np.float64(2.5)), ("cupy", np.float64(2.5)),
                      ("cupy", np.int64(3)))  # fmt: skip
            for mode, scalar in strong:
                yield Case("scalar", function, (array, Operand(scalar=scalar)), mode=mode)


def mixed() -> Iterator[Case]:
    """Yield cases of two arrays of different dtypes."""
    functions = ("add", "multiply", "less", "maximum", "copysign", "bitwise_and")
    for function in functions:
        for first in LETTERS:
            for second in LETTERS:
                if first == second:
                    continue
                sets = [values[:: max(1, values.size // 9)]
                        for values in sets_of(function, first + second)]  # fmt: skip
                operands = [placed(values, "contiguous") for values in pairs(sets)]
                yield Case("mixed", function, tuple(operands))


def casts() -> Iterator[Case]:
    """Yield casts between every pair of dtypes, by ``astype`` and by assignment."""
    for source in DTYPES:
        values = cast_values(source)
        for target in DTYPES:
            for layout in ("contiguous", "strided", "negative", "transposed"):
                options = {"dtype": target}
                operand = (placed(values, layout),)
                yield Case("cast", "astype", operand, "cast", detail=target.name, options=options)
            room = placed(np.zeros(values.size, target), "negative")
            operand = (placed(values, "strided"),)
            yield Case("cast", "assign", operand, "assign", out=room, detail=target.name)


_OUTPUT_FUNCTIONS = (
    "add", "subtract", "multiply", "divide", "maximum", "negative", "square", "less", "isnan",
    "logical_and", "exp", "floor_divide",
)  # fmt: skip
#: For each dtype of results, a narrower dtype of the same kind for ``out=``.
_NARROWER = {"q": "h", "i": "b", "f": "e", "d": "f", "D": "F", "Q": "H", "I": "B"}


def outputs() -> Iterator[Case]:
    """Yield cases with ``out=`` (same or narrower dtype, strided, overlapping) or ``where=``."""
    for function in _OUTPUT_FUNCTIONS:
        count = 2 if function in BINARY else 1
        for loop in reference.loops(function):
            letters, result = loop.split("->")
            if len(set(letters)) > 1:
                continue
            sets = sets_of(function, letters)
            values = pairs(sets) if count == 2 else sets
            size = values[0].size
            flat = tuple(placed(each, "contiguous") for each in values)
            gaps = tuple(placed(each, "strided") for each in values)
            own, narrow = np.ones(size, result), np.ones(size, _NARROWER.get(result, result))
            mask = np.arange(size) % 3 != 0
            here = [
                Case("out", function, flat, "out", out=placed(own, "contiguous")),
                Case("out", function, flat, "out", out=placed(own, "strided"), detail="strided"),
                Case("out", function, gaps, "out", out=placed(own, "negative"), detail="negative"),
                Case("out", function, flat, "out", out=placed(narrow, "contiguous"),
                     detail=narrow.dtype.name),
                Case("where", function, flat, "out", out=placed(own, "strided"),
                     options={"where": placed(mask, "negative")}),
                Case("where", function, flat, "call",
                     options={"where": placed(mask, "contiguous")}),
            ]  # fmt: skip
            if result == letters[0]:
                here += [Case("overlap", function, flat, "overlap", detail=how) for how in OVERLAPS]
            yield from here


def _shifted(base: Any) -> tuple[Any, Any]:
    return base[1:], base[:-1]


def _turned(base: Any) -> tuple[Any, Any]:
    return base, base[::-1]


def _spread(base: Any) -> tuple[Any, Any]:
    half = (base.shape[0] - 1) // 2
    return base[1 : 1 + half], base[: 2 * half : 2]


def _crossed(base: Any) -> tuple[Any, Any]:
    side = int(base.shape[0] ** 0.5)
    square = base[: side * side].reshape(side, side)
    return square, square.T


#: Two overlapping views of one array: the one that is written, and the one that is read.
OVERLAPS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "same": lambda base: (base, base),
    "shifted": _shifted,
    "reversed": _turned,
    "strides": _spread,
    "transposed": _crossed,
}

_OPERATORS: tuple[tuple[str, str], ...] = (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"),
    ("floordiv", "floor_divide"), ("mod", "remainder"), ("pow", "power"), ("and_", "bitwise_and"),
    ("or_", "bitwise_or"), ("xor", "bitwise_xor"), ("lshift", "left_shift"),
    ("rshift", "right_shift"),
)  # fmt: skip
_COMPARISONS = (
    ("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"),
    ("eq", "equal"), ("ne", "not_equal"),
)  # fmt: skip
_SIGNS = (("neg", "negative"), ("pos", "positive"), ("abs", "absolute"), ("invert", "invert"))


def operators() -> Iterator[Case]:
    """Yield cases of Python's operators on two arrays, or an array and a number; also in place."""
    for letter in LETTERS:
        for name, function in _SIGNS:
            operand = placed(edge_values(letter), "contiguous")
            yield Case("operator", function, (operand,), "operator", python=getattr(operator, name))
        for name, function in (*_OPERATORS, *_COMPARISONS, ("", "divmod")):
            python: Callable[..., Any] = getattr(operator, name) if name else divmod
            sets = sets_of(function, letter + letter)
            both = tuple(placed(each, "contiguous") for each in pairs(sets))
            first, second = placed(sets[0], "contiguous"), placed(sets[1], "contiguous")
            yield Case("operator", function, both, "operator", python=python)
            for scalar in (Operand(scalar=3), Operand(scalar=2.5)):
                yield Case("operator", function, (first, scalar), "operator", python=python)
                yield Case("operator", function, (scalar, second), "operator", python=python)
            in_place = getattr(operator, "i" + name.rstrip("_"), None)
            if in_place is not None and (name, function) in _OPERATORS:
                for right in (both[1], Operand(scalar=3)):
                    yield Case("operator", function, (both[0], right), "in_place", python=in_place,
                               detail="in place")  # fmt: skip


#: A short run takes each 23rd case. 23 is a prime, so that operators, dtypes and forms take turns.
_SELECTED = 23


def every(short: bool) -> Iterator[Case]:
    """Yield all cases. If ``short``: each ufunc and loop in one layout, each 23rd other case."""
    yield from ufuncs(short)
    from . import surface  # which imports this module

    rest = itertools.chain(scalars(), mixed(), casts(), outputs(), operators(), surface.cases())
    yield from itertools.islice(rest, 0, None, _SELECTED if short else 1)
    from . import indexing  # which imports this module

    yield from indexing.cases(short)
