"""Tests, on the real server, that a device which invents one value for all trials leaves none.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from device import Device, params
from hyperflock import Study
from hyperflock._cli import command as _cli
from hyperflock._transport.messages import Lease
from objectives import objective
from real_server import Server
from typer.testing import CliRunner

pytestmark = pytest.mark.server

LIE = -1e308
TRIALS = 300


def answer(device: Device, value: Callable[[int], float], most: int) -> int:
    """Complete trials until the server gives none at once. Return how many."""
    return go_on(device, device.ready(), value, most)


def go_on(device: Device, lease: Lease | None, value: Callable[[int], float], most: int) -> int:
    done = 0
    while lease and done < most:
        done += 1
        x = params(lease)["x"]
        more = done < most
        lease = device.result(lease, more=more, outcome="complete", values=[value(x)]).lease or None
    return done


def attempts_of(study: Study, device: Device) -> list[str]:
    return [
        attempt.state
        for trial in study.trials
        for attempt in study.trial(trial.number).attempt_list or ()
        if attempt.device == device.device
    ]


def test_a_device_that_answers_everything_at_once_leaves_no_value(
    real: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", real.console)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", real.credentials["researcher_token"])
    with (
        real.client() as client,
        real.device() as liar,
        real.device() as phone,
        real.device() as tablet,
    ):
        study = client.grid(
            objective, {"x": [*range(TRIALS)]}, name="flooded", direction="minimize"
        )
        assert answer(liar, lambda _: LIE, TRIALS) == 3
        assert answer(tablet, lambda x: 1.0 + x, 100) == 100
        answer(phone, lambda x: 1.0 + x, TRIALS)
        assert study.wait().row.state == "finished"
        assert {one.number: one.value for one in study.trials} == {
            x: 1.0 + x for x in range(TRIALS)
        }
        assert study.best_value == 1.0
        assert attempts_of(study, liar) == ["evidence"] * 3
        rejected = (study.trial(0).attempt_list or ())[0]
    assert rejected.rejection is not None
    assert (rejected.rejection.by, rejected.rejection.reason) == ("", "same_value")
    run = CliRunner().invoke
    shown = run(_cli.app, ["logs", str(study.id), "0"]).stdout
    assert "its device gave this value again and again" in " ".join(shown.split())


def test_an_honest_device_on_a_flat_part_of_the_space_goes_on(real: Server) -> None:
    with real.client() as client, real.device() as phone, real.device() as tablet:
        study = client.grid(objective, {"x": [*range(40)]}, name="flat")
        assert answer(phone, lambda _: 0.1, 40) == 3
        # Two of the phone's trials decide. The tablet may get another one first, because the
        # server's answer comes before the trials are issued again.
        lease: Lease | None = tablet.ready()
        probes = 0
        while lease and probes < 2:
            x = params(lease)["x"]
            probes += x < 3
            values = [0.1 if x < 3 else 1.0 + x]
            more = probes < 2
            done = tablet.result(lease, more=more, outcome="complete", values=values)
            lease = done.lease or None
        # The phone waits, so the server sends it a lease as soon as its value is believed.
        go_on(phone, phone.next_lease(), lambda _: 0.1, 40)
        assert study.wait().row.state == "finished"
        assert {study.trial(number).value for number in range(3)} == {0.1}
        assert sum(trial.attempts for trial in study.trials) == 43


def test_a_device_alone_is_not_held_up(real: Server) -> None:
    with real.client() as client, real.device() as phone:
        study = client.grid(objective, {"x": [*range(40)]}, name="alone")
        assert answer(phone, lambda _: 0.1, 40) == 40
        assert study.wait().row.state == "finished"
