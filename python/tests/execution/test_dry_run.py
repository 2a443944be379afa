"""Tests that dry runs find the errors that a volunteer's browser would report, before any request
is made.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_console import FakeConsole
from hyperflock import Client, DryRun, DryRunError, HyperflockError, trial_seed
from hyperflock._bundle.source.runtime import RUNTIME_PACKAGES, RUNTIME_VERSIONS, STANDARD_LIBRARY
from hyperflock._execution import dry_run as module
from hyperflock._execution import worker
from patience import LIMIT_S, is_once_below
from travelling_helper import holding

SPACE = {"x": [0.5, 1]}


@pytest.fixture
def offline(client: Client, server: FakeConsole) -> Iterator[Client]:
    yield client
    assert server.requests == []


def _script(folder: Path, text: str) -> Any:
    """Import a researcher's file in place of an earlier one of the same name."""
    (folder / "dry.py").write_text(text)
    sys.modules.pop("dry", None)
    sys.path.insert(0, str(folder))
    try:
        import dry  # type: ignore[import-not-found]

        return dry.objective
    finally:
        sys.path.remove(str(folder))


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    sys.modules.pop("dry", None)


def test_package_that_chainer_brings_along(
    offline: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "chainer.py").write_text("import chainerx\n")
    (site / "chainerx.py").write_text("ONE = 1\n")
    text = "def objective(trial):\n    import chainer\n    return chainer.chainerx.ONE\n"
    objective = _script(tmp_path, text)
    monkeypatch.syspath_prepend(str(site))
    run = offline.grid(objective, SPACE, dry_run=True)
    assert (run.value, run.error) == (1.0, None)


def test_result_time_output_and_curve(offline: Client, tmp_path: Path) -> None:
    objective = _script(
        tmp_path,
        "import random\nimport sys\n"
        "def objective(trial):\n"
        "    print('to stdout', trial.params['x'])\n"
        "    print('to stderr', file=sys.stderr)\n"
        "    trial.report(2.5, 3)\n"
        "    return trial.data['ones'].sum() + random.random()\n",
    )
    run = offline.grid(objective, SPACE, {"ones": np.ones(4)}, seed=9, dry_run=True)
    assert (run.where, run.state, run.error) == ("cpython", "complete", None)
    import random

    assert run.value == 4 + random.Random(trial_seed(9, 0)).random()
    assert (run.params, run.points, run.files) == ({"x": 0.5}, ((3, 2.5),), ("dry.py",))
    assert sorted(run.output.splitlines()) == ["to stderr", "to stdout 0.5"]
    assert run.seconds > 0
    assert str(run).startswith("dry run in cpython: complete after ")


def test_traceback_names_the_researcher_s_lines(offline: Client, tmp_path: Path) -> None:
    objective = _script(tmp_path, "def objective(trial):\n    print('so far')\n    return 1 / 0\n")
    run = offline.grid(objective, SPACE, dry_run=True)
    assert run.state == "failed"
    assert run.error is not None
    assert (run.error.cause, run.error.code) == ("user_error", "objective_raised")
    assert run.error.traceback.splitlines()[1] == '  File "dry.py", line 3, in objective'
    assert run.output == "so far\n"
    assert "ZeroDivisionError" in str(run)


def test_pruned_trial(offline: Client, tmp_path: Path) -> None:
    text = "import hyperflock\ndef objective(trial):\n    raise hyperflock.TrialPruned\n"
    assert offline.grid(_script(tmp_path, text), SPACE, dry_run="cpython").state == "pruned"


def test_grid_s_objective_may_use_optuna(offline: Client, tmp_path: Path) -> None:
    text = "import optuna\ndef objective(trial):\n    raise optuna.TrialPruned\n"
    run = offline.grid(_script(tmp_path, text), SPACE, dry_run=True)
    assert (run.state, run.error) == ("pruned", None)


def test_only_what_the_browsers_have_can_be_imported(offline: Client, tmp_path: Path) -> None:
    # The import's name is computed, so that only a run can find it.
    objective = _script(
        tmp_path,
        "import importlib\ndef objective(trial):\n    importlib.import_module('sk' + 'learn')\n",
    )
    assert importlib_finds("sklearn")
    run = offline.grid(objective, SPACE, dry_run=True)
    assert run.error is not None
    assert run.error.message == "ModuleNotFoundError: No module named 'sklearn'"


def importlib_finds(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None


def test_chainer_that_is_not_here_is_said(offline: Client, tmp_path: Path) -> None:
    assert not importlib_finds("chainer")
    objective = _script(tmp_path, "def objective(trial):\n    import chainer\n    return 1\n")
    run = offline.grid(objective, SPACE, dry_run=True)
    assert run.error is not None
    assert run.error.message == (
        "ModuleNotFoundError: chainer is not installed here, though the browsers have it; "
        "install it, or use dry_run='browser'"
    )


def test_wheel_is_there(offline: Client, tmp_path: Path) -> None:
    wheel = tmp_path / "tool-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tool/__init__.py", "from tool.inner import VALUE\n")
        archive.writestr("tool/inner.py", "VALUE = 7\n")
    objective = _script(
        tmp_path,
        "def objective(trial):\n    import tool\n    return tool.VALUE + len(trial.data)\n",
    )
    assert offline.grid(objective, SPACE, wheels=[wheel], dry_run=True).value == 7.0


