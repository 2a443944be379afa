"""Tests meaning.py with known results, and that a wrong kernel is found."""

from __future__ import annotations

from typing import Any

import meaning
import numpy as np
import pytest
from calls import Array, Call, Memory, view_of
from probe_engine import ProbeEngine
from samples import Sample, Wrong, check

NOTHING = {"preamble": "", "loop_prep": "", "after_loop": "", "name": "k"}


def texts(ins: str, outs: str, operation: str, **more: str) -> dict[str, str]:
    return {**NOTHING, "in_params": ins, "out_params": outs, "operation": operation, **more}


def run(operation: str, x: Any, dtype: str, **more: str) -> list[Any]:
    array = np.array(x, dtype)
    out = np.zeros_like(array)
    kernel = meaning.elementwise(texts("T x", "T y", operation, **more), {"x": dtype, "y": dtype})
    with np.errstate(all="ignore"):
        kernel(array.shape, {"x": array, "y": out})
    return list(out.tolist())


@pytest.mark.parametrize(
    ("operation", "x", "dtype", "wanted"),
    [
        ("y = x / -2", [7, -7, 1], "int32", [-3, 3, 0]),
        ("y = x % 4", [7, -7], "int64", [3, -3]),
        ("y = x / 0", [7, -7], "int32", [0, 0]),
        ("y = x / 0", [7.0, -7.0], "float32", [np.inf, -np.inf]),
        ("y = x * 0.5", [3, -3], "int32", [1, -1]),
        ("y = x + 2147483647", [1], "int32", [-2147483648]),
        ("y = x + 2147483647", [1], "int64", [2147483648]),
        ("T a = x + 1; y = a - x", [2048.0], "float16", [0.0]),
        ("y = (x + 1) - x", [2048.0], "float16", [1.0]),
        ("int k = 0; for (int j = 0; j < 9; ++j) { if (j % 2 == 0) continue; k += j; } y = k * x",
         [1, 2], "int32", [16, 32]),
        ("int k = x; y = k++ + k", [5], "int32", [11]),
        ("y = x > 1 ? x : 0.5", [0.0, 2.0], "float32", [0.5, 2.0]),
        ("y = round(x)", [0.5, -2.5, 1.4], "float32", [1.0, -3.0, 1.0]),
        ("if (x < 2) return; y = min(x, (T)5)", [1, 3, 9], "int32", [0, 3, 5]),
    ],
)  # fmt: skip
def test_arithmetic(operation: str, x: Any, dtype: str, wanted: Any) -> None:
    assert run(operation, x, dtype) == wanted


def test_functions_templates_references_and_macros() -> None:
    preamble = """
    #define TWICE q + q
    template <typename U> __device__ U half_of(U a) { return a * 0.5; }
    __device__ bool swap(T &a, T &b) { T c = a; a = b; b = c; return a > b; }
    """
    operation = "T p = x, q = 3; bool more = swap(p, q); y = half_of(p) + TWICE + more"
    assert run(operation, [8.0, 1.0], "float32", preamble=preamble) == [17.5, 4.5]


def test_raw_arrays_clamp_and_add() -> None:
    kernel = meaning.elementwise(
        texts("raw T x", "raw T y", "int at[] = {0, i}; atomicAdd(&y[at], x[i + 1])"),
        {"x": "int32", "y": "int32"},
    )
    y = np.zeros((2, 3), "i")
    kernel((4,), {"x": np.array([1, 2, 3], "i"), "y": y})
    assert y.tolist() == [[2, 3, 6], [0, 0, 0]]


@pytest.mark.parametrize("operation", ["y = x << 1", "while (x) y = x", "y = foo(x)", "y = z"])
def test_what_is_not_known_raises(operation: str) -> None:
    with pytest.raises(meaning.Unknown):
        run(operation, [1], "int32")


def test_memory_is_shared_as_it_was() -> None:
    base = np.arange(12.0)
    arrays = [base.reshape(3, 4)[::-1, 1::2], base[2:5], np.arange(3.0)]
    memory = Memory(arrays)
    assert [w.owner for w in memory.windows] == [0, 0, 1]
    for array, window in zip(arrays, memory.windows, strict=True):
        np.testing.assert_array_equal(view_of(memory.flats[window.owner], window), array)


class Off(ProbeEngine):
    """An engine whose results are wrong: it adds 1 to the last element."""

    def run(self, call: Call) -> list[Array]:
        outs = super().run(call)
        outs[0][-1] += 1
        return outs


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "int64"])
def test_a_wrong_kernel_is_found(dtype: str) -> None:
    call = Call("elementwise", texts("T x", "T y", "y = x * x + 1"), [np.arange(4.0)], [])
    sample = Sample(call)
    check(ProbeEngine(), sample, {"T": dtype})
    with pytest.raises(Wrong, match="1 of 4 differ"):
        check(Off(), sample, {"T": dtype})
