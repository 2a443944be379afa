"""NumPy's universal functions, one object each, over array-core's operation table.

    arraycore.add(a, b, out=c)

``function(array)``, ``function(array, array)`` and a call with an array and a number use entry
points of their own. All other calls encode their arguments as words (``src/abi/calls/ufuncs.h``).
In both cases Python calls array-core once.
"""

from __future__ import annotations

import struct
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from .._runtime import opcodes, operations, session
from .._runtime.parameters import refuse_parameter
from .._runtime.scalars import BOOL, EXACT, FLOAT, INT, is_scalar
from .creation import array, operand_array
from .indexing import value_words
from .ndarray import ndarray, order_number
from .reduction_calls import accumulated, mask_of, reduced
from .updates import update

#: The names of NumPy's ufuncs; ``special.py`` lists those of scipy.special.
__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "ufunc",
]

_INTS, _FLOATS = struct.Struct("<ii"), struct.Struct("<ff")
_CASTINGS = {"no": 0, "equiv": 1, "safe": 2, "same_kind": 3, "unsafe": 4}


#: Every ufunc by its name in NumPy.
BY_NAME: dict[str, ufunc] = {}


class ufunc:
    """A universal function: it works element by element, as NumPy's function of the same name.

    A call takes NumPy's keywords. ``out`` is an array, or a tuple of one for each result. ``where``
    is an array of bools: elements where it is false keep the value in ``out``, and are 0 in a new
    result. ``dtype`` is the result's dtype. ``casting`` limits the cast of results to ``out``.
    ``order`` is the layout of new results. ``subok`` is ignored: there are no subclasses.
    ``signature`` is refused.

    Attributes
    ----------
    nin, nout : int
        The numbers of operands and of results.
    """

    __slots__ = ("__name__", "_number", "nin", "nout")

    def __init__(self, name: str, nin: int, nout: int = 1) -> None:
        self.__name__ = name
        self.nin = nin
        self.nout = nout
        self._number = session.bridge.ufunc_number(name)
        BY_NAME[name] = self

    @property
    def nargs(self) -> int:
        return self.nin + self.nout

    def __repr__(self) -> str:
        return f"<arraycore.ufunc {self.__name__!r}>"

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        where: Any = True,
        casting: str = "same_kind",
        order: str | None = "K",
        dtype: npt.DTypeLike | None = None,
        subok: bool = True,
        signature: Any = None,
    ) -> Any:
        if (
            out is None
            and where is True
            and dtype is None
            and casting == "same_kind"
            and order == "K"
            and signature is None
            and self.nout == 1
            and len(args) == self.nin
        ):
            first = args[0]
            if self.nin == 1:
                if isinstance(first, ndarray):
                    return type(first)._adopt(_carry(session.bridge.unary, self._number, first._id))
            else:
                second = args[1]
                if isinstance(first, ndarray) and isinstance(second, ndarray):
                    ids = first._id, second._id
                    return type(first)._adopt(_carry(session.bridge.binary, self._number, *ids))
                array, number, left = (first, second, 0) if isinstance(first, ndarray) else (
                    second, first, 1,
                )  # fmt: skip
                kind = _HOT_KINDS.get(type(number))
                if kind is not None and (kind != INT or -EXACT < number < EXACT):
                    scalar = session.bridge.binary_scalar
                    if isinstance(array, ndarray):
                        return type(array)._adopt(
                            _carry(scalar, self._number, array._id, number, kind, left)
                        )
        if signature is not None:
            refuse_parameter("signature")
        made = self._general(args, out, where, dtype, casting)
        if order == "K":
            return made
        return _laid_out(made, order, args[: self.nin], self.nin < len(args) or out is not None)

    def _general(
        self, args: tuple[Any, ...], out: Any, where: Any, dtype: npt.DTypeLike | None, casting: str
    ) -> Any:
        """Call the function with arguments of any kind, which are encoded as words."""
        if not self.nin <= len(args) <= self.nargs or (len(args) > self.nin and out is not None):
            raise TypeError(
                f"{self.__name__}() takes {self.nin} operands and up to {self.nout} outputs, "
                f"{len(args)} were given."
            )
        if casting not in _CASTINGS:
            raise ValueError(f"casting must be one of {', '.join(_CASTINGS)}, not {casting!r}.")
        outs = _outputs(self, args[self.nin :] or out)
        mask = mask_of(where)
        operands = [_operand(argument) for argument in args[: self.nin]]
        arrays = [each for each in (*operands, *outs, mask) if isinstance(each, ndarray)]
        if not arrays:
            # A Python float becomes an array of the requested dtype directly, because no device can
            # cast it from float64 later.
            kind = None if dtype is None or np.dtype(dtype).kind != "f" else np.dtype(dtype)
            # Next to a scalar of NumPy's, a Python number has no dtype of its own.
            typed = [isinstance(each, np.generic | np.ndarray) for each in operands]
            operands = [
                array(each, kind if type(each) is float else None)
                if own or not any(typed)
                else each
                for each, own in zip(operands, typed, strict=True)
            ]
            arrays = [each for each in operands if isinstance(each, ndarray)]
        words = [word for operand in operands for word in value_words(operand)]
        # `operands` holds the arrays made here until the call is done.
        made = operations.ufunc(self._number, dtype, _CASTINGS[casting], mask, *outs, words)
        cls = type(arrays[0])
        first = cls._adopt(made) if outs[0] is None else outs[0]
        if self.nout == 1:
            return first
        if outs[1] is not None:
            return first, outs[1]
        return first, cls._adopt(session.check(session.bridge.call(opcodes.RESULT, 0, 0)))

    def tolerance(self, *dtypes: npt.DTypeLike, gpu: bool = False) -> tuple[float, float]:
        """Return how far results may lie from the exact ones, for operands of the given dtypes.

        Parameters
        ----------
        dtypes : dtype
            The dtypes of the operands.
        gpu : bool
            Whether the results are a GPU's, not the CPU's.

        Returns
        -------
        ulp : float
            The error in units in the last place of the result's dtype; 0 means equal bits.
        floor : float
            A result that is smaller than this may have the error of a result of this size.
        """
        operands = [np.dtype(each) for each in dtypes]
        ulp = operations.tolerance(self._number, gpu, False, operands)
        floor = operations.tolerance(self._number, gpu, True, operands)
        return _FLOATS.unpack(_INTS.pack(ulp, floor))

    def _absent(self, method: str, instead: str) -> NoReturn:
        raise NotImplementedError(f"arraycore has no {self.__name__}.{method}: {instead}.")

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: npt.DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = np._NoValue,
        where: Any = True,
    ) -> Any:
        """Combine the elements along axes; the parameters are those of :func:`arraycore.sum`.

        Raises
        ------
        ValueError
            The function does not have two operands and one result, several axes are given though
            the order of operands matters, or there is neither an element nor an identity.
        """
        self._combines("reduce")
        which = (1, self._number)
        return reduced(which, array, axis, dtype, out, keepdims, initial, where)

    def accumulate(
        self, array: Any, axis: Any = 0, dtype: npt.DTypeLike | None = None, out: Any = None
    ) -> Any:
        """Combine the elements along an axis; return all running results."""
        self._combines("accumulate")
        array = operand_array(array)
        if array.ndim == 0:
            raise TypeError("cannot accumulate on a scalar")
        if axis is None and array.ndim > 1:
            raise ValueError("accumulate does not allow multiple axes")
        return accumulated(self, array, 0 if axis is None else axis, dtype, out)

    def _combines(self, method: str) -> None:
        if self.nin != 2:
            raise ValueError(f"{method} only supported for binary functions")
        if self.nout != 1:
            raise ValueError(f"{method} only supported for functions returning a single value")

    def reduceat(
        self,
        array: Any,
        indices: Any,
        axis: int = 0,
        dtype: npt.DTypeLike | None = None,
        out: Any = None,
    ) -> NoReturn:
        """Raise NotImplementedError; call NumPy's method on ``array.get()``."""
        self._absent("reduceat", "take NumPy's on array.get()")

    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Any:
        """Call the function with every pair of an element of ``A`` and one of ``B``."""
        if self.nin != 2:
            raise ValueError("outer product only supported for binary functions")
        # Numbers become arrays here, so that Python's have a dtype of their own, as in NumPy.
        a, b = (each if isinstance(each, ndarray) else array(each) for each in (A, B))
        if isinstance(a, ndarray) and isinstance(b, ndarray):
            behind_a = (..., *(None for _ in range(b.ndim)))
            a = a[behind_a]
        return self(a, b, **kwargs)

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        """Apply the function to ``a[indices]`` in place, once for each time that an element is
        selected.

        Parameters
        ----------
        a : ndarray
            The array to write to.
        indices : key
            Any key that indexing accepts.
        b : ndarray, scalar or array_like, optional
            The second operand of a binary function, broadcast to ``a[indices]``.

        Raises
        ------
        NotImplementedError
            The function has two results, or ``a`` is complex and the function is neither ``add``
            nor ``subtract``.
        """
        update(self, a, indices, b)


