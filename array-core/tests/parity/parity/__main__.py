"""Runs the comparison; the package's docstring says how.

The last line printed is one flat JSON object; the report holds every case. The exit code is 1 if a
case failed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections import Counter
from datetime import datetime, timezone
from typing import Any

import arraycore as ac
import numpy as np

from . import convolution, linear
from .cases import every
from .reduction_runner import run_reduction
from .reductions import reductions
from .runner import Outcome, run

#: Groups with their own runner. The other groups are judged by rows of the operation table.
_RUNNERS = {"reduction": run_reduction, linear.GROUP: linear.run,
            convolution.GROUP: convolution.run}  # fmt: skip
#: At most this many failures are printed. The report has all of them.
_SHOWN = 40


def record(outcome: Outcome) -> dict[str, Any]:
    """Return the report's entry for one case."""
    case, verdict = outcome.case, outcome.verdict
    return {
        "group": case.group,
        "operation": case.function,
        "operands": [operand.label for operand in case.operands],
        "layout": case.layout,
        "form": " ".join(filter(None, (case.form, case.detail))),
        "mode": case.mode,
        "ran": outcome.ran,
        "error_ulp": verdict.error_ulp if np.isfinite(verdict.error_ulp) else None,
        "failure": verdict.message,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="parity", description="arraycore against NumPy.")
    parser.add_argument("--backend-name", default=os.environ.get("ARRAYCORE_BACKEND", "cpu"))
    parser.add_argument("--short", action="store_true", help="a fixed selection of the cases")
    parser.add_argument("--every", type=int, default=1, help="each n-th case alone")
    parser.add_argument("--only", default="", help="cases whose title holds this text")
    parser.add_argument("--report", help="write every case to this JSON file")
    arguments = parser.parse_args()
    began = time.monotonic()
    outcomes: list[Outcome] = []
    failures = 0
    short = arguments.short
    cases = itertools.chain(
        every(short), reductions(short), linear.cases(short), convolution.cases(short)
    )
    for case in itertools.islice(cases, 0, None, arguments.every):
        if arguments.only not in case.title:
            continue
        runs = _RUNNERS.get(case.group, run)
        outcome = runs(case, arguments.backend_name)
        outcomes.append(outcome)
        if not outcome.verdict.good:
            failures += 1
            if failures <= _SHOWN:
                print(f"FAILED {case.title} on {outcome.ran}: {outcome.verdict.message}")
        if len(outcomes) % 1000 == 0:
            print(f"{len(outcomes)} cases, {failures} failures", file=sys.stderr, flush=True)
    seconds = time.monotonic() - began
    for group, count in Counter(outcome.case.group for outcome in outcomes).items():
        wrong = sum(not each.verdict.good for each in outcomes if each.case.group == group)
        print(f"{group}: {count} cases, {wrong} failures")
    figures = {
        "parity_cases": len(outcomes),
        "parity_gpu_share": share([each for each in outcomes if each.for_gpu]),
        "parity_gpu_share_of_operands": share([each for each in outcomes if each.operands_for_gpu]),
        "parity_failures": failures,
        "parity_seconds": round(seconds, 1),
    }
    if arguments.report:
        report = {
            "backend": arguments.backend_name,
            "device": ac.device_info().name,
            "platform": sys.platform,
            "numpy": np.__version__,
            "when": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "short": arguments.short or arguments.every > 1 or bool(arguments.only),
            "figures": figures,
            "cases": [record(outcome) for outcome in outcomes],
        }
        with open(arguments.report, "w", encoding="utf-8") as file:
            json.dump(report, file, separators=(",", ":"))
    print(json.dumps(figures))
    return 1 if failures or not outcomes else 0


def share(outcomes: list[Outcome]) -> float:
    """Return the share of cases that a device computed."""
    if not outcomes:
        return 0.0
    return round(sum(each.ran != "cpu" for each in outcomes) / len(outcomes), 4)


sys.exit(main())
