"""Compares the speed of a device's float32 convolutions with that of a product of matrices.

    ./run python --backend webgpu array-core/python/bench/gpu_conv.py

Windows are 3 x 3 with padding 1, and ``--sizes`` gives N C O H W. The product is (O, 9 C) by
(9 C, N H W), so it does the same multiplications as the convolution. The device's own clock
measures several launches of each. The kernels take turns, and the best turn counts. The last line
is one JSON object: the speeds of the convolution and of its gradients, divided by the product's, or
null if the device has no clock.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import arraycore as ac
import numpy as np
from device_clock import Run, speeds

#: The numbers of images, input channels and output channels, the height and the width. `SOFTWARE`
#: is for a software device.
SIZES, SOFTWARE = (32, 128, 128, 56, 56), (1, 16, 16, 16, 16)
TURN_FLOP = 2e11
WARM_UP_FLOP = 4e12
#: The most launches in one turn, however small the sizes are.
MOST = 10_000
NAMES = ("gpu_conv_vs_gemm", "gpu_conv_data_vs_gemm", "gpu_conv_weights_vs_gemm",
         "gpu_conv_gflops", "gpu_conv_gemm_gflops")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast the device convolves float32 images.")
    parser.add_argument("--sizes", type=int, nargs=5, metavar=("N", "C", "O", "H", "W"))
    sizes = parser.parse_args().sizes
    device = ac.device_info()
    if device.name == "cpu":
        raise SystemExit("This measures a device: run it with --backend webgpu.")
    figures: dict[str, Any] = {"device": device.name, **dict.fromkeys(NAMES)}
    if not device.has_clock:
        print(json.dumps(figures | {"reason": "The device has no clock."}))
        return
    images, channels, results, height, width = sizes or (SOFTWARE if device.is_software else SIZES)
    random = np.random.default_rng(1)

    def numbers(*shape: int) -> Any:
        return ac.array(random.integers(-2, 3, shape).astype("f4"))

    x, w = numbers(images, channels, height, width), numbers(results, channels, 3, 3)
    gy = numbers(images, results, height, width)
    terms, places = 9 * channels, images * height * width
    left, right = numbers(results, terms), numbers(terms, places)
    out = ac.empty((results, places), "float32")
    runs: dict[str, Run] = {
        "gemm": lambda: ac.matmul(left, right, out=out),
        "conv": lambda: ac.nn.conv(x, w, padding=1),
        "data": lambda: ac.nn.conv_data_gradient(gy, w, (height, width), padding=1),
        "weights": lambda: ac.nn.conv_weight_gradient(x, gy, 3, padding=1),
    }
    flop = 2.0 * results * terms * places
    launches = 1 if device.is_software else min(MOST, max(3, int(TURN_FLOP / flop)))
    if not device.is_software:
        for _ in range(min(MOST, int(WARM_UP_FLOP / flop))):
            runs["gemm"]()
    best = speeds(runs, flop, launches)
    print({name: round(speed, 1) for name, speed in best.items()})
    figures["gpu_conv_gflops"] = round(best["conv"], 2)
    figures["gpu_conv_gemm_gflops"] = round(best["gemm"], 2)
    figures["gpu_conv_vs_gemm"] = round(best["conv"] / best["gemm"], 3)
    figures["gpu_conv_data_vs_gemm"] = round(best["data"] / best["gemm"], 3)
    figures["gpu_conv_weights_vs_gemm"] = round(best["weights"] / best["gemm"], 3)
    print(json.dumps(figures))


main()