def _laid_out(made: Any, order: str | None, operands: tuple[Any, ...], has_out: bool) -> Any:
    """Return new results in the layout that ``order`` asks for; results in ``out`` as they are."""
    letter = "K" if order is None else order.upper()
    number = order_number(letter, "CFAK")
    if has_out or letter == "K":
        return made
    if letter == "A":
        arrays = [each for each in operands if isinstance(each, ndarray)]
        number = order_number("F" if arrays and all(a.flags.fnc for a in arrays) else "C", "CF")
    if isinstance(made, tuple):
        return tuple(each if each._lies_in(number) else each.copy("CF"[number]) for each in made)
    return made if made._lies_in(number) else made.copy("CF"[number])


_HOT_KINDS = {int: INT, float: FLOAT, bool: BOOL}


def _carry(call: Any, *args: Any) -> int:
    """Call a function of the bridge. Its last two arguments are ids of arrays to free, or 0."""
    freed = session.freed
    if len(freed) > session.BACKLOG:
        session.drain()
    result: int = call(*args, freed.pop() if freed else 0, freed.pop() if freed else 0)
    if result < 0:
        session.recover(result)
        result = session.check(call(*args, 0, 0))
    return result


def _operand(value: Any) -> Any:
    return value if is_scalar(value) else operand_array(value)


