"""Makes ``import cupy`` and ``import cupyx`` find arraycore, if a program asks for that.

The packages of these names are in ``_namespaces``. Only :func:`install_cupy` puts this folder on
Python's path. So in other programs an installed CuPy works, and a check for CUDA by an import of
``cupy`` does not find arraycore.
"""

from __future__ import annotations

import os
import sys

__all__ = ["install_cupy"]

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_namespaces")


def install_cupy() -> None:
    """Make ``import cupy`` and ``import cupyx`` import arraycore under CuPy's names.

    Call it before Chainer is imported; then ``model.to_gpu()`` uses arraycore. Importing ``cupy``
    sets CuPy's promotion of dtypes (see ``docs/chainer.md``). A second call does nothing. If the
    environment has no ``CHAINER_CUDNN``, it is set to 0, because Chainer would otherwise ask for
    cuDNN.

    Raises
    ------
    ImportError
        Another ``cupy`` or ``cupyx`` was imported before.
    """
    for name in ("cupy", "cupyx"):
        loaded = sys.modules.get(name)
        if loaded is not None and not (getattr(loaded, "__file__", None) or "").startswith(_FOLDER):
            raise ImportError(f"Another {name} has been imported: call install_cupy() before.")
    os.environ.setdefault("CHAINER_CUDNN", "0")
    if _FOLDER not in sys.path:
        sys.path.insert(0, _FOLDER)
