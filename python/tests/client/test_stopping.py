"""Tests, on the real server, a study that pauses itself because its first trials fail in the same
way.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import hyperflock
import pytest
from device import Device
from hyperflock import Client, Study
from hyperflock._cli import command as _cli
from hyperflock._transport.messages import Failure, Lease
from objectives import objective
from patience import LIMIT_S, until
from real_server import Server
from typer.testing import CliRunner
from websockets.exceptions import ConnectionClosed

pytestmark = pytest.mark.server

SPACE = {"x": [*range(300)]}
TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 4, in objective
    rate = trial.params["rate"]
KeyError: 'rate'
"""


@pytest.fixture
def client(real: Server) -> Iterator[Client]:
    with real.client() as made:
        yield made


class Crowd:
    """Devices, each in a thread, on which every trial fails at the objective's first line."""

    def __init__(self, real: Server, count: int) -> None:
        self._stack = ExitStack()
        self._leaving = False
        devices = [self._stack.enter_context(real.device()) for _ in range(count)]
        self._threads = [
            threading.Thread(target=self._run, args=(d,), daemon=True) for d in devices
        ]

    def __enter__(self) -> Crowd:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._leaving = True
        self._stack.close()
        for thread in self._threads:
            thread.join(LIMIT_S)

    def _run(self, device: Device) -> None:
        try:
            lease: Lease | None = device.ready()
            while lease:
                lease = fail(device, lease) or device.next_lease()
        except (ConnectionClosed, TimeoutError):
            if not self._leaving:
                raise


def fail(device: Device, lease: Lease, said: str = "KeyError: 'rate'") -> Lease | None:
    error = Failure("user_error", "objective_raised", said, TRACEBACK)
    return device.result(lease, outcome="failed", error=error).lease or None


def stopped(study: Study) -> None:
    until("the study to pause itself", lambda: study.refresh().stopped_by is not None)


def test_an_objective_that_is_wrong_from_line_one_costs_a_crowd_few_attempts(
    real: Server, client: Client, capfd: pytest.CaptureFixture[str]
) -> None:
    study = client.grid(objective, SPACE, name="wrong")
    with Crowd(real, 4):
        stopped(study)
        until("the running trials to end", lambda: study.refresh().row.running == 0)
        seen = study.refresh().row
        assert seen.attempts <= 12
        assert (seen.state, seen.paused, seen.complete) == ("running", True, 0)
        error = study.stopped_by
        assert error is not None
        assert (error.code, error.traceback) == ("objective_raised", TRACEBACK)

        with pytest.raises(hyperflock.WaitTimeoutError):
            study.wait(3)
        told = capfd.readouterr().err
        assert told.count("it has paused itself because of trial") == 1
        assert 'File "train.py", line 4, in objective' in told
        assert f"hyperflock resume {study.id}" in told

        settings = ["--url", real.console, "--token", real.credentials["researcher_token"]]
        shown = CliRunner().invoke(_cli.app, ["show", str(study.id), *settings]).output
        assert "the last of 3 that failed alike" in shown
        assert "KeyError: 'rate'" in shown

        before = study.refresh().row.attempts
        study.resume()
        assert study.stopped_by is None
        stopped(study)
        until("the running trials to end", lambda: study.refresh().row.running == 0)
        assert before + 3 <= study.row.attempts <= before + 12
    study.cancel()
    with pytest.raises(hyperflock.NoCompleteTrialError) as caught:
        _ = study.best_trial
    assert caught.value.code == "no_complete_trial"
    assert f"hyperflock logs {study.id}" in caught.value.message


def test_none_means_never(real: Server, client: Client) -> None:
    study = client.grid(objective, {"x": [*range(6)]}, name="all of them", max_failures=None)
    with Crowd(real, 2):
        study.wait(LIMIT_S)
    assert (study.row.state, study.row.failed) == ("finished", 6)


def test_a_limit_of_its_own(real: Server, client: Client) -> None:
    study = client.grid(objective, SPACE, name="one", max_failures=1)
    with real.device() as device:
        assert fail(device, device.ready()) is not None  # the next one was leased with the result
        stopped(study)
    study.cancel()


def test_the_pause_outlives_a_kill_of_the_server(tmp_path: Path) -> None:
    server = Server(tmp_path).start()
    try:
        with server.client() as client:
            study = client.grid(objective, SPACE, name="killed", max_failures=2)
            with server.device() as device:
                lease = fail(device, device.ready())
                assert lease is not None
            server.kill()
            server.start()
            assert study.refresh().stopped_by is None
            with server.device() as device:
                fail(device, device.ready())
                stopped(study)
            server.kill()
            server.start()
            error = study.refresh().stopped_by
            assert error is not None
            assert error.traceback == TRACEBACK
    finally:
        server.stop()


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "3", 2**53])
def test_a_limit_that_is_no_number_is_refused(client: Client, wrong: object) -> None:
    with pytest.raises(hyperflock.HyperflockError) as caught:
        client.grid(objective, {"x": [1]}, max_failures=wrong)  # type: ignore[call-overload]
    assert (caught.value.code, caught.value.field) == ("bad_number", "max_failures")


def test_resubmitting_with_another_limit_finds_the_study(client: Client) -> None:
    first = client.grid(objective, {"x": [1]}, name="limited", once=True)
    again = client.grid(objective, {"x": [1]}, name="limited", once=True, max_failures=None)
    assert again.id == first.id
    first.cancel()
