"""Tests that arrays work with NumPy's functions, DLPack, pickles and code that was written for
CuPy.
"""

from __future__ import annotations

import copy
import importlib.util
import os
import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime import session

pytestmark = pytest.mark.whole
X = np.arange(12, dtype=np.float32).reshape(3, 4)


# ---- NumPy's functions


@pytest.mark.parametrize(
    ("call", "operands"),
    [
        (lambda x: np.concatenate([x, x], axis=1), (X,)),
        (lambda x: np.sum(x, axis=0), (X,)),
        (lambda x: np.mean(x, axis=1, keepdims=True), (X,)),
        (lambda x, y: np.where(x > 3, x, y), (X, X * 2)),
        (lambda x: np.transpose(x), (X,)),
        (lambda x: np.clip(x, 2, 5), (X,)),
        (lambda x, y: np.tensordot(x, y, axes=([1], [1])), (X, X)),
        (lambda x: np.einsum("ij,kj->ik", x, x), (X,)),
        (lambda x: np.zeros_like(x), (X,)),
        (lambda x: np.broadcast_to(x, (2, 3, 4)), (X,)),
        (lambda x: np.stack([x, x]), (X,)),
        (lambda x: np.pad(x, 1), (X,)),
        (lambda x: np.sort(x, axis=0), (X,)),
        (lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 2)), (X,)),
    ],
)
def test_numpys_functions_are_computed_where_the_array_lives(call: Any, operands: Any) -> None:
    arrays = [ac.array(each) for each in operands]
    down = ac.counters()["bytes_down"]
    made = call(*arrays)
    assert isinstance(made, ac.ndarray)
    assert ac.counters()["bytes_down"] == down
    expected = call(*operands)
    assert made.dtype == expected.dtype
    np.testing.assert_allclose(made.get(), expected, rtol=1e-6)


def test_numpys_questions_need_no_element() -> None:
    x = ac.array(X)
    down = ac.counters()["bytes_down"]
    assert np.shape(x) == (3, 4)
    assert np.ndim(x) == 2
    assert np.size(x) == 12
    assert np.result_type(x, np.float64) == np.float64
    assert not np.iscomplexobj(x)
    assert ac.counters()["bytes_down"] == down


def test_a_function_without_counterpart_names_what_to_do() -> None:
    x = ac.array(X)
    with pytest.raises(NotImplementedError, match=r"numpy\.shares_memory.*array\.get\(\)"):
        np.shares_memory(x, x)
    # `like=x` makes NumPy call arraycore's `zeros`.
    made = np.zeros(3, np.float32, like=x)  # type: ignore[call-overload]
    assert isinstance(made, ac.ndarray)


@pytest.mark.usefixtures("cupys_rules")
def test_numpys_arrays_are_not_converted_under_cupys_rules() -> None:
    with pytest.raises(TypeError):
        np.concatenate([ac.array(X), X])


def test_arrays_are_not_read_unasked() -> None:
    assert isinstance(np.concatenate([ac.array(X), X]), ac.ndarray)
    with pytest.raises(TypeError):
        np.asarray(ac.array(X))


# ---- DLPack


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "complex64"])
def test_dlpack_there_and_back(dtype: str) -> None:
    values = X.astype(dtype)
    made = np.from_dlpack(ac.array(values))
    assert made.dtype == dtype
    np.testing.assert_array_equal(made, values)
    back = ac.from_dlpack(values[:, ::2])
    assert isinstance(back, ac.ndarray)
    assert back.dtype == dtype
    np.testing.assert_array_equal(back.get(), values[:, ::2])


