"""Provides a stand-in ``cupy`` whose arrays are NumPy's and whose kernels an engine runs.

With it installed, Chainer takes its GPU paths. Every kernel that Chainer makes is recorded
(``RECORDS``) and run by an engine (``STATE.engine``; ``calls.py`` has the contract).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from calls import Call, Engine, parameters
from samples import Sample


class ndarray(np.ndarray[Any, Any]):
    """A NumPy array that stands in for an array on the device."""

    # A device has no scalars. Where NumPy returns a scalar, this method returns an array of 0
    # dimensions.
    def __array_wrap__(
        self, array: np.ndarray[Any, Any], context: Any = None, return_scalar: bool = False
    ) -> ndarray:
        return array.view(ndarray)

    def __getitem__(self, key: Any) -> Any:
        value = super().__getitem__(key)
        if isinstance(value, np.generic):  # CuPy gives a view of 0 dimensions
            full = key if isinstance(key, tuple) else (key,)
            value = super().__getitem__((*full, Ellipsis))
        return value

    @property
    def device(self) -> Device:  # type: ignore[override]
        return Device(0)

    def get(self, stream: object = None) -> np.ndarray[Any, Any]:
        return np.array(self, subok=False)

    def set(self, array: np.ndarray[Any, Any], stream: object = None) -> None:
        self[...] = array

    def reduced_view(self) -> ndarray:
        return self

    def scatter_add(self, index: Any, value: Any) -> None:
        np.add.at(self, index, value)

    # If this attribute is true for all arrays, Chainer's pad_sequence reads device memory by
    # address.
    _c_contiguous = False


def _reduction(name: str) -> Any:
    plain = getattr(np.ndarray, name)

    def reduce(self: ndarray, *args: Any, **options: Any) -> Any:
        return _device(np.asarray(plain(self, *args, **options)))

    return reduce


for _name in (
    "all",
    "any",
    "argmax",
    "argmin",
    "dot",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
):
    setattr(ndarray, _name, _reduction(_name))


class _NotOfDevice(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, np.ndarray) and not isinstance(value, ndarray)


class CpuArray(metaclass=_NotOfDevice):
    """A class for ``isinstance``: NumPy's arrays are instances of it, and a device's arrays are
    not.
    """


def is_instance(value: object, types: Any) -> bool:
    """Replace ``isinstance`` in modules of Chainer that find out by it whether an array is NumPy's
    or a device's.
    """
    return isinstance(value, CpuArray if types is np.ndarray else types)


class Device:
    """The one device that the stand-in has."""

    def __init__(self, device: object = None) -> None:
        self.id = 0

    def use(self) -> None: ...
    def synchronize(self) -> None: ...
    def __enter__(self) -> Device:
        return self

    def __exit__(self, *error: object) -> None: ...
    def __int__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device)

    def __hash__(self) -> int:
        return 0


class Stream:
    """A stream that does nothing, because no call is asynchronous."""

    null: Stream

    def synchronize(self) -> None: ...


Stream.null = Stream()


class Record:
    """A kernel as Chainer made it, and the types it was called with."""

    def __init__(self, kind: str, texts: dict[str, str]) -> None:
        self.kind = kind
        self.texts = texts
        self.file, self.line = _maker()
        self.calls: list[list[str]] = []
        self.scenarios: set[str] = set()
        self.sample: Sample | None = None  # the first call
        RECORDS.append(self)

    def note(self, call: Call) -> None:
        types = [str(a.dtype) if isinstance(a, ndarray) else "scalar" for a in call.ins]
        outs = [str(a.dtype) for a in call.outs] or ["absent"] * len(call.outputs)
        self.calls.append(types + outs)
        self.scenarios.add(STATE.scenario)
        if self.sample is None:
            self.sample = Sample(call)


class State:
    """The engine that runs kernels, and the name of the scenario that runs now."""

    engine: Engine
    scenario = ""


STATE = State()
RECORDS: list[Record] = []


def _maker() -> tuple[str, int]:
    """Return the file (its path in the wheel) and the line that made the kernel."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename.replace("\\", "/")
        for package in ("/chainer/", "/chainermn/"):
            if package in name and not name.endswith("backends/cuda.py"):
                return package[1:] + name.split(package, 1)[1], frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "", 0


class _Kernel:
    kind = ""

    def _set(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.inputs = len(parameters(texts["in_params"]))
        self.record = Record(self.kind, texts)

    def _run(self, call: Call) -> Any:
        self.record.note(call)
        outs = [_device(array) for array in STATE.engine.run(call)]
        return outs[0] if len(outs) == 1 else tuple(outs)


class ElementwiseKernel(_Kernel):
    """A kernel as ``cupy.ElementwiseKernel`` makes it. The engine runs it."""

    kind = "elementwise"

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
        **options: object,
    ) -> None:
        self._set(
            {
                "in_params": in_params, "out_params": out_params, "operation": operation,
                "name": name, "preamble": preamble, "loop_prep": loop_prep,
                "after_loop": after_loop,
            }
        )  # fmt: skip

    def __call__(self, *args: Any, size: int | None = None) -> Any:
        ins, outs = list(args[: self.inputs]), list(args[self.inputs :])
        return self._run(Call(self.kind, self.texts, ins, outs, size=size))


