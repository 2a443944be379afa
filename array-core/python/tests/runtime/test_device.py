"""Tests the device and its clock, large arrays that are copied in pieces, and kernels with many
arrays.
"""

from __future__ import annotations

import os

import arraycore as ac
import numpy as np
import pytest

on_device = pytest.mark.skipif(
    os.environ.get("ARRAYCORE_BACKEND", "cpu") == "cpu", reason="the CPU is no device"
)


def test_the_device_has_a_name() -> None:
    info = ac.device_info()
    assert info.name
    assert (info.name == "cpu") == (os.environ.get("ARRAYCORE_BACKEND", "cpu") == "cpu")


@pytest.mark.skipif(
    os.environ.get("ARRAYCORE_BACKEND", "cpu") != "cpu", reason="this device has a clock"
)
def test_the_cpu_has_no_clock() -> None:
    with (
        pytest.raises(NotImplementedError, match="perf_counter") as raised,
        ac.device_timer(),
    ):
        pass
    assert getattr(raised.value, "code", None) == "no_timer"


@on_device
def test_the_device_measures_what_was_launched() -> None:
    # A fast device may finish within one step of its clock (0.1 ms in a browser). Then more work
    # is tried.
    for count in (3, 300, 30_000):
        a = ac.ones(100_000, "int32")
        with ac.device_timer() as time:
            for _ in range(count):
                a = a + a
        assert a[:1].get() == (8 if count == 3 else 0)
        assert time.milliseconds == time.nanoseconds / 1e6
        if time.nanoseconds > 0 or not ac.device_info().has_clock:
            break
    assert (time.nanoseconds > 0) == ac.device_info().has_clock
    with ac.device_timer() as nothing:
        pass
    assert nothing.nanoseconds == 0


@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
def test_large_arrays_cross_in_pieces(dtype: str) -> None:
    count = 11_000_003 // np.dtype(dtype).itemsize  # three pieces, the last of them odd
    data = (np.arange(count) % 251).astype(dtype)
    a = ac.array(data)
    np.testing.assert_array_equal(a.get(), data)
    np.testing.assert_array_equal(a[::-1].get(), data[::-1])
    np.testing.assert_array_equal(a[1:].get(), data[1:])
    live = ac.counters()["live_arrays"]
    assert live <= 4  # copies made for reads are freed, or wait to be


@on_device
@pytest.mark.parametrize("count", [1000, 200_000])
def test_a_kernel_takes_any_number_of_arrays(count: int) -> None:
    inputs = 14
    names = [f"x{i}" for i in range(inputs)]
    kernel = ac.ElementwiseKernel(
        ", ".join(f"T {name}" for name in names),
        "T total, T weighted, T last",
        "total = "
        + " + ".join(names)
        + "; weighted = "
        + " + ".join(f"{name} * {i}" for i, name in enumerate(names))
        + "; last = x13;",
        "many_arrays",
    )
    data = [
        np.full(count, i + 1, np.float32) + np.arange(count, dtype=np.float32) % 7
        for i in range(inputs)
    ]
    arrays = [ac.array(each) for each in data]
    before = ac.counters()
    total, weighted, last = kernel(*arrays)
    after = ac.counters()
    assert after["dispatches"] - before["dispatches"] == 1
    assert after["cpu_ops"] == 0
    np.testing.assert_array_equal(total.get(), sum(data))
    np.testing.assert_array_equal(weighted.get(), sum(i * each for i, each in enumerate(data)))
    np.testing.assert_array_equal(last.get(), data[13])
    for array, each in zip(arrays, data, strict=True):
        np.testing.assert_array_equal(array.get(), each)
