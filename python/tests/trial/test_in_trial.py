"""Tests that the same calls have the same effect wherever a trial runs.

The cases run in three places: `run_local` (those that apply to it), the process of a dry run, and
the built runtime under Pyodide in Node, where the worker's bridge answers.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import hyperflock
import pytest
from hyperflock._bundle.archive import lock_text, pack
from hyperflock._execution.dry_run import run_job
from hyperflock._execution.job import Job
from in_trial.player import CASES, Place, cases_of

ROOT = Path(__file__).resolve().parents[3]
SUPPORT = ROOT / "python" / "tests" / "support"
SOURCES = ROOT / "python" / "src"
RUNTIME = ROOT / "build" / "runtime"
LIMIT_S = 600
LOCK = lock_text((), ())
PLACES: tuple[Place, ...] = ("local", "dry_run", "worker")
NAMES = {"names": sorted(hyperflock.__all__), "version": hyperflock.__version__}
# The script of a dry run that runs each case as an attempt, and lists the modules that it finds.
ALL = """
import importlib.util
import json

from in_trial import player


def is_found(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def objective(trial):
    print(json.dumps(player.play("dry_run", {names!r})))
    print(json.dumps([name for name in {modules!r} if is_found(name)]))
    return 1.0
"""


def modules_of(path: Path) -> list[str]:
    """Return the names of the package's modules in a file or a folder."""
    files = [path] if path.is_file() else path.rglob("*.py")
    names = (file.relative_to(SOURCES).with_suffix("").as_posix() for file in files)
    return sorted(name.removesuffix("/__init__").replace("/", ".") for name in names)


@pytest.fixture(scope="module")
def dry_run() -> list[str]:
    """Return what a dry run of all cases prints."""
    text = ALL.format(names=NAMES, modules=modules_of(SOURCES / "hyperflock"))
    files = {f"in_trial/{path.name}": path.read_bytes() for path in SUPPORT.glob("in_trial/*.py")}
    content, _ = pack({**files, "all_cases.py": text.encode()}, LOCK, needs=["optuna"])
    job = Job("all_cases:objective", content, (), "{}", 7, "chainer-7.8.1")
    ran = asyncio.run(run_job(job, "cpython", LIMIT_S))
    assert ran.outcome["outcome"] == "complete", ran.outcome
    return ran.output.splitlines()


@pytest.fixture(scope="module")
def seen(dry_run: list[str]) -> dict[Place, dict[str, Any]]:
    """Return the observations of each case in each place."""
    here = [sys.executable, "-m", "in_trial", "local"]
    pieces = ("optuna", "packaging", "colorlog", "tqdm")
    wheels = [next(RUNTIME.glob(f"{piece}-*/{piece}.zip")) for piece in pieces]
    there = [
        *("node", "--disable-warning=ExperimentalWarning"),
        str(ROOT / "worker-runtime/node/python_command.ts"),
        *(option for wheel in wheels for option in ("--wheel", str(wheel))),
        *("--mount", str(SUPPORT), "-m", "in_trial", "worker"),
    ]
    return {
        "local": played(here),
        "dry_run": json.loads(dry_run[-2]),
        "worker": played(there),
    }


def played(command: list[str]) -> dict[str, Any]:
    packages = (SOURCES, ROOT / "worker-runtime" / "python", SUPPORT)
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, packages)),
        "HYPERFLOCK_NAMES": json.dumps(NAMES),
    }
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CASES)
def test_a_call_does_what_is_expected(
    name: str, place: Place, seen: dict[Place, dict[str, Any]]
) -> None:
    if name not in cases_of(place):
        assert name not in seen[place]
        return
    case, found = CASES[name], seen[place][name]
    raised = found.get("raised", {})
    assert raised.get("kind", "") == case.raises or case.is_value, raised
    assert case.message in raised.get("message", "")
    if case.gives:
        assert found["gave"] == case.gives
    assert (found["state"], found["code"]) == (case.state, case.code), raised
    assert found["values"] == list(case.values)
    assert [case.warns in text for _, text in found["warned"]] == [True] * bool(case.warns)
    assert case.prints in found["printed"]
    assert bool(found["printed"]) == bool(case.prints)
    assert found.get("reports", []) == [list(point) for point in case.reports]
    logged = {name: [list(pair) for pair in pairs] for name, pairs in case.series.items()}
    if place != "local" or case.state != "failed":  # then there is no result to hold them
        assert found.get("series", {}) == logged
    if place != "local":  # the local host keeps only curve and series
        assert found["uploads"] == list(case.uploads)
        assert found["attributes"] == dict(case.attributes)


@pytest.mark.parametrize("name", CASES)
def test_a_call_does_the_same_in_every_place(name: str, seen: dict[Place, dict[str, Any]]) -> None:
    """The test compares values, warnings, and errors by their classes, bases, codes and
    messages.
    """
    there = comparable(name, seen["worker"][name])
    assert comparable(name, seen["dry_run"][name]) == there
    if name in seen["local"]:
        here = comparable(name, seen["local"][name])
        assert here == {key: there[key] for key in here}


def comparable(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """Remove the messages of built-in errors, which differ between versions of Python."""
    raised = found.get("raised", {})
    if raised.get("kind", "").startswith("builtins.") and not CASES[name].message:
        return {**found, "raised": {**raised, "message": ""}}
    return found


def test_a_dry_run_has_the_part_of_the_package_that_browsers_have(dry_run: list[str]) -> None:
    manifest = json.loads((ROOT / "worker-runtime/runtime/manifest.json").read_text())
    worker = next(piece for piece in manifest["pieces"] if piece["name"] == "worker")
    source = worker["sources"][-1]
    served = [modules_of(SOURCES / package) for package in source["packages"]]
    assert json.loads(dry_run[-1]) == sorted(name for names in served for name in names)
