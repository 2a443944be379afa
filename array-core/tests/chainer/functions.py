"""Chainer's functions, links and optimizers on arraycore through ``cupy``, beside NumPy.

    ./run python --backend webgpu --mount array-core/tests --wheel CHAINER_WHEEL functions.py
    PYTHONPATH=... python3 functions.py

The scenarios are those of ``tests/dialect``, where kernels alone ran on arraycore; here ``cupy`` is
arraycore, and all of it. The last line is one JSON object: how many scenarios ran, what went wrong
by name, and which needed the CPU for the device.
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
    """What ``judge.py`` asks of the stand-in ``cupy``, by the real one."""
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
