"""Chainer 7.8.1 and 5.4.0, unmodified, on Python 3.11 to 3.14 and NumPy 2.

    from hyperflock_worker import compat
    compat.install()      # before or after chainer is imported; a second call does nothing
    import chainer

Nothing of Chainer is copied or edited. Names that NumPy dropped come back as attributes
(``numpy_names``), modules that are not installed get small stand-ins (``stand_ins``), and functions
whose meaning shifted are wrapped right after their module was imported (``patches``). So is, where
arraycore is Chainer's ``cupy``, what asks an array for its address (``addresses``), and what
arraycore has kernels for (``device_functions``). One thread:
call it on the thread that imports Chainer.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperflock_worker.compat import (
    _hooks,
    addresses,
    device_functions,
    matrix_products,
    numpy_names,
    patches,
    stand_ins,
)

__all__ = ["install"]


def install(on_update: Callable[[], None] | None = None) -> None:
    """Install every stand-in and patch; each takes effect when its module is imported.

    Parameters
    ----------
    on_update : callable or None
        Called after each optimizer's update.
    """
    if on_update is not None:
        patches.on_update = on_update
    numpy_names.install()
    matrix_products.install()
    stand_ins.install()
    _hooks.install((*patches.PATCHES, *addresses.PATCHES, *device_functions.PATCHES))
