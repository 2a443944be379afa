"""Provides the functions of SciPy that Chainer's CPU paths use, for a Python without SciPy.

They are installed only if SciPy is missing; ``arithmetic.py`` has the functions.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any

import numpy as np
from arithmetic import MATHEMATICS

Array = np.ndarray[Any, Any]
# SciPy's names of functions, and CUDA's names of the same functions.
SPECIAL = {
    "erf": "erf",
    "erfc": "erfc",
    "erfcx": "erfcx",
    "erfinv": "erfinv",
    "erfcinv": "erfcinv",
    "ndtr": "normcdf",
    "ndtri": "normcdfinv",
}


def _by_element(function: Any) -> Any:
    def call(x: Any, dtype: Any = None) -> Array:
        x = np.asarray(x)
        values = [function(each) for each in x.ravel()]
        return np.array(values, dtype or x.dtype).reshape(x.shape)

    return call


def log_ndtr(x: Any) -> Any:
    """Return log(ndtr(x)) by erfcx, which does not underflow."""
    if x > 0:
        return np.log1p(-MATHEMATICS["normcdf"](-x))
    return np.log(MATHEMATICS["erfcx"](-x / np.sqrt(2)) / 2) - x * x / 2


class coo_matrix:
    """A sparse matrix by coordinates, as far as Chainer's ``sparse_matmul`` uses it."""

    def __init__(self, values: tuple[Array, tuple[Array, Array]], shape: tuple[int, int]) -> None:
        data, (row, column) = values
        self.dense = np.zeros(shape, data.dtype)
        np.add.at(self.dense, (row, column), data)

    def dot(self, other: Array) -> Array:
        product: Array = self.dense.dot(other)
        return product


def install() -> None:
    if importlib.util.find_spec("scipy") is not None:
        return
    special: Any = ModuleType("scipy.special")
    for name, cuda in SPECIAL.items():
        setattr(special, name, _by_element(MATHEMATICS[cuda]))
    special.log_ndtr = _by_element(log_ndtr)
    sparse: Any = ModuleType("scipy.sparse")
    sparse.coo_matrix = coo_matrix
    package: Any = ModuleType("scipy")
    package.special, package.sparse = special, sparse
    package.__path__ = []
    sys.modules |= {"scipy": package, "scipy.special": special, "scipy.sparse": sparse}
