"""Lets ``import cupy`` and ``import cupyx`` find arraycore, where a program asks for that.

The packages of these names lie in ``_namespaces``, which is on no path until then: beside a CuPy
that is installed, and in programs that take ``cupy`` for a sign of CUDA, nothing changes.
"""

from __future__ import annotations

import os
import sys

__all__ = ["install_cupy"]

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_namespaces")


def install_cupy() -> None:
    """Let ``import cupy`` and ``import cupyx`` give arraycore, under the names that CuPy has.

    Before Chainer is imported, which then computes ``model.to_gpu()`` here. Importing ``cupy`` sets
    CuPy's promotion of dtypes (see ``docs/chainer.md``). A second call does nothing. Unless it is
    set, ``CHAINER_CUDNN`` becomes 0 in the environment: Chainer would advise to install cuDNN.

    Raises
    ------
    ImportError
        Another ``cupy`` has been imported.
    """
    for name in ("cupy", "cupyx"):
        loaded = sys.modules.get(name)
        if loaded is not None and not (getattr(loaded, "__file__", None) or "").startswith(_FOLDER):
            raise ImportError(f"Another {name} has been imported: call install_cupy() before.")
    os.environ.setdefault("CHAINER_CUDNN", "0")
    if _FOLDER not in sys.path:
        sys.path.insert(0, _FOLDER)
