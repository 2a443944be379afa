"""Tests that the samples give the results that they promise, on the open back end."""

from __future__ import annotations

import os
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import mandelbrot
import matmul
import raw_wgsl
from png import write_png


def test_a_png_holds_its_pixels(tmp_path: Path) -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    write_png(tmp_path / "picture.png", pixels)
    data = (tmp_path / "picture.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks = {}
    at = 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + size
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    assert struct.unpack(">IIBBBBB", chunks[b"IHDR"]) == (7, 5, 8, 2, 0, 0, 0)
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(5, 22)
    assert not lines[:, 0].any()
    np.testing.assert_array_equal(lines[:, 1:].reshape(5, 7, 3), pixels)


def test_both_ways_give_the_mandelbrot_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mandelbrot.main(64, 30, folder=tmp_path)
    said = capsys.readouterr().out
    assert "by_kernel: 1 launches" in said
    assert "the pictures are equal" in said
    first, second = sorted(tmp_path.iterdir())
    assert first.read_bytes() == second.read_bytes()
    # The results of some points are known: 0 and -1 stay, and -2.25+1.125i leaves after its first
    # step.
    cx, cy = mandelbrot.plane(61)
    steps = mandelbrot.by_kernel(cx, cy, 30).get()
    assert steps[22, 45] == steps[22, 25] == 30
    assert steps[0, 0] == 1


def test_both_products_are_near_the_exact_one(capsys: pytest.CaptureFixture[str]) -> None:
    matmul.main([5, 48])
    first, heads, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("float32 matrices, arraycore on ")
    assert heads.split() == ["size", "library", "seconds", "GFLOP/s", "error"]
    rows = [line.split() for line in lines]
    assert [row[:2] for row in rows] == [
        ["5", "numpy"], ["5", "arraycore"], ["48", "numpy"], ["48", "arraycore"]
    ]  # fmt: skip
    for row in rows:
        assert float(row[2]) >= 0
        assert 0 <= float(row[4]) < 1e-6


def test_gflops_count_additions_and_multiplications() -> None:
    assert matmul.Result("numpy", 1000, 0.5, 0).gflops == 4
    assert matmul.Result("numpy", 2, 0.0, 0).gflops == float("inf")


@pytest.mark.parametrize("size", [1, 4097, 70_000])
def test_the_shader_counts_as_numpy_does(size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    if os.environ.get("ARRAYCORE_BACKEND") != "webgpu":
        with pytest.raises(NotImplementedError, match="WGSL"):
            raw_wgsl.histogram(data)
        return
    np.testing.assert_array_equal(raw_wgsl.histogram(data), np.bincount(data, minlength=256))
