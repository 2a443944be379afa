"""Measures a training step of each network in each place: ``./run bench train``.

    ./run bench train                                    # this machine
    ./run bench train --where chromium_webgpu --models resnet18:16 resnet18:64
    python3 array-core/bench/train/collect_train.py --rows build/reports/train_rows.json --markdown

``steps.py`` trains on arraycore in Chromium, on WebGPU and on the CPU, and on plain NumPy in the
same runtime. ``tfjs/run_tfjs.mjs`` trains the same networks with TensorFlow.js in the same browser,
if its packages are installed (``npm ci`` in its folder; nothing else needs them). The first losses
are compared with those of NumPy on CPython. A software device, which is slow and says nothing about
a graphics card, trains the two smallest networks for a second each.

Rows are written to ``build/reports/train_rows.json`` as they come, and the figures to
``train.json``; ``--markdown`` prints the table of ``array-core/docs/training.md`` from the rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from running import NODE, PLACES, ROOT, VERSIONS, command, lines, run
from workloads import KINDS

Row = dict[str, Any]

TABLE = tuple(
    f"{name}:{batch}" for name, kind in KINDS.items() if name != "narrow" for batch in kind.batches
)
SOFTWARE_TABLE = ("cnn:32", "mlp:128")
#: The places that run by default: back ends of arraycore, and ``numpy`` and ``tfjs`` to compare.
DEFAULT = ("chromium_webgpu", "chromium_webgpu_captured", "tfjs", "chromium_cpu", "numpy")
CAPTURED = "_captured"
#: The goals on a graphics card, in images per second: for plain steps, and for replayed ones.
GOALS = {"resnet18:16": (350, 1_500), "resnet18:64": (900, 2_500)}
LOSS_BAR = 0.01
JUDGED = 3  # first losses that are compared with NumPy's
TFJS = ROOT / "array-core/bench/train/tfjs"


def has_graphics_card() -> bool:
    return Path("/dev/dri").exists() or Path("/dev/nvidiactl").exists()


def arguments_of(models: list[str], seconds: float) -> list[str]:
    """Return the options of ``steps.py`` that choose these networks and this time."""
    names, batches = zip(*(model.split(":") for model in models), strict=True)
    return [*names, "--batch", *batches, "--seconds", str(seconds)]


def measure(where: str, version: str, models: list[str], seconds: float, rows: list[Row]) -> None:
    """Add a place's rows as they come; if the place fails, add a row with the reason."""
    print(f"{where}: {', '.join(models)}", flush=True)
    if where == "tfjs":
        given: tuple[str, ...] = (*NODE[:2], str(TFJS / "run_tfjs.mjs"), "--seconds", str(seconds))
        line, env = (*given, *models), None
    else:
        place = "chromium_cpu" if where == "numpy" else where.removesuffix(CAPTURED)
        # On NumPy in a browser a step takes half a minute, so no losses are computed there.
        more = ("--on", "numpy", "--losses", "0") if where == "numpy" else ("--on", "cupy")
        more += ("--captured",) if where.endswith(CAPTURED) else ()
        begin, env = command(place, version)
        line = (*begin, *arguments_of(models, seconds), *more)
    try:
        for made in lines(line, env):
            made |= {"where": where, "when": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M")}
            rows.append(made)
            print(f"  {made['model']}:{made['batch']} {made['ms']:.2f} ms", flush=True)
    except subprocess.CalledProcessError as problem:
        rows.append({"where": where, "error": f"ended with {problem.returncode}"})


def judge(rows: list[Row], version: str, reference: Path | None) -> None:
    """Add to each row of arraycore how far its first losses are from those of NumPy on CPython.

    Only a few losses are compared, because rounding errors grow from step to step. All losses of
    captured steps are also compared with those of plain steps in the same place. Their bits must be
    equal.
    """
    ours = [row for row in rows if "losses" in row and row["where"] not in ("tfjs", "numpy")]
    models = sorted({f"{row['model']}:{row['batch']}" for row in ours if "losses_apart" not in row})
    if not models:
        return
    print(f"reference: {', '.join(models)}", flush=True)
    if reference is None:
        made = run(None, version, *arguments_of(models, 0), "--losses", str(JUDGED))
    else:
        made = [json.loads(line) for line in reference.read_text().splitlines()]
    wanted = {f"{each['model']}:{each['batch']}": each["losses"] for each in made}
    for row in ours:
        losses = wanted.get(f"{row['model']}:{row['batch']}")
        if losses is not None:
            row["losses_apart"] = max(
                abs(got - want) / abs(want)
                for want, got in zip(losses, row["losses"], strict=False)
            )
    plain = {(row["where"], row["model"], row["batch"]): row["losses"] for row in ours}
    for row in ours:
        twin = (row["where"].removesuffix(CAPTURED), row["model"], row["batch"])
        if row["where"].endswith(CAPTURED) and twin in plain:
            pairs = zip(plain[twin], row["losses"], strict=True)
            row["losses_unlike_plain"] = sum(one != other for one, other in pairs)


def figures(rows: list[Row]) -> list[Row]:
    """Return the report's rows: milliseconds, items per second and losses."""
    made: list[Row] = []
    for row in rows:
        if "error" in row:
            made.append({"name": f"train_{row['where']}", "value": None, "error": row["error"]})
            continue
        model = f"{row['model']}:{row['batch']}"
        name = f"train_{row['where']}_{row['model']}_{row['batch']}"
        common = {"device": row["device"], "when": row["when"]}
        speed = {"name": f"{name}_per_s", "value": row["per_s"], "unit": "/s", **common}
        if model in GOALS and "webgpu" in row["where"] and "swiftshader" not in row["device"]:
            goal = GOALS[model][row["where"].endswith(CAPTURED)]
            speed |= {"op": ">=", "goal": goal}
        theirs = [
            other["per_s"]
            for other in rows
            if other["where"] == "tfjs" and f"{other.get('model')}:{other.get('batch')}" == model
        ]
        if theirs and "webgpu" in row["where"]:
            speed["peer"] = {"name": "TensorFlow.js", "value": theirs[0]}
        made += [speed, {"name": f"{name}_ms", "value": row["ms"], "unit": "ms", **common}]
        if "losses_apart" in row:
            bar = {"op": "<=", "goal": LOSS_BAR}
            made.append({"name": f"{name}_losses", "value": row["losses_apart"], **bar, **common})
        if "losses_unlike_plain" in row:
            bar = {"op": "<=", "goal": 0}
            unlike = row["losses_unlike_plain"]
            made.append({"name": f"{name}_losses_unlike_plain", "value": unlike, **bar, **common})
        if row.get("errors"):
            made.append({"name": f"{name}_errors", "value": row["errors"], "op": "<=", "goal": 0})
    return made


def markdown(rows: list[Row]) -> str:
    """Return a Markdown table, with a line for each network and batch in each place."""
    said = {"chromium_webgpu": "arraycore, WebGPU", "chromium_cpu": "arraycore, CPU",
            "node_webgpu": "arraycore, WebGPU (Node)", "node_cpu": "arraycore, CPU (Node)",
            "numpy": "NumPy in Pyodide", "tfjs": "TensorFlow.js 4.22, WebGPU",
            "chromium_webgpu_captured": "arraycore, WebGPU, captured",
            "node_webgpu_captured": "arraycore, WebGPU, captured (Node)"}  # fmt: skip
    lines = [
        "| network | batch | where | ms a step | items/s | dispatches | GPU busy | peak MiB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    order = {model: number for number, model in enumerate(TABLE)}
    known = [row for row in rows if "ms" in row]
    for row in sorted(known, key=lambda row: order.get(f"{row['model']}:{row['batch']}", 99)):
        busy = "" if row.get("busy") is None else f"{100 * row['busy']:.0f} %"
        peak = f"{row['peak_bytes'] / 2**20:,.0f}" if "peak_bytes" in row else ""
        dispatches = row.get("device_dispatches", row.get("dispatches", ""))
        counted = f"{dispatches:.0f}" if dispatches != "" else ""
        lines.append(
            f"| {row['model']} | {row['batch']} | {said[row['where']]} | {row['ms']:,.2f} "
            f"| {row['per_s']:,.0f} | {counted} | {busy} | {peak} |"
        )
    devices = sorted({row["device"] for row in known if "webgpu" in row["where"]})
    return "\n".join([*lines, "", f"Device: {', '.join(devices) or 'none'}."])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    places = (
        *PLACES,
        *(place + CAPTURED for place in PLACES if "webgpu" in place),
        "numpy",
        "tfjs",
    )
    parser.add_argument("--where", nargs="+", choices=places, default=list(DEFAULT))
    parser.add_argument("--models", nargs="+", default=None, help="NAME:BATCH; all where not given")
    parser.add_argument("--version", choices=VERSIONS, default="7.8.1", help="of Chainer")
    parser.add_argument("--seconds", type=float, default=5, help="for each network in each place")
    parser.add_argument("--rows", type=Path, default=ROOT / "build/reports/train_rows.json")
    parser.add_argument("--keep", action="store_true", help="add to the rows that are there")
    parser.add_argument(
        "--reference", type=Path, help="what `steps.py --on numpy --seconds 0` printed on CPython"
    )
    parser.add_argument("--unjudged", action="store_true", help="do not compare losses")
    parser.add_argument("--markdown", action="store_true", help="print the table, measure nothing")
    options = parser.parse_args()
    if options.markdown:
        print(markdown(json.loads(options.rows.read_text())))
        return 0
    kept = options.keep and options.rows.is_file()
    rows: list[Row] = json.loads(options.rows.read_text()) if kept else []
    for where in options.where:
        software = not has_graphics_card() and ("webgpu" in where or where == "tfjs")
        models = options.models or list(SOFTWARE_TABLE if software else TABLE)
        if where == "tfjs" and not (TFJS / "node_modules").is_dir() and "TFJS" not in os.environ:
            print(f"tfjs: left out, its packages are not there: npm ci --prefix {TFJS}")
            continue
        again = {(where, model) for model in models}
        rows = [
            row for row in rows
            if (row["where"], f"{row.get('model')}:{row.get('batch')}") not in again
            and not (row["where"] == where and "error" in row)
        ]  # fmt: skip
        measure(where, options.version, models, 1 if software else options.seconds, rows)
        options.rows.parent.mkdir(parents=True, exist_ok=True)
        options.rows.write_text(json.dumps(rows, indent=1) + "\n")
    if not options.unjudged:
        judge(rows, options.version, options.reference)
        options.rows.write_text(json.dumps(rows, indent=1) + "\n")
    report = {"name": "train", "figures": figures(rows)}
    options.rows.with_name("train.json").write_text(json.dumps(report, indent=1) + "\n")
    print(markdown(rows))
    missed = any(
        "error" in row or ("goal" in row and (row["value"] < row["goal"]) == (row["op"] == ">="))
        for row in report["figures"]
    )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
