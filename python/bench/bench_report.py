"""Writes the report of a benchmark.

load = os.getloadavg()[0]             # before anything is measured
return write(given.out, NAME, load, rows, trials=3000)
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def write(
    out: Path,
    name: str,
    load: float,
    rows: Sequence[dict[str, Any]],
    *,
    digits: int = 4,
    **more: object,
) -> int:
    """Write and print figures. Return the exit status: 1 if a value is above its goal, else 0.

    Parameters
    ----------
    out
        The report's file.
    name
        The benchmark's name.
    load
        The load of the machine before the measurement.
    rows
        The figures. The goal of one is the most that its value may be.
    digits
        The decimals of a printed figure.
    more
        What else the report says about the machine.
    """
    machine = {"python": platform.python_version(), "cores": os.cpu_count(), "load": round(load, 1)}
    report = {"name": name, "machine": {**machine, **more}, "figures": list(rows)}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(report, indent=2) + "\n")
    for row in rows:
        print(f"{row['name']} {row['value']:.{digits}f} {row['unit']}")
    return 0 if all(row["value"] <= row.get("goal", row["value"]) for row in rows) else 1
