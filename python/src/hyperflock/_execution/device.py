"""The device of a trial that runs here: array-core's native library where there is one, or NumPy.

    device = hyperflock.device().use()     # in an objective; `run_local` and dry runs call it

In a volunteer's browser ``hyperflock.device`` is the worker's own (worker-runtime/python); here the
same module is loaded from where it lies. Used on the thread that runs the objective.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any, Protocol, cast

from hyperflock._execution.dry_run import worker_packages
from hyperflock._transport.messages import Backend

_LOADED_AS = "hyperflock._worker_devices"


class Device(Protocol):
    """What a trial computes on; `device` gives it.

    Attributes
    ----------
    backend : str
        ``webgpu`` or ``cpu`` (array-core's), or ``numpy``.
    reason : str
        Why it is not a better one; empty: it is the best. Here ``native_library`` (which has no
        WebGPU), ``no_library``, or ``chainer_imported``: Chainer was there before the device.
    name : str
        Of the device, once it is in use.
    is_gpu : bool
        Whether arrays live on a graphics device.
    xp : module
        Of its arrays: ``cupy``, which is array-core, or ``numpy``.
    chainer_device : int
        What Chainer's ``device=`` arguments take: 0, or -1 for NumPy.
    """

    backend: str
    reason: str

    @property
    def name(self) -> str: ...
    @property
    def is_gpu(self) -> bool: ...
    @property
    def xp(self) -> ModuleType: ...
    @property
    def chainer_device(self) -> int: ...

    def use(self) -> Device:
        """Open the device and return it; Chainer computes on it by ``to_gpu()``."""
        ...

    def send(self, target: Any) -> Any:
        """Bring a Chainer link or an array to the device."""
        ...


def device(backend: Backend | None = None) -> Device:
    """Return the best device for the trial that runs here.

    Parameters
    ----------
    backend
        ``"auto"``, ``"webgpu"`` or ``"cpu"``; None: what the study asks for, else ``"auto"``.

    Raises
    ------
    ValueError
        There is no such back end.
    DryRunError
        ``dry_run_unavailable``: the worker's packages are not here.
    """
    return cast(Device, worker_devices().device(backend))


def worker_devices() -> ModuleType:
    """The worker's module ``devices``; it needs nothing but the standard library.

    Raises
    ------
    DryRunError
        ``dry_run_unavailable``: it is not here.
    """
    if importlib.util.find_spec("hyperflock_worker") is not None:
        return importlib.import_module("hyperflock_worker.devices")
    loaded = sys.modules.get(_LOADED_AS)
    if loaded is not None:
        return loaded
    path = worker_packages() / "hyperflock_worker" / "devices.py"
    spec = importlib.util.spec_from_file_location(_LOADED_AS, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_LOADED_AS] = module
    spec.loader.exec_module(module)
    return module
