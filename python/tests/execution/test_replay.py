"""Tests replays of a trial on this machine: what is equal, what differs, and the trial's
provenance.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import hyperflock
import hyperflock.optuna
import numpy as np
import optuna
import pytest
from asked_objectives import curved, sometimes_nan
from device import params
from fake_asked import Devices
from fake_console import FakeConsole
from hyperflock import Client, ReplayError, Study, trial_seed
from hyperflock._cli import command as _cli
from hyperflock._execution.comparison import compared, difference_of
from real_server import Server

SCRIPT = """
import random

import hyperflock


def objective(trial):
    shift = random.random() + trial.data["ones"].sum()
    for step in range(4):
        trial.report(trial.params["x"] / (step + 1) + shift, step)
        if trial.should_prune():
            raise hyperflock.TrialPruned
    if trial.params["x"] > 2:
        raise ValueError("too large")
    return trial.params["x"] + shift
"""


def _again(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Any:
    (folder / "again.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "again", raising=False)
    import again  # type: ignore[import-not-found]

    return again.objective


@pytest.fixture
def objective(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return an objective function that is defined in a researcher's file."""
    return _again(tmp_path, monkeypatch, SCRIPT)


def _expected(number: int, x: float) -> tuple[float, list[list[float]]]:
    """Return the value of the objective on any device, and its curve."""
    import random

    shift = random.Random(trial_seed(9, number)).random() + 2.0
    return x + shift, [[step, x / (step + 1) + shift] for step in range(4)]


def _submit(client: Client, objective: Any) -> Study:
    data = {"ones": np.ones(2)}
    return client.grid(objective, {"x": [0.5, 1.5, 2.5]}, data, seed=9, name="again")


def test_comparison_is_relative_above_one_and_absolute_below() -> None:
    assert difference_of(200.0, 100.0) == 0.5
    assert difference_of(0.25, 0.5) == 0.25
    assert difference_of(sys.float_info.max, -sys.float_info.max) == 2.0
    found = compared(
        "complete",
        (1.0, 5.0),
        [(0, 0.5), (1, 0.25), (1, 9.0)],
        None,
        state="complete",
        values=(1.001,),
        points=[(0, 0.5), (1, 0.255), (2, 0.1)],
        error=None,
        tolerance=0.01,
    )
    assert [(one.what, one.same) for one in found] == [
        ("state", True),
        ("value", True),
        ("value 1", False),
        ("step 0", True),
        ("step 1", True),
        ("step 2", False),
    ]
    assert found[5].recorded is None


