"""Tests ufuncs as objects: arguments, results, errors. The parity suite compares values with
NumPy's.
"""

from __future__ import annotations

import gc
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._core import ufuncs

UFUNCS = sorted(ufuncs.BY_NAME)
A = np.array([[1.5, -2.0, 0.25], [4.0, 8.0, -1.0]], np.float32)
B = np.array([2.0, 0.5, -4.0], np.float32)


def ours(*arrays: Any) -> list[Any]:
    return [ac.array(each) for each in arrays]


def same(result: Any, expected: Any) -> None:
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result.get(), expected)


@pytest.mark.parametrize("name", UFUNCS)
def test_every_ufunc_is_one_of_the_table_and_says_what_it_is(name: str) -> None:
    function = ufuncs.BY_NAME[name]
    assert function._number >= 0
    assert repr(function).startswith("<arraycore.ufunc ")
    theirs = getattr(np, name, None)
    if theirs is None:
        assert getattr(ac.special, name) is function
    else:
        assert (function.nin, function.nout, function.nargs) == (
            theirs.nin,
            theirs.nout,
            theirs.nargs,
        )
        assert getattr(ac, name) is function


def test_other_names_of_numpys_are_the_same_function() -> None:
    for name in set(ufuncs.__all__) - {"ufunc"}:
        theirs, function = getattr(np, name), getattr(ac, name)
        assert ufuncs.BY_NAME[theirs.__name__] is function
    assert ac.special.psi is ac.special.digamma


def test_operands_are_arrays_python_numbers_and_numpy_scalars() -> None:
    a, b = ours(A, B)
    same(ac.add(a, b), A + B)
    for number in (3, -7, 0.1, float("nan"), float("-inf"), True, 1 + 2j, np.float32(3),
                   np.float64(3), np.int16(-3), np.bool_(True), np.array(2.5),
                   2**53 + 2):  # fmt: skip
        same(ac.add(a, number), A + number)
        same(ac.subtract(number, a), number - A)
    same(ac.add(ac.array(np.int64(1)), 2**62), np.add(np.int64(1), 2**62, dtype=np.int64))
    same(ac.multiply(ac.array(np.array([1, 2], ">i2")), 3), np.array([3, 6], np.int16))


def test_scalars_alone_give_an_array() -> None:
    result = ac.add(1.5, 2)
    assert (result.shape, result.dtype) == ((), np.float64)
    assert float(result) == 3.5


@pytest.mark.usefixtures("cupys_rules")
def test_numpys_arrays_are_not_brought_to_the_device_unasked() -> None:
    (a,) = ours(A)
    for refused in (B, [1, 2, 3], None, "text"):
        with pytest.raises(TypeError, match="Unsupported type"):
            ac.add(a, refused)
        with pytest.raises(TypeError, match="Unsupported type"):
            ac.add(refused, a)
        with pytest.raises(TypeError, match="Unsupported type"):
            ac.exp(refused)
    with pytest.raises(TypeError, match="not to"):
        ac.exp(a, out=A.copy())


def test_out_takes_results_and_is_given_back() -> None:
    a, b = ours(A, B)
    out = ac.zeros((2, 3), "float32")
    assert ac.add(a, b, out=out) is out
    same(out, A + B)
    assert ac.add(a, b, out) is out
    assert ac.add(a, b, out=(out,)) is out
    wide = ac.zeros((2, 3), "float64")
    same(ac.multiply(a, 2, out=wide), A.astype(np.float64) * 2)
    narrow = ac.zeros((2, 3), "float16")
    same(ac.multiply(a, 2, out=narrow), (A * 2).astype(np.float16))
    with pytest.raises(TypeError, match="casting rule"):
        ac.add(a, b, out=ac.zeros((2, 3), "int32"))
    same(ac.multiply(a, 4, out=ac.zeros((2, 3), "int32"), casting="unsafe"),
         (A * 4).astype(np.int32))  # fmt: skip
    with pytest.raises(ValueError, match="shape"):
        ac.add(a, b, out=ac.zeros((3,), "float32"))
    with pytest.raises(ValueError, match="casting must be"):
        ac.add(a, b, casting="wild")
    with pytest.raises(ValueError, match="1 results, not 2"):
        ac.add(a, b, out=(out, out))


def test_two_results() -> None:
    (a,) = ours(A)
    for given, right in zip(ac.modf(a), np.modf(A), strict=True):
        same(given, right)
    quotient, rest = ac.zeros((2, 3), "float32"), ac.zeros((2, 3), "float32")
    both = ac.divmod(a, 1.5, out=(quotient, rest))
    assert both[0] is quotient
    assert both[1] is rest
    same(quotient, np.divmod(A, np.float32(1.5))[0])
    same(rest, np.divmod(A, np.float32(1.5))[1])
    only = ac.divmod(a, 1.5, out=(None, rest))
    assert only[1] is rest
    same(only[0], np.divmod(A, np.float32(1.5))[0])


