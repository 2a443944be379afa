"""Tests that an Optuna study follows rejections at a real server: its owner is there, away, or
another process.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import asked_objectives as given
import hyperflock.optuna
import optuna
import pytest
from device import Device
from hyperflock import Client, Study
from hyperflock._transport.messages import Lease
from hyperflock.optuna.internals import storage_of
from hyperflock.optuna.owner.service import Description, serve
from hyperflock.optuna.rejection import REJECTED
from optuna.samplers import RandomSampler
from optuna.storages import BaseStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState
from patience import LIMIT_S, until
from real_server import Server
from socket_phones import Phones

pytestmark = pytest.mark.server
optuna.logging.set_verbosity(optuna.logging.ERROR)

LIE = -1e308
KINDS = ["memory", "database", "journal"]


@pytest.fixture
def client(real: Server) -> Iterator[Client]:
    with real.client() as made:
        yield made


class Kept:
    """A study's storage, which each call opens as another process would."""

    def __init__(self, kind: str, folder: Path, name: str) -> None:
        self._kind = kind
        self._folder = folder
        self._name = name
        self._study = None if kind != "memory" else optuna.create_study(study_name=name)

    @property
    def url(self) -> str | None:
        return f"sqlite:///{self._folder}/study.db" if self._kind == "database" else None

    def open(self) -> optuna.Study:
        if self._study is not None:
            return self._study
        storage: BaseStorage | str | None = self.url
        if storage is None:
            storage = JournalStorage(JournalFileBackend(str(self._folder / "journal.log")))
        return optuna.create_study(
            study_name=self._name,
            storage=storage,
            sampler=RandomSampler(seed=3),
            load_if_exists=True,
        )

    def shown(self) -> optuna.Study:
        """Open the study to look at it."""
        study = self.open()
        storage = hyperflock.optuna.without_rejected(storage_of(study))
        return optuna.load_study(study_name=self._name, storage=storage)


@pytest.fixture(params=KINDS)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    return Kept(request.param, tmp_path, f"{request.node.name}")


def lie(device: Device, times: int) -> None:
    """Send invented results, without a question to the sampler."""
    for _ in range(times):
        device.result(device.ready(), more=False, outcome="complete", values=[LIE])


def newest(client: Client) -> Study:
    return client.studies()[0]


def check(client: Client, study: optuna.Study, good: int, rejected: int) -> None:
    """Check that both sides agree, and that nothing of the rejected results counts."""
    there = newest(client)
    shown = optuna.load_study(study_name=there.name, storage=hyperflock.optuna.Storage(client))
    complete = [t for t in study.trials if t.state is TrialState.COMPLETE]
    failed = [t for t in study.trials if t.state is TrialState.FAIL]
    assert (len(complete), len(failed)) == (good, rejected)
    values = [value for t in complete for value in t.values]
    assert study.best_value == min(values) >= 0
    for trial in failed:
        assert trial.value is None
        note = trial.system_attrs[REJECTED]
        assert note["message"] == "researcher rejected the result: it lies"
        assert "T" in note["at"]
    row = there.row
    assert (row.complete, row.failed, row.running) == (good, rejected, 0)
    assert row.wanted == good
    assert row.state == "finished"
    for other in (there.to_optuna(), shown):
        assert [(t.number, t.state, t.values) for t in other.trials] == [
            (t.number, t.state, t.values) for t in study.trials
        ]
        assert other.best_trial.number == study.best_trial.number
        assert all(REJECTED in t.system_attrs for t in other.trials if t.value is None)


