"""Computes the Mandelbrot set twice, by array operations and by one kernel, and writes it as PNG.

    ./run python --mount array-core/python array-core/samples/mandelbrot.py [WIDTH [LIMIT]]

Both ways take the same steps in float32 and give the same picture. A GPU may fuse the kernel's
multiplications with its additions; then a few points at the edge of the set may differ. The array
operations launch ten kernels for each step. The custom kernel is launched once for the whole
picture.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import arraycore as ac
import numpy as np
import numpy.typing as npt
from png import write_png

FOLDER = Path(__file__).resolve().parent

# Computes the number of steps after which a point leaves the circle of radius 2, or `limit` if it
# stays.
STEPS = ac.ElementwiseKernel(
    "T cx, T cy, int32 limit",
    "int32 steps",
    """
    T x = 0, y = 0;
    for (steps = 0; steps < limit; ++steps) {
      T xx = x * x, yy = y * y;
      if (!(xx + yy <= 4)) break;
      y = 2 * x * y + cy;
      x = xx - yy + cx;
    }
    """,
    "mandelbrot",
)


def by_kernel(cx: ac.ndarray, cy: ac.ndarray, limit: int) -> ac.ndarray:
    """Return each point's number of steps, computed by one kernel."""
    steps: ac.ndarray = STEPS(cx, cy, limit)
    return steps


def by_operations(cx: ac.ndarray, cy: ac.ndarray, limit: int) -> ac.ndarray:
    """Return each point's number of steps, computed by array operations."""
    x, y = cx * 0 + cy * 0, cx * 0 + cy * 0
    steps = ac.zeros(x.shape, "int32")
    for _ in range(limit):
        xx, yy = x * x, y * y
        inside = xx + yy <= 4
        steps += inside
        # A point that has left the circle keeps its value.
        ac.add(2 * x * y, cy, out=y, where=inside)
        ac.add(xx - yy, cx, out=x, where=inside)
    return steps


def plane(width: int) -> tuple[ac.ndarray, ac.ndarray]:
    """Return the real parts of the points as a row, and the imaginary parts as a column."""
    height = width * 3 // 4
    cx = np.linspace(-2.25, 0.75, width, dtype=np.float32)
    cy = np.linspace(1.125, -1.125, height, dtype=np.float32)
    return ac.array(cx), ac.array(cy[:, None])


def picture(steps: npt.NDArray[np.int32], limit: int) -> npt.NDArray[np.uint8]:
    """Return the picture: the set is black, and the points outside are blue to white."""
    light = np.sqrt(steps / limit)[..., None]
    colour = np.clip(light * [1.2, 1.5, 2.5] + [0, 0.02, 0.2], 0, 1)
    colour[steps == limit] = 0
    pixels: npt.NDArray[np.uint8] = np.rint(colour * 255).astype(np.uint8)
    return pixels


def measured(
    compute: Callable[[ac.ndarray, ac.ndarray, int], ac.ndarray], width: int, limit: int
) -> npt.NDArray[np.int32]:
    """Return each point's number of steps. Print how many launches and seconds they took."""
    cx, cy = plane(width)
    launches = ac.counters()["dispatches"]
    start = time.perf_counter()
    steps = compute(cx, cy, limit).get()
    seconds = time.perf_counter() - start
    launches = ac.counters()["dispatches"] - launches
    print(f"{compute.__name__}: {launches} launches, {seconds:.3f} s")
    return steps


def main(width: int = 320, limit: int = 60, *, folder: Path = FOLDER) -> None:
    """Compute the set in both ways and write both pictures."""
    pictures = []
    for compute in (by_operations, by_kernel):
        pixels = picture(measured(compute, width, limit), limit)
        path = folder / f"mandelbrot_{compute.__name__}.png"
        write_png(path, pixels)
        print(f"wrote {path}")
        pictures.append(pixels)
    different = int((pictures[0] != pictures[1]).any(axis=2).sum())
    print("the pictures are equal" if different == 0 else f"{different} pixels differ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The Mandelbrot set in two ways, as PNG.")
    parser.add_argument("width", type=int, nargs="?", default=320, help="of the pictures, pixels")
    parser.add_argument("limit", type=int, nargs="?", default=60, help="steps at most")
    given = parser.parse_args()
    main(given.width, given.limit)