def _outputs(function: ufunc, out: Any) -> tuple[ndarray | None, ndarray | None]:
    if out is None:
        return None, None
    outs = out if isinstance(out, tuple) else (out,)
    for each in outs:
        if each is not None and not isinstance(each, ndarray):
            raise TypeError(f"Results go to arrays of arraycore's, not to {type(each)}.")
    if len(outs) > function.nout or (isinstance(out, tuple) and not outs):
        raise ValueError(f"{function.__name__} has {function.nout} results, not {len(outs)}.")
    return outs[0], outs[1] if len(outs) > 1 else None


# ---- arithmetic
add = ufunc("add", 2)
subtract = ufunc("subtract", 2)
multiply = ufunc("multiply", 2)
divide = ufunc("divide", 2)
floor_divide = ufunc("floor_divide", 2)
remainder = ufunc("remainder", 2)
fmod = ufunc("fmod", 2)
divmod = ufunc("divmod", 2, 2)
power = ufunc("power", 2)
float_power = ufunc("float_power", 2)
negative = ufunc("negative", 1)
positive = ufunc("positive", 1)
absolute = ufunc("absolute", 1)
fabs = ufunc("fabs", 1)
sign = ufunc("sign", 1)
conjugate = ufunc("conjugate", 1)
square = ufunc("square", 1)
reciprocal = ufunc("reciprocal", 1)
sqrt = ufunc("sqrt", 1)
cbrt = ufunc("cbrt", 1)
hypot = ufunc("hypot", 2)
gcd = ufunc("gcd", 2)
lcm = ufunc("lcm", 2)