def test_endless_trial_is_ended_at_its_limit(offline: Client, tmp_path: Path) -> None:
    text = "def objective(trial):\n    trial.report(1.0, 1)\n    while True:\n        pass\n"
    objective = _script(tmp_path, text)

    def seconds() -> float:
        run = offline.grid(objective, SPACE, time_limit_s=0.5, dry_run=True)
        assert run.error is not None
        assert (run.error.cause, run.error.code, run.error.message) == (
            "timeout",
            "time_limit",
            "the trial took longer than its 0.5 s",
        )
        assert run.seconds > 0.5
        assert run.points == ()
        return run.seconds

    assert is_once_below(10.0, seconds)


def test_outcome_that_comes_after_the_limit_is_none(
    offline: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WRITE_S", 60.0)
    text = "import time\ndef objective(trial):\n    trial.report(1.0, 1)\n    time.sleep(0.6)\n"
    objective = _script(tmp_path, text + "    return 1\n")
    run = offline.grid(objective, SPACE, time_limit_s=0.5, dry_run=True)
    assert run.error is not None
    assert (run.state, run.error.code, run.points) == ("failed", "time_limit", ())
    assert run.seconds >= 0.6
    assert offline.grid(objective, SPACE, time_limit_s=LIMIT_S, dry_run=True).state == "complete"


def test_process_that_does_not_begin_is_not_the_trial_s_time(
    offline: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = tmp_path / "child.py"
    child.write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setattr(module, "_CHILD", child)
    monkeypatch.setattr(module, "_START_S", 0.0)
    objective = _script(tmp_path, "def objective(trial):\n    return 1\n")
    with pytest.raises(DryRunError, match="did not begin within 0 s") as caught:
        offline.grid(objective, SPACE, time_limit_s=LIMIT_S, dry_run=True)
    assert caught.value.code == "dry_run_broken"


def test_process_that_ends_without_an_outcome(offline: Client, tmp_path: Path) -> None:
    objective = _script(tmp_path, "import os\ndef objective(trial):\n    os._exit(3)\n")
    with pytest.raises(DryRunError) as caught:
        offline.grid(objective, SPACE, dry_run=True)
    assert caught.value.code == "dry_run_broken"


def test_worker_that_is_not_here_is_said(
    offline: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(worker, "_PACKAGE", tmp_path)
    objective = _script(tmp_path, "def objective(trial):\n    return 1\n")
    with pytest.raises(DryRunError) as caught:
        offline.grid(objective, SPACE, dry_run=True)
    assert caught.value.code == "dry_run_unavailable"


@pytest.mark.browser
@pytest.mark.usefixtures("built_pages")
def test_browser_gives_the_value_of_cpython_and_holds_the_lock(
    client: Client, tmp_path: Path
) -> None:
    """The objective runs in headless Chromium. It is a closure over an array, sent as a file."""
    large = np.arange(100_000.0)
    here = client.grid(holding(large), SPACE, dry_run="cpython")
    there = client.grid(holding(large), SPACE, dry_run="browser")
    assert (here.value, there.value) == (large.sum(), large.sum())
    objective = _script(
        tmp_path,
        "def objective(trial):\n"
        "    import sys, chainer, json, pathlib\n"
        "    print(chainer.__version__, sys.platform)\n"
        "    lock = json.loads(pathlib.Path('code/hyperflock_lock.json').read_text())\n"
        "    from hyperflock_worker.bundles import runtime_versions\n"
        "    assert lock['versions'] == runtime_versions()\n"
        "    import importlib\n"
        f"    for name in {sorted(STANDARD_LIBRARY | RUNTIME_PACKAGES)}:\n"
        "        importlib.import_module(name)\n"
        "    raise ValueError('in the browser')\n",
    )
    run: DryRun = client.grid(
        objective, SPACE, runtime="chainer-5.4.0", backend="cpu", dry_run="browser"
    )
    assert run.output == "5.4.0 emscripten\n"
    assert run.error is not None
    assert run.error.message == "ValueError: in the browser"
    assert 'File "dry.py", line 10, in objective' in run.error.traceback


def test_versions_of_the_lock_are_the_runtime_manifest_s() -> None:
    root = Path(__file__).resolve().parents[3]
    manifest = json.loads((root / "worker-runtime" / "runtime" / "manifest.json").read_text())
    versions = {piece["name"]: piece for piece in manifest["pieces"]}
    assert versions["pyodide"]["version"] == RUNTIME_VERSIONS["pyodide"]
    assert versions["numpy"]["version"] == RUNTIME_VERSIONS["numpy"]
    tag = f"cp{RUNTIME_VERSIONS['python'].replace('.', '')}"
    assert f"-{tag}-" in versions["numpy"]["file"]


def test_once_needs_a_name_alone(offline: Client) -> None:
    for name, key in ((None, None), ("n", "k")):
        with pytest.raises(HyperflockError) as caught:
            offline.grid(holding(np.ones(1)), SPACE, name=name, submit_key=key, once=True)
        assert caught.value.code == "bad_once"
