"""Tests the device on which an attempt computes, and that the attempt leaves nothing behind on
it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from fresh_python import PACKAGES, ROOT, chainer_paths, run_python

ATTEMPTS = """
import io, json, zipfile
from hyperflock._trial.host import LocalHost
from hyperflock_worker.runner import run_attempt

def attempt(source, device=None, seed=5):
    packed = io.BytesIO()
    lock = {"schema": 1, "versions": {}, "wheels": [], "arrays": []}
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("m.py", source)
        archive.writestr("hyperflock_lock.json", json.dumps(lock))
    spec = {"attempt": 1, "study": 1, "trial": 0, "entry": "m:objective", "params": "{}",
            "seed": seed, "chainer": "x", "device": device}
    return json.loads(run_attempt(json.dumps(spec), packed.getvalue(), {}, (), LocalHost()))
"""
STEPS = """
import chainer, hyperflock, numpy as np
import chainer.functions as F, chainer.links as L

def objective(trial):
    device = hyperflock.device().use()
    model = device.send(L.Linear(4, 3))
    x = device.send(np.random.rand(5, 4).astype("f"))
    t = device.send(np.array([0, 1, 2, 0, 1], "i"))
    optimizer = chainer.optimizers.Adam().setup(model)
    for _ in range(3):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
    return float(loss.array)
"""


def beside_chainer(version: str, code: str) -> Any:
    """Run code with a version of Chainer and the native library. Fail if the library is missing."""
    library = os.environ.get("ARRAYCORE_LIBRARY", ROOT / "build/release/lib/libarraycore.so")
    if not Path(library).is_file():
        pytest.fail(f"{library} is missing: ./run build")
    os.environ["ARRAYCORE_LIBRARY"] = str(library)
    paths = [str(ROOT / "array-core" / "python"), str(PACKAGES), *chainer_paths(version)]
    return run_python(ATTEMPTS + f"STEPS = {STEPS!r}\n" + code, paths)


def test_chainer_that_was_there_before_finds_the_device(version: str) -> None:
    code = """
import hyperflock_worker.compat as compat
compat.install()
import chainer
result = [attempt(STEPS), attempt(STEPS, {"wanted": "auto"}), attempt(STEPS, {"wanted": "auto"})]
"""
    plain, first, second = beside_chainer(version, code)
    assert plain["backend"] == "numpy"
    assert first["backend"] == "cpu"
    assert first["outcome"] == "complete", first
    assert first == second, "the device is fresh"
    assert first["values"] == pytest.approx(plain["values"], rel=1e-5)


def test_attempt_that_ignores_its_device_runs() -> None:
    code = """
source = "def objective(trial): return 1.0"
result = attempt(source, {"wanted": "webgpu"})
"""
    told = beside_chainer("7.8.1", code)
    assert told == {"outcome": "complete", "values": [1.0], "backend": "numpy"}


def test_arrays_of_an_attempt_are_gone_after_it() -> None:
    code = """
import arraycore
keeper = '''
import builtins, hyperflock
def objective(trial):
    builtins.kept = hyperflock.device().use().xp.ones(1000)
    return 1.0
'''
result = [attempt(keeper, {"wanted": "cpu"}), arraycore.counters()["live_arrays"]]
try:
    import builtins
    builtins.kept.get()
except ValueError as error:
    result.append(error.code)
"""
    told, live, code_of_kept = beside_chainer("7.8.1", code)
    assert told["backend"] == "cpu"
    assert (live, code_of_kept) == (0, "array_freed")


def test_lost_device_is_the_cause() -> None:
    code = """
lost = '''
import arraycore
def objective(trial):
    raise arraycore.DeviceLostError("gone")
'''
failed = lost.replace("DeviceLostError", "DeviceError")
result = [attempt(text, {"wanted": "cpu"})["error"] for text in (lost, failed)]
"""
    lost, failed = beside_chainer("7.8.1", code)
    assert (lost["cause"], lost["code"]) == ("device_lost", "device_lost")
    assert (failed["cause"], failed["code"]) == ("device_lost", "device_failed")


def test_cupy_without_a_device_is_seeded_told_of_and_ended() -> None:
    code = '''
source = """
import builtins, cupy
def objective(trial):
    builtins.kept = cupy.random.rand(3)
    return float(builtins.kept.sum())
"""
result = [attempt(source, {"wanted": "auto"}, seed) for seed in (5, 5, 6)]
import arraycore, builtins
result.append(arraycore.counters()["live_arrays"])
'''
    first, again, other, live = beside_chainer("7.8.1", code)
    assert first["backend"] == "cpu", first
    assert first == again
    assert first["values"] != other["values"]
    assert live == 0


def test_trap_in_array_core_is_the_devices_failure() -> None:
    code = '''
text = """
class JsException(Exception):  # Pyodide's, whose attributes are the error's
    pass
def objective(trial):
    error = JsException("array-core has ended: RuntimeError: unreachable")
    error.name = NAME
    raise error
"""
names = ("ArraycoreError", "TypeError")
result = [attempt(text.replace("NAME", repr(name)), {"wanted": "cpu"})["error"] for name in names]
'''
    ended, other = beside_chainer("7.8.1", code)
    assert (ended["cause"], ended["code"]) == ("device_lost", "device_failed")
    assert (other["cause"], other["code"]) == ("user_error", "objective_raised")
