"""Joins the records of ``run_cases.py``: counts, shares, and each case that failed.

The committed list is one JSON file for each place. It has counts by file, the name and the reason
of each case that failed, and by file how many cases needed the CPU in a forward (watch.py).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

#: Groups of cases that have figures of their own, and the prefix of the cases' names.
GROUPS = {
    "functions": "chainer_tests/functions_tests/",
    "links": "chainer_tests/links_tests/",
    "optimizers": "chainer_tests/optimizers_tests/",
}
CRASHED = "the interpreter ended, or took too long"


def read(paths: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Return each case's result by its name. A case that began and never ended has failed."""
    cases: dict[str, dict[str, Any]] = {}
    for path in paths:
        for text in path.read_text().splitlines():
            line = json.loads(text)
            if "id" not in line:
                continue
            name = line.pop("id")
            if "end" in line:
                cases[name] = line
            else:
                cases.setdefault(name, {"end": "failed", "why": CRASHED})
    return cases


def share(part: int, whole: int) -> float:
    """Return a share of cases. It is 0 if there are none, so that no goal is reached."""
    return round(part / whole, 5) if whole else 0.0


def passed_share(cases: Iterable[Mapping[str, Any]]) -> float:
    """Return the share of cases that passed, without the skipped ones."""
    ends = Counter(case["end"] for case in cases)
    return share(ends["passed"], ends["passed"] + ends["failed"])


def figures(cases: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return counts of cases, and the figures that have goals.

    GPU cases are those that Chainer marks as such and whose parameters name no 64-bit float.
    ``gpu_passed`` is the share of them that passed, and ``gpu_forward_on_device`` the share that
    needed no ``cpu_ops`` in the forward. ``cpu_passed`` is the share of the cases without the mark
    that passed.
    """
    narrow = [c for c in cases.values() if c.get("gpu") and not c.get("wide")]
    ran = [c for c in narrow if c["end"] != "skipped"]
    made: dict[str, float] = {"cases": len(cases), "gpu_cases": len(ran)}
    if ran:
        made["gpu_passed"] = passed_share(narrow)
        made["gpu_forward_on_device"] = share(sum(not c.get("cpu_ops") for c in ran), len(ran))
    on_cpu = [c for c in cases.values() if not c.get("gpu")]
    if any(c["end"] != "skipped" for c in on_cpu):
        made["cpu_passed"] = passed_share(on_cpu)
    for group, folder in GROUPS.items():
        of_group = [c for name, c in cases.items() if name.startswith(folder) and not c.get("wide")]
        if any(c["end"] != "skipped" for c in of_group):
            made[f"{group}_passed"] = passed_share(of_group)
    return made


def listed(cases: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the content of the committed list."""
    files: dict[str, Counter[str]] = {}
    failed: dict[str, dict[str, list[str]]] = {}
    on_cpu: dict[str, int] = {}
    skipped: Counter[str] = Counter()
    for name, case in sorted(cases.items()):
        file, _, rest = name.partition("::")
        short = file.removeprefix("chainer_tests/")
        kind = "gpu" if case.get("gpu") else "cpu"
        files.setdefault(short, Counter())[f"{kind}_{case['end']}"] += 1
        if case["end"] == "failed":
            failed.setdefault(short, {}).setdefault(case.get("why", ""), []).append(rest)
        elif case["end"] == "skipped":
            skipped[f"{kind}: {case.get('why', '')}"] += 1
        if case.get("cpu_ops") and not case.get("wide"):
            on_cpu[short] = on_cpu.get(short, 0) + 1
    return {
        "figures": figures(cases),
        "files": {name: dict(sorted(count.items())) for name, count in files.items()},
        "failed": failed,
        "forward_needs_cpu": on_cpu,
        "skipped": dict(skipped.most_common()),
    }


def known_failures(made: Mapping[str, Any]) -> set[str]:
    """Return the names of the cases that a list says have failed."""
    return {
        f"chainer_tests/{file}::{name}"
        for file, reasons in made["failed"].items()
        for names in reasons.values()
        for name in names
    }
