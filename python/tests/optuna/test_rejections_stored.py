"""Tests that rejected trials fail in each of Optuna's storages, and that samplers and pruners do
not use their results. No server is needed.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import optuna
import pytest
from hyperflock._transport.messages import (
    Failure,
    FinishedArgs,
    FinishedCall,
    StudyRow,
)
from hyperflock.optuna import without_rejected
from hyperflock.optuna.internals import storage_of
from hyperflock.optuna.owner.bar import Best
from hyperflock.optuna.owner.owner import Owner
from hyperflock.optuna.owner.rejections import fail_rejected, show_rejections
from hyperflock.optuna.rejection import CODE, REJECTED, note_of
from hyperflock.optuna.storage.without_rejected import WithoutRejected
from hyperflock.optuna.study_import import Outcome
from optuna.samplers import BruteForceSampler, GridSampler, NSGAIISampler, RandomSampler
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage, get_storage
from optuna.storages.journal import JournalFileBackend
from optuna.testing.pytest_storages import StorageTestCase
from optuna.trial import TrialState

optuna.logging.set_verbosity(optuna.logging.ERROR)

ERROR = Failure("invalid", CODE, "ada rejected the result: it lies")
NOTE = note_of(ERROR, 1_763_683_200_000)
KINDS = ["memory", "database", "journal"]
Open = Callable[[], BaseStorage]


def open_storage(kind: str, folder: Path) -> BaseStorage:
    """Open a storage as another process would."""
    if kind == "database":
        return get_storage(f"sqlite:///{folder}/study.db")
    return JournalStorage(JournalFileBackend(str(folder / "journal.log")))


@pytest.fixture(params=KINDS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Return a function that opens the storage; in memory there is only one."""
    in_memory = InMemoryStorage()
    if request.param == "memory":
        return lambda: in_memory
    return lambda: open_storage(request.param, tmp_path)


def lied_to(storage: BaseStorage, sampler: Any = None, **options: Any) -> optuna.Study:
    """Make a study of which the trials 1 and 3 have invented values."""
    study = optuna.create_study(
        study_name="mine", storage=storage, sampler=sampler or RandomSampler(seed=1), **options
    )

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 1, 2)
        trial.report(x, 0)
        return -1e308 if trial.number in (1, 3) else x

    study.optimize(objective, n_trials=6)
    return study


def states(study: optuna.Study) -> list[str]:
    return [trial.state.name for trial in study.trials]


def test_a_rejected_trial_fails_with_a_note(opened: Open) -> None:
    study = lied_to(opened())
    before = study.trials
    assert study.best_trial.number == 1
    changed = fail_rejected(study, {1: NOTE, 3: NOTE, 99: NOTE})
    assert [trial.number for trial in changed] == [1, 3]
    assert states(study) == ["COMPLETE", "FAIL", "COMPLETE", "FAIL", "COMPLETE", "COMPLETE"]
    best = min((t for t in before if t.number not in (1, 3)), key=lambda t: t.values)
    assert study.best_trial.number == best.number
    assert study.best_value == best.value
    one = study.trials[1]
    assert (one.value, one.values) == (None, None)
    assert one.system_attrs[REJECTED] == {
        "at": "2025-11-21T00:00:00+00:00",
        "message": "ada rejected the result: it lies",
        "state": "COMPLETE",
        "values": [-1e308],
    }
    kept = ("params", "distributions", "intermediate_values", "user_attrs", "datetime_complete")
    for name in kept:
        assert getattr(one, name) == getattr(before[1], name)
    storage, study_id = storage_of(study), study._study_id
    assert storage.get_trial(one._trial_id).state is TrialState.FAIL
    assert storage.get_n_trials(study_id, TrialState.COMPLETE) == 4
    assert len(study.get_trials(states=(TrialState.FAIL,))) == 2
    frame = study.trials_dataframe(attrs=("number", "value", "state"))
    assert list(frame["state"]) == states(study)
    assert fail_rejected(study, {1: NOTE, 3: NOTE}) == []
    study.optimize(lambda trial: trial.suggest_float("x", 1, 2), n_trials=2)
    assert [t.number for t in study.trials] == list(range(8))


