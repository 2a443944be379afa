"""Tests that the scripts of examples/optuna give the same on a device as in plain Optuna."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import optuna
import pytest
from example_files import EXAMPLES, ROOT, paths
from patience import LIMIT_S

FOLDER = EXAMPLES / "optuna"
ALL = sorted(path.name for path in FOLDER.glob("*.py"))
# One script is left out, because each version of Optuna has another interface for constraints.
OTHERS = "constrained.py" if optuna.__version__.startswith("4.") else "constrained_optuna4.py"
SCRIPTS = [name for name in ALL if name != OTHERS]
STATES = dict.fromkeys(("architecture.py", "chainer_pruning.py"), "COMPLETE PRUNED")
# The worker's folder is last on the path, because it also has a module `hyperflock`.
RUN = """
from patience import LIMIT_S
import runpy, sys
sys.path.append(sys.argv[1])
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_scripts_give_with_one_device_the_parameters_of_plain_optuna(tmp_path: Path) -> None:
    tests = Path(__file__).parents[1] / "support"
    worker = ROOT / "worker-runtime" / "python"
    # Packages in a folder named site-packages count as installed, and are not bundled.
    installed = tmp_path / "site-packages"
    for path in paths("7.8.1").split(os.pathsep):
        if path.endswith(".whl"):  # each attempt makes Python search again, which is slow in a zip
            zipfile.ZipFile(path).extractall(installed)
    done = subprocess.run(
        [sys.executable, "-c", RUN, worker, tests / "optuna_scripts.py", FOLDER, *SCRIPTS],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(tests), str(installed)])},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    version, *lines = done.stdout.splitlines()
    assert version == f"optuna {optuna.__version__}"
    told = dict(line.split(" ", 1) for line in lines)
    assert len(SCRIPTS) >= 6
    assert {name: told[name].split(" ", 1)[1] for name in SCRIPTS} == {
        name: STATES.get(name, "COMPLETE") for name in SCRIPTS
    }


@pytest.mark.parametrize("name", ALL)
def test_one_line_makes_a_script_plain_optuna(name: str) -> None:
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    ours = [line for line in lines if "hyperflock" in line]
    assert len(lines) > 15
    assert ours[0] == "import hyperflock"
    assert [line.strip().partition("(")[0] for line in ours[1:]] == ["hyperflock.optuna.optimize"]
