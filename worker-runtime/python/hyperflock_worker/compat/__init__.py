"""Lets unmodified Chainer 7.8.1 and 5.4.0 run on Python 3.10 to 3.14 with NumPy 1.26 and 2.

    from hyperflock_worker import compat
    compat.install()      # before or after chainer is imported; a second call does nothing
    import chainer

Nothing of Chainer is copied or edited. Names that NumPy dropped are set as attributes again
(``numpy_names``), missing modules get small stand-ins (``stand_ins``), and functions whose meaning
changed are wrapped right after their module was imported (``patches``). If arraycore is Chainer's
``cupy``, functions that need an array's address (``addresses``) and functions for which arraycore
has kernels (``device_functions``) are wrapped too. Call `install` on the thread that imports
Chainer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


def install(
    on_update: Callable[[], None] | None = None, on_train: Callable[[Any], None] | None = None
) -> None:
    """Install every stand-in and patch; each takes effect when its module is imported.

    Parameters
    ----------
    on_update : callable or None
        A function that is called after each update of an optimizer.
    on_train : callable or None
        A function that is called with each trainer that is about to run.
    """
    if on_update is not None:
        patches.on_update = on_update
    if on_train is not None:
        patches.on_train = on_train
    numpy_names.install()
    matrix_products.install()
    stand_ins.install()
    _hooks.install((*patches.PATCHES, *addresses.PATCHES, *device_functions.PATCHES))
