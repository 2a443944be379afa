"""Tests arrays and their first operations, on whichever bridge this interpreter has."""

from __future__ import annotations

import gc
import operator
import random
import sys
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime import session

DTYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
OPERATORS: list[Callable[[Any, Any], Any]] = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
]


def test_the_bridge_is_that_of_the_interpreter() -> None:
    assert session.bridge.name == ("wasm" if sys.platform == "emscripten" else "native")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (5, 7), (2, 3, 4, 5), (1,) * 32])
def test_arrays_come_back_as_they_went(dtype: str, shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    bits = np.frombuffer(random.Random(size).randbytes(size), "uint8")
    source = (bits & 1 if dtype == "bool" else bits).view(dtype).reshape(shape)
    given = ac.array(source)
    assert (given.dtype, given.shape, given.ndim) == (source.dtype, shape, len(shape))
    if source.size:
        assert given.strides == np.empty(shape, dtype).strides
    back = given.get()
    assert (back.dtype, back.shape) == (source.dtype, shape)
    assert back.tobytes() == source.tobytes()


def test_views_and_foreign_byte_orders_are_copied_in_order() -> None:
    source = np.arange(24, dtype=">i4").reshape(4, 6)[::-1, ::2].T
    given = ac.array(source)
    assert given.dtype == np.dtype("int32")
    np.testing.assert_array_equal(given.get(), source)


def test_an_array_is_a_copy() -> None:
    source = np.ones(3, np.float32)
    given = ac.array(source)
    source[:] = 7
    back = given.get()
    back[:] = 9
    np.testing.assert_array_equal(given.get(), np.ones(3))


def test_zeros_takes_a_number_or_a_shape() -> None:
    np.testing.assert_array_equal(ac.zeros(3, "int64").get(), np.zeros(3, "int64"))
    np.testing.assert_array_equal(ac.zeros([2, 2]).get(), np.zeros((2, 2)))


@pytest.mark.parametrize("function", OPERATORS)
def test_operators_equal_numpys(function: Callable[[Any, Any], Any]) -> None:
    generator = np.random.default_rng(3)
    a, b = generator.normal(size=(2, 6, 50)).astype(np.float32)
    # WebGPU does not guarantee the last bits of a quotient.
    ulp = 3 if function is operator.truediv else 0

    def equal(ours: ac.ndarray, numpys: Any) -> None:
        np.testing.assert_array_max_ulp(ours.get(), numpys, maxulp=ulp)

    result = function(ac.array(a), ac.array(b))
    assert result.dtype == np.float32
    equal(result, function(a, b))
    for number in (3, -0.25, True):
        equal(function(ac.array(a), number), function(a, number))
        equal(function(number, ac.array(a)), function(number, a))


def test_special_values_pass_through_addition() -> None:
    # The values contain no subnormal numbers, because a GPU may replace them with 0.
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 2e-38, 3.4e38], np.float32)
    a, b = np.repeat(values, 7), np.tile(values, 7)
    with np.errstate(all="ignore"):
        expected = a + b
    result = (ac.array(a) + ac.array(b)).get()
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(
        np.signbit(result[~np.isnan(result)]), np.signbit(expected[~np.isnan(expected)])
    )


@pytest.mark.usefixtures("unfused")
def test_one_operation_is_one_crossing_with_its_frees() -> None:
    a, b = ac.array(np.ones(8, np.float32)), ac.array(np.ones(8, np.float32))
    before = ac.counters()
    for _ in range(1000):
        a + b
        a * 2.0
    after = ac.counters()
    assert after["crossings"] - before["crossings"] == 2000
    assert after["dispatches"] - before["dispatches"] == 2000
    # The last result may still be alive, because only the next operation frees it.
    assert after["live_arrays"] <= 3
    assert after["cpu_ops"] == after["sync_waits"] == 0  # nothing was read
    assert after["peak_bytes"] <= 4 * 32


def test_shape_dtype_and_strides_are_one_crossing_together() -> None:
    a = ac.zeros((2, 3))
    before = ac.counters()["crossings"]
    assert (a.shape, a.strides, a.size) == ((2, 3), (24, 8), 6)
    assert a.dtype == np.float64
    assert ac.counters()["crossings"] - before == 1


def test_a_large_backlog_of_freed_arrays_is_freed_by_the_next_operation() -> None:
    a = ac.array(np.ones(1, np.float32))
    many = [a + a for _ in range(3000)]
    assert ac.counters()["live_arrays"] == 3001
    many.clear()
    gc.collect()
    kept = a + a
    assert ac.counters()["live_arrays"] == 2
    assert kept.get()[0] == 2


def test_bytes_are_counted_both_ways() -> None:
    a = ac.array(np.ones(100, np.float32))
    a.get()
    counted = ac.counters()
    assert (counted["bytes_up"], counted["bytes_down"]) == (400, 400)


def test_memory_that_is_freed_is_used_again() -> None:
    source = np.ones(1 << 20, np.float32)
    for _ in range(40):
        ac.array(source).get()
    assert ac.counters()["peak_bytes"] <= 2 * source.nbytes


def test_an_operation_that_is_refused_loses_no_freed_array() -> None:
    a = ac.array(np.ones(3, np.float32))
    ac.array(np.ones(3, np.float32))
    with pytest.raises(TypeError):
        a + object()
    kept = a + a
    assert ac.counters()["live_arrays"] == 2
    assert kept.shape == (3,)


def test_after_a_reset_old_arrays_raise_and_new_ones_work() -> None:
    old = ac.array(np.ones(3, np.float32))
    ac.reset()
    young = ac.array(np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="gone") as raised:
        old.get()
    assert raised.value.code == "array_freed"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="gone"):
        old + young
    del old
    np.testing.assert_array_equal((young + young).get(), np.zeros(3))


@pytest.fixture
def small_budget() -> Any:
    ac.close()
    ac.open("cpu", budget_bytes=1000)
    yield
    ac.close()
    ac.open()


@pytest.mark.usefixtures("small_budget")
def test_over_budget_is_a_memory_error_and_the_library_goes_on() -> None:
    a = ac.zeros(100, "float32")
    with pytest.raises(MemoryError, match=r"800 bytes .* \(200,\) .*400 of 1000"):
        ac.zeros(200, "float32")
    with pytest.raises(MemoryError):
        [a + a for _ in range(10)]
    gc.collect()
    assert (a + a).shape == (100,)


def test_opening_twice_and_unknown_back_ends_are_errors() -> None:
    with pytest.raises(ValueError, match="open already"):
        ac.open()
    with pytest.raises(ValueError, match="cpu, webgpu"):
        ac.open("cuda")


def test_a_size_that_no_memory_has_is_refused() -> None:
    with pytest.raises(ValueError, match="too big"):
        ac.zeros((1 << 40, 1 << 40))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        ac.zeros((2, -1))
