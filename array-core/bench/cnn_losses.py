"""Compares the first losses of Chainer's networks on one back end with NumPy's on CPython.

    python3 array-core/bench/cnn_losses.py --version 7.8.1 --where node_webgpu [--short]
    python3 array-core/bench/cnn_losses.py --version 7.8.1 --where node_webgpu --loop 10000

``array-core/tests/chainer/train.py`` trains the three-layer CNN and an MLP in both places. The
script prints one flat JSON object. ``cnn_losses`` and ``mlp_losses`` are the largest relative
differences of the first 20 losses; ``cnn_step_dispatches`` and similar numbers are counts of the
last step. The exit code is 0 if the differences are at most ``BAR`` (``tests/chainer/places.py``).
``--loop`` instead trains for many steps; ``cnn_loop_bytes_growth`` is the growth of memory in bytes
after step 50.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "array-core/tests/chainer"))

from places import BAR, SCRIPT, SMALL, VERSIONS, python_path, wheel  # noqa: E402

NODE = ("node", "--disable-warning=ExperimentalWarning", "worker-runtime/node/python_command.ts")
#: The options of ``./run python`` for each place; None for a native process.
PLACES: dict[str, tuple[str, ...] | None] = {
    "native_cpu": None,
    "node_cpu": ("--host", "node", "--backend", "cpu"),
    "node_webgpu": ("--host", "node", "--backend", "webgpu"),
    "chromium_cpu": ("--host", "chromium", "--backend", "cpu"),
    "chromium_webgpu": ("--host", "chromium", "--backend", "webgpu"),
    "phone": ("--host", "node", "--backend", "webgpu", "--limits", "phone"),
}


def run(where: str | None, version: str, *options: str) -> dict[str, Any]:
    """Run the script in a place, or on NumPy if ``where`` is None; return its results by model."""
    place = None if where is None else PLACES[where]
    arguments = (str(SCRIPT), "--version", version, *options)
    env = dict(os.environ)
    if place is None:
        command = (sys.executable, *arguments, "--on", "numpy" if where is None else "cupy")
        env["PYTHONPATH"] = python_path(version)
        env.setdefault("ARRAYCORE_LIBRARY", str(ROOT / "build/release/lib/libarraycore.so"))
    else:
        command = (*NODE, *place, "--wheel", str(wheel(version)), *arguments)
    done = subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True)
    made: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {model: ran["numpy" if where is None else "cupy"] for model, ran in made.items()}


def difference(wanted: list[float], got: list[float]) -> float:
    """Return the largest relative difference between the first 20 losses of two runs."""
    pairs = list(zip(wanted, got, strict=True))[:20]
    assert len(pairs) == 20
    return max(abs(g - w) / abs(w) for w, g in pairs)


def compared(where: str, version: str, short: bool) -> dict[str, float]:
    models = ("cnn",) if short else ("cnn", "mlp")
    options = ("--model", *models, "--steps", "20", *(SMALL if short else ()))
    wanted, got = run(None, version, *options), run(where, version, *options)
    figures: dict[str, float] = {}
    for model in models:
        ran = got[model]
        apart = difference(wanted[model]["losses"], ran["losses"])
        # A loss that is NaN counts as an infinite difference.
        figures[f"{model}_losses"] = apart if apart == apart else float("inf")
        figures[f"{model}_step_ms"] = ran["ms"]
        figures |= {f"{model}_step_{name}": count for name, count in ran["spent"].items()}
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", choices=VERSIONS, required=True)
    parser.add_argument("--where", choices=tuple(PLACES), required=True)
    parser.add_argument("--short", action="store_true", help="the CNN alone, small")
    parser.add_argument("--loop", type=int, help="steps of a small CNN, for its memory")
    options = parser.parse_args()
    if options.loop:
        ran = run(options.where, options.version, "--steps", str(options.loop), *SMALL)["cnn"]
        print(json.dumps({"cnn_loop_bytes_growth": ran["growth"], "cnn_loop_step_ms": ran["ms"]}))
        return 0
    figures = compared(options.where, options.version, options.short)
    print(json.dumps(figures))
    return 0 if all(figures[name] <= BAR for name in figures if name.endswith("_losses")) else 1


if __name__ == "__main__":
    sys.exit(main())
