"""Tests what replaces Chainer's kernels that read device memory by address.

Arrays in a browser have no addresses. If an array's ``_c_contiguous`` is false, ``pad_sequence``
assigns to slices instead; here Chainer's own code does so on arrays of the device. The two kernels
of the multi-process updater gather parameters into one array and scatter it back; copies between
slices do the same. Nothing is read from the device in between.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import arraycore as ac
import numpy as np
from arraycore._runtime import session

SHAPES = ((4, 3), (2, 3), (0, 3), (3, 3))


def _values(dtype: str) -> list[Any]:
    return [np.arange(np.prod(shape)).reshape(shape).astype(dtype) + k
            for k, shape in enumerate(SHAPES)]  # fmt: skip


def pad_sequence(dtype: str) -> None:
    from chainer.backends import cuda
    from chainer.functions.array import pad_sequence as module

    values = _values(dtype)
    (wanted,) = module.PadSequence(5, 7).forward(tuple(values))
    xs = tuple(ac.array(value) for value in values)
    assert not any(x._c_contiguous for x in xs), "pad_sequence would ask for addresses"
    backend = vars(module).get("backend", cuda)
    device = SimpleNamespace(empty=ac.empty, full=ac.full)
    with mock.patch.object(backend, "get_array_module", return_value=device):
        result = _on_device(lambda: module.PadSequence(5, 7).forward(xs)[0])
    np.testing.assert_array_equal(result, wanted)


def _places() -> list[slice]:
    ends = np.cumsum([np.prod(shape) for shape in SHAPES])
    return [slice(int(e - np.prod(s)), int(e)) for e, s in zip(ends, SHAPES, strict=True)]


def memcpy_gather(dtype: str) -> None:
    """Test that arraycore gathers all parameters into one flat array of float32."""
    values = _values(dtype)
    sources = [ac.array(value) for value in values]

    def gather() -> Any:
        flat = ac.empty((sum(value.size for value in values),), "float32")
        for source, place in zip(sources, _places(), strict=True):
            flat[place] = source.reshape(-1)
        return flat

    wanted = np.concatenate([value.ravel().astype("f") for value in values])
    np.testing.assert_array_equal(_on_device(gather), wanted)


def memcpy_scatter(dtype: str) -> None:
    """Test that arraycore scatters a flat array of float32 to parameters of ``dtype``."""
    values = _values(dtype)
    flat = ac.array(np.concatenate([value.ravel().astype("f") for value in values]))
    targets = [ac.zeros(value.shape, dtype) for value in values]

    def scatter() -> Any:
        for target, place in zip(targets, _places(), strict=True):
            target[...] = flat[place].reshape(target.shape)
        return targets[0]

    _on_device(scatter)
    for target, value in zip(targets, values, strict=True):
        np.testing.assert_array_equal(target.get(), value)


def _on_device(run: Callable[[], Any]) -> Any:
    before = ac.counters()
    result = run()
    session.settle()
    after = ac.counters()
    for name in ("cpu_ops", "bytes_down"):
        assert after[name] == before[name], f"{name} grew"
    assert after["dispatches"] > before["dispatches"], "nothing was launched"
    return result.get()


# For each kernel, the function that tests its replacement, and the dtypes to test. The updater has
# parameters of float dtypes only.
PATHS: dict[str, tuple[Callable[[str], None], tuple[str, ...]]] = {
    "pad_sequence_fwd": (pad_sequence, ("float16", "float32", "int32", "int64")),
    "_memcpy_gather": (memcpy_gather, ("float16", "float32")),
    "_memcpy_scatter": (memcpy_scatter, ("float16", "float32")),
}