def test_another_process_sees_it(opened: Open) -> None:
    fail_rejected(lied_to(opened()), {1: NOTE, 3: NOTE})
    storage = without_rejected(opened())
    again = optuna.load_study(study_name="mine", storage=storage)
    assert again.best_value > 0
    assert states(again).count("FAIL") == 2
    assert without_rejected(storage) is storage
    # A study that was opened without the view gets it when an owner opens it.
    plain = optuna.load_study(study_name="mine", storage=opened())
    show_rejections(plain)
    assert plain.best_value > 0
    assert fail_rejected(plain, {1: NOTE, 3: NOTE}) == []
    assert [t.system_attrs[REJECTED]["values"] for t in plain.trials if t.values is None] == [
        [-1e308],
        [-1e308],
    ]


def test_a_process_that_had_read_the_result_before_does_not_reject_it_twice(opened: Open) -> None:
    study = lied_to(opened())
    other = optuna.load_study(study_name="mine", storage=opened())
    assert other.best_trial.number == 1
    assert len(fail_rejected(study, {1: NOTE})) == 1
    show_rejections(other)
    assert [t.number for t in fail_rejected(other, {1: NOTE, 3: NOTE})] == [3]
    assert states(other).count("FAIL") == 2


def test_running_failed_and_pruned_trials(opened: Open) -> None:
    study = optuna.create_study(storage=opened())
    running, failed, pruned = study.ask(), study.ask(), study.ask()
    study.tell(failed, state=TrialState.FAIL)
    pruned.report(3.0, 0)
    study.tell(pruned, state=TrialState.PRUNED)
    notes = {trial.number: NOTE for trial in (running, failed, pruned)}
    (changed,) = fail_rejected(study, notes)
    assert changed.number == pruned.number
    assert changed.system_attrs[REJECTED]["state"] == "PRUNED"
    assert states(study) == ["RUNNING", "FAIL", "FAIL"]
    study.tell(running, 1.0)
    assert study.best_value == 1.0


def test_several_objectives(opened: Open) -> None:
    study = optuna.create_study(directions=["minimize", "maximize"], storage=opened())
    study.optimize(lambda t: (t.number, -t.number), n_trials=3)
    assert [t.number for t in study.best_trials] == [0]
    fail_rejected(study, {0: NOTE})
    assert [t.number for t in study.best_trials] == [1]


def test_more_trials_than_one_statement_takes(opened: Open) -> None:
    study = optuna.create_study(storage=opened())
    for _ in range(510):
        study.add_trial(optuna.trial.create_trial(value=1.0))
    assert len(fail_rejected(study, dict.fromkeys(range(1, 510), NOTE))) == 509
    assert study.best_trial.number == 0


def test_the_point_of_a_grid_is_suggested_again(opened: Open) -> None:
    grid = {"x": [1, 2, 3]}
    study = optuna.create_study(storage=opened(), sampler=GridSampler(grid))

    def objective(trial: optuna.Trial) -> float:
        return float(trial.suggest_categorical("x", [1, 2, 3]))

    study.optimize(objective)
    lost = study.trials[1].params
    fail_rejected(study, {1: NOTE})
    study.optimize(objective)
    assert [t.params for t in study.trials[3:]] == [lost]


def test_an_exhaustive_sampler_suggests_the_point_again(opened: Open) -> None:
    def objective(trial: optuna.Trial) -> float:
        return float(trial.suggest_int("x", 1, 3))

    study = optuna.create_study(storage=opened(), sampler=BruteForceSampler())
    study.optimize(objective)
    lost = study.trials[1].params
    fail_rejected(study, {1: NOTE})
    study.optimize(objective, n_trials=1)
    assert [t.params for t in study.trials[3:]] == [lost]


def test_pruners_do_not_compare_with_a_rejected_result(opened: Open) -> None:
    def objective(trial: optuna.Trial) -> float:
        # Trial 1 invents values that no other trial can reach.
        value = -1e308 if trial.number == 1 else 1.0
        for step in range(1, 5):
            trial.report(value, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=2)
    study = optuna.create_study(storage=opened(), pruner=pruner)
    study.optimize(objective, n_trials=3)
    assert states(study) == ["COMPLETE", "COMPLETE", "PRUNED"]
    fail_rejected(study, {1: NOTE, 2: NOTE})
    study.optimize(objective, n_trials=1)
    assert states(study)[3] == "COMPLETE"


