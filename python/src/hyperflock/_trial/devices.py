"""Chooses the device that a trial computes on: array-core's best back end, or plain NumPy.

    device = hyperflock.device().use()      # in an objective
    model = device.send(model)              # Chainer's GPU path if the device has one
    x = device.xp.asarray(x)

In a browser, the agent offers its back ends if the study asked for a device (`prepare`). In
CPython, the native library is used if it is installed. Only the thread that runs the objective uses
this module.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal, get_args

__all__ = ["BACKENDS", "Device", "Offer", "device", "finish", "prepare"]

#: The back ends that a study or a trial may ask for.
Backend = Literal["auto", "webgpu", "webgl2", "cpu"]
BACKENDS = get_args(Backend)
_NUMPY = "numpy"


@dataclass(frozen=True)
class Offer:
    """The back ends that are available to a trial.

    Attributes
    ----------
    wanted : str
        The back end that the study asks for, one of `BACKENDS`.
    backends : sequence of str
        The back ends of array-core that are available.
    reasons : mapping of str to str
        For each other back end, by its name: why it is not available.
    software : bool
        Whether the graphics device is a program on the CPU. It is correct, but slower than the CPU
        back end.
    budget_bytes : int
        The limit for all arrays on the GPU together; 0 means no limit.
    """

    wanted: str = "auto"
    backends: Sequence[str] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    software: bool = False
    budget_bytes: int = 0


#: The back ends with a graphics device, the best first.
_GRAPHICS = ("webgpu", "webgl2")


def _nothing(reason: str) -> Offer:
    return Offer(reasons=dict.fromkeys((*_GRAPHICS, "cpu"), reason))


_NOT_REQUESTED = _nothing("not_requested")


class Device:
    """The device that a trial computes on. `device` returns it.

    Attributes
    ----------
    backend : str
        ``webgpu``, ``webgl2``, ``cpu`` (array-core's), or ``numpy`` (plain NumPy).
    reason : str
        Why it is not a better back end, or not the requested one; empty if it is the best.
        ``no_adapter``: the browser has no WebGPU here. ``no_context``: it has no WebGL2 either.
        ``has_webgpu``: the browser has WebGPU, so that WebGL2 is not offered. ``not_isolated``: its
        threads cannot share memory. ``software_adapter``: its graphics device is a program on the
        CPU and slower than the CPU back end. ``not_requested``: the study asks for no device.
        ``no_library``: CPython without array-core's native library. ``native_library``: that
        library has no graphics device. ``chainer_imported``: Chainer, which looks for CuPy when it
        is imported, was imported before. Any other text is the code of an error of array-core.
    """

    def __init__(self, backend: str, reason: str, budget_bytes: int, seed: int | None) -> None:
        self.backend = backend
        self.reason = reason
        self._budget_bytes = budget_bytes
        self._seed = seed

    def __repr__(self) -> str:
        because = f", reason={self.reason!r}" if self.reason else ""
        return f"Device(backend={self.backend!r}{because})"

    @property
    def is_gpu(self) -> bool:
        """Whether arrays are on a graphics device."""
        return self.backend in _GRAPHICS

    @property
    def name(self) -> str:
        """After `use` the device's name as the browser reports it; before `use` the back end's."""
        if self is _state.used and self.backend != _NUMPY:
            return str(_arraycore().device_info().name)
        return self.backend

    @property
    def xp(self) -> ModuleType:
        """The module of the device's arrays: ``numpy``, or ``cupy``, which array-core provides."""
        return importlib.import_module("numpy" if self.backend == _NUMPY else "cupy")

    @property
    def chainer_device(self) -> int:
        """The value for Chainer's ``device=`` arguments: 0 for array-core, -1 for NumPy."""
        return -1 if self.backend == _NUMPY else 0

    def use(self) -> Device:
        """Open the device and return this object. Arrays on a device opened earlier are freed.

        Chainer then computes on it after ``to_gpu()``, and array-core's generators start with the
        trial's seed. If a graphics device does not open, the CPU back end is used and `reason` says
        why, unless the study requires that device.

        Raises
        ------
        arraycore.DeviceError
            A device does not open, and the study requires it. The attempt fails with the cause
            ``device_lost``, and the trial goes to another device.
        """
        if self.backend != _NUMPY:
            self._open()
        _state.used = self
        return self

    def send(self, target: Any) -> Any:
        """Move a Chainer link to the device and return it, or return a copy of an array there.

        With NumPy the argument is returned unchanged.
        """
        if self.backend == _NUMPY:
            return target
        if not callable(getattr(target, "to_gpu", None)):
            return self.xp.asarray(target)
        if callable(getattr(target, "to_device", None)):  # Chainer 7; to_gpu() would warn
            target.to_device("@cupy:0")
        else:
            target.to_gpu()
        return target

    def _open(self) -> None:
        arraycore = _arraycore()
        arraycore.install_cupy()
        _close(arraycore)
        if self.is_gpu:
            try:
                arraycore.open(self.backend, budget_bytes=self._budget_bytes)
            except (arraycore.DeviceError, NotImplementedError) as error:
                if _state.offer is not None and _state.offer.wanted == self.backend:
                    raise
                _close(arraycore)
                self.backend, self.reason = "cpu", str(getattr(error, "code", "no_device"))
        if self.backend == "cpu":
            arraycore.open("cpu")
        if self._seed is not None:
            importlib.import_module("cupy").random.seed(self._seed)


@dataclass
class _State:
    offer: Offer | None = None
    seed: int | None = None
    used: Device | None = None
    before: Mapping[str, int] | None = None  # array-core's counters, where it was made ready


_state = _State()


def device(backend: Backend | None = None) -> Device:
    """Return the best device for this trial.

    Parameters
    ----------
    backend : {"auto", "webgpu", "webgl2", "cpu"}, optional
        The back end; the default is the study's ``backend``. ``auto`` means WebGPU on a graphics
        card, or WebGL2 where there is no WebGPU, otherwise array-core's CPU back end, and plain
        NumPy if that cannot run. If the
        requested back end is not available, the next one in this order is used, and
        `Device.reason` says why.

    Raises
    ------
    ValueError
        There is no such back end.
    """
    offer = _local_offer() if _state.offer is None else _state.offer
    wanted = offer.wanted if backend is None else backend
    if wanted not in BACKENDS:
        raise ValueError(f"There is no back end {wanted!r}: take one of {', '.join(BACKENDS)}.")
    chosen, reason = _choose(wanted, offer)
    return Device(chosen, reason, offer.budget_bytes, _state.seed)


def _choose(wanted: str, offer: Offer) -> tuple[str, str]:
    reason = ""
    for backend in _GRAPHICS:
        if wanted not in {"auto", backend} and not (wanted == "webgpu" and reason):
            continue
        if backend not in offer.backends:
            reason = reason or offer.reasons.get(backend, "no_adapter")
        elif wanted != backend and offer.software:
            # A software adapter is slower than the CPU back end. Only who asks for it gets it.
            reason = "software_adapter"
        else:
            return backend, "" if wanted == backend else reason
    if "cpu" in offer.backends:
        return "cpu", reason
    return _NUMPY, offer.reasons.get("cpu", reason)


def prepare(wish: Mapping[str, Any] | None, seed: int) -> None:
    """Prepare an attempt's device before any of its code is imported.

    If array-core is offered, it becomes ``cupy``. Chainer looks for CuPy only when it is imported,
    so a Chainer that was imported without it is imported again.

    Parameters
    ----------
    wish : mapping or None
        The fields of `Offer`. Without ``backends`` (a local run), this machine's back ends are
        found. None means that the study asks for no device.
    seed : int
        The trial's seed, for array-core's generators.
    """
    _state.used, _state.before, _state.seed, _state.offer = None, None, seed, None
    if wish is None:
        return
    if "backends" in wish:
        _state.offer = Offer(**{**wish, "budget_bytes": int(wish.get("budget_bytes", 0))})
    else:
        local = _native_offer()
        _state.offer = Offer(str(wish["wanted"]), local.backends, local.reasons)
    if _state.offer.backends:
        arraycore = _arraycore()
        arraycore.install_cupy()
        _forget_chainer_without_cupy()
        # An objective may import cupy without calling `device`.
        importlib.import_module("cupy").random.seed(seed)
        _state.before = arraycore.counters()


def finish() -> str:
    """End an attempt's use of the device and return the back end that it used.

    The arrays and the device are freed, so that the study's next attempt starts with a new device.
    """
    used, _state.used = _state.used, None
    before, _state.before = _state.before, None
    backend = _NUMPY if used is None else used.backend
    if before is None and backend == _NUMPY:
        return _NUMPY
    arraycore = _arraycore()
    with contextlib.suppress(Exception):
        # Without `use`, `cupy` computes on the CPU back end, which importing array-core opens.
        if backend == _NUMPY and before is not None and arraycore.counters() != before:
            backend = "cpu"
    gc.collect()
    _close(arraycore)
    with contextlib.suppress(Exception):
        arraycore.open("cpu")
    return backend


def _close(arraycore: Any) -> None:
    """Close the open device. A lost device has nothing left to close."""
    with contextlib.suppress(Exception):
        arraycore.close()


def _arraycore() -> Any:
    return importlib.import_module("arraycore")


def _local_offer() -> Offer:
    """Return the back ends that are available to code outside of a prepared attempt."""
    if sys.platform == "emscripten":
        return _NOT_REQUESTED
    if "chainer" in sys.modules and not sys.modules["chainer"].backends.cuda.available:
        return _nothing("chainer_imported")
    return _native_offer()


def _native_offer() -> Offer:
    try:
        _arraycore()
    except (ImportError, OSError):
        return _nothing("no_library")
    return Offer(backends=("cpu",), reasons=dict.fromkeys(_GRAPHICS, "native_library"))


def _forget_chainer_without_cupy() -> None:
    chainer = sys.modules.get("chainer")
    if chainer is None or chainer.backends.cuda.available:
        return
    for name in [name for name in sys.modules if name.partition(".")[0] == "chainer"]:
        del sys.modules[name]
    importlib.import_module("chainer")
