"""Patches functions of Chainer that fail with NumPy 2, Python 3.14 or WebAssembly.

Each patch describes the failure, and the versions that need the patch; ``PATCHES`` at the end is
the table that the import hooks read. Every patch has a test that fails without it.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import io
import pickle
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from hyperflock_worker.compat._hooks import Patch

# A function to call after each update of an optimizer; `compat.install` sets it.
on_update: Callable[[], None] | None = None
# A function to call with each trainer that is about to run; `compat.install` sets it.
on_train: Callable[[Any], None] | None = None
BOTH = ("7.8.1", "5.4.0")
ONLY_5 = ("5.4.0",)


def softmax_cross_entropy_stays_float32(module: ModuleType) -> None:
    """Keep the mean loss of float32 scores float32; else Chainer's type check fails.

    ``_coeff = 1.0 / max(count, 1)`` is a NumPy float64 scalar. In NumPy 1 the result had the
    array's dtype, in NumPy 2 (NEP 50) it has the scalar's. A Python float is weak, so the result
    has the array's dtype again.
    """

    def read(self: Any) -> Any:
        return vars(self)["_coeff"]

    def write(self: Any, value: Any) -> None:
        vars(self)["_coeff"] = float(value) if isinstance(value, np.floating) else value

    module.SoftmaxCrossEntropy._coeff = property(read, write)


def clip_bounds_give_way(module: ModuleType) -> None:
    """Let ``F.clip`` of a float32 array with float64 bounds return float32, as NumPy 1 did (NEP
    50).
    """
    original = module.Clip.__init__

    @functools.wraps(original)
    def init(self: Any, x_min: Any, x_max: Any) -> None:
        def plain(bound: Any) -> Any:
            return float(bound) if isinstance(bound, np.float64) else bound

        original(self, plain(x_min), plain(x_max))

    module.Clip.__init__ = init


def pad_sequence_wraps(module: ModuleType) -> None:
    """Make ``F.pad_sequence(..., padding=-1)`` work for unsigned arrays.

    NumPy 1 stored a Python integer out of range modulo 2**n; NumPy 2 raises OverflowError. A cast
    still wraps, so the padding is cast once.
    """
    original = module.PadSequence.forward

    @functools.wraps(original)
    def forward(self: Any, xs: Any) -> Any:
        dtype = xs[0].dtype
        if dtype.kind in "iu" and isinstance(self.padding, int):
            self.padding = np.array(self.padding).astype(dtype)[()]
        return original(self, xs)

    module.PadSequence.forward = forward


class _ArraysOnlyUnpickler(pickle.Unpickler):
    """An unpickler of NumPy arrays of plain objects that refuses every other class."""

    _ALLOWED = frozenset(
        {
            ("numpy", "ndarray"),
            ("numpy", "dtype"),
            ("numpy.core.multiarray", "_reconstruct"),
            ("numpy._core.multiarray", "_reconstruct"),
        }
    )

    def find_class(self, module_name: str, global_name: str) -> Any:
        if (module_name, global_name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"a snapshot may not hold {module_name}.{global_name}")
        # Old snapshots name numpy.core, which warns in NumPy 2.
        renamed = module_name.replace("numpy.core.", "numpy._core.")
        return super().find_class(renamed, global_name)


class _SnapshotArrays:
    """An ``NpzFile`` that also reads the object arrays in which Chainer stores ``None``."""

    def __init__(self, npz: Any) -> None:
        self._npz = npz

    def __contains__(self, key: object) -> bool:
        return key in self._npz

    def __getattr__(self, name: str) -> Any:
        return getattr(self._npz, name)

    def __getitem__(self, key: str) -> Any:
        try:
            return self._npz[key]
        except ValueError:
            member = key if key in self._npz.zip.namelist() else f"{key}.npy"
            stream = io.BytesIO(self._npz.zip.read(member))
            version = np.lib.format.read_magic(stream)
            read_header = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }.get(version)
            if read_header is None or not read_header(stream)[2].hasobject:
                raise
            return _ArraysOnlyUnpickler(stream).load()


def snapshots_with_none_load(module: ModuleType) -> None:
    """Make ``load_npz`` read a snapshot with None, the value of an uninitialised parameter.

    None is stored as an object array, and ``numpy.load`` refuses these since 1.16.3. 7.8.1 allows
    all pickles. With this patch 5.4.0 reads arrays of plain objects and no other class.
    """
    original = module.NpzDeserializer.__init__

    @functools.wraps(original)
    def init(self: Any, npz: Any, *args: Any, **kwargs: Any) -> None:
        wrapped = _SnapshotArrays(npz) if isinstance(npz, np.lib.npyio.NpzFile) else npz
        original(self, wrapped, *args, **kwargs)

    module.NpzDeserializer.__init__ = init


def can_start_threads() -> bool:
    """Return whether this Python can start threads and processes; in a browser it cannot."""
    return sys.platform != "emscripten"


def iterators_become_serial(module: ModuleType) -> None:
    """Replace ``MultiprocessIterator`` and ``MultithreadIterator`` in a browser.

    They need processes or threads. ``SerialIterator`` with their signatures gives the same batches
    in the same order. Outside of a browser they are not changed.
    """
    if can_start_threads():
        return
    # The class has its module's name in another spelling: MultiprocessIterator is in
    # multiprocess_iterator.
    name = "".join(part.capitalize() for part in module.__name__.rsplit(".", 1)[1].split("_"))
    serial = importlib.import_module("chainer.iterators.serial_iterator").SerialIterator
    setattr(module, name, _serial_version(getattr(module, name), serial))


def _serial_version(parallel: type, serial: type) -> type:
    """Return a subclass of ``serial`` with the parameters of ``parallel``, some of them unused."""
    signature = inspect.signature(parallel.__init__)  # type: ignore[misc]
    known = set(inspect.signature(serial.__init__).parameters)  # type: ignore[misc]

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs).arguments
        passed = {key: value for key, value in bound.items() if key in known and key != "self"}
        serial.__init__(self, **passed)  # type: ignore[misc]

    body = {"__init__": init, "__module__": parallel.__module__, "__doc__": parallel.__doc__}
    return type(parallel.__name__, (serial,), body)


def updates_count_as_progress(module: ModuleType) -> None:
    """Report progress after each ``optimizer.update``.

    Optimizers override ``update``, so it is wrapped in every subclass, also the researcher's.
    """
    optimizer = module.Optimizer

    def counted(update: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(update)
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = update(self, *args, **kwargs)
            if on_update is not None:
                on_update()
            return result

        return wrapper

    def wrap_own_update(cls: type) -> None:
        own = vars(cls).get("update")
        if inspect.isfunction(own):
            cls.update = counted(own)  # type: ignore[attr-defined]

    def init_subclass(cls: type, /, **kwargs: Any) -> None:
        super(optimizer, cls).__init_subclass__(**kwargs)
        wrap_own_update(cls)

    wrap_own_update(module.GradientMethod)
    optimizer.__init_subclass__ = classmethod(init_subclass)


def trainers_announce_their_run(module: ModuleType) -> None:
    """Call `on_train` with a trainer before it runs, so that a trial can save and resume it."""
    original = module.Trainer.run

    @functools.wraps(original)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if on_train is not None and not self._done:
            on_train(self)
        return original(self, *args, **kwargs)

    module.Trainer.run = run


PATCHES: tuple[Patch, ...] = (
    Patch(
        "chainer.functions.loss.softmax_cross_entropy", softmax_cross_entropy_stays_float32, ONLY_5
    ),
    Patch("chainer.functions.math.clip", clip_bounds_give_way, ONLY_5),
    Patch("chainer.functions.array.pad_sequence", pad_sequence_wraps, BOTH),
    Patch("chainer.serializers.npz", snapshots_with_none_load, ONLY_5),
    Patch("chainer.iterators.multiprocess_iterator", iterators_become_serial, BOTH),
    Patch("chainer.iterators.multithread_iterator", iterators_become_serial, BOTH),
    Patch("chainer.optimizer", updates_count_as_progress, BOTH),
    Patch("chainer.training.trainer", trainers_announce_their_run, BOTH),
)
