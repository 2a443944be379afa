"""Compares CuPy's elementwise and reduction kernels with NumPy, on the bridge and back end that are
open.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import numpy.typing as npt
import pytest


def floats(values: Any) -> npt.NDArray[np.float32]:
    return np.array(values, np.float32)


AXPY = ac.ElementwiseKernel("T a, T x, T y", "T z", "z = a * x + y", "axpy")
SUM = ac.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")


@pytest.mark.usefixtures("unfused")
def test_one_call_is_one_crossing_and_one_launch() -> None:
    x = ac.array(np.arange(5, dtype=np.float32))
    AXPY(0.5, x, x)
    before = ac.counters()
    z = AXPY(np.float64(2), x, x)
    after = ac.counters()
    assert after["crossings"] - before["crossings"] == 1
    assert after["dispatches"] - before["dispatches"] == 1
    assert after["cpu_ops"] == after["sync_waits"] == after["bytes_down"] == 0
    assert z.dtype == np.float32
    np.testing.assert_array_equal(z.get(), np.arange(5, dtype=np.float32) * 3)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float16", "float32"])
def test_letters_take_the_arrays_dtype(dtype: str) -> None:
    x = np.arange(1, 7).astype(dtype).reshape(2, 3)
    z = AXPY(2, ac.array(x), ac.array(x))
    assert (z.dtype, z.shape) == (x.dtype, (2, 3))
    np.testing.assert_array_equal(z.get(), (2 * x + x).astype(dtype))
    assert ac.counters()["cpu_ops"] == 0


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_wide_dtypes_are_computed_exactly(dtype: str) -> None:
    x = (np.arange(1, 5) / 7).astype(dtype)
    np.testing.assert_array_equal(AXPY(1, ac.array(x), ac.array(x)).get(), 1 * x + x)


@pytest.mark.parametrize(
    ("number", "expected"),
    [(True, 1), (3, 3), (-2.5, -2.5), (np.int8(-3), -3), (np.float32(0.1), np.float32(0.1))],
)
def test_numbers_of_every_kind_become_what_the_letter_stands_for(
    number: Any, expected: Any
) -> None:
    x = ac.array(np.ones(2, np.float32))
    fill = ac.ElementwiseKernel("T x, T value", "T y", "y = value")
    np.testing.assert_array_equal(fill(x, number).get(), np.full(2, expected, np.float32))


def test_complex_numbers_go_to_complex_parameters_only() -> None:
    fill = ac.ElementwiseKernel("T x, T value", "T y", "y = value")
    x = ac.array(np.ones(2, np.complex64))
    np.testing.assert_array_equal(fill(x, 1 - 2j).get(), np.full(2, 1 - 2j, np.complex64))
    with pytest.raises(TypeError, match="'value' is complex, and float32 is not"):
        fill(ac.array(np.ones(2, np.float32)), 1j)


def test_operands_broadcast_and_the_result_has_the_loops_shape() -> None:
    column, row = floats([[1], [2]]), floats([10, 20, 30])
    result = AXPY(2, ac.array(column), ac.array(row))
    np.testing.assert_array_equal(result.get(), 2 * column + row)
    empty = AXPY(2, ac.array(np.zeros((0, 1), np.float32)), ac.array(row))
    assert empty.shape == (0, 3)


def test_outputs_are_passed_last_and_returned() -> None:
    x = ac.array(np.arange(4, dtype=np.float32))
    out = ac.zeros(4, "float32")
    assert AXPY(1, x, x, out) is out
    np.testing.assert_array_equal(out.get(), [0, 2, 4, 6])
    with pytest.raises(ValueError, match=r"\(4,\) \(3,\)"):
        AXPY(1, x, x, ac.zeros(3, "float32"))
    with pytest.raises(ValueError, match=r"output 'z' has shape \(1,\), and the loop") as raised:
        AXPY(1, x, x, ac.zeros(1, "float32"))
    assert raised.value.code == "out_shape"  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"must be arraycore\.ndarray"):
        AXPY(1, x, x, np.zeros(4, np.float32))
    # An operand may also be the output.
    AXPY(1, x, x, x)
    np.testing.assert_array_equal(x.get(), [0, 2, 4, 6])


def test_several_outputs_are_a_tuple() -> None:
    split = ac.ElementwiseKernel("T x", "T whole, S is_large", "whole = floor(x); is_large = x > 2")
    x = ac.array(floats([1.5, 2.5, 3.5]))
    with pytest.raises(TypeError, match="no array argument tells which type 'S'"):
        split(x)
    large = ac.zeros(3, "bool")
    both = split(x, ac.zeros(3, "float32"), large)
    np.testing.assert_array_equal(both[0].get(), [1, 2, 3])
    assert both[1] is large
    np.testing.assert_array_equal(large.get(), [False, True, True])
    triple = ac.ElementwiseKernel("T x", "T a, T b, int32 c", "a = x; b = -x; c = (int)x")
    before = ac.counters()
    a, b, c = triple(x)
    assert ac.counters()["dispatches"] - before["dispatches"] == 1
    np.testing.assert_array_equal(a.get(), [1.5, 2.5, 3.5])
    np.testing.assert_array_equal(b.get(), [-1.5, -2.5, -3.5])
    assert c.dtype == np.int32
    np.testing.assert_array_equal(c.get(), [1, 2, 3])


def test_no_return_and_return_tuple() -> None:
    x = ac.array(np.ones(2, np.float32))
    assert ac.ElementwiseKernel("T x", "T y", "y = x", no_return=True)(x) is None
    pair = ac.ElementwiseKernel("T x", "T y, T z", "y = x; z = x", no_return=True)
    live = ac.counters()["live_arrays"]
    assert pair(x) is None
    assert len(ac.ElementwiseKernel("T x", "T y", "y = x", return_tuple=True)(x)) == 1
    x + x
    assert ac.counters()["live_arrays"] <= live + 2
    count = ac.ElementwiseKernel("T x", "raw int32 to", "atomicAdd(&to[0], (int)x)")
    to = ac.zeros(1, "int32")
    assert count(x, to) is to
    with pytest.raises(TypeError, match="'to' is raw"):
        count(x)
    np.testing.assert_array_equal(to.get(), [2])


def test_raw_arrays_are_indexed_and_need_a_size() -> None:
    take = ac.ElementwiseKernel("raw T x, raw int32 at", "T y", "y = x[at[i]]", "take")
    x = np.arange(10, dtype=np.float32)
    at = np.array([9, 0, 3], np.int32)
    result = take(ac.array(x), ac.array(at), size=3)
    np.testing.assert_array_equal(result.get(), x[at])
    with pytest.raises(ValueError, match="pass size="):
        take(ac.array(x), ac.array(at))
    with pytest.raises(ValueError, match="'size' is for calls whose arrays are all raw"):
        AXPY(1, ac.array(x), ac.array(x), size=10)


def test_preambles_loop_preparation_and_what_comes_after() -> None:
    kernel = ac.ElementwiseKernel(
        "T x",
        "T y",
        "if (x < limit) return; y = twice(x)",
        preamble="template <typename A> __device__ A twice(A a) { return a + a; }",
        loop_prep="T limit = 2; y = 0;",
        after_loop="y = y + 1",
    )
    result = kernel(ac.array(floats([1, 2, 3])))
    np.testing.assert_array_equal(result.get(), [1, 5, 7])


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (2, 0), [1], ()])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_reductions_equal_numpys(axis: Any, keepdims: bool, dtype: str) -> None:
    x = np.random.default_rng(5).integers(-50, 50, (4, 5, 6)).astype(dtype)
    axes = tuple(axis) if isinstance(axis, list) else axis
    expected = x.sum(axis=axes, keepdims=keepdims, dtype=dtype)
    result = SUM(ac.array(x), axis=axis, keepdims=keepdims)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(result.get(), expected)
    out = ac.zeros(expected.shape, dtype)
    assert SUM(ac.array(x), axis=axis, keepdims=keepdims, out=out) is out
    np.testing.assert_array_equal(out.get(), expected)


def test_a_reduction_is_one_launch_however_long_its_rows_are() -> None:
    x = ac.array(np.ones(200_000, np.float32))
    before = ac.counters()
    total = SUM(x)
    after = ac.counters()
    assert after["crossings"] - before["crossings"] == 1
    assert after["dispatches"] - before["dispatches"] == 1
    assert total.get() == 200_000


def test_reductions_with_several_inputs_and_types_of_their_own() -> None:
    norm = ac.ReductionKernel(
        "T x, T w",
        "T y",
        "(float)(x * w)",
        "a + b",
        "y = sqrt(a)",
        "0",
        "norm",
        reduce_type="float",
    )
    x = floats([[3, 4], [6, 8]])
    result = norm(ac.array(x), ac.array(x), axis=1)
    np.testing.assert_allclose(result.get(), [5, 10], rtol=1e-6)
    largest = ac.ReductionKernel(
        "T x", "T y, int32 n", "x", "max(a, b)", "y = a, n = (int)a + 1", None, "largest"
    )
    y, n = largest(ac.array(x), axis=0)
    np.testing.assert_array_equal(y.get(), [6, 8])
    np.testing.assert_array_equal(n.get(), [7, 9])
    with pytest.raises(NotImplementedError, match="2 outputs"):
        largest(ac.array(x), out=y)


def test_nothing_is_reduced_to_the_identity_or_an_error() -> None:
    none = ac.array(np.zeros((2, 0), np.float32))
    np.testing.assert_array_equal(SUM(none, axis=1).get(), [0, 0])
    assert SUM(none, axis=0).shape == (0,)
    largest = ac.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "largest")
    with pytest.raises(ValueError, match="needs an identity"):
        largest(none, axis=1)


def test_axes_that_are_not_there_are_refused() -> None:
    x = ac.array(np.ones((2, 3), np.float32))
    for axis in (2, -3, (0, 0), (1, -1)):
        with pytest.raises(ValueError, match="axis"):
            SUM(x, axis=axis)
    with pytest.raises(TypeError):
        SUM(x, axis=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="both a positional and keyword"):
        SUM(x, x, out=x)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: AXPY(x),
        lambda x: AXPY(1, x, x, x, x),
        lambda x: AXPY(1, x, np.ones(2, np.float32)),
        lambda x: AXPY(1, x, None),
        lambda x: AXPY(1, x, "text"),
        lambda x: AXPY(1, x, ac.array(np.ones(2, np.int32))),
        lambda x: AXPY(1, 2, 3),
    ],
)
def test_arguments_that_do_not_fit_are_type_errors(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        call(ac.array(np.ones(2, np.float32)))


def test_a_texts_error_shows_line_column_and_a_caret() -> None:
    kernel = ac.ElementwiseKernel("T x", "T y", "T a = x;\n  y = a + unknown;", "wrong")
    with pytest.raises(ac.CompileError) as raised:
        kernel(ac.array(np.ones(2, np.float32)))
    lines = str(raised.value).splitlines()
    assert re.search(r"kernel 'wrong', operation, line 2, column 11: 'unknown'", lines[0])
    assert lines[-1].index("^") == lines[-2].index("unknown")
    with pytest.raises(ValueError, match="kernel parameters"):
        ac.ElementwiseKernel("T", "T y", "")
    with pytest.raises(ValueError, match="an input's and an output's"):
        ac.ElementwiseKernel("T x", "T x", "x = 1")
    with pytest.raises(ValueError, match="zero character"):
        ac.ElementwiseKernel("T x", "T y", "y = \0x")
    with pytest.raises(NotImplementedError, match="preamble"):
        ac.ElementwiseKernel("T x", "T y", "y = x", options=("-DN=3",))


def test_kernels_are_keys_and_outlive_the_library() -> None:
    kernel = ac.ElementwiseKernel("T x", "T y", "y = x + 1", "next")
    assert len({kernel, AXPY, SUM, kernel}) == 3
    assert repr(kernel) == "<ElementwiseKernel 'next'>"
    x = ac.array(np.zeros(2, np.float32))
    kernel(x)
    ac.reset()
    np.testing.assert_array_equal(kernel(ac.array(np.zeros(2, np.float32))).get(), [1, 1])
    ac.close()
    ac.open()
    # In the reopened library another kernel comes first, so `kernel` gets another number there.
    ac.ElementwiseKernel("T x", "T y", "y = -x")(ac.array(np.zeros(2, np.float32)))
    np.testing.assert_array_equal(kernel(ac.array(np.zeros(2, np.float32))).get(), [1, 1])


def test_views_of_one_array_may_be_read_and_written() -> None:
    x = ac.array(np.arange(6, dtype=np.float32))
    shift = ac.ElementwiseKernel("T x", "T y", "y = x")
    shift(x[:-1], x[1:])
    np.testing.assert_array_equal(x.get(), [0, 0, 1, 2, 3, 4])


def test_memory_that_a_kernel_cannot_have_is_a_memory_error() -> None:
    ac.close()
    ac.open(budget_bytes=1000)
    try:
        x = ac.zeros(100, "float32")
        for _ in range(50):
            AXPY(1, x, x)
        with pytest.raises(MemoryError):
            [AXPY(1, x, x) for _ in range(3)]
    finally:
        ac.close()
        ac.open()