def test_the_owner_asks_others_while_it_runs(real: Server, client: Client, kept: Kept) -> None:
    seen: list[int] = []
    with contextlib.ExitStack() as stack:
        liar = stack.enter_context(real.device())

        def attack() -> None:
            lie(liar, 3)
            done = newest(client).reject(device=liar.device, reason="it lies")
            assert (done.attempts, done.trials) == (3, 0)
            stack.enter_context(Phones(real, given.square, 2))

        attacker = threading.Thread(target=attack)
        attacker.start()
        study = kept.open()
        hyperflock.optuna.optimize(
            study, given.square, 6, client=client, callbacks=[lambda s, t: seen.append(t.number)]
        )
        attacker.join(LIMIT_S)
    check(client, study, good=6, rejected=3)
    check(client, kept.shown(), good=6, rejected=3)
    assert sorted(seen) == list(range(9))  # a callback gets each trial once


def test_the_owner_is_away(real: Server, client: Client, kept: Kept) -> None:
    with contextlib.ExitStack() as stack:
        liar = stack.enter_context(real.device())
        attacker = threading.Thread(target=lie, args=(liar, 2))
        attacker.start()

        def begin(study: optuna.Study, trial: FrozenTrial) -> None:
            if trial.number == 1:
                stack.enter_context(Phones(real, given.square))

        study = kept.open()
        hyperflock.optuna.optimize(study, given.square, 6, client=client, callbacks=[begin])
        attacker.join(LIMIT_S)
        assert study.best_value == LIE
        assert newest(client).reject(device=liar.device, reason="it lies").attempts == 2
        # The next call makes good what is missing, and only once.
        hyperflock.optuna.optimize(kept.open(), given.square, 0, client=client)
        check(client, kept.shown(), good=6, rejected=2)
        hyperflock.optuna.optimize(study, given.square, 0, client=client)
        check(client, study, good=6, rejected=2)


def test_the_sampler_service_makes_good_what_is_missing(
    real: Server, client: Client, tmp_path: Path
) -> None:
    for url in (None, f"sqlite:///{tmp_path}/study.db"):
        study = optuna.create_study(study_name=f"served {url is None}", storage=url)
        with real.device() as liar:
            attacker = threading.Thread(target=lie, args=(liar, 5))
            attacker.start()
            hyperflock.optuna.optimize(study, given.square, 5, client=client)
            attacker.join(LIMIT_S)
            there = newest(client)
            assert there.reject(device=liar.device, reason="it lies").attempts == 5
            with Phones(real, given.square):
                serve(client, there.id, Description(storage=url))
        if url is None:
            shown = there.to_optuna()
        else:  # `study` has read the results, and its cache keeps them
            shown = optuna.load_study(study_name=study.study_name, storage=url)
        check(client, shown, good=5, rejected=5)
        # The service has nothing more to do.
        serve(client, there.id, Description(storage=url))
        check(client, shown, good=5, rejected=5)


def test_a_result_is_rejected_before_the_owner_hears_of_it(
    real: Server, client: Client, kept: Kept
) -> None:
    held: list[Lease] = []
    with real.device() as liar, real.device() as phone:

        def hold() -> None:
            held.append(liar.ready())

        def compute() -> None:
            lease = phone.ready()
            until("the other device's lease", lambda: held)
            phone.result(lease, more=False, outcome="complete", values=[4.0])

        def leave(study: optuna.Study, trial: FrozenTrial) -> None:
            raise KeyboardInterrupt

        threads = [threading.Thread(target=hold), threading.Thread(target=compute)]
        for thread in threads:
            thread.start()
        with pytest.raises(KeyboardInterrupt):
            hyperflock.optuna.optimize(
                kept.open(), given.square, 3, client=client, callbacks=[leave]
            )
        for thread in threads:
            thread.join(LIMIT_S)
        liar.result(held[0], more=False, outcome="complete", values=[LIE])
        assert newest(client).reject(device=liar.device, reason="it lies").attempts == 1
        again = kept.open()
        with Phones(real, given.square):
            hyperflock.optuna.optimize(again, given.square, 1, client=client)
    check(client, again, good=3, rejected=1)
    (note,) = (t.system_attrs[REJECTED] for t in again.trials if t.value is None)
    assert "values" not in note  # the owner never had the result