def test_where_leaves_the_rest() -> None:
    a, b = ours(A, B)
    mask = np.array([True, False, True])
    out = ac.array(np.full((2, 3), 9, np.float32))
    ac.add(a, b, out=out, where=ac.array(mask))
    same(out, np.where(mask, A + B, np.float32(9)))
    same(ac.add(a, b, where=ac.array(mask)), np.where(mask, A + B, np.float32(0)))
    # The CPU computes with float64 operands, while the result lies on the device.
    held = ac.array(np.array([True, False, False]))
    wide = np.array([0.0, 1.0, 2.0])
    ac.logical_and(ac.array(wide), ac.array(wide), out=held, where=ac.array(~mask))
    same(held, np.array([True, True, False]))
    ac.add(a, b, out=out, where=False)
    same(out, np.where(mask, A + B, np.float32(9)))
    with pytest.raises(TypeError, match="array of bool"):
        ac.add(a, b, where=a)
    same(ac.add(a, b, where=mask), np.where(mask, A + B, np.float32(0)))


def test_dtype_asks_for_the_result() -> None:
    a, b = ours(A, B)
    same(ac.add(a, b, dtype="float64"), np.add(A, B, dtype="float64"))
    same(ac.sqrt(ac.array(np.int8([0, 9])), dtype="float32"),
         np.sqrt(np.int8([0, 9]), dtype="float32"))  # fmt: skip
    with pytest.raises(TypeError, match="int8"):
        ac.add(a, b, dtype="int8")


def test_wrong_calls_say_what_is_wrong() -> None:
    (a,) = ours(A)
    with pytest.raises(TypeError, match="2 operands"):
        ac.add(a)
    with pytest.raises(TypeError, match="4 were given"):
        ac.add(a, a, a, a)
    with pytest.raises(TypeError, match="bitwise_and does not take"):
        ac.bitwise_and(a, a)
    with pytest.raises(NotImplementedError, match=r"no add\.reduceat: "):
        ac.add.reduceat(a, [0, 1])


def test_numpys_ufuncs_with_our_arrays_are_ours() -> None:
    a, b = ours(A, B)
    same(np.add(a, b), A + B)
    same(np.float32(2) * a, A * 2)
    same(np.float64(2) * a, np.float64(2) * A)
    same(np.exp2(a), ac.exp2(a).get())
    out = ac.zeros((2, 3), "float32")
    assert np.add(a, 1, out=out) is out  # type: ignore[call-overload]
    same(np.add(A, a), A + A)
    same(np.add.reduce(a), np.add.reduce(A))
    same(np.maximum.accumulate(a, axis=1), np.maximum.accumulate(A, axis=1))
    same(np.matmul(a, A.T), A @ A.T)
    same(np.vecdot(a, a), np.vecdot(A, A))


@pytest.mark.usefixtures("unfused")
def test_every_call_is_one_crossing_and_frees_what_is_gone() -> None:
    a, b = ours(A, B)
    out, mask = ac.zeros((2, 3), "float32"), ac.array(np.ones(3, bool))
    before = ac.counters()
    for _ in range(300):
        ac.add(a, b)
        ac.exp(a)
        ac.multiply(a, 2.5)
        ac.add(a, np.float32(1))
        ac.add(a, b, out=out, where=mask)
    after = ac.counters()
    assert after["crossings"] - before["crossings"] == 1500
    assert after["dispatches"] - before["dispatches"] == 1500
    assert after["live_arrays"] <= before["live_arrays"] + 3


def test_functions_of_one_and_of_two_operands_keep_their_kernels_apart() -> None:
    a = ac.array(np.ones(3, np.float16))
    for name in UFUNCS:
        function = ufuncs.BY_NAME[name]
        if function.nin == 1 and name not in ("invert", "bitwise_count"):
            function(a)
    for name in ("add", "subtract", "multiply", "divide", "maximum", "less"):
        function = ufuncs.BY_NAME[name]
        same(function(3, a), getattr(np, name)(3, np.ones(3, np.float16)))


def test_ldexp_takes_integers_of_either_kind() -> None:
    for dtype in ("float16", "float32"):
        x = np.array([1.5, -3.0], dtype)
        same(ac.ldexp(ac.array(x), 3), np.ldexp(x, 3))
        same(ac.ldexp(ac.array(x), ac.array(np.int32([2, -1]))), np.ldexp(x, np.int32([2, -1])))


def test_tolerances_come_from_the_table() -> None:
    assert ac.add.tolerance("float32", "float32") == (0, 0)
    assert ac.add.tolerance("float32", "float32", gpu=True) == (0, 0)
    ulp, _ = ac.exp.tolerance("float32")
    gpu_ulp, _ = ac.exp.tolerance("float32", gpu=True)
    assert 0 < ulp <= gpu_ulp
    assert ac.exp.tolerance("float16", gpu=True)[0] <= gpu_ulp
    with pytest.raises(TypeError, match="no loop"):
        ac.exp.tolerance("int8")


def test_a_refused_call_loses_no_array_that_waits_to_be_freed() -> None:
    gc.collect()  # other tests' garbage
    ac.reset()
    a = ac.array(A)
    ac.array(A)
    with pytest.raises(TypeError):
        ac.add(a, object())
    kept = ac.add(a, a)
    assert ac.counters()["live_arrays"] == 2
    assert kept.shape == (2, 3)