def test_dlpack_is_a_copy_and_says_so() -> None:
    x = ac.array(X)
    copied = ac.from_dlpack(x)
    copied[...] = 0
    np.testing.assert_array_equal(x.get(), X)
    with pytest.raises(BufferError):
        np.from_dlpack(x, copy=False)
    with pytest.raises(BufferError):
        ac.from_dlpack(X, copy=False)
    with pytest.raises(BufferError):
        x.__dlpack__(stream=1)
    with pytest.raises(ValueError, match="device 3"):
        ac.from_dlpack(X, device=3)
    assert x.__dlpack_device__() == X.__dlpack_device__()
    assert type(x.toDlpack()).__name__ == "PyCapsule"


# ---- copies and pickles


@pytest.mark.parametrize("values", [X, X.T, X[1], X[:0], np.float16(3), X > 4])
def test_pickles_and_copies_have_memory_of_their_own(values: Any) -> None:
    x = ac.array(values)
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert isinstance(made, ac.ndarray)
        assert made.dtype == x.dtype
        np.testing.assert_array_equal(made.get(), values)
        made[...] = 0
        np.testing.assert_array_equal(x.get(), values)


def test_a_deepcopy_keeps_what_is_one_array_one_array() -> None:
    x = ac.array(X)
    first, second = copy.deepcopy([x, x])
    assert first is second
    assert first is not x


@pytest.mark.parametrize(
    ("make", "public", "before"),
    [
        (lambda: ac.array(X), "arraycore\narray", "arraycore._creation\narray"),
        *(
            (cls, f"arraycore.random\n{cls.__name__}", f"arraycore._streams\n{cls.__name__}")
            for cls in (ac.random.RandomState, ac.random.Generator)
        ),
    ],
)
def test_pickles_know_public_names_and_those_of_version_0_1_load(
    make: Any, public: str, before: str
) -> None:
    pickled = pickle.dumps(make(), 2)
    assert pickled.count(b"arraycore") == pickled.count(public.encode()) == 1
    loaded = pickle.loads(pickled.replace(public.encode(), before.encode()))
    assert isinstance(loaded, type(make()))


# ---- devices, streams, events


def test_the_device_is_number_0() -> None:
    x = ac.array(X)
    assert x.device == ac.Device() == ac.Device(0) == ac.Device(np.int32(0))
    assert hash(ac.Device()) == hash(ac.Device(0))
    assert int(ac.Device(x.device)) == 0
    with ac.Device(0) as device:
        device.use()
        device.synchronize()
    with pytest.raises(ValueError, match="device 1"):
        ac.Device(1)
    with pytest.raises(NotImplementedError, match="device_info"):
        _ = device.compute_capability


def test_streams_change_nothing() -> None:
    x = ac.zeros((3, 4), "float32")
    stream = ac.Stream(non_blocking=True)
    source = X.copy()
    with stream:
        x.set(source, stream)
        source[...] = -1  # the copy has been taken
    np.testing.assert_array_equal(x.get(ac.Stream.null), X)
    stream.wait_event(stream.record())
    stream.synchronize()
    assert stream.done
    assert stream.use() == ac.Stream.null
    with pytest.raises(NotImplementedError):
        stream.add_callback(print, None)


def test_events_take_the_time_after_the_device_has_done() -> None:
    first, second = ac.Event(), ac.Event()
    first.record()
    _ = ac.exp(ac.array(X))
    second.record()
    second.synchronize()
    assert second.done
    from arraycore._runtime.devices import get_elapsed_time

    assert get_elapsed_time(first, second) >= 0
    assert get_elapsed_time(second, first) <= 0
    untimed = ac.Stream.null.record()
    with pytest.raises(ValueError, match="recorded"):
        get_elapsed_time(first, untimed)
    with pytest.raises(ValueError, match="recorded"):
        get_elapsed_time(first, ac.Event())


def test_an_array_has_no_address() -> None:
    x = ac.array(X)
    for name in ("data", "cstruct"):
        with pytest.raises(NotImplementedError, match="ElementwiseKernel"):
            getattr(x, name)
    assert x.reduced_view().shape == (12,)
    x.scatter_add((np.array([0, 0], np.int32),), 1)
    np.testing.assert_array_equal(x.get()[0], X[0] + 2)


