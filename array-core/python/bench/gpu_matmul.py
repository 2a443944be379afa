"""Compares array-core's speed of float32 matrix products with that of two plain tiled kernels.

    ./run python --backend webgpu --mount array-core/bench array-core/python/bench/gpu_matmul.py

The references are ``array-core/bench/matmul_ref_{64,128}.wgsl``, run as they are. On software
devices, a naive kernel with one element per invocation is a third reference. Each kernel writes to
an existing array, and the device's own clock measures several launches. The kernels take turns, and
the best turn counts. ``--tiles`` compares all tiles of array-core's kernels and prints a table.

The last line is one JSON object. For each size it has array-core's speed divided by that of the
best reference. For each size that is no multiple of a tile it has the speed divided by that at
1024. These figures are null if the device has no clock. A software device is measured only with
matrices of 256 rows, other devices with larger ones.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import arraycore as ac
import numpy as np
from arraycore._runtime import operations
from device_clock import Run, speeds

ALIGNED, RAGGED, SOFTWARE = (1024, 2048, 4096), (1000, 1023), 256
TURN_FLOP = 4e11  # about what a turn computes; on a software device a turn is one launch
WARM_UP_FLOP = 4e12  # an idle device takes a part of a second to reach its full clock rate
#: The tiles of ``gemm::tiles()`` in src/gemm/choose.cc, in the same order.
TILES = ("128x128 by 8x8", "64x128 by 4x8", "64x64 by 4x4", "64x64 by 8x4", "32x64 by 4x4",
         "32x32 by 4x4")  # fmt: skip

NAMES = (
    *(f"gpu_matmul_vs_ref_{size}" for size in (SOFTWARE, *ALIGNED)),
    *(f"gpu_matmul_{size}_gflops" for size in (SOFTWARE, *ALIGNED)),
    *(f"gpu_matmul_{size}_ref_gflops" for size in (SOFTWARE, *ALIGNED)),
    *(f"gpu_matmul_ragged_{size}" for size in RAGGED),
)

NAIVE = """
struct P { M: u32, N: u32, K: u32, pad: u32 }
@group(0) @binding(0) var<storage, read> A: array<f32>;
@group(0) @binding(1) var<storage, read> B: array<f32>;
@group(0) @binding(2) var<storage, read_write> C: array<f32>;
@group(0) @binding(3) var<uniform> p: P;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= p.N || id.y >= p.M) { return; }
  var sum = 0.0;
  for (var k = 0u; k < p.K; k++) { sum += A[id.y * p.K + k] * B[k * p.N + id.x]; }
  C[id.y * p.N + id.x] = sum;
}
"""


class Bench:
    """Two matrices of one size, and the kernels that multiply them."""

    def __init__(self, size: int, folder: Path | None) -> None:
        random = np.random.default_rng(size)
        # The elements are small integers, so every product and sum is exact.
        self.a, self.b = (random.integers(-4, 5, (size, size)).astype("f4") for _ in range(2))
        self.left, self.right = ac.array(self.a), ac.array(self.b)
        self.out = ac.empty((size, size), "float32")
        self.size = size
        self.folder = folder

    def ours(self, tile: int = 0, prefetch: int = 0) -> Run:
        def run() -> None:
            ac.matmul(self.left, self.right, out=self.out)

        def tuned() -> None:
            operations.tune_matmul(tile, prefetch, 0)
            run()

        tuned()
        return run

    def text(self, code: str, step: int) -> Run:
        kernel = ac.RawKernel(code, "main")
        groups = self.size // step
        arguments = (self.left, self.right, self.out, self.size, self.size, self.size, 0)
        return lambda: kernel((groups, groups), arguments)

    def reference(self, step: int) -> Run:
        assert self.folder is not None
        name = f"matmul_ref_{step}.wgsl"
        return self.text((self.folder / name).read_text(encoding="utf-8"), step)

    def check(self, run: Run) -> None:
        """End the program if the product is wrong."""
        self.out[...] = 0
        run()
        rows = slice(None, None, max(1, self.size // 61))
        if not np.array_equal(self.out[rows].get(), self.a[rows] @ self.b):
            raise SystemExit(f"A product of size {self.size} is wrong.")

    def gflops(self, runs: dict[str, Run], launches: int) -> dict[str, float]:
        """Return the best speed of each run in 10**9 operations per second. The runs take turns."""
        for run in runs.values():
            self.check(run)
        return speeds(runs, 2 * self.size**3, launches)


def launches_of(size: int, software: bool) -> int:
    return 1 if software else max(3, int(TURN_FLOP / (2 * size**3)))


def warm_up(bench: Bench) -> None:
    run = bench.ours()
    for _ in range(int(WARM_UP_FLOP / (2 * bench.size**3))):
        run()


def table(sizes: tuple[int, ...], folder: Path | None, software: bool) -> None:
    """Print the speed of each tile at each size. If the device lacks room for a tile, another tile
    runs instead.
    """
    for size in sizes:
        bench = Bench(size, folder)
        for number, name in enumerate(("chosen", *TILES)):
            for prefetch in (0, 1):
                run = bench.ours(number, prefetch)
                speed = bench.gflops({"": run}, launches_of(size, software))[""]
                label = f"{name}{' prefetch' if prefetch else ''}"
                print(f"n = {size:5}  {label:26} {speed:10.1f} GFLOP/s", flush=True)
    operations.tune_matmul(0, 0, 0)


def measure(sizes: tuple[int, ...], ragged: tuple[int, ...], folder: Path, software: bool) -> Any:
    figures: dict[str, float] = {}
    aligned = {}
    for size in sizes:
        bench = Bench(size, folder)
        if not software:
            warm_up(bench)
        runs = {"ours": bench.ours(), "ref64": bench.reference(64), "ref128": bench.reference(128)}
        if software:
            runs["naive"] = bench.text(NAIVE, 8)
        best = bench.gflops(runs, launches_of(size, software))
        aligned[size] = best["ours"]
        others = max(speed for name, speed in best.items() if name != "ours")
        print(f"n = {size:5}", {name: round(speed, 1) for name, speed in best.items()})
        figures[f"gpu_matmul_{size}_gflops"] = round(best["ours"], 1)
        figures[f"gpu_matmul_{size}_ref_gflops"] = round(others, 1)
        figures[f"gpu_matmul_vs_ref_{size}"] = round(best["ours"] / others, 3)
    for size in ragged:
        bench = Bench(size, folder)
        speed = bench.gflops({"ours": bench.ours()}, launches_of(size, software))["ours"]
        print(f"n = {size:5} {speed:.1f}")
        figures[f"gpu_matmul_ragged_{size}"] = round(speed / aligned[1024], 3)
    return figures


def reference_folder() -> Path:
    """Return the mounted folder with the references."""
    for place in map(Path, sys.path):
        if (place / "matmul_ref_64.wgsl").exists():
            return place
    raise SystemExit("The references are missing: give --mount array-core/bench.")


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast the device multiplies matrices.")
    parser.add_argument("--tiles", action="store_true", help="compare every tile of ours")
    parser.add_argument("--sizes", type=int, nargs="*", help="instead of the bench's own")
    arguments = parser.parse_args()
    device = ac.device_info()
    if device.name == "cpu":
        raise SystemExit("This measures a device: run it with --backend webgpu.")
    software = device.is_software
    # The report has every figure, with null for those that are not measured on this device.
    figures: dict[str, Any] = {"device": device.name, **dict.fromkeys(NAMES)}
    if not device.has_clock:
        print(json.dumps(figures | {"reason": "The device has no clock."}))
        return
    sizes = tuple(arguments.sizes or ((SOFTWARE,) if software else ALIGNED))
    folder = reference_folder()
    if arguments.tiles:
        table(sizes, folder, software)
    figures |= measure(sizes, () if software or 1024 not in sizes else RAGGED, folder, software)
    print(json.dumps(figures))


main()
