"""Tests the package with the real server: submit, watch, list, cancel. The tests act as the
devices.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``, the path of a built ``hyperflock-server``. Without it these
tests are deselected (conftest.py); with a wrong path they fail.
"""

from __future__ import annotations

import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import hyperflock
import numpy as np
import pytest
from device import Device, params
from hyperflock import Client
from hyperflock._base.param_values import read_params
from hyperflock._cli import command as _cli
from hyperflock._client.async_study import AsyncStudy
from hyperflock._model.data import load_arrays
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.http import Http
from hyperflock._transport.messages import Failure
from objectives import objective
from patience import LIMIT_S
from real_server import Server

pytestmark = pytest.mark.server


@pytest.fixture
def client(real: Server) -> Iterator[Client]:
    with real.client() as made:
        yield made


def _in_background(work: Callable[[], None]) -> Callable[[], None]:
    """Start a thread. The returned function joins it, and raises the error that it raised."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def join() -> None:
        thread.join(LIMIT_S)
        assert not thread.is_alive()
        if failures:
            raise failures[0]

    return join


DRAWN: dict[str, Any] = {
    "x": hyperflock.uniform(1e-5, 0.1, log=True),
    "depth": hyperflock.integer(1, 9, step=2),
    "layers": hyperflock.choice([(32, 64), [1, {"a": (1.0,)}]]),
}
LISTED: list[dict[str, Any]] = [{"x": 2, "net": ("a", 1.0)}, {"x": 2.0, "net": None}]


@pytest.mark.parametrize("kind", ["random", "sobol", "points"])
def test_a_device_gets_the_points_that_python_computes(
    kind: str, real: Server, client: Client
) -> None:
    if kind == "points":
        study = client.grid(objective, LISTED, name=kind)
        expected = LISTED
    else:
        study = getattr(client, kind)(objective, DRAWN, trials=4, seed=2**53 - 1, name=kind)
        point = getattr(hyperflock, f"{kind}_point")
        expected = [point(DRAWN, number, seed=2**53 - 1) for number in range(4)]
    assert (len(study), study.row.kind) == (len(expected), kind)
    told = []
    with real.device() as device:
        lease: Any = device.ready()
        while lease:
            told.append(read_params(lease.params))
            lease = device.complete(lease, 0.5)
    assert repr(told) == repr(expected)
    assert repr([trial.params for trial in study.wait(LIMIT_S).trials]) == repr(expected)
    assert study.best_trial.params == expected[0]
    assert study.trial(1).provenance is not None


def test_the_server_refuses_a_range_as_this_package_does(client: Client) -> None:
    made = client.random(objective, DRAWN, trials=1, name="refused")
    http = client._core._http
    spec = _loop.run(http.get(f"/api/studies/{made.id}/spec"))
    spec["submit_key"] = "another"
    spec["space"][0]["range"]["low"] = 0.0
    with pytest.raises(hyperflock.ServerError) as caught:
        _loop.run(http.post("/api/studies", spec))
    assert (caught.value.code, caught.value.field) == ("bad_range", "space[0].range.low")
    assert caught.value.message == "space[0].range.low must be greater than 0 with log."
    made.cancel()  # so that no device of a later test gets its trial


def test_study_is_iterated_while_a_device_computes_it(real: Server, client: Client) -> None:
    images = np.arange(12, dtype=np.float32).reshape(3, 4)
    study = client.grid(
        objective,
        {"x": [1.0, 2, -3], "act": ["relu", None]},
        data={"images": images, "both": {"a": images, "b": np.ones(2, np.uint8)}},
        name="iterated",
        seed=9,
    )
    assert len(study) == 6
    seen: list[dict[str, Any]] = []

    def compute() -> None:
        with real.device() as device:
            lease: Any = device.ready()
            while lease:
                got = params(lease)
                seen.append({"trial": lease.trial, "params": got, "seed": lease.seed})
                if lease.trial == 0:
                    assert lease.entry == "objectives:objective"
                    with zipfile.ZipFile(BytesIO(device.blob(lease.bundle.sha256))) as archive:
                        assert "objectives.py" in archive.namelist()
                    for ref in lease.data:
                        arrays = load_arrays(ref.kind, BytesIO(device.blob(ref.sha256)))
                        one = arrays if ref.kind == "npy" else arrays["a"]
                        np.testing.assert_array_equal(one, images)
                lease = device.complete(lease, float(got["x"]))

    join = _in_background(compute)
    trials = list(study)
    join()
    assert sorted(t.number for t in trials) == list(range(6))
    for trial, told in zip(sorted(trials, key=lambda t: t.number), seen, strict=True):
        expected = hyperflock.grid_point({"x": [1.0, 2, -3], "act": ["relu", None]}, trial.number)
        assert repr(trial.params) == repr(expected) == repr(told["params"])
        assert trial.seed == told["seed"] == hyperflock.trial_seed(9, trial.number)
        assert trial.value == float(trial.params["x"])
        assert (trial.state, trial.attempts, trial.run_s, trial.load_s) == (
            "complete",
            1,
            0.345,
            0.012,
        )
        assert (trial.device_class, trial.engine, trial.backend) == ("node", "test engine 1", "cpu")
    assert study.best_trial.params["x"] == -3
    assert study.best_trial.number == 4
    assert study.trial(4).points == ((0, -2.0), (1, -3.0))
    assert study.state == "finished"
    assert [t.number for t in client.study(study.id).trials] == list(range(6))


def test_iteration_survives_a_killed_server(tmp_path: Path) -> None:
    server = Server(tmp_path).start()
    try:
        with server.client() as client:
            study = client.grid(objective, {"x": [1, 2]}, direction="maximize")
            trials = iter(study)
            with server.device() as device:
                lease = device.complete(device.ready(), 1.0)
                assert next(trials).value == 1.0
                server.kill()
                server.start()
                assert lease is not None
                assert device.open(held=(lease.attempt,)).attempts == [lease.attempt]
                device.complete(lease, 2.0)
                assert [t.value for t in trials] == [2.0]
                assert study.best_trial.value == 2.0
                assert study.row.attempts == 2
    finally:
        server.stop()


def test_failure_reaches_the_researcher(real: Server, client: Client) -> None:
    study = client.grid(objective, {"x": [1]})
    traceback = 'Traceback\n  File "objectives.py"\nValueError: no\n'
    failure = Failure("user_error", "objective_raised", "ValueError: \x1b[31mno", traceback)
    with real.device() as device:
        device.result(device.ready(), outcome="failed", error=failure)
    (trial,) = study
    assert (trial.state, trial.value) == ("failed", None)
    assert trial.error is not None
    assert (trial.error.cause, trial.error.code) == ("user_error", "objective_raised")
    assert trial.error.message == "ValueError: [31mno"
    assert trial.error.traceback == traceback
    with pytest.raises(hyperflock.NoCompleteTrialError):
        _ = study.best_trial


def test_cancel_ends_a_study_and_its_iteration(client: Client) -> None:
    study = client.grid(objective, {"x": list(range(1000))})
    study.cancel()
    assert study.wait(timeout_s=LIMIT_S).state == "cancelled"
    assert study.row.complete == 0


def test_a_deleted_study_is_gone_and_its_key_is_free(client: Client) -> None:
    study = client.grid(objective, {"x": [1, 2]}, name="short", once=True)
    with pytest.raises(hyperflock.ServerError) as running:
        study.delete()
    assert running.value.code == "study_running"
    gone = study.cancel().delete()
    assert (gone.study, gone.trials, gone.artifacts) == (study.id, 0, 0)
    with pytest.raises(hyperflock.NotFoundError) as unknown:
        study.refresh()
    assert unknown.value.code == "unknown_study"
    with pytest.raises(hyperflock.NotFoundError):
        list(study)
    again = client.grid(objective, {"x": [1, 2]}, name="short", once=True)
    assert again.id > study.id
    again.cancel().delete()


def test_submit_key_is_idempotent_and_studies_are_listed(client: Client) -> None:
    first = client.grid(objective, {"x": [1]}, name="keyed", submit_key="the same key")
    second = client.grid(objective, {"x": [1]}, name="keyed", submit_key="the same key")
    assert first.id == second.id
    with pytest.raises(hyperflock.StudyExistsError) as other:
        client.grid(objective, {"x": [2]}, name="keyed", submit_key="the same key")
    assert other.value.code == "study_exists"
    listed = client.studies()
    assert [s.id for s in listed].count(first.id) == 1
    assert [s.id for s in listed] == sorted((s.id for s in listed), reverse=True)
    first.cancel()


def test_each_run_of_a_trial_is_shown_with_its_device_and_error(
    real: Server, client: Client
) -> None:
    study = client.grid(objective, {"x": [4]}, name="shown")
    with real.device() as first:
        lease = first.ready()
        (running,) = client.study(study.id).trial(0).attempt_list or ()
        assert (running.id, running.state, running.device) == (lease.attempt, "live", first.device)
        assert running.finished_at is None
        failure = Failure("device_lost", "gpu_lost", "the device is gone", "Traceback: \x1b[31m")
        first.result(lease, outcome="failed", error=failure)
    with real.device() as second:
        second.complete(second.ready(), 4.0)
    trial = study.wait(timeout_s=LIMIT_S).trial(0)
    runs = trial.attempt_list or ()
    assert [(run.state, run.device) for run in runs] == [
        ("failed", first.device),
        ("accepted", second.device),
    ]
    assert runs[0].error is not None
    assert (runs[0].error.code, runs[0].error.traceback) == ("gpu_lost", "Traceback: [31m")
    assert (runs[1].values, runs[1].run_s, runs[1].backend) == ((4.0,), 0.345, "cpu")
    assert trial.as_dict()["attempt_list"][1]["values"] == (4.0,)
    json.dumps(trial.as_dict())


def test_error_codes(real: Server, client: Client) -> None:
    http = client._core._http
    with pytest.raises(hyperflock.NotFoundError) as unknown:
        client.study(2**40)
    assert unknown.value.code == "unknown_study"
    with pytest.raises(hyperflock.AuthError) as refused:
        Client(real.console, "hfr_wrong").studies()
    assert refused.value.code == "unauthorized"
    study = client.grid(objective, {"x": [1]})
    stranger = hyperflock.Study(AsyncStudy(Http(http.origin, "hfr_wrong"), study.row))
    with pytest.raises(hyperflock.AuthError) as session:
        stranger.wait(timeout_s=LIMIT_S)
    assert session.value.code == "bad_token"
    study.cancel()
    missing = {"sha256": "0" * 64, "bytes": 1}
    spec = {
        "name": "n",
        "submit_key": "unknown blob",
        "direction": "minimize",
        "entry": "a:b",
        "bundle": missing,
        "space": [{"name": "x", "values": [1]}],
        "runtime": {"chainer": "7.8.1"},
    }
    with pytest.raises(hyperflock.ServerError) as blob:
        _loop.run(http.post("/api/studies", spec))
    assert blob.value.code == "unknown_blob"
    with pytest.raises(hyperflock.ServerError) as empty:
        _loop.run(http.post("/api/studies", {**spec, "space": []}))
    assert empty.value.code == "empty_space"
    with pytest.raises(hyperflock.ServerError) as mismatch:
        _loop.run(http.put(f"/api/blobs/{'0' * 64}", lambda: BytesIO(b"x"), 1))
    assert mismatch.value.code == "hash_mismatch"


def test_every_bad_spec_of_the_golden_files_is_refused_by_the_server_too(client: Client) -> None:
    folder = Path(__file__).resolve().parents[3] / "tests" / "protocol" / "golden" / "study_spec"
    files = sorted((folder / "invalid").glob("*.json"))
    assert len(files) > 20
    for path in files:
        golden = json.loads(path.read_text("utf-8"))
        with pytest.raises(hyperflock.ServerError) as caught:
            _loop.run(client._core._http.post("/api/studies", golden["text"].encode()))
        assert (caught.value.code, caught.value.field) == (golden["code"], golden.get("field")), (
            path.stem
        )


def test_join_link_enrols_a_device_that_is_listed(real: Server, client: Client) -> None:
    link = client.join_url()
    assert link.startswith(real.compute)
    with Device.join(real.compute, link.partition("#")[2]) as device:
        listed = [worker["device"] for worker in client.workers()]
        assert device.device in listed


def test_command_against_the_server(
    real: Server,
    client: Client,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", real.console)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", real.credentials["researcher_token"])
    assert (
        _cli.run(["submit", "objectives", "--space", '{"x": [0.5]}', "--name", "by command"]) == 0
    )
    study_id = capsys.readouterr().out.strip()
    with real.device() as device:
        device.complete(device.ready(), 0.5)
    assert _cli.run(["watch", study_id]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "best: trial 0, value 0.5, x=0.5"
    assert _cli.run(["trials", study_id, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["value"] == 0.5
    assert _cli.run(["studies"]) == 0
    assert "by command" in capsys.readouterr().out
