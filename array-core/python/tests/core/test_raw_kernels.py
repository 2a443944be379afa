"""Tests compute shaders in WGSL: on WebGPU they run; elsewhere the error says why they do not."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import arraycore as ac
import numpy as np
import pytest

on_webgpu = pytest.mark.skipif(
    os.environ.get("ARRAYCORE_BACKEND") != "webgpu", reason="WGSL runs on WebGPU"
)

SCALE = ac.RawKernel(
    """
struct Block { factor: f32, shift: vec2<f32>, first: u32 }
@group(0) @binding(3) var<storage, read> x: array<f32>;  // @binding(7)
@group(0) @binding(1) var<uniform> block: Block;
/* @group(0) /* @binding(0) */ var<storage> nothing: array<f32>; */
@group(0) @binding(8) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64)
fn scale(@builtin(global_invocation_id) id: vec3u) {
  let k = id.x + block.first;
  if (k < arrayLength(&y)) { y[k] = x[k] * block.factor + block.shift.x - block.shift.y; }
}""",
    "scale",
)
COPY = ac.RawKernel(
    """
@group(0) @binding(0) var<storage, read> from_words: array<u32>;
@group(0) @binding(1) var<storage, read_write> to_words: array<u32>;
@compute @workgroup_size(64)
fn copy(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < min(arrayLength(&from_words), arrayLength(&to_words))) {
    to_words[id.x] = from_words[id.x];
  }
}""",
    "copy",
)


@on_webgpu
@pytest.mark.parametrize("count", [1, 3, 64, 1000, 100_000])
def test_a_shader_runs_with_its_own_bindings_and_numbers(count: int) -> None:
    x = np.random.default_rng(1).normal(size=count).astype(np.float32)
    y = ac.zeros(count, "float32")
    before = ac.counters()
    SCALE((-(-count // 64),), (ac.array(x), 2.0, (5, 1), 0, y))
    after = ac.counters()
    assert after["dispatches"] - before["dispatches"] == 1
    assert after["cpu_ops"] == 0
    np.testing.assert_allclose(y.get(), x * 2 + 4, rtol=1e-6)


@on_webgpu
def test_numpys_memory_is_bound_as_it_is() -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    y = ac.zeros(24, "float32")
    before = ac.counters()
    SCALE(1, [x, 1, (0, 0), 0, y])
    assert ac.counters()["bytes_up"] - before["bytes_up"] == x.nbytes
    assert ac.counters()["crossings"] - before["crossings"] == 2  # the upload and the call
    np.testing.assert_array_equal(y.get(), x.ravel())
    SCALE(1, [x[::-1, ::2].T, 1, (0, 0), 0, y])
    np.testing.assert_array_equal(y.get()[:12], x[::-1, ::2].T.ravel())
    SCALE(1, [x.astype(">f4"), 1, (0, 0), 0, y])
    np.testing.assert_array_equal(y.get(), x.ravel())


@on_webgpu
@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint16", "int32", "uint32", "int64", "uint64", "float16", "complex64"],
)
def test_arrays_of_every_dtype_of_the_device_are_words(dtype: str) -> None:
    x = (np.arange(16) % 2).astype(dtype)
    y = ac.zeros(16, dtype)
    COPY(1, (ac.array(x), y))
    assert y.get().tobytes() == x.tobytes()


@on_webgpu
def test_the_uniform_block_may_be_given_as_a_structure() -> None:
    block = np.zeros(1, [("factor", "<f4"), ("", "<f4"), ("shift", "<f4", 2), ("first", "<u4")])
    block["factor"], block["shift"], block["first"] = 3, (1, 2), 1
    x = ac.array(np.arange(1, 4, dtype=np.float32))
    y = ac.zeros(3, "float32")
    SCALE(1, (x, y), uniforms=block)
    np.testing.assert_array_equal(y.get(), [0, 5, 8])
    with pytest.raises(ValueError, match="24 bytes, and 8 were given"):
        SCALE(1, (x, y), uniforms=b"12345678")


@on_webgpu
def test_views_are_read_and_written_where_they_lie() -> None:
    x = ac.array(np.arange(10, dtype=np.float32))
    SCALE(1, (x[::2], 10, (0, 0), 0, x[1::2]))
    np.testing.assert_array_equal(x.get(), [0, 0, 2, 20, 4, 40, 6, 60, 8, 80])
    SCALE(1, (x, 2, (0, 0), 0, x))
    np.testing.assert_array_equal(x.get(), [0, 0, 4, 40, 8, 80, 12, 120, 16, 160])


@on_webgpu
def test_a_grid_has_up_to_three_extents() -> None:
    where = ac.RawKernel(
        """
