"""A stand-in ``cupy`` whose arrays are NumPy's and whose kernels go through the dialect's compiler.

With it installed, Chainer takes its GPU paths: every kernel that it makes is noted (``RECORDS``),
compiled, verified and run by the reference interpreter.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import probe


class ndarray(np.ndarray[Any, Any]):
    """An array "of the device"."""

    # On a device there are no scalars: what NumPy gives as one is an array of 0 dimensions.
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

    # pad_sequence asks it, and reads device memory by address where all say yes.
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
    """What ``isinstance`` takes for a NumPy array and not for one of the device."""


def is_instance(value: object, types: Any) -> bool:
    """``isinstance`` for modules of Chainer that tell the two kinds of array apart by it."""
    return isinstance(value, CpuArray if types is np.ndarray else types)


class Device:
    """The one device."""

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
    """Nothing is asynchronous."""

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
        RECORDS.append(self)


RECORDS: list[Record] = []


def _maker() -> tuple[str, int]:
    """File (in its wheel) and line that made the kernel."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename.replace("\\", "/")
        for package in ("/chainer/", "/chainermn/"):
            if package in name and not name.endswith("backends/cuda.py"):
                return package[1:] + name.split(package, 1)[1], frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "", 0


class Parameter:
    """``[raw] type name``, as CuPy's users write it."""

    def __init__(self, text: str) -> None:
        words = text.split()
        self.raw = words[0] == "raw"
        self.type, self.name = words[-2:]

    def dtype(self, letters: dict[str, np.dtype[Any]]) -> np.dtype[Any]:
        return letters[self.type] if len(self.type) == 1 else np.dtype(self.type)


def _parameters(text: str) -> list[Parameter]:
    return [Parameter(part) for part in text.split(",") if part.strip()]


def _new(shape: tuple[int, ...], dtype: np.dtype[Any]) -> ndarray:
    # Filled with what no result is, so that an element left out shows.
    return np.full(shape, 77, dtype).view(ndarray)


class _Kernel:
    kind = ""

    def _set(self, texts: dict[str, str]) -> None:
        self.inputs = _parameters(texts["in_params"])
        self.outputs = _parameters(texts["out_params"])
        self.texts = texts
        self.record = Record(self.kind, texts)

    def _compile(self, ins: list[Any], outs: list[Any]) -> dict[str, np.dtype[Any]]:
        types = [str(a.dtype) if isinstance(a, ndarray) else probe.SCALAR for a in ins]
        out_types = [str(a.dtype) for a in outs] or [probe.ABSENT] * len(self.outputs)
        self.record.calls.append(types + out_types)
        probe.compile_kernel(self.kind, self.texts, types, out_types)
        letters: dict[str, np.dtype[Any]] = {}
        for parameter, value in zip(self.outputs + self.inputs, outs + ins, strict=False):
            if outs and isinstance(value, ndarray):
                letters.setdefault(parameter.type, value.dtype)
        for parameter, value in zip(self.inputs, ins, strict=True):
            if isinstance(value, ndarray):
                letters.setdefault(parameter.type, value.dtype)
        return letters

    def _arguments(self, ins: list[Any], letters: dict[str, np.dtype[Any]]) -> list[Any]:
        return [
            value if isinstance(value, ndarray) else p.dtype(letters).type(value)
            for p, value in zip(self.inputs, ins, strict=True)
        ]

    def _loop(self, ins: list[Any], outs: list[Any]) -> list[tuple[int, ...]]:
        pairs = list(zip(self.inputs, ins, strict=True)) + list(
            zip(self.outputs, outs, strict=False)
        )
        return [a.shape for p, a in pairs if isinstance(a, ndarray) and not p.raw]


class ElementwiseKernel(_Kernel):
    """``cupy.ElementwiseKernel``."""

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
        ins, outs = list(args[: len(self.inputs)]), list(args[len(self.inputs) :])
        letters = self._compile(ins, outs)
        shapes = self._loop(ins, outs)
        loop = np.broadcast_shapes(*shapes) if shapes else (int(size or 0),)
        if not outs:
            outs = [_new(loop, p.dtype(letters)) for p in self.outputs]
        probe.run_kernel(loop, 0, self._arguments(ins, letters) + outs)
        return outs[0] if len(outs) == 1 else tuple(outs)


class ReductionKernel(_Kernel):
    """``cupy.ReductionKernel``."""

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
        ins = list(args[: len(self.inputs)])
        outs = [out] if out is not None else list(args[len(self.inputs) :])
        letters = self._compile(ins, outs)
        loop = np.broadcast_shapes(*self._loop(ins, []))
        axes = range(len(loop)) if axis is None else [axis] if isinstance(axis, int) else axis
        reduced = {a % len(loop) for a in axes}
        kept = tuple(n for a, n in enumerate(loop) if a not in reduced)
        if not outs:
            outs = [_new(kept, p.dtype(letters)) for p in self.outputs]
        outs = [array.reshape(kept) for array in outs]  # of keepdims: a view
        mask = sum(1 << a for a in reduced)
        probe.run_kernel(loop, mask, self._arguments(ins, letters) + outs)
        if keepdims:
            full = tuple(1 if a in reduced else n for a, n in enumerate(loop))
            outs = [array.reshape(full) for array in outs]
        return outs[0] if len(outs) == 1 else tuple(outs)


class RawKernel:
    """CUDA C: noted, never run."""

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
    """A function of ``numpy.random`` that takes a dtype, as CuPy's do."""

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
    """Make ``import cupy`` find this module's."""
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
