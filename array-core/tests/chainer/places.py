"""Finds the wheels of Chainer for the tests. The build of the browsers' runtime downloads them."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CACHE = Path(os.environ.get("HYPERFLOCK_CACHE", ROOT / "build" / "cache"))
VERSIONS = ("5.4.0", "7.8.1")
SCRIPT = Path(__file__).with_name("train.py")
#: BAR is the allowed relative difference of a loss from NumPy's. SMALL has options for small, fast
#: networks.
BAR = 1e-3
SMALL = ("--width", "4", "--side", "12", "--batch", "8")


def wheel(version: str) -> Path:
    """Return the wheel of a version.

    Raises
    ------
    FileNotFoundError
        The wheel was not downloaded yet (``./run build`` does it).
    """
    path = CACHE / "wheels" / f"chainer-{version}-py3-none-any.whl"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: gather the runtime first (./run build)")
    return path


def python_path(version: str) -> str:
    """Return ``PYTHONPATH`` for a native run: the packages, Chainer and what Chainer needs."""
    six = CACHE / "downloads" / "six-1.17.0-py2.py3-none-any.whl"
    packages = [
        ROOT / folder for folder in ("array-core/python", "worker-runtime/python", "python/src")
    ]
    return os.pathsep.join(str(path) for path in (*packages, wheel(version), six))
