"""Tests that every name of CuPy that Chainer uses is offered, or raises an error that says what to
use.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import arraycore
import numpy as np
import pytest
from names import names
from places import VERSIONS, wheel

arraycore.install_cupy()
cupy = importlib.import_module("cupy")
cupyx = importlib.import_module("cupyx")

#: The number of names that each version uses, including those of libraries that arraycore does not
#: offer.
USED = {"5.4.0": 171, "7.8.1": 196}
#: Libraries of NVIDIA. Chainer works without them if their import fails.
LIBRARIES = {"cudnn", "libcudnn", "nccl"}
#: A name that only CuPy 8 has. If it is missing, Chainer 7.8.1 uses ``cupy.util``.
NEWER = {"cupy._util.PerformanceWarning"}
#: Names that may raise NotImplementedError. A name is removed once arraycore has it.
MISSING = {
    "cupy.cuda.cublas.dgetrfBatched",
    "cupy.cuda.cublas.dgetriBatched",
    "cupy.cuda.cublas.sgetrfBatched",
    "cupy.cuda.cublas.sgetriBatched",
    "cupy.cuda.memory.MemoryPointer",
    "cupy.cuda.nvtx.RangePop",
    "cupy.cuda.nvtx.RangePush",
    "cupyx.scipy.linalg.solve_triangular",
}


def resolved(name: str) -> Any:
    """Return the object of a dotted name, after importing its modules if that is possible."""
    parts = name.split(".")
    value: Any = importlib.import_module(parts[0])
    for k, part in enumerate(parts[1:], 1):
        try:
            value = getattr(value, part)
        except AttributeError:
            value = importlib.import_module(".".join(parts[: k + 1]))
    return value


def is_missing(value: Any) -> bool:
    """Return whether a call of ``value`` only raises an error that says what to do instead."""
    if not callable(value):
        return False
    text = inspect.getdoc(value) or ""
    if not text.startswith(("Raise NotImplementedError", "Raises NotImplementedError")):
        return False
    with pytest.raises(NotImplementedError, match=r"arraycore has no .*: .+\.$"):
        value()
    return True


@pytest.mark.parametrize("version", VERSIONS)
def test_every_name_is_offered_or_names_an_alternative(version: str) -> None:
    used = names(wheel(version))
    assert len(used) == USED[version]
    missing, offered = set(), 0
    for name in sorted(used - NEWER):
        if LIBRARIES & set(name.split(".")):
            with pytest.raises(ImportError):
                resolved(name)
            continue
        if is_missing(resolved(name)):
            missing.add(name)
        else:
            offered += 1
    assert missing <= MISSING, "names that Chainer uses are not offered"
    assert "cupy.cuda.nvtx.RangePush" in missing
    assert offered > 135


def test_a_name_of_neither_is_an_attribute_error() -> None:
    for module in (cupy, cupy.cuda, cupy.linalg, cupy.random, cupyx.scipy.special):
        assert not hasattr(module, "nothing_of_this_name")


def test_names_are_arraycores_own() -> None:
    assert cupy.ndarray is arraycore.ndarray
    assert cupy.exp is arraycore.exp
    assert cupy.random.RandomState is arraycore.random.RandomState
    assert cupyx.scatter_add is arraycore.scatter_add
    assert Path(cupy.__file__).is_relative_to(Path(arraycore.__file__).parent)
    arraycore.install_cupy()  # again: nothing changes
    assert importlib.import_module("cupy") is cupy


def test_numpys_scalars_give_way_to_arrays() -> None:
    x = cupy.ones(3, "float32")
    assert (x * np.float64(2)).dtype == np.float32
    arraycore.close()
    arraycore.open()  # the promotion stays
    assert (cupy.ones(3, "float32") * np.float64(2)).dtype == np.float32


def test_integers_give_way_to_arrays_of_floats() -> None:
    labels, scores = cupy.arange(3), cupy.ones(3, "float16")
    assert (labels * scores).dtype == cupy.where(labels > 1, labels, scores).dtype == np.float16
    assert (labels.astype("uint32") - cupy.float32(1) * scores.astype("f")).dtype == np.float32
    assert (labels / 2).dtype == np.float64
    assert (labels * cupy.ones(3)).dtype == np.float64


def test_draws_are_float32_where_no_dtype_is_named() -> None:
    random = cupy.random
    drawn = (random.rand(2), random.randn(2), random.normal(0, 1, 2), random.uniform(size=2))
    assert {each.dtype for each in drawn} == {np.dtype("float32")}
    named = (random.rand(2, dtype="d"), random.normal(0, 1, 2, "d"), random.random_sample(2, "d"))
    assert {each.dtype for each in named} == {np.dtype("float64")}
    assert arraycore.random.rand(2).dtype == np.float64


def test_array_modules() -> None:
    assert cupy.get_array_module(np.zeros(2), 3) is np
    assert cupy.get_array_module(np.zeros(2), cupy.zeros(2)) is cupy
    out = np.empty(2)
    assert cupy.asnumpy(cupy.ones(2), out=out) is out
    np.testing.assert_array_equal(out, [1, 1])
    np.testing.assert_array_equal(cupy.asnumpy([1, 2]), [1, 2])
    np.testing.assert_array_equal(cupy.asnumpy([1.0, 2.0], out=out), [1, 2])
    cupy.testing.assert_allclose(cupy.full(2, 3.0), [3, 3])
    with pytest.raises(AssertionError):
        cupy.testing.assert_array_equal(cupy.ones(2), np.zeros(2))


def test_memoize_keeps_results_until_they_are_cleared() -> None:
    calls = []

    @cupy.memoize(for_each_device=True)
    def doubled(x: int) -> int:
        calls.append(x)
        return 2 * x

    assert [doubled(3), doubled(3), doubled(4)] == [6, 6, 8]
    cupy.clear_memo()
    assert doubled(3) == 6
    assert calls == [3, 4, 3]


def test_a_fused_function_is_one_dispatch() -> None:
    @cupy.fuse()
    def normalised(x: Any, mean: Any, scale: Any) -> Any:
        centred = x - mean
        centred *= scale
        return centred + 1

    x = cupy.asarray(np.arange(12, dtype="f").reshape(3, 4))
    mean, scale = cupy.asarray(np.full(4, 2, "f")), cupy.asarray(np.full(4, 0.5, "f"))
    before = arraycore.counters()["dispatches"]
    result = normalised(x, mean, scale)
    read = result.get()
    assert arraycore.counters()["dispatches"] - before == 1
    np.testing.assert_array_equal(read, (x.get() - 2) * 0.5 + 1)
    assert cupy.fuse(kernel_name="k")(abs)(-3) == 3
    with pytest.raises(TypeError):
        cupy.fuse(3)


def test_broadcast() -> None:
    pair = cupy.broadcast(cupy.zeros((2, 1)), cupy.ones(3), 5)
    assert (pair.shape, pair.nd, pair.size) == ((2, 3), 2, 6)
    assert [getattr(v, "shape", v) for v in pair.values] == [(2, 3), (2, 3), 5]
    with pytest.raises(ValueError, match="broadcast"):
        cupy.broadcast(cupy.zeros(2), cupy.zeros(3))


def test_rsqrt_is_one_kernel_of_the_asked_dtype() -> None:
    x = cupy.asarray(np.array([1, 4, 16], "f"))
    np.testing.assert_allclose(cupyx.rsqrt(x).get(), [1, 0.5, 0.25])
    assert cupyx.rsqrt(x).dtype == np.float32
    assert cupyx.rsqrt(x, dtype="float16").dtype == np.float16
    assert cupyx.rsqrt(cupy.arange(1, 3, dtype="int32")).dtype == np.float64
    assert "arraycore" in str(cupyx.get_runtime_info())


def test_cuda_code_is_refused_with_an_alternative() -> None:
    with pytest.raises(NotImplementedError, match="ElementwiseKernel"):
        cupy.RawKernel('extern "C" __global__ void f(float* x) {}', "f")
    with pytest.raises(NotImplementedError, match="ElementwiseKernel"):
        cupy.cuda.compiler.compile_with_cache("")


def test_pools_tell_what_arrays_hold() -> None:
    pool = cupy.get_default_memory_pool()
    before = pool.used_bytes()
    held = cupy.zeros(1000, "float32")
    assert pool.used_bytes() - before == held.nbytes
    assert pool.total_bytes() >= pool.used_bytes()
    assert pool.free_bytes() >= 0
    del held
    pool.free_all_blocks()
    assert pool.used_bytes() == before
    cupy.cuda.set_allocator(pool.malloc)
    for call in (lambda: pool.malloc(8), pool.set_limit, pool.get_limit, pool.n_free_blocks):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(NotImplementedError):
        cupy.cuda.set_allocator(bytearray)
    memory = cupy.cuda.alloc_pinned_memory(8)
    cupy.zeros(2, "f").set(np.frombuffer(memory, "f"), cupy.cuda.Stream.null)
    assert cupy.get_default_pinned_memory_pool().n_free_blocks() == 0


def test_a_memory_hook_is_told_of_nothing_and_says_so() -> None:
    with (
        pytest.raises(NotImplementedError, match=r"arraycore\.counters"),
        cupy.cuda.memory_hook.MemoryHook(),
    ):
        pass


def test_seeds_of_tests_are_put_back() -> None:
    cupy.random.seed(3)
    wanted = cupy.random.RandomState(3).uniform(size=2, dtype="float32").get()
    cupy.testing.random.do_setup()
    first = cupy.random.uniform(size=2).get()
    cupy.testing.random.do_teardown()
    cupy.testing.random.do_setup()
    np.testing.assert_array_equal(cupy.random.uniform(size=2).get(), first)
    cupy.testing.random.do_teardown()
    np.testing.assert_array_equal(cupy.random.uniform(size=2).get(), wanted)
