"""NumPy's names that arraycore does not have, each with an alternative (``docs/surface.md``).

Access to such a name, of the module or of an array, raises :class:`NotOffered`.
"""

from __future__ import annotations

from typing import NoReturn

_MATRICES = "take arrays of two dimensions; @ is their product"
_FLOATS = "take float64: no wider type is the same everywhere"
_WARNINGS = "no operation warns; test results by isfinite()"
_LOOPS = "loop over array.get(), or write an ElementwiseKernel"
_FUNCTIONS = "decorate the function with vectorize()"
_POLYNOMIALS = "take poly1d, or polyval, polyadd and their kin on vectors of coefficients"
_MEMORY = "which views share memory follows from how they were made: compare these"

#: NumPy's public names that arraycore does not have, and their alternatives.
NAMES = {
    "asmatrix": _MATRICES,
    "bmat": "take block()",
    "broadcast": "take broadcast_arrays() or broadcast_shapes()",
    "clongdouble": _FLOATS,
    "complex256": _FLOATS,
    "emath": "cast to a complex dtype before sqrt(), log() or power()",
    "errstate": _WARNINGS,
    "flatiter": "take array.flat",
    "float128": _FLOATS,
    "fromregex": "take array(numpy.fromregex(...))",
    "frompyfunc": _FUNCTIONS,
    "geterr": _WARNINGS,
    "geterrcall": _WARNINGS,
    "long": "take int64",
    "longdouble": _FLOATS,
    "matrix": _MATRICES,
    "may_share_memory": _MEMORY,
    "memmap": "take array(numpy.memmap(...)), which copies",
    "ndenumerate": "loop over numpy.ndenumerate(array.get())",
    "nditer": _LOOPS,
    "nested_iters": _LOOPS,
    "polynomial": _POLYNOMIALS,
    "row_stack": "take vstack()",
    "seterr": _WARNINGS,
    "seterrcall": _WARNINGS,
    "shares_memory": _MEMORY,
    "trapz": "take trapezoid()",
    "ulong": "take uint64",
}

#: Attributes and methods of NumPy's arrays that arraycore does not have, and their alternatives.
OF_ARRAYS = {
    "base": "keep the array that a view is made of beside it",
    "byteswap": "take array.view('uint8') and turn the bytes of each element",
    "ctypes": "take array.get().ctypes; a device's memory has no address",
    "getfield": "take array.view(dtype) and a slice of it",
    "resize": "take arraycore.resize(array, shape), which makes a new one",
    "setfield": "assign to a slice of array.view(dtype)",
    "setflags": "take a copy where an array must not be written",
}


class NotOffered(NotImplementedError, AttributeError):
    """Raised for a name of NumPy that arraycore does not have; the message has an alternative."""


def refuse(whose: str, name: str, instead: str) -> NoReturn:
    """Raise the error for a name that arraycore does not have."""
    raise NotOffered(f"arraycore has no {whose}{name}: {instead}.")


def of_module(name: str) -> NoReturn:
    """Raise the error for a name that the module does not have.

    Raises
    ------
    NotOffered
        NumPy has the name.
    AttributeError
        NumPy does not have it either.
    """
    if name in NAMES:
        refuse("", name, NAMES[name])
    raise AttributeError(f"module 'arraycore' has no attribute {name!r}")


def of_array(name: str) -> NoReturn:
    """Raise the error for an attribute that an array does not have; see :func:`of_module`."""
    if name in OF_ARRAYS:
        refuse("ndarray.", name, OF_ARRAYS[name])
    raise AttributeError(f"'arraycore.ndarray' object has no attribute {name!r}")
