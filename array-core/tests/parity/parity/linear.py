"""Compares products of vectors, matrices and tensors with NumPy's.

Floats are random numbers. An element may differ from the exact sum by the rounding of every term
and every partial sum. This is at most (terms + 4) units in the last place of the sum of the terms'
magnitudes. Integers and bools are exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import arraycore as ac
import numpy as np
from arraycore._runtime import session

from .cases import Case, Operand
from .judge import Verdict
from .runner import CPU_OPS, Outcome
from .values import Array

GROUP = "linear"
_ON_CPU = {"float64", "complex128"}
_WIDE = {"e": "d", "f": "d", "d": "d", "F": "D", "D": "D"}
DTYPES = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64",
          "complex64", "complex128")  # fmt: skip

Shape = tuple[int, ...]
Function = Callable[[Any, list[Any]], Any]


@dataclass(frozen=True)
class Product:
    """An operation on arrays of given shapes. Each element of its result is a sum of at most
    ``terms`` terms.
    """

    name: str
    function: Function
    shapes: tuple[Shape, ...]
    terms: int


def _matmul(*shapes: Shape) -> Product:
    return Product("matmul", lambda xp, x: xp.matmul(*x), shapes, shapes[0][-1])


def _einsum(text: str, terms: int, *shapes: Shape) -> Product:
    return Product(f"einsum {text}", lambda xp, x: xp.einsum(text, *x), shapes, terms)


def _tensordot(axes: Any, terms: int) -> Product:
    shapes = (3, 4, 5, 6), (5, 6, 4, 3)
    return Product(f"tensordot {axes}", lambda xp, x: xp.tensordot(*x, axes), shapes, terms)


def _trace(xp: Any, x: Any) -> Any:
    if xp is ac:
        return ac.trace(x, 1)
    # NumPy's default integer has a pointer's size; array-core's has 64 bits everywhere.
    wide = {"b": "q", "i": "q", "u": "Q"}.get(x.dtype.kind, x.dtype)
    return np.trace(x, 1, dtype=wide)


MATMUL = (
    _matmul((3, 4), (4, 5)),
    _matmul((1, 40), (40, 70)),
    _matmul((70, 40), (40, 1)),
    _matmul((600,), (600,)),
    _matmul((65, 33), (33, 130)),
    _matmul((20, 1200), (1200, 20)),
    _matmul((7,), (3, 7, 2)),
    _matmul((2, 1, 5, 6), (3, 6, 4)),
    _matmul((4, 5, 6), (6, 3)),
)
OTHERS = (
    Product("dot", lambda xp, x: xp.dot(*x), ((2, 3, 4), (5, 4, 2)), 4),
    Product("dot method", lambda xp, x: x[0].dot(x[1]), ((9, 8), (8,)), 8),
    Product("operator @", lambda xp, x: x[0] @ x[1], ((9, 8), (8, 7)), 8),
    Product("vdot", lambda xp, x: xp.vdot(*x), ((6, 7), (7, 6)), 42),
    Product("vecdot", lambda xp, x: xp.vecdot(*x), ((3, 1, 9), (4, 9)), 9),
    Product("inner", lambda xp, x: xp.inner(*x), ((3, 8), (2, 5, 8)), 8),
    Product("outer", lambda xp, x: xp.outer(*x), ((3, 2), (7,)), 1),
    Product("kron", lambda xp, x: xp.kron(*x), ((2, 3), (4, 1, 2)), 1),
    Product("trace", lambda xp, x: _trace(xp, x[0]), ((6, 9),), 6),
    _tensordot(2, 30),
    _tensordot(((1, 0), (2, 3)), 12),
    _tensordot(0, 1),
)
SIGNED = (Product("cross", lambda xp, x: xp.cross(*x), ((5, 3), (3,)), 2),)
EINSUM = (
    _einsum("ij,jk", 8, (5, 8), (8, 6)),
    _einsum("ij,kj->ki", 8, (5, 8), (6, 8)),
    _einsum("ij,ij->i", 8, (5, 8), (5, 8)),
    _einsum("ij,ij->", 40, (5, 8), (5, 8)),
    _einsum("i,j", 1, (5,), (8,)),
    _einsum("ij->j", 5, (5, 8)),
    _einsum("ii", 6, (6, 6)),
    _einsum("iij->j", 6, (6, 6, 3)),
    _einsum("bhqd,bhkd->bhqk", 5, (2, 3, 4, 5), (2, 3, 6, 5)),
    _einsum("...ij,...jk->...ik", 4, (2, 3, 4), (2, 4, 5)),
    _einsum("ij,jk,kl->il", 20, (3, 4), (4, 5), (5, 2)),
    _einsum("ij,j,ik->k", 12, (3, 4), (4,), (3, 2)),
)
LAYOUTS: dict[str, tuple[Callable[[Shape], Shape], Callable[[Any], Any]]] = {
    "contiguous": (lambda s: s, lambda x: x),
    "transposed": (lambda s: s[::-1], lambda x: x.T),
    "strided": (lambda s: (*s[:-1], 2 * s[-1]), lambda x: x[..., ::2]),
    "negative": (lambda s: s, lambda x: x[..., ::-1]),
    "offset": (lambda s: (*s[:-1], s[-1] + 1), lambda x: x[..., 1:]),
}


def _case(product: Product, dtypes: tuple[str, ...], layouts: tuple[str, ...]) -> Case:
    operands = tuple(
        Operand(_values(LAYOUTS[layout][0](shape), dtype, number), layout)
        for number, (shape, dtype, layout) in enumerate(
            zip(product.shapes, dtypes, layouts, strict=True)
        )
    )
    return Case(GROUP, product.name, operands, python=product.function,
                options={"terms": product.terms})  # fmt: skip


def _values(shape: Shape, dtype: str, seed: int) -> Array:
    random = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "f":
        return random.standard_normal(shape).astype(dtype)
    if kind == "c":
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
    return random.integers(0 if kind in "bu" else -9, 2 if kind == "b" else 10, shape).astype(dtype)


def _all() -> Iterator[Case]:
    for dtype in DTYPES:
        for product in (*MATMUL, *OTHERS, *EINSUM, *(SIGNED if dtype != "bool" else ())):
            count = len(product.shapes)
            yield _case(product, (dtype,) * count, ("contiguous",) * count)
    for dtype in ("float32", "float64", "complex64", "int64"):
        for layouts in itertools.product(LAYOUTS, LAYOUTS):
            for number, product in enumerate((MATMUL[4], MATMUL[2])):
                if number == 0 or dtype.startswith("float"):
                    yield _case(product, (dtype, dtype), layouts)
    for dtypes in itertools.permutations(DTYPES, 2):
        yield _case(MATMUL[0], dtypes, ("contiguous", "contiguous"))


#: A short run takes each 7th case. 7 is a prime, so that operations and dtypes take turns.
_SELECTED = 7


def cases(short: bool) -> Iterator[Case]:
    """Yield all cases, or each 7th if ``short``."""
    yield from itertools.islice(_all(), 0, None, _SELECTED if short else 1)


def run(case: Case, backend: str) -> Outcome:
    """Run one case on the back end that is open."""
    assert case.python is not None
    bases = [operand.base for operand in case.operands]
    view = [LAYOUTS[operand.layout][1] for operand in case.operands]
    counter = session.bridge.counter
    on_cpu = counter(CPU_OPS)
    arrays = [each(ac.array(base)) for each, base in zip(view, bases, strict=True)]
    result = case.python(ac, arrays)
    ran = backend if counter(CPU_OPS) == on_cpu else "cpu"
    numpys = [each(base) for each, base in zip(view, bases, strict=True)]
    verdict = _verdict(case, result, numpys)
    on_gpu = {operand.base.dtype.name for operand in case.operands if operand.base is not None}
    from_operands = not on_gpu & _ON_CPU
    for_gpu = from_operands and result.dtype.name not in _ON_CPU
    return Outcome(case, ran, verdict, for_gpu, from_operands)


def _verdict(case: Case, result: Any, numpys: list[Array]) -> Verdict:
    assert case.python is not None
    with np.errstate(all="ignore"):
        plain = np.asarray(case.python(np, numpys))
    got = result.get()
    if got.shape != plain.shape or got.dtype != plain.dtype:
        return Verdict(
            np.inf, f"{got.dtype} of shape {got.shape}, NumPy {plain.dtype} of shape {plain.shape}"
        )
    if plain.dtype.kind not in "fc":
        wrong = int(np.count_nonzero(got != plain))
        return Verdict(float(wrong), f"{wrong} of {got.size} integers differ" if wrong else "")
    wide = _WIDE[plain.dtype.char]
    exact = np.asarray(case.python(np, [each.astype(wide) for each in numpys]))
    # The error is relative to the sum of the magnitudes of an element's terms. An element of
    # cross() is the difference of two products, which the largest numbers bound.
    if case.function == "cross":
        size = np.asarray(2 * max(np.abs(x).max() for x in numpys) ** 2)
    else:
        size = np.asarray(case.python(np, [np.abs(each).astype("d") for each in numpys]))
    unit = size * np.finfo(plain.dtype).eps + np.finfo(plain.dtype).tiny
    off = float(np.max(np.abs(got.astype(wide) - exact) / unit, initial=0.0))
    allowed = case.options["terms"] + 4 * (2 if plain.dtype.kind == "c" else 1)
    return Verdict(off, "" if off <= allowed else f"off by {off:.1f} units of {allowed}")
