"""Tests that products of matrices and tensors have NumPy's values, shapes, dtypes and errors."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime import operations

DTYPES = ("bool", "int8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64",
          "complex64", "complex128")  # fmt: skip
# The extents of the tested matrices: 1 as for a vector, extents just above the kernels' blocks, and
# one that is larger than every tile.
SIZES = (1, 2, 3, 5, 17, 33, 65, 130)
# Fewer cases run on a device, because a software device compiles kernels slowly.
ON_DEVICE = ac.device_info().name != "cpu"


def numbers(shape: tuple[int, ...], dtype: str = "float32", seed: int = 0) -> Any:
    """Return small integers, whose products and sums every dtype holds exactly."""
    values = np.random.default_rng(seed).integers(-3, 4, shape)
    if np.dtype(dtype).kind == "c":
        return (values + 1j * np.random.default_rng(seed + 1).integers(-3, 4, shape)).astype(dtype)
    return (np.abs(values) if np.dtype(dtype).kind in "bu" else values).astype(dtype)


def same(ours: Any, numpys: Any) -> None:
    numpys = np.asarray(numpys)
    assert ours.shape == numpys.shape
    assert ours.dtype == numpys.dtype
    np.testing.assert_array_equal(ours.get(), numpys)


def both(function: Callable[[Any, Any], Any], *arrays: Any) -> None:
    """Assert that ``function(module, arrays)`` gives NumPy's result in arraycore.

    No array may be read from the device, except where a dtype of 64-bit floats needs the CPU.
    """
    mine = [ac.array(a) for a in arrays]
    before = ac.counters()
    result = function(ac, mine)
    after = ac.counters()
    if not {"float64", "complex128"} & {a.dtype.name for a in (*arrays, result)}:
        assert after["bytes_down"] == before["bytes_down"]
        assert after["cpu_ops"] == before["cpu_ops"]
    same(result, function(np, list(arrays)))


def refuses(function: Callable[[Any, Any], Any], *arrays: Any) -> None:
    """Assert that arraycore raises NumPy's error with NumPy's message."""
    with pytest.raises((TypeError, ValueError)) as numpys:
        function(np, list(arrays))
    kind = next(each for each in (TypeError, ValueError) if isinstance(numpys.value, each))
    with pytest.raises(kind) as ours:
        function(ac, [ac.array(a) for a in arrays])
    assert str(ours.value) == str(numpys.value)


# ---- matmul


@pytest.mark.parametrize("dtype", DTYPES)
def test_matmul_of_every_dtype(dtype: str) -> None:
    both(lambda xp, a: a[0] @ a[1], numbers((7, 9), dtype), numbers((9, 5), dtype, 2))
    both(lambda xp, a: a[0] @ a[1], numbers((3, 2, 5), dtype), numbers((5, 4), dtype, 2))


def test_matmul_of_every_size() -> None:
    sizes = SIZES[::2] if ON_DEVICE else SIZES
    for m, n, k in itertools.product(sizes, sizes, (1, 4, 33, 300)):
        a, b = numbers((m, k)), numbers((k, n), seed=1)
        np.testing.assert_array_equal((ac.array(a) @ ac.array(b)).get(), a @ b, f"{m} {n} {k}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matmul_of_every_layout(dtype: str) -> None:
    lies: dict[str, Callable[[Any], Any]] = {
        "rows": lambda a: a,
        "transposed": lambda a: a.swapaxes(-1, -2),
        "gaps": lambda a: a[..., ::2],
        "backwards": lambda a: a[..., ::-1, ::-1],
        "offset": lambda a: a[..., 1:, 1:],
    }
    for (name_a, of_a), (name_b, of_b) in itertools.product(lies.items(), lies.items()):
        for m, n, k in ((8, 12, 16), (70, 67, 35), (1, 40, 36), (40, 1, 36)):
            a = _lying(of_a, m, k, dtype)
            b = _lying(of_b, k, n, dtype)
            want = of_a(a) @ of_b(b)
            got = of_a(ac.array(a)) @ of_b(ac.array(b))
            np.testing.assert_array_equal(got.get(), want, f"{name_a} {name_b} {m} {n} {k}")


def _lying(view: Callable[[Any], Any], rows: int, columns: int, dtype: str) -> Any:
    """Return an array to which ``view`` can be applied to get a matrix of the given rows and
    columns.
    """
    for shape in itertools.product(
        (rows, columns, rows + 1), (rows, columns, 2 * columns, columns + 1)
    ):
        if view(np.empty(shape)).shape == (rows, columns):
            return numbers(shape, dtype)
    raise AssertionError


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((4,), (4,)),
        ((4,), (4, 3)),
        ((3, 4), (4,)),
        ((2, 3, 4), (4,)),
        ((4,), (2, 4, 3)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((6, 1, 3, 4), (1, 5, 4, 2)),
        ((2, 2, 2, 2, 3, 4), (2, 1, 2, 1, 4, 2)),
        ((2, 3, 2, 3, 2, 1, 4), (1, 3, 1, 3, 1, 4, 2)),
        ((0, 4), (4, 3)),
        ((3, 0), (0, 3)),
        ((3, 4), (4, 0)),
        ((0, 3, 4), (4, 2)),
        ((2, 3, 0), (0,)),
        ((300, 2, 3), (300, 3, 2)),
    ],
)
def test_matmul_of_vectors_and_batches(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    for dtype in ("float32", "int32", "float64"):
        both(lambda xp, x: xp.matmul(*x), numbers(a, dtype), numbers(b, dtype, 3))


def test_matmul_meets_in_a_common_dtype() -> None:
    for first, second in itertools.islice(
        itertools.product(DTYPES, DTYPES), 0, None, 7 if ON_DEVICE else 1
    ):
        a, b = numbers((2, 3), first), numbers((3, 2), second, 1)
        same(ac.array(a) @ ac.array(b), a @ b)


def test_matmul_rounds_as_well_as_numpy() -> None:
    random = np.random.default_rng(5)
    a, b = (random.standard_normal((90, 90)).astype("float32") for _ in range(2))
    exact = a.astype("float64") @ b.astype("float64")
    size = np.abs(a).astype("float64") @ np.abs(b)
    for first, second in ((a, b), (a.T, b), (a, b.T)):
        got = (ac.array(first) @ ac.array(second)).get()
        want = first.astype("float64") @ second.astype("float64")
        assert np.max(np.abs(got - want) / size.max()) < 90 * 2**-24
    half = ac.array(a).astype("float16") @ ac.array(b).astype("float16")
    assert half.dtype == "float16"
    assert np.max(np.abs(half.get() - exact)) < 0.1


def test_matmul_passes_on_what_is_no_number() -> None:
    a = np.ones((5, 6), "float32")
    a[1, 2], a[3, 4] = np.nan, np.inf
    b = np.ones((6, 9), "float32")
    b[:, 8] = 0
    with np.errstate(invalid="ignore"):
        want = a @ b
    np.testing.assert_array_equal((ac.array(a) @ ac.array(b)).get(), want)


@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 4), (5, 4)), ((3,), (5,)), ((2, 3, 4), (3, 4, 5)), ((), (4,)), ((3, 4), ())],
)
def test_matmul_refuses_in_numpys_words(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    if a == (2, 3, 4):  # NumPy's message names its internals
        with pytest.raises(ValueError, match="broadcast"):
            ac.zeros(a) @ ac.zeros(b)
        return
    refuses(lambda xp, x: xp.matmul(*x), np.zeros(a), np.zeros(b))


@pytest.mark.usefixtures("cupys_rules")
def test_operators_refuse_what_is_no_array() -> None:
    a = ac.zeros((2, 2), "float32")
    numbers_too: tuple[tuple[Any, Any], ...] = ((a, 3), (3, a))
    for left, right in numbers_too:
        with pytest.raises(ValueError, match="does not have enough dimensions"):
            operator.matmul(left, right)
    others: tuple[tuple[Any, Any], ...] = ((a, np.eye(2)), (a, [1, 2]), (np.eye(2), a))
    for left, right in others:
        with pytest.raises(TypeError):
            operator.matmul(left, right)


# ---- out


@pytest.mark.parametrize(
    ("shape", "dtype", "view"),
    [
        ((3, 5), "float32", np.s_[...]),
        ((6, 11), "float32", np.s_[::2, 1::2]),
        ((3, 5), "float64", np.s_[...]),
        ((3, 5), "float16", np.s_[...]),
        ((2, 3, 5), "float32", np.s_[...]),
        ((5, 4, 5), "float32", np.s_[2, 1:]),
    ],
)
def test_out_is_written(shape: tuple[int, ...], dtype: str, view: Any) -> None:
    a, b = numbers((3, 4)), numbers((4, 5), seed=1)
    mine, numpys = ac.ones(shape, dtype), np.ones(shape, dtype)
    out = mine[view]
    assert ac.matmul(ac.array(a), ac.array(b), out=out) is out
    np.matmul(a, b, out=numpys[view])
    same(mine, numpys)


def test_out_may_be_an_operand() -> None:
    a, b = numbers((4, 4)), numbers((4, 4), seed=1)
    mine, other = ac.array(a), ac.array(b)
    ac.matmul(mine, other, out=mine)
    same(mine, a @ b)
    mine = ac.array(a)
    mine @= other
    same(mine, a @ b)
    ac.matmul(mine, mine.T, out=mine)
    same(mine, (a @ b) @ (a @ b).T)
    vector = ac.array(a[0])
    vector @= other
    same(vector, a[0] @ b)


def test_out_refuses_in_numpys_words() -> None:
    def into(shape: tuple[int, ...], dtype: str) -> Callable[[Any, Any], Any]:
        return lambda xp, x: xp.matmul(*x, out=xp.zeros(shape, dtype))

    arrays = np.zeros((3, 4)), np.zeros((4, 5))
    refuses(into((3, 4), "float64"), *arrays)
    refuses(into((2, 5), "float64"), *arrays)
    refuses(into((3, 5), "int32"), *arrays)
    with pytest.raises(ValueError, match="does not broadcast"):
        ac.matmul(ac.zeros((2, 3, 4)), ac.zeros((4, 5)), out=ac.zeros((3, 3, 5)))
    with pytest.raises(ValueError, match="inplace matrix multiplication requires"):
        ac.zeros((3, 4)).__imatmul__(ac.zeros(4))
    refuses(lambda xp, x: xp.dot(*x, out=xp.zeros((3, 5), "float32")), *arrays)


# ---- dot and similar products


@pytest.mark.parametrize(
    ("a", "b"),
    [((4,), (4,)), ((3, 4), (4, 2)), ((3, 4), (4,)), ((4,), (4, 2)), ((2, 3, 4), (4,)),
     ((2, 3, 4), (5, 4, 2)), ((3, 4), (2, 5, 4, 2)), ((), (3,)), ((2, 2), ()), ((0, 3), (3, 0)),
     ((2, 0), (5, 0, 2)), ((4,), (3, 4, 2))],
)  # fmt: skip
def test_dot(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    for dtype in ("float32", "int64", "complex64"):
        both(lambda xp, x: xp.dot(*x), numbers(a, dtype), numbers(b, dtype, 1))
    both(lambda xp, x: x[0].dot(x[1]), numbers(a), numbers(b, seed=1))


def test_dot_with_numbers_and_errors() -> None:
    same(ac.dot(2, ac.array(numbers((3,)))), np.dot(np.float32(2), numbers((3,))))
    for a, b in (((3, 4), (3, 5)), ((3,), (4,)), ((2, 3, 4), (3, 5, 6)), ((2, 3, 4), (3,))):
        refuses(lambda xp, x: xp.dot(*x), np.zeros(a), np.zeros(b))
    out = ac.empty((2, 3, 2, 5), "float32")
    a, b = numbers((2, 3, 4)), numbers((2, 4, 5), seed=1)
    assert ac.dot(ac.array(a), ac.array(b), out) is out
    same(out, np.dot(a, b))


def test_vdot_inner_outer_vecdot() -> None:
    for dtype in ("float32", "complex64", "int32"):
        both(lambda xp, x: xp.vdot(*x), numbers((3, 4), dtype), numbers((4, 3), dtype, 1))
        both(lambda xp, x: xp.inner(*x), numbers((3, 4), dtype), numbers((2, 5, 4), dtype, 1))
        both(lambda xp, x: xp.inner(*x), numbers((4,), dtype), numbers((2, 4), dtype, 1))
        both(lambda xp, x: xp.outer(*x), numbers((3, 2), dtype), numbers((4,), dtype, 1))
        both(lambda xp, x: xp.vecdot(*x), numbers((3, 1, 4), dtype), numbers((5, 4), dtype, 1))
    refuses(lambda xp, x: xp.vdot(*x), np.zeros((3, 4)), np.zeros((4, 5)))
    refuses(lambda xp, x: xp.inner(*x), np.zeros((3, 4)), np.zeros((4, 5)))
    refuses(lambda xp, x: xp.vecdot(*x), np.zeros((3, 4)), np.zeros(5))
    out = ac.empty((2, 3), "float32")
    assert ac.outer(ac.array(numbers((2,))), ac.array(numbers((3,))), out) is out
    same(out, np.outer(numbers((2,)), numbers((3,))))


def test_tensordot() -> None:
    a, b = numbers((2, 3, 4, 5)), numbers((4, 5, 3, 2), seed=1)

    def over(axes: Any) -> Callable[[Any, Any], Any]:
        return lambda xp, x: xp.tensordot(*x, axes)

    for axes in (2, ((2, 3), (0, 1)), ((1, 0), (2, 3)), (3, 1), (-1, -3), 0, ((), ())):
        both(over(axes), a, b)
    for wrong in (1, ((0, 1), (0,)), ((2,), (1,))):
        refuses(over(wrong), a, b)


def test_kron_cross_trace() -> None:
    for shapes in (((2, 3), (3, 2)), ((2,), (3, 2)), ((2, 1, 2), (3,)), ((), (3,))):
        both(lambda xp, x: xp.kron(*x), *(numbers(shape, seed=i) for i, shape in enumerate(shapes)))
    both(lambda xp, x: xp.cross(*x), numbers((4, 3)), numbers((3,), seed=1))
    both(lambda xp, x: xp.cross(*x, axisa=0, axisc=0), numbers((3, 4)), numbers((4, 3), seed=1))
    both(lambda xp, x: xp.cross(*x, axis=0), numbers((3, 2)), numbers((3, 2), seed=1))
    refuses(lambda xp, x: xp.cross(*x), np.zeros((3, 4)), np.zeros((5, 4)))
    for dtype in ("bool", "int8", "uint16", "float16", "float32", "complex64"):
        if dtype != "bool":
            # NumPy's default integer has a pointer's size: 32 bits in browsers.
            wide = {"int8": "int64", "uint16": "uint64"}.get(dtype, dtype)
            a = numbers((4, 5), dtype)
            same(ac.trace(ac.array(a)), np.trace(a, dtype=wide))
        if np.dtype(dtype).kind != "c":
            both(lambda xp, x: x[0].trace(1, 2, 0, "float32"), numbers((4, 5, 6), dtype))


# ---- einsum

SUBSCRIPTS: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = (
    ("ij,jk", ((3, 4), (4, 5))),
    ("ij,jk->ik", ((3, 4), (4, 5))),
    ("ij,jk->ki", ((3, 4), (4, 5))),
    ("ij,kj->ik", ((3, 4), (5, 4))),
    ("ij,ij->", ((3, 4), (3, 4))),
    ("ij,ij->i", ((3, 4), (3, 4))),
    ("ij,ij", ((3, 4), (3, 4))),
    ("i,j->ij", ((3,), (4,))),
    ("i,j", ((3,), (4,))),
    ("ij->ji", ((3, 4),)),
    ("ba", ((3, 4),)),
    ("ij->", ((3, 4),)),
    ("ij->j", ((3, 4),)),
    ("ii", ((4, 4),)),
    ("ii->i", ((4, 4),)),
    ("iij->j", ((4, 4, 3),)),
    ("ijij->ij", ((2, 3, 2, 3),)),
    ("iii->i", ((3, 3, 3),)),
    ("ijk,ikl->ijl", ((2, 3, 4), (2, 4, 5))),
    ("bhqd,bhkd->bhqk", ((2, 3, 4, 5), (2, 3, 6, 5))),
    ("...ij,...jk->...ik", ((2, 3, 4), (2, 4, 5))),
    ("...ij,jk", ((6, 2, 3, 4), (4, 5))),
    ("i...,i...->...", ((3, 4, 5), (3, 4, 5))),
    ("...i->...", ((2, 3, 4),)),
    ("...i,...i", ((2, 1, 4), (3, 4))),
    ("ij...,jk...->ik...", ((3, 4, 2), (4, 5, 2))),
    ("ij,jk,kl->il", ((3, 4), (4, 5), (5, 2))),
    ("ij,jk,kl->", ((3, 4), (4, 5), (5, 2))),
    ("i,i,i->i", ((3,), (3,), (3,))),
    ("i,j,k->kji", ((2,), (3,), (4,))),
    ("ij,j,ik->k", ((3, 4), (4,), (3, 2))),
    ("ij,jk->i", ((3, 4), (4, 5))),
    ("ij,kl->ik", ((3, 4), (2, 5))),
    ("ij,jk->ik", ((3, 1), (4, 5))),
    ("ij,ij->ij", ((3, 1), (1, 4))),
    (",ij->ij", ((), (3, 4))),
    (" i j , j k -> i k ", ((3, 4), (4, 5))),
    ("ij,jk->ik", ((3, 0), (0, 5))),
    ("ij,ij->ij", ((0, 3), (0, 3))),
    ("Aa,aB->AB", ((3, 4), (4, 5))),
)


@pytest.mark.parametrize(("subscripts", "shapes"), SUBSCRIPTS)
def test_einsum(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    for dtype in ("float32", "int32", "complex64"):
        arrays = [numbers(shape, dtype, seed) for seed, shape in enumerate(shapes)]
        both(lambda xp, x: xp.einsum(subscripts, *x), *arrays)


def test_einsum_of_every_dtype() -> None:
    for dtype in DTYPES:
        arrays = numbers((3, 4), dtype), numbers((4, 2), dtype, 1)
        both(lambda xp, x: xp.einsum("ij,jk->ik", *x), *arrays)
        both(lambda xp, x: xp.einsum("ij->j", x[0]), arrays[0])


def test_einsum_by_numbers_and_options() -> None:
    a, b = numbers((3, 4)), numbers((4, 5), seed=1)
    both(lambda xp, x: xp.einsum(x[0], [0, 1], x[1], [1, 2], [2, 0]), a, b)
    both(lambda xp, x: xp.einsum(x[0], [3, 40], x[1], [40, 7]), a, b)
    both(lambda xp, x: xp.einsum(x[0], [Ellipsis, 1], x[1], [1, 2]), a, b)
    both(lambda xp, x: xp.einsum("ij,jk", *x, dtype="float64"), a, b)
    out = ac.empty((3, 5), "float32")
    assert ac.einsum("ij,jk", ac.array(a), ac.array(b), out=out) is out
    same(out, a @ b)


def test_einsum_of_one_operand_is_a_view() -> None:
    a = ac.array(numbers((3, 3)))
    ac.einsum("ii->i", a)[...] = 7
    ac.einsum("ij->ji", a)[0, 1] = 9
    assert a[1, 1] == 7
    assert a[1, 0] == 9


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->il", ((3, 4), (4, 5))),
        ("ijk", ((3, 4),)),
        ("ij,j", ((3, 4),)),
        ("ij", ((3, 4), (4,))),
        ("i...j->i", ((3, 4, 2),)),
        ("ii", ((3, 4),)),
        ("ij->iij", ((3, 4),)),
        ("i1", ((3, 4),)),
    ],
)
def test_einsum_refuses_in_numpys_words(
    subscripts: str, shapes: tuple[tuple[int, ...], ...]
) -> None:
    refuses(lambda xp, x: xp.einsum(subscripts, *x), *(np.zeros(shape) for shape in shapes))


def test_einsum_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="could not be broadcast"):
        ac.einsum("ij,jk", ac.zeros((3, 4)), ac.zeros((5, 4)))
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        ac.einsum("ij->i", ac.zeros((3, 4)), dtype="int32")


# ---- the start-up check


@pytest.mark.skipif(not ON_DEVICE, reason="the CPU has one kernel")
def test_a_wrong_kernel_is_denied_and_a_plain_one_taken() -> None:
    a, b = numbers((40, 50)), numbers((50, 60), seed=1)
    denied = operations.tune_matmul(0, 0, 1)  # wrong on purpose from here on
    try:
        same(ac.array(a) @ ac.array(b), a @ b)
        assert operations.tune_matmul(0, 0, 0) == denied + 1
        same(ac.array(a) @ ac.array(b), a @ b)
        assert operations.tune_matmul(0, 0, 0) == denied + 1
    finally:
        operations.tune_matmul(0, 0, 0)


@pytest.mark.skipif(not ON_DEVICE, reason="the CPU has one kernel")
def test_a_tile_multiplies_on_every_device() -> None:
    smallest = 6
    try:
        denied = operations.tune_matmul(smallest, 0, 0)
        a, b = numbers((67, 35)), numbers((35, 66), seed=1)
        same(ac.array(a) @ ac.array(b), a @ b)
        same(ac.array(a.T.copy()).T @ ac.array(b.T.copy()).T, a @ b)
        assert operations.tune_matmul(0, 0, 0) == denied
    finally:
        operations.tune_matmul(0, 0, 0)