def test_trials_of_every_end_run_again(
    client: Client, server: FakeConsole, objective: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    study = _submit(client, objective)
    value, points = _expected(0, 0.5)
    server.finish(study.id, 0, value=value, points=points)
    found = study.replay(0)
    assert found.same, str(found)
    assert [one.what for one in found.compared] == [
        "state",
        "value",
        *(f"step {n}" for n in range(4)),
    ]
    assert found.versions["numpy"] == np.__version__
    assert found.provenance.data.keys() == {"ones"}
    # The trial was pruned after its second step. The replay stops there too, because a returned
    # value would be a different outcome.
    _, points = _expected(1, 1.5)
    server.finish(study.id, 1, "pruned", points=points[:2])
    assert study.replay(study.trials[1]).same
    error = {"cause": "user_error", "code": "objective_raised", "message": "ValueError: too large"}
    _, points = _expected(2, 2.5)
    server.finish(study.id, 2, "failed", points=points, error={**error, "traceback": "T"})
    failed = study.replay(2)
    assert failed.same
    assert failed.error is not None
    assert failed.error.traceback.splitlines()[-1] == "ValueError: too large"


def test_command_tells_what_differs_and_ends_with_its_code(
    client: Client,
    server: FakeConsole,
    objective: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", server.url)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", server.token)
    study = str(_submit(client, objective).id)
    value, points = _expected(0, 0.5)
    points[2][1] += 0.5
    server.finish(int(study), 0, value=value, points=points)
    assert _cli.run(["replay", study, "0"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == f"trial 0 of study {study}: different within 0.01"
    (row,) = (line.split() for line in out if line.endswith("differs"))
    assert row[:2] == ["step", "2"]
    version = ".".join(map(str, sys.version_info[:3]))
    assert ["python", version] in [line.split()[:2] for line in out]
    assert f"note Python is {version} here and 3.14 on devices" in [
        " ".join(line.split()) for line in out
    ]
    assert _cli.run(["replay", study, "0", "--tolerance", "0.5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["same"], told["compared"][1]["recorded"]) == (True, value)
    # For a trial that cannot be replayed, the command prints one line and has a separate exit code.
    assert _cli.run(["replay", study, "1"]) == 2
    assert capsys.readouterr().err.startswith("error [not_found]: ")


def test_suggested_values_are_those_of_the_log(client: Client, server: FakeConsole) -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    with Devices(server, curved):
        hyperflock.optuna.optimize(study, curved, 2, client=client)
    found = client.study(1).replay(1)
    assert found.same, str(found)
    assert found.versions["optuna"] == optuna.__version__
    recorded = found.compared[1].recorded
    assert recorded == study.trials[1].value
    # A name without a recorded value gives an error instead of a random value.
    del server.asked[1].trials[1].row["suggested"][0]
    other = client.study(1).replay(1)
    assert not other.same
    assert other.error is not None
    assert other.error.message.endswith("given no value for 'x' when it ran before")


def test_attributes_that_a_trial_was_asked_with_are_there_again(
    client: Client, server: FakeConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "enqueued.py").write_text(
        "def objective(trial):\n"
        "    return trial.suggest_float('x', 0, 1) + trial.user_attrs.get('more', 0)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "enqueued", raising=False)
    import enqueued  # type: ignore[import-not-found]

    study = optuna.create_study()
    with Devices(server, enqueued.objective):
        hyperflock.optuna.optimize(study, enqueued.objective, 1, client=client)
    row = server.asked[1].trials[0].row
    row["values"] = [row["values"][0] + 5.0]
    row["asked_attrs"] = json.dumps({"user": {"more": 5.0}, "system": {}})
    found = client.study(1).replay(0)
    assert found.same, str(found)


def test_provenance_follows_the_checkpoints_of_a_result(
    client: Client, server: FakeConsole, objective: Any
) -> None:
    study = _submit(client, objective)
    device = {"device": "d_1", "class": "phone", "engine": "e", "backend": "cpu"}
    run: dict[str, Any] = {"kind": "primary", "state": "released", "device": device, "values": []}
    times = {"started_at": 1, "finished_at": 2, "run_ms": 3, "load_ms": 4}
    software = f"hyperflock-server/0.1.0 hyperflock-worker/0.1.0 runtime/{'a' * 64} numpy/2.4.3"
    software += " hyperflock-server/9.9.9"  # from a device that lies
    runs = [
        {**run, **times, "attempt": 4},
        {**run, **times, "attempt": 6, "resumed_from": 4},
        {**run, **times, "attempt": 9, "resumed_from": 6, "resumed_step": 11},
    ]
    runs[2] |= {"state": "accepted", "software": software}
    server.finish(study.id, 0, value=0.5, accepted_attempt=9, attempts_list=runs)
    told = study.trial(0).provenance
    assert told is not None
    assert [(saved.attempt, saved.step) for saved in told.checkpoints] == [(6, 11), (4, None)]
    assert told.software == {
        "hyperflock-server": "0.1.0",
        "hyperflock-worker": "0.1.0",
        "runtime": "a" * 64,
        "numpy": "2.4.3",
    }
    assert (told.study_seed, told.seed) == (9, trial_seed(9, 0))
    assert told.submitted_with["package"] == f"hyperflock-python/{hyperflock.__version__}"
    assert told.code_sha256 in server.blobs
    attempts = study.trial(0).attempt_list or ()
    assert (attempts[2].resumed_from, attempts[2].resumed_step) == (6, 11)
    json.dumps(study.trial(0).as_dict())


def test_what_cannot_be_asked_is_refused(client: Client, objective: Any) -> None:
    study = _submit(client, objective)
    for options, code in (({"on": "gpu"}, "bad_field"), ({"tolerance": -1.0}, "bad_number")):
        with pytest.raises(hyperflock.HyperflockError) as caught:
            study.replay(0, **options)
        assert caught.value.code == code


def test_what_is_missing_here_is_said(
    client: Client, server: FakeConsole, objective: Any, tmp_path: Path
) -> None:
    study = _submit(client, objective)
    server.finish(study.id, 0, value=1.0)
    with pytest.raises(hyperflock.DryRunError) as caught:
        study.replay(0, on="chromium", browser=str(tmp_path / "none"))
    assert caught.value.code == "dry_run_unavailable"


def test_a_trial_that_was_pruned_without_a_point_is_pruned_again(
    client: Client, server: FakeConsole
) -> None:
    class EndsNan(optuna.pruners.BasePruner):
        def prune(self, study: optuna.Study, trial: optuna.trial.FrozenTrial) -> bool:
            return any(map(math.isnan, trial.intermediate_values.values()))

    study = optuna.create_study(pruner=EndsNan())
    with Devices(server, sometimes_nan):
        hyperflock.optuna.optimize(study, sometimes_nan, 3, client=client)
    # The trial reported NaN, which the curve does not contain.
    assert study.trials[2].state is optuna.trial.TrialState.PRUNED
    assert server.asked[1].trials[2].points == []
    found = client.study(1).replay(2)
    assert found.same, str(found)


def test_only_a_failure_for_want_of_a_package_is_one(
    client: Client, server: FakeConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
def objective(trial):
    try:
        import chainer
    except ImportError:
        chainer = None
    if trial.params["x"] == 2:
        raise ValueError("too large")
    import chainer as needed
    return 1.0
"""
    study = client.grid(_again(tmp_path, monkeypatch, text), {"x": [1, 2]})
    server.finish(study.id, 0, value=1.0, points=[])
    error = {"cause": "user_error", "code": "objective_raised", "message": "ValueError: too large"}
    server.finish(study.id, 1, "failed", points=[], error={**error, "traceback": "T"})
    with pytest.raises(hyperflock.DryRunError, match="chainer is not installed here") as caught:
        study.replay(0)
    assert caught.value.code == "dry_run_unavailable"
    # Trial 1 needs no Chainer, and fails as before.
    found = study.replay(1)
    assert found.same, str(found)


def test_a_machine_that_is_slower_than_the_device_may_take_longer(
    client: Client, server: FakeConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import time\ndef objective(trial):\n    time.sleep(0.6)\n    return 1.0\n"
    objective = _again(tmp_path, monkeypatch, text)
    study = client.grid(objective, {"x": [1, 2]}, time_limit_s=0.5)
    server.finish(study.id, 0, value=1.0, points=[])
    error = {"cause": "timeout", "code": "time_limit", "message": "late", "traceback": ""}
    server.finish(study.id, 1, "failed", points=[], error=error)
    assert study.replay(0).same
    # A trial that ended at its time limit does so again.
    assert study.replay(1).same


@pytest.mark.server
def test_replay_of_what_a_device_computed(
    real: Server,
    objective: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", real.console)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", real.credentials["researcher_token"])
    with real.client() as client, real.device() as device:
        study = _submit(client, objective)
        lease = device.ready()
        with pytest.raises(ReplayError) as caught:
            study.replay(lease.trial)
        assert caught.value.code == "trial_unfinished"
        software = "test-worker/1 numpy/2.4.3"
        for wrong in (0.0, 0.5):
            value, points = _expected(lease.trial, params(lease)["x"])
            told = device.result(
                lease,
                outcome="complete",
                values=[value + wrong],
                points=[(int(step), y) for step, y in points],
                software=software,
            )
            lease = told.lease or device.next_lease()
        assert _cli.run(["replay", str(study.id), "0"]) == 0
        assert _cli.run(["replay", str(study.id), "1"]) == 1
        out = capsys.readouterr().out
        assert f"hyperflock-server {hyperflock.__version__} test-worker 1 numpy 2.4.3" in out
        study.cancel()
        # Only the owner of a study may read its code and data.
        stranger = Client(real.console, real.credentials["admin_token"]).study(study.id)
        with pytest.raises(ReplayError) as refused:
            stranger.replay(0)
        assert refused.value.code == "untrusted_code"
        assert stranger.replay(0, trust=True).same


@pytest.mark.browser
@pytest.mark.usefixtures("built_pages")
def test_replay_in_a_browser(client: Client, server: FakeConsole, objective: Any) -> None:
    study = _submit(client, objective)
    value, points = _expected(0, 0.5)
    device = {"device": "d_1", "class": "phone", "engine": "e", "backend": "webgpu"}
    software = f"hyperflock-worker/0.1.0 runtime/{'a' * 64} numpy/2.4.3"
    run = {"attempt": 4, "kind": "primary", "state": "accepted", "device": device, "values": []}
    times = {"started_at": 1, "finished_at": 2, "run_ms": 3, "load_ms": 4}
    attempt = {**run, **times, "software": software}
    told: dict[str, Any] = {"accepted_attempt": 4, "attempts_list": [attempt]}
    server.finish(study.id, 0, value=value, points=points, device=device, **told)
    found = study.replay(0, on="chromium")
    assert found.same, str(found)
    assert found.versions["pyodide"] == "314.0.3"
    # A row that says that the trial computed on WebGPU. A real volunteer never produces it, because
    # the study asked for no device.
    now = found.versions["runtime"][:12]
    assert found.notes == (
        f"the runtime was {'a' * 12}, and the server's is {now} now",
        "it computed on webgpu, and on numpy here",
    )
    assert "  note: it computed on" in str(found)