# ---- exponentials
exp = ufunc("exp", 1)
exp2 = ufunc("exp2", 1)
expm1 = ufunc("expm1", 1)
log = ufunc("log", 1)
log2 = ufunc("log2", 1)
log10 = ufunc("log10", 1)
log1p = ufunc("log1p", 1)
logaddexp = ufunc("logaddexp", 2)
logaddexp2 = ufunc("logaddexp2", 2)

# ---- trigonometry
sin = ufunc("sin", 1)
cos = ufunc("cos", 1)
tan = ufunc("tan", 1)
arcsin = ufunc("arcsin", 1)
arccos = ufunc("arccos", 1)
arctan = ufunc("arctan", 1)
arctan2 = ufunc("arctan2", 2)
sinh = ufunc("sinh", 1)
cosh = ufunc("cosh", 1)
tanh = ufunc("tanh", 1)
arcsinh = ufunc("arcsinh", 1)
arccosh = ufunc("arccosh", 1)
arctanh = ufunc("arctanh", 1)
degrees = ufunc("degrees", 1)
radians = ufunc("radians", 1)

# ---- rounding and parts
floor = ufunc("floor", 1)
ceil = ufunc("ceil", 1)
trunc = ufunc("trunc", 1)
rint = ufunc("rint", 1)
modf = ufunc("modf", 1, 2)
ldexp = ufunc("ldexp", 2)
copysign = ufunc("copysign", 2)
nextafter = ufunc("nextafter", 2)
spacing = ufunc("spacing", 1)
heaviside = ufunc("heaviside", 2)

# ---- extremes
maximum = ufunc("maximum", 2)
minimum = ufunc("minimum", 2)
fmax = ufunc("fmax", 2)
fmin = ufunc("fmin", 2)

# ---- comparisons and logic
equal = ufunc("equal", 2)
not_equal = ufunc("not_equal", 2)
less = ufunc("less", 2)
less_equal = ufunc("less_equal", 2)
greater = ufunc("greater", 2)
greater_equal = ufunc("greater_equal", 2)
logical_and = ufunc("logical_and", 2)
logical_or = ufunc("logical_or", 2)
logical_xor = ufunc("logical_xor", 2)
logical_not = ufunc("logical_not", 1)
isnan = ufunc("isnan", 1)
isinf = ufunc("isinf", 1)
isfinite = ufunc("isfinite", 1)
signbit = ufunc("signbit", 1)

# ---- bits
bitwise_and = ufunc("bitwise_and", 2)
bitwise_or = ufunc("bitwise_or", 2)
bitwise_xor = ufunc("bitwise_xor", 2)
invert = ufunc("invert", 1)
left_shift = ufunc("left_shift", 2)
right_shift = ufunc("right_shift", 2)
bitwise_count = ufunc("bitwise_count", 1)

# ---- functions of scipy.special, with the names of arraycore.special
erf = ufunc("erf", 1)
erfc = ufunc("erfc", 1)
erfinv = ufunc("erfinv", 1)
erfcinv = ufunc("erfcinv", 1)
erfcx = ufunc("erfcx", 1)
ndtr = ufunc("ndtr", 1)
ndtri = ufunc("ndtri", 1)
gammaln = ufunc("gammaln", 1)
gamma = ufunc("gamma", 1)
digamma = ufunc("digamma", 1)

# ---- other names of functions above
abs = absolute
acos, acosh, asin, asinh = arccos, arccosh, arcsin, arcsinh
atan, atan2, atanh = arctan, arctan2, arctanh
bitwise_invert = bitwise_not = invert
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
conj = conjugate
deg2rad, rad2deg = radians, degrees
mod = remainder
pow = power
true_divide = divide

BY_NAME |= {"deg2rad": deg2rad, "rad2deg": rad2deg}