@group(0) @binding(0) var<storage, read_write> seen: array<atomic<u32>>;
@compute @workgroup_size(1, 2) fn main(@builtin(global_invocation_id) id: vec3u) {
  atomicAdd(&seen[id.x + 4u * (id.y + 6u * id.z)], 1u);
}""",
        "main",
    )
    seen = ac.zeros(48, "uint32")
    where((4, 3, 2), (seen,))
    np.testing.assert_array_equal(seen.get(), np.ones(48))
    where((4, 0), (seen,))
    np.testing.assert_array_equal(seen.get(), np.ones(48))
    for grid in ((), (1, 1, 1, 1), (-1,)):
        with pytest.raises(ValueError, match="a grid has"):
            where(grid, (seen,))


@on_webgpu
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (lambda x: (x, 1, (0, 0), 0), "it binds 2 arrays .*'x', 'y'.* and 1 were given"),
        (lambda x: (x, x, x, 1, (0, 0), 0), "3 were given"),
        (lambda x: (x, 1, 0, 0, x), "holds 4 numbers, and 3 were given"),
        (lambda x: (x, 1, (0, 0), 0.5, x), "number 4 of the uniform block is uint32"),
        (lambda x: (x, 1j, (0, 0), 0, x), "number 1 of the uniform block is float32"),
        (lambda x: (x, 1, (0, 0), 0, np.zeros(3, np.float32)), "it writes 'y'"),
        (lambda x: (np.zeros(3), 1, (0, 0), 0, x), "'x' is float64"),
        (lambda x: (x, 1, (0, 0), 0, object()), "Unsupported type"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_at_the_call(arguments: Any, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        SCALE(1, arguments(ac.zeros(3, "float32")))


@on_webgpu
def test_a_shader_that_the_device_refuses_is_named_at_the_next_wait() -> None:
    wrong = ac.RawKernel(
        """
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(1) fn wrong() { y[0] = no_such_thing; }""",
        "wrong",
    )
    y = ac.zeros(1, "float32")
    wrong(1, (y,))
    with pytest.raises(ac.DeviceError, match=r"(?s)'wrong'.*no_such_thing"):
        y.get()
    # The launch of the refused shader fails too. Its error may arrive after the shader's error was
    # raised.
    with contextlib.suppress(ac.DeviceError):
        y.get()
    np.testing.assert_array_equal(y.get(), [0])
    COPY(1, (np.full(1, 5, np.float32), y))
    np.testing.assert_array_equal(y.get(), [5])


@pytest.mark.skipif(os.environ.get("ARRAYCORE_BACKEND") == "webgpu", reason="WebGPU runs it")
def test_other_back_ends_say_that_they_run_no_wgsl() -> None:
    y = ac.zeros(3, "float32")
    with pytest.raises(NotImplementedError, match="WGSL") as raised:
        COPY(1, (y, y))
    assert raised.value.code == "no_raw_kernels"  # type: ignore[attr-defined]


def test_a_declaration_that_cannot_be_launched_shows_its_place() -> None:
    with pytest.raises(ac.CompileError) as raised:
        ac.RawKernel("\n  @group(2) @binding(0) var<storage> x: array<f32>;", "main")
    assert str(raised.value).splitlines() == [
        "kernel 'main', code, line 2, column 4: every binding is in group 0",
        "    @group(2) @binding(0) var<storage> x: array<f32>;",
        "     ^",
    ]
    with pytest.raises(ac.CompileError, match="no function 'other'"):
        ac.RawKernel("@compute @workgroup_size(1) fn main() {}", "other")
