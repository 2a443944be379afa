"""Compares the product of two matrices in NumPy and in arraycore: seconds, speed and largest error.

    ./run python --mount array-core/python array-core/samples/matmul.py [SIZE...]

They take turns with the same float32 matrices, and the fastest turn of each library counts.
arraycore's turn ends when an element of the product has been read, because before that a device may
still be computing. The error is that of the worst element, relative to the largest element of the
exact product.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import arraycore as ac
import numpy as np

SIZES = (64, 128, 256)
TURNS = 3


@dataclass(frozen=True)
class Result:
    """The seconds and the largest error of one library's product of two matrices."""

    library: str
    size: int
    seconds: float
    error: float

    @property
    def gflops(self) -> float:
        """10**9 additions and multiplications per second; infinity if no time has passed."""
        return 2 * self.size**3 / self.seconds / 1e9 if self.seconds else math.inf


def measure(size: int, turns: int = TURNS) -> list[Result]:
    """Return NumPy's and arraycore's result for square matrices of a size."""
    random = np.random.default_rng(size)
    a, b = (random.standard_normal((size, size)).astype(np.float32) for _ in range(2))
    left, right = ac.array(a), ac.array(b)
    made: dict[str, Any] = {}

    def by_numpy() -> None:
        made["numpy"] = a @ b

    def by_arraycore() -> None:
        made["arraycore"] = left @ right
        made["arraycore"][-1, -1].get()

    libraries: dict[str, Callable[[], None]] = {"numpy": by_numpy, "arraycore": by_arraycore}
    best = dict.fromkeys(libraries, float("inf"))
    for turn in range(turns + 1):
        for name, multiply in libraries.items():
            began = time.perf_counter()
            multiply()
            if turn > 0:  # the first one compiles kernels
                best[name] = min(best[name], time.perf_counter() - began)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    products = {"numpy": made["numpy"], "arraycore": made["arraycore"].get()}
    return [
        Result(name, size, best[name], float(np.abs(product - exact).max() / np.abs(exact).max()))
        for name, product in products.items()
    ]


def main(sizes: Sequence[int] = SIZES) -> None:
    """Print a line for each size and library."""
    print(f"float32 matrices, arraycore on {ac.device_info().name}")
    print(f"{'size':>6}  {'library':10} {'seconds':>10} {'GFLOP/s':>9} {'error':>9}")
    for size in sizes:
        for each in measure(size):
            print(
                f"{each.size:6}  {each.library:10} {each.seconds:10.6f} {each.gflops:9.3f} "
                f"{each.error:9.1e}"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="NumPy's and arraycore's product of matrices.")
    parser.add_argument("sizes", type=int, nargs="*", metavar="SIZE", help="rows and columns")
    main(parser.parse_args().sizes or SIZES)
