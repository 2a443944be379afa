"""Defines the trial of another study that runs after an attack. Its value is right if the attack
left nothing behind.

It checks the language, NumPy and the files that it finds, leaves marks that the next attack will
look for, and returns a number that the test knows.
"""

from __future__ import annotations

from typing import Any

MARK = "-".join(["neighbour", "was", "here"])


def answer(x: int) -> float:
    """Return the value of the trial with this x."""
    import numpy as np

    matrix = np.arange(64, dtype=np.float64).reshape(8, 8) % 7 + x
    return float((matrix @ matrix.T).sum() + np.sort(matrix.ravel())[-3:].sum())


def neighbour(trial: Any) -> float:
    """Check the surroundings, leave marks and compute."""
    import builtins
    import json
    import os
    import random
    import sys
    import tempfile
    from pathlib import Path

    import js
    import numpy as np

    problems = []

    def check(what: str, is_right: bool) -> None:
        if not is_right:
            problems.append(what)

    check("builtins", len([1, 2]) == 2 and sorted([3, 1]) == [1, 3] and sum([1, 2]) == 3)
    check("names", not [name for name in dir(builtins) if "hostile" in name])
    check("modules", not [name for name in sys.modules if "hostile" in name])
    check("json", json.loads(json.dumps({"a": [1.5, None]})) == {"a": [1.5, None]})
    check("numpy", float(np.add(1, 2)) == 3.0 and np.array([1.0, 2.0]).sum() == 3.0)
    check("random", random.random() != random.random())
    check("environment", "HOSTILE" not in os.environ)
    check(
        "globals", not [n for n in js.Object.getOwnPropertyNames(js.globalThis) if "hostile" in n]
    )
    check("prototypes", not hasattr(js.Object.new(), "hostile"))
    check("javascript", js.JSON.stringify(js.Array.of(1, 2)) == "[1,2]")
    left = [
        str(path)
        for folder in (tempfile.gettempdir(), Path.home(), "/hostile")
        for path in Path(folder).rglob("*")
        if path.is_file() and "hostile" in path.name
    ]
    check(f"files {left}", not left)
    if problems:
        raise RuntimeError(f"the trial before left its traces: {', '.join(problems)}")
    Path(tempfile.gettempdir(), "neighbour.txt").write_text(MARK)
    Path(Path.home(), "neighbour.txt").write_text(MARK)
    os.environ["NEIGHBOUR"] = MARK
    builtins.neighbour = MARK  # type: ignore[attr-defined]
    js.globalThis.neighbour = MARK
    np.neighbour = np.frombuffer(MARK.encode() * 1_000, dtype=np.uint8).copy()  # type: ignore[attr-defined]
    return answer(trial.params["x"])
