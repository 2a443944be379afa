"""Writes pictures as PNG files with Python's standard library alone."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB, _EIGHT_BITS = 2, 8


def write_png(path: Path, pixels: npt.NDArray[np.uint8]) -> None:
    """Write ``pixels``, an array of shape (height, width, 3), red, green and blue."""
    height, width, _ = pixels.shape
    # Each line begins with the number of its filter: 0, none.
    lines = np.zeros((height, 1 + width * 3), np.uint8)
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, _EIGHT_BITS, _RGB, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    path.write_bytes(_SIGNATURE + b"".join(_chunk(*chunk) for chunk in chunks))


def _chunk(kind: bytes, data: bytes) -> bytes:
    checked = kind + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))
