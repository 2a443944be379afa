"""Finds the worker's Python package (``hyperflock_worker``), which runs trials and patches Chainer.

It is not an installed package: a checkout and a wheel each have it in a folder of their own. Any
thread may use this module.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

from hyperflock._base.errors import DryRunError

_NAME = "hyperflock_worker"
_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parents[2]


def worker_packages() -> Path:
    """Return the folder that contains ``hyperflock_worker``, in a checkout or in this package.

    Raises
    ------
    DryRunError
        ``dry_run_unavailable``: neither of them has it.
    """
    for folder in (_CHECKOUT / "worker-runtime" / "python", _PACKAGE / "_worker"):
        if (folder / _NAME / "runner.py").is_file():
            return folder
    raise DryRunError(
        "the worker's Python packages are not in this installation; install a wheel of hyperflock"
    )


def import_worker() -> None:
    """Let this process import ``hyperflock_worker`` without a change of ``sys.path``.

    Raises
    ------
    DryRunError
        ``dry_run_unavailable``: the package was not found.
    """
    if _NAME in sys.modules or importlib.util.find_spec(_NAME) is not None:
        return
    spec = importlib.machinery.PathFinder.find_spec(_NAME, [str(worker_packages())])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module
    spec.loader.exec_module(module)