# ---- views of chosen strides


def test_given_strides_show_windows() -> None:
    x = ac.array(X)
    rows = ac.lib.stride_tricks.as_strided(x, (2, 3, 2), (16, 4, 4))
    expected = np.lib.stride_tricks.as_strided(X, (2, 3, 2), (16, 4, 4))
    np.testing.assert_array_equal(rows.get(), expected)
    np.testing.assert_array_equal((rows + rows).get(), expected + expected)
    x[0, 0] = 50
    assert float(rows[0, 0, 0]) == 50  # a view
    part = x[1:, 1:]
    np.testing.assert_array_equal(ac.lib.stride_tricks.as_strided(part).get(), part.get())
    repeated = ac.lib.stride_tricks.as_strided(x, (3, 2, 4), (16, 0, 4))
    np.testing.assert_array_equal(repeated.get(), np.repeat(x.get()[:, None], 2, 1))


@pytest.mark.parametrize(
    ("shape", "strides", "what"),
    [
        ((13,), (4,), "outside of its storage"),
        ((2,), (-4,), "outside of its storage"),
        ((2,), (2,), "multiple"),
        ((2,), (4, 4), "one stride for each axis"),
        ((1,) * 33, (4,) * 33, "maximum supported dimension"),
    ],
)
def test_strides_that_leave_the_memory_are_refused(shape: Any, strides: Any, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        ac.lib.stride_tricks.as_strided(ac.array(X), shape, strides)


def test_sliding_windows_are_numpys() -> None:
    x = ac.array(X)
    slide, numpys = ac.lib.stride_tricks.sliding_window_view, np.lib.stride_tricks
    for window, axis in (((2, 3), None), (2, 1), ((1, 2), (1, 0)), ((4,), (-1,))):
        expected = numpys.sliding_window_view(X, window, axis)
        np.testing.assert_array_equal(slide(x, window, axis).get(), expected)
    for window, axis, what in (
        (5, 1, "larger"),
        ((2, 2, 2), None, "matching length"),
        (-1, 0, "negative"),
    ):
        with pytest.raises(ValueError, match=what):
            slide(x, window, axis)


# ---- CuPy's names


def test_cupy_is_found_once_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("CHAINER_CUDNN", "1")
    monkeypatch.setitem(sys.modules, "cupy", ModuleType("cupy"))
    with pytest.raises(ImportError, match="Another cupy"):
        ac.install_cupy()
    monkeypatch.delitem(sys.modules, "cupy")
    for name in ("cupy", "cupyx"):
        assert importlib.util.find_spec(name) is None
    ac.install_cupy()
    ac.install_cupy()
    for name in ("cupy", "cupyx"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert str(spec.origin).startswith(str(Path(ac.__file__).parent))
    assert os.environ["CHAINER_CUDNN"] == "1"  # a value that is already set is kept


def test_cupy_says_what_to_take_for_what_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    before = session.set_promotion("numpy")
    ac.install_cupy()
    try:
        cupy = importlib.import_module("cupy")
        with pytest.raises(NotImplementedError, match="no polynomial: take poly1d"):
            _ = cupy.polynomial
        with pytest.raises(AttributeError, match="module 'cupy' has no attribute 'nonsense'"):
            _ = cupy.nonsense
        assert cupy.polyval is ac.polyval
    finally:
        session.set_promotion(before)


# ---- promotion


def test_promotion_outlives_the_library() -> None:
    x = ac.array(X)
    assert (x * np.float64(2)).dtype == np.float64
    assert session.set_promotion("cupy") == "numpy"
    try:
        assert (x * np.float64(2)).dtype == np.float32
        ac.reset()
        assert (ac.array(X) * np.float64(2)).dtype == np.float32
    finally:
        assert session.set_promotion("numpy") == "cupy"
    with pytest.raises(ValueError, match="promotion"):
        session.set_promotion("numpy1")
