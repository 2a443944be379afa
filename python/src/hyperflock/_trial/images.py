"""Small images for ``trial.log``: PNG bytes, or arrays that become PNG.

    Image(array).png

The module is pure; any thread may use it.
"""

from __future__ import annotations

import re
import struct
import zlib
from typing import Any

import numpy as np

from hyperflock._base.errors import SeriesError

__all__ = ["Image"]

MAX_BYTES = 1024 * 1024
MAX_SIDE = 4096
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# PNG's colour types by the number of channels.
_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}
_MAX_FILE_NAME = 200


class Image:
    """An image for `Trial.log`.

    Parameters
    ----------
    content : array or bytes
        An array of shape (height, width), (height, width, channels) or (channels, height, width),
        with 1 to 4 channels: grey, grey and alpha, RGB, RGBA. Its values are uint8, bools, or
        floats from 0 to 1. Or the bytes of a PNG file.

    Raises
    ------
    SeriesError
        ``series_image``: it is no such array and no PNG, has more than 4,096 pixels on a side, or
        more than 1 MiB as PNG.
    """

    __module__ = "hyperflock"

    def __init__(self, content: Any) -> None:
        if isinstance(content, bytes | bytearray | memoryview):
            self._png = _checked_png(bytes(content))
        else:
            self._png = _encoded(_pixels(content))
        if len(self._png) > MAX_BYTES:
            raise _refused(f"has {len(self._png)} bytes as PNG, but may have {MAX_BYTES}")

    @property
    def png(self) -> bytes:
        """The bytes of the PNG file."""
        return self._png

    def __repr__(self) -> str:
        width, height = struct.unpack_from(">II", self._png, 16)
        return f"Image({width} x {height})"


def file_name(series: str, step: int) -> str:
    """Return the name of the file in which an image of a series is kept."""
    shown = re.sub(r"[/\\]", "-", series).encode()[:_MAX_FILE_NAME].decode(errors="ignore")
    return f"{shown}@{step}.png"


def _refused(why: str) -> SeriesError:
    return SeriesError(f"an image {why}", code="series_image")


def _checked_png(content: bytes) -> bytes:
    """Return ``content`` if it begins with a valid PNG header; the rest is not checked."""
    head = content[len(_SIGNATURE) : 33]
    is_png = content.startswith(_SIGNATURE) and len(head) == 25 and head[4:8] == b"IHDR"
    if not is_png or zlib.crc32(head[4:21]) != struct.unpack(">I", head[21:])[0]:
        raise _refused("is an array of pixels or the bytes of a PNG file, and these are no PNG")
    _check_sides(*struct.unpack(">II", head[8:16]))
    return content


def _check_sides(width: int, height: int) -> None:
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise _refused(f"has 1 to {MAX_SIDE} pixels on a side, not {width} x {height}")


def _pixels(content: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return pixels of shape (height, width, channels)."""
    inner = getattr(content, "array", content)
    get = getattr(inner, "get", None)  # array-core's and CuPy's arrays return NumPy's by it
    array = inner if isinstance(inner, np.ndarray) else get() if callable(get) else inner
    if not isinstance(array, np.ndarray):
        raise _refused(
            f"is an array of pixels or the bytes of a PNG file, not a {type(content).__name__}"
        )
    if array.ndim == 2:
        array = array[:, :, np.newaxis]
    if array.ndim == 3 and array.shape[2] not in _COLOURS and array.shape[0] in _COLOURS:
        array = np.moveaxis(array, 0, 2)
    if array.ndim != 3 or array.shape[2] not in _COLOURS:
        raise _refused(f"has two axes and 1 to 4 channels, not the shape {np.shape(inner)}")
    _check_sides(array.shape[1], array.shape[0])
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    if array.dtype.kind not in "bf":
        raise _refused(f"has pixels of uint8, bool or float, not of {array.dtype}")
    if not bool(np.all((array >= 0) & (array <= 1))):
        raise _refused("of floats has values from 0 to 1")
    scaled: np.ndarray[Any, np.dtype[np.uint8]] = np.rint(array * 255).astype(np.uint8)
    return scaled


def _encoded(pixels: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    """Return the pixels as PNG, without a filter."""
    height, width, channels = pixels.shape
    lines = np.zeros((height, 1 + width * channels), np.uint8)
    lines[:, 1:] = pixels.reshape(height, width * channels)
    head = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[channels], 0, 0, 0)
    data = zlib.compress(lines.tobytes(), 6)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    checked = kind + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))
