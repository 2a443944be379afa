"""Gives tests the paths of the examples, and makes the files that the examples read."""

from __future__ import annotations

import gzip
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROOT = EXAMPLES.parents[1]


def write_idx(path: Path, array: np.ndarray[Any, Any]) -> None:
    head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    content = head + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def paths(version: str, *more: Path) -> str:
    """Return a ``PYTHONPATH`` with ``more``, the project's packages and this Chainer version."""
    cache = ROOT / "build" / "cache"
    wheel = cache / "wheels" / f"chainer-{version}-py3-none-any.whl"
    six = cache / "downloads" / "six-1.17.0-py2.py3-none-any.whl"
    if not wheel.is_file():
        pytest.fail("Chainer's wheel is not there; ./run setup makes it")
    sources = (ROOT / "python" / "src", ROOT / "worker-runtime" / "python")
    return os.pathsep.join(map(str, (*more, *sources, wheel, six)))