class ReductionKernel(_Kernel):
    """A kernel as ``cupy.ReductionKernel`` makes it. The engine runs it."""

    kind = "reduction"

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: object,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        preamble: str = "",
        **options: object,
    ) -> None:
        self._set(
            {
                "in_params": in_params, "out_params": out_params, "map_expr": map_expr,
                "reduce_expr": reduce_expr, "post_map_expr": post_map_expr,
                "identity": "" if identity is None else str(identity), "name": name,
                "preamble": preamble, "reduce_type": reduce_type or "",
            }
        )  # fmt: skip

    def __call__(
        self,
        *args: Any,
        out: ndarray | None = None,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
    ) -> Any:
        ins = list(args[: self.inputs])
        outs = [out] if out is not None else list(args[self.inputs :])
        call = Call(self.kind, self.texts, ins, outs, axis=axis, keepdims=keepdims)
        return self._run(call)


class RawKernel:
    """A kernel as ``cupy.RawKernel`` makes it, in CUDA C. It is recorded, but never run."""

    def __init__(self, code: str, name: str, *args: object, **options: object) -> None:
        Record("raw", {"operation": code, "name": name})


def _device(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.view(ndarray)
    if isinstance(value, np.generic):
        return np.asarray(value).view(ndarray)
    if isinstance(value, tuple | list):
        return type(value)(_device(part) for part in value)
    return value


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        options.pop("stream", None)
        return _device(function(*args, **options))

    return call


def _drawn(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of ``numpy.random`` take a dtype, as CuPy's functions do."""

    @functools.wraps(function)
    def call(*args: Any, dtype: Any = None, **options: Any) -> Any:
        value = np.asarray(function(*args, **options))
        return _device(value if dtype is None else value.astype(dtype))

    return call


def _module(name: str, numpy_module: Any = None, **members: Any) -> Any:
    module: Any = ModuleType(name)
    module.__path__ = []
    for key, value in members.items():
        setattr(module, key, value)
    if numpy_module is not None:

        def from_numpy(key: str) -> Any:
            if key.startswith("__"):
                raise AttributeError(key)
            value = getattr(numpy_module, key)
            plain = isinstance(value, type) or not callable(value)
            return value if plain else _wrapped(value)

        module.__getattr__ = from_numpy
    sys.modules[name] = module
    return module


def _memoize(for_each_device: bool = False) -> Callable[[Any], Any]:
    return functools.cache


class _Pool:
    def malloc(self, size: int) -> None: ...
    def free_all_blocks(self) -> None: ...


def _random() -> Any:
    names = ("normal", "rand", "randint", "standard_normal", "uniform")
    drawn = {name: _drawn(getattr(np.random, name)) for name in names}
    return _module("cupy.random", np.random, **drawn)


def _rsqrt(x: Any, dtype: Any = None) -> Any:
    value = 1 / np.sqrt(np.asarray(x, dtype))
    return _device(value.astype(dtype or x.dtype))


def install() -> None:
    """Make ``import cupy`` find the stand-in."""
    runtime = _module("cupy.cuda.runtime")
    device = _module("cupy.cuda.device", get_device_id=lambda: 0)
    cuda = _module(
        "cupy.cuda", Device=Device, Event=type("Event", (), {}), Stream=Stream, runtime=runtime,
        device=device, cublas=_module("cupy.cuda.cublas"), set_allocator=lambda *a: None,
        get_device_id=lambda: 0,
        set_pinned_memory_allocator=lambda *a: None,
        memory=_module("cupy.cuda.memory", MemoryHook=object), MemoryHook=object,
    )  # fmt: skip
    warning = type("PerformanceWarning", (Warning,), {})
    _module(
        "cupy", np, ndarray=ndarray, __version__="7.8.0", cuda=cuda,
        ElementwiseKernel=ElementwiseKernel, ReductionKernel=ReductionKernel, RawKernel=RawKernel,
        memoize=_memoize, clear_memo=lambda: None, random=_random(),
        linalg=_module("cupy.linalg", np.linalg), fuse=lambda *a, **k: lambda f: f,
        get_default_memory_pool=_Pool, get_default_pinned_memory_pool=_Pool,
        util=_module("cupy.util", PerformanceWarning=warning),
        rsqrt=_rsqrt,
        get_array_module=lambda *a: (
            sys.modules["cupy"] if any(isinstance(x, ndarray) for x in a) else np
        ),
        asnumpy=lambda a, stream=None: np.array(a, subok=False),
    )  # fmt: skip
    special = _module("cupyx.scipy.special", None)
    scipy = _module("cupyx.scipy", special=special, linalg=_module("cupyx.scipy.linalg"))
    _module("cupyx", scipy=scipy, scatter_add=lambda a, i, v: np.add.at(a, i, v), rsqrt=_rsqrt)
