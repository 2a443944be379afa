"""Tests that a researcher's script runs after a change of one line, or is refused with one
sentence.

Each script runs twice: unchanged on CPython alone, and with one changed line and a device. Both
runs must print the same, including the values. The trials of some scripts also run in the browsers'
runtime.
"""

from __future__ import annotations

import difflib
import functools
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from example_files import ROOT, paths
from hyperflock._bundle.source.runtime import with_needs
from patience import LIMIT_S

from .cases import CASES, SCRIPTS, Case

HERE = Path(__file__).parent
RUNTIME = ROOT / "build" / "runtime"
PACKS = ROOT / "build" / "packs"
PAGE = ROOT / "python" / "docs" / "start" / "adoption.md"
# Values may differ by this much between browsers and CPython, because their NumPy versions differ.
# Scripts print few digits.
NEAR = 1e-4


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that runs a script once with a device, and returns its folder and its
    output.
    """
    top = tmp_path_factory.mktemp("adoption")

    @functools.cache
    def play(name: str) -> tuple[Path, dict[str, Any]]:
        case = CASES[name]
        folder, kept = top / name / "scripts", top / name / "kept" / name
        kept.mkdir(parents=True)
        shutil.copytree(SCRIPTS, folder)
        script = folder / case.file
        script.write_text(case.changed_text())
        support = HERE.parent / "support"
        environment = _environment(case, top, support)
        done = subprocess.run(
            [sys.executable, HERE / "with_device.py", kept, *_command(script, case)],
            env=environment,
            cwd=script.parent,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return kept.parent, told

    return play


def _command(script: Path, case: Case) -> list[str]:
    runner = [str(HERE / "notebook_cells.py")] if script.suffix == ".ipynb" else []
    return [sys.executable, *runner, str(script), *case.arguments]


def _environment(case: Case, top: Path, *more: Path) -> dict[str, str]:
    # Packages in a folder named site-packages count as installed, so the bundle does not copy them.
    installed = top / "site-packages"
    if not installed.exists():
        shutil.copytree(HERE / "site-packages", installed)
        for path in paths("7.8.1").split(os.pathsep):
            if path.endswith(".whl"):
                zipfile.ZipFile(path).extractall(installed)
    return {
        **os.environ,
        **case.environment,
        "MPLBACKEND": "Agg",
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "python" / "src", *more, installed))),
    }


def _plainly(case: Case, folder: Path, top: Path) -> str:
    """Run a script unchanged, without Hyperflock, and return its output."""
    shutil.copytree(SCRIPTS, folder)
    command = _command(folder / case.file, case)
    if case.needs_chainer:  # which this machine's NumPy lets nobody import as it is
        start = "import hyperflock.chainer, runpy, sys; sys.argv = sys.argv[1:]; "
        start += "sys.path.insert(0, ''); runpy.run_path(sys.argv[0], run_name='__main__')"
        command = [sys.executable, "-c", start, *command[1:]]
    done = subprocess.run(
        command,
        env=_environment(case, top),
        cwd=(folder / case.file).parent,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("name", CASES)
def test_one_line_changes(name: str) -> None:
    case = CASES[name]
    before = case.path.read_text().splitlines()
    after = case.changed_text().splitlines()
    changed = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
    assert [line[0] for line in changed].count("-") == 1
    assert [line[0] for line in changed].count("+") == 2
    assert case.imports in "".join(line for line in changed if line[0] == "+")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.refused])
def test_script_prints_what_it_printed_before(name: str, played: Any, tmp_path: Path) -> None:
    case = CASES[name]
    _, told = played(name)
    assert told["code"] == 0, told["stderr"][-3000:]
    plain = _plainly(case, tmp_path / "scripts", tmp_path)
    assert plain
    assert told["stdout"] == plain
    warnings = [line for line in told["stderr"].splitlines() if "UserWarning" in line]
    assert [case.warns in line for line in warnings] == [True] * bool(case.warns), warnings


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.refused])
def test_script_is_refused_before_anything_is_sent(name: str, played: Any) -> None:
    case = CASES[name]
    assert case.refused is not None
    kept, told = played(name)
    folder = str((kept.parent / "scripts" / case.file).parent)
    assert told["code"] == 1
    assert told["asked_nothing"]
    last = told["stderr"].splitlines()[-1]
    assert last.startswith(f"hyperflock.BundleError: {case.refused.place}: "), last
    assert last.endswith(f"[{case.refused.code}]")
    assert case.refused.says.replace("{folder}", folder) in last


def test_trials_give_the_same_values_in_the_browsers_runtime(played: Any, tmp_path: Path) -> None:
    names = [name for name, case in CASES.items() if case.in_node]
    assert len(names) >= 12
    for name in names:
        kept, _ = played(name)
        shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    pieces = ("optuna", "packaging", "colorlog", "tqdm", "chainer-7.8.1", "six")
    zips = [next(RUNTIME.glob(f"{piece}-*/*.zip")) for piece in pieces]
    zips += [next(PACKS.glob(f"{pack}-*/*.zip")) for pack in with_needs(["scikit-learn", "pandas"])]
    done = subprocess.run(
        [
            *("node", "--disable-warning=ExperimentalWarning"),
            str(ROOT / "worker-runtime/node/python_command.ts"),
            *(option for file in zips for option in ("--wheel", str(file))),
            *("--mount", str(tmp_path), str(HERE / "in_node.py"), str(tmp_path)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    outcomes = json.loads(done.stdout.splitlines()[-1])
    for name in names:
        found = sorted((tmp_path / name).glob("trial-*.json"))
        assert found, name
        for path in found:
            outcome = outcomes[f"{name}/{path.stem}"]
            assert outcome["outcome"] == "complete", outcome.get("error")
            row = json.loads(path.read_text())["row"]
            assert outcome["values"] == pytest.approx(row["values"], rel=NEAR, abs=NEAR), name


def test_table_in_the_documentation() -> None:
    rows = [
        f"| {case.shows} | {'refused: `' + case.refused.code + '`' if case.refused else 'runs'} |"
        for case in CASES.values()
    ]
    runs = sum(case.refused is None for case in CASES.values())
    text = PAGE.read_text("utf-8")
    assert "\n".join(rows) in text, "\n".join(rows)
    assert f"Of {len(CASES)} scripts, {runs} run and {len(CASES) - runs} are refused" in " ".join(
        text.split()
    )