def test_parents_of_a_generation_are_chosen_again(opened: Open) -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 1, 2)
        return -1e308 if trial.number in (1, 3) else x

    sampler = NSGAIISampler(population_size=4, seed=1)
    study = optuna.create_study(storage=opened(), sampler=sampler)
    study.optimize(objective, n_trials=9)
    fail_rejected(study, {1: NOTE, 3: NOTE})
    study.optimize(objective, n_trials=9)
    assert states(study).count("COMPLETE") == 16
    chosen = [
        value
        for key, value in storage_of(study).get_study_system_attrs(study._study_id).items()
        if ":parent:" in key and value
    ]
    rejected = {t._trial_id for t in study.trials if t.state is TrialState.FAIL}
    assert chosen
    assert all(rejected.isdisjoint(value) for value in chosen)


def rejection(number: int) -> FinishedCall:
    """Return the message that a trial's result was rejected."""
    args = FinishedArgs(state="failed", values=[], params="{}", seq=9, error=ERROR)
    return FinishedCall(trial=number, args=args)


def owner_of(study: optuna.Study) -> Owner:
    row = object.__new__(StudyRow)
    row.study = 7
    return Owner(study, row)


def test_a_result_that_waits_for_its_artifacts_is_rejected() -> None:
    study = optuna.create_study()
    owner = owner_of(study)
    owner.bring = lambda ids, trial: Future()  # it never ends
    number = owner.ask()
    artifact = "artifacts:00000000-0000-0000-0000-000000000000"
    owner.finish(number, Outcome(TrialState.COMPLETE, (1.0,), system_attrs={artifact: "{}"}))
    assert owner.ending == 1
    owner.answer(rejection(number))
    owner.take_back()
    assert (owner.ending, owner.finished, owner.replaced) == (0, 1, 1)
    assert states(study) == ["FAIL"]
    assert study.trials[0].system_attrs[REJECTED]["message"] == ERROR.message


def test_a_pruner_and_the_bar_forget_a_rejected_result() -> None:
    study = optuna.create_study(pruner=optuna.pruners.MedianPruner(1))
    owner = owner_of(study)
    best = Best(study)
    owner.heard = best.hear
    first = owner.ask()
    owner.report(first, [(0, -1e308)])
    owner.finish(first, Outcome(TrialState.COMPLETE, (-1e308,)))
    assert best.notes == {"best": "-1e+308"}
    second = owner.ask()
    owner.report(second, [(0, 1.0)])
    owner.begin_batch()
    assert owner._percentiles.should_prune(owner.live[second].trial)
    owner.answer(rejection(first))
    owner.take_back()
    assert not owner._percentiles.should_prune(owner.live[second].trial)
    owner.finish(second, Outcome(TrialState.COMPLETE, (1.0,)))
    best.look()
    assert best.notes == {"best": "1"}
    assert owner.replaced == 1
    owner.answer(rejection(first))  # the same again
    owner.take_back()
    assert owner.replaced == 1


def test_the_code_of_a_failure_alone_rejects_nothing() -> None:
    study = optuna.create_study()
    owner = owner_of(study)
    number = owner.ask()
    args = FinishedArgs(state="failed", values=[], params="{}", seq=9, error=ERROR)
    owner.answer(FinishedCall(trial=number, args=args, attempt=4, points=[]))
    owner.take_back()
    assert (owner.finished, owner.replaced, owner.rejected) == (1, 0, set())


class TestView(StorageTestCase):
    """Optuna's own tests of storages, on a view of a journal."""

    @pytest.fixture
    def storage(self, tmp_path: Path) -> BaseStorage:
        return WithoutRejected(open_storage("journal", tmp_path))


def test_a_view_is_pickled(tmp_path: Path) -> None:
    study = lied_to(open_storage("journal", tmp_path))
    fail_rejected(study, {1: NOTE, 3: NOTE})
    again = pickle.loads(pickle.dumps(study))
    assert again.best_value == study.best_value > 0
