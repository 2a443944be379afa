"""Compares the product of matrices in WebAssembly with the same source built natively for SSE.

Runs ``array-core/python/bench/cpu_matmul.py`` in several turns. A turn has runs in Node on the
module of baseline SIMD, on ``libarraycore.so``, which is built for the processor's baseline, and in
Chromium on the modules of baseline and of relaxed SIMD. These runs use one thread, through the
Python call. Each turn ends with a run on two threads in Chromium. Prints one flat JSON object.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

SCRIPT = "array-core/python/bench/cpu_matmul.py"
RUNTIME = ("node", "--disable-warning=ExperimentalWarning", "worker-runtime/node/python_command.ts")
NATIVE = {
    "ARRAYCORE_LIBRARY": "build/release/lib/libarraycore.so",
    "PYTHONPATH": "array-core/python",
}
TURNS = 3


def measured(command: tuple[str, ...], env: dict[str, str]) -> dict[str, float]:
    """Return the numbers in a command's last line."""
    done = subprocess.run(
        command, env=os.environ | env, check=True, stdout=subprocess.PIPE, text=True
    )
    numbers: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return numbers


def main() -> None:
    """Measure in turns, so that other work on the machine affects all runs alike."""
    wasm, native, numpy, baseline, relaxed, two = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for turn in range(TURNS):
        without = () if turn == 0 else ("--no-numpy",)
        here = measured((*RUNTIME, "--simd", "baseline", SCRIPT, *without), {})
        wasm = max(wasm, here["cpu_matmul_gflops"])
        numpy = max(numpy, here.get("cpu_matmul_numpy_gflops", 0.0))
        there = measured((sys.executable, SCRIPT, "--no-numpy"), NATIVE)
        native = max(native, there["cpu_matmul_gflops"])
        browser = (*RUNTIME, "--host", "chromium")
        of_baseline = measured((*browser, "--simd", "baseline", SCRIPT, "--no-numpy"), {})
        baseline = max(baseline, of_baseline["cpu_matmul_gflops"])
        of_relaxed = measured((*browser, SCRIPT, "--no-numpy"), {})
        relaxed = max(relaxed, of_relaxed["cpu_matmul_gflops"])
        of_two = measured((*browser, "--threads", "2", SCRIPT, "--no-numpy"), {})
        two = max(two, of_two["cpu_matmul_gflops"])
    figures = {
        "cpu_matmul_gflops": wasm,
        "cpu_matmul_sse_gflops": native,
        "cpu_matmul_vs_sse": round(wasm / native, 3),
        "cpu_matmul_vs_numpy": round(wasm / numpy, 1),
        "cpu_matmul_chromium_gflops": baseline,
        "cpu_matmul_relaxed_gflops": relaxed,
        "cpu_matmul_relaxed_vs_baseline": round(relaxed / baseline, 3),
        "cpu_matmul_two_threads_gflops": two,
        "cpu_matmul_two_threads_vs_one": round(two / relaxed, 3),
    }
    print(json.dumps(figures))


main()
