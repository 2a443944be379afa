"""Compares Chainer's functions, links and optimizers on arraycore (as ``cupy``) with NumPy.

    ./run python --backend webgpu --mount array-core/tests --wheel CHAINER_WHEEL functions.py
    PYTHONPATH=... python3 functions.py

The scenarios are those of ``tests/dialect``. There only the kernels run on arraycore; here all of
``cupy`` is arraycore. The last line is one JSON object: the number of scenarios, the errors by
name, and the scenarios in which the CPU computed for the device.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import arraycore
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dialect"))


def stand_in() -> ModuleType:
    """Return a module that replaces ``stand_in.py`` for ``judge.py``: arraycore is ``cupy``."""
    module: Any = ModuleType("stand_in")
    module.install = arraycore.install_cupy
    module.ndarray = arraycore.ndarray
    module.CpuArray = np.ndarray
    module.is_instance = isinstance
    module.STATE = SimpleNamespace(scenario="", engine=None)
    module.RECORDS = []
    return module  # type: ignore[no-any-return]


def main() -> None:
    sys.modules["stand_in"] = stand_in()
    import judge

    plain, on_cpu = judge.compare, dict[str, int]()

    def compare(name: str, run: Any, dtype: str) -> None:
        before = arraycore.counters()["cpu_ops"]
        plain(name, run, dtype)
        spent = arraycore.counters()["cpu_ops"] - before
        if spent and dtype != "float64":
            on_cpu[f"{name} {dtype}"] = spent

    judge.compare = compare
    import hooked

    with np.errstate(all="ignore"):
        hooked.scenarios()
    wrong = {name: end for name, end in judge.RESULTS.items() if end != "ok"}
    print(json.dumps({"scenarios": len(judge.RESULTS), "wrong": wrong, "cpu_ops": on_cpu}))


main()
