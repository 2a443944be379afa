"""Tests what `optimize` prints in a terminal: its bar, Optuna's log lines, and the text after
Ctrl-C.
"""

from __future__ import annotations

import io
import logging
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import asked_objectives as given
import optuna
import pytest
from fake_asked import Devices
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock._reports import progress as _bars
from hyperflock._transport.messages import StudyRow
from hyperflock._transport.validation import convert
from hyperflock.optuna import optimize
from hyperflock.optuna.owner import bar as _bar
from hyperflock.optuna.owner import detached as _detached
from hyperflock.optuna.owner.bar import Best
from optuna import logging as optuna_logging
from optuna.distributions import FloatDistribution
from optuna.samplers import RandomSampler, TPESampler
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, create_trial


@pytest.fixture(autouse=True)
def _verbose() -> Iterator[None]:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.INFO)
    yield
    optuna.logging.set_verbosity(before)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_log_lines_stand_above_the_bar(
    server: FakeConsole, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = optuna_logging._default_handler
    assert default is not None
    root = logging.getLogger("optuna")
    before, screen = set(root.handlers), _Terminal()
    monkeypatch.setattr(default, "stream", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    with Devices(server, given.square):
        optimize(optuna.create_study(), given.square, 5, show_progress_bar=True, client=client)
    lines = re.split(r"[\r\n]", screen.getvalue())
    logged = [line for line in lines if "finished with value" in line]
    assert len(logged) == 5
    assert all("it/s" not in line and "trial/s" not in line for line in logged)
    assert all(re.match(r"\S*\[I ", line) for line in logged)
    assert set(root.handlers) == before


def test_a_handler_that_is_switched_off_stays_off(
    server: FakeConsole, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    optuna.logging.disable_default_handler()
    try:
        with Devices(server, given.square):
            optimize(optuna.create_study(), given.square, 2, show_progress_bar=True, client=client)
        assert optuna_logging._default_handler not in logging.getLogger("optuna").handlers
    finally:
        optuna.logging.enable_default_handler()
    assert "finished with value" not in capsys.readouterr().err


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_best_value_is_right_after_each_trial(
    server: FakeConsole,
    client: Client,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    direction: Literal["minimize", "maximize"],
) -> None:
    monkeypatch.setattr(_bar, "_LOOK_S", 600.0)
    shown: list[str] = []
    moved = _bars.Bar.move

    def move(bar: Any, position: int, **notes: object) -> None:
        moved(bar, position, **notes)
        if position and "running" in notes:  # skips the bars of uploads
            shown.append(f"{notes['best']} {best()}")

    def best() -> str:
        return f"{study.best_value:.6g}"

    monkeypatch.setattr(_bars.Bar, "move", move)
    study = optuna.create_study(direction=direction, sampler=RandomSampler(seed=1))
    with Devices(server, given.square):
        optimize(study, given.square, 12, show_progress_bar=True, client=client)
    assert len(set(shown)) > 1
    assert all(line.split()[0] == line.split()[1] for line in shown)
    assert f"best={best()}" in capsys.readouterr().err


def _trial(value: float, **system_attrs: Any) -> FrozenTrial:
    return create_trial(
        params={"x": value},
        distributions={"x": FloatDistribution(0, 10)},
        value=value,
        system_attrs=system_attrs,
    )


def test_a_trial_that_breaks_a_constraint_is_not_the_best() -> None:
    study = optuna.create_study()
    best = Best(study)
    best.look()
    assert best.notes == {}
    for value, constraints, known in (
        (3.0, {"constraints": [-1.0, 0.0]}, "3"),
        (2.0, {"constraints": [1.0]}, "3"),
        (2.5, {"constraints": [0.0]}, "2.5"),
        (9.0, {"constraints": [0.0]}, "2.5"),
    ):
        study.add_trial(_trial(value, **constraints))
        best.hear(_trial(value, **constraints))
        assert best.notes == {"best": known}
    best.look(now=True)
    assert best.notes == {"best": "2.5"}
    # Optuna 5 stores constraints in this form. Optuna 4 does not read them.
    best.hear(_trial(1.0, **{"constraints:c": 0.5}))
    assert best.notes == {"best": "2.5"}
    best.hear(_trial(2.25, **{"constraints:c": 0.0}))
    assert best.notes == {"best": "2.25"}


def test_a_study_of_several_objectives_has_no_best_value(
    server: FakeConsole, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    study = optuna.create_study(directions=["minimize", "maximize"])
    with Devices(server, given.two_ways):
        optimize(study, given.two_ways, 2, show_progress_bar=True, client=client)
    told = capsys.readouterr().err
    assert "2/2" in told
    assert "best=" not in told


# ---- Ctrl-C


@pytest.fixture
def interrupted(
    server: FakeConsole, client: Client, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Return a function that begins a study, ends it by Ctrl-C, and returns the printed line."""

    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        raise KeyboardInterrupt

    def run(study: optuna.Study, **options: Any) -> str:
        with Devices(server, given.square), pytest.raises(KeyboardInterrupt):
            optimize(study, given.square, callbacks=[callback], client=client, **options)
        (line,) = [one for one in capsys.readouterr().err.splitlines() if "detached" in one]
        return line

    return run


WAITS = "detached: study 1 waits for its sampler at the server; "


def test_an_unnamed_study_in_memory_goes_on_in_this_process_alone(
    interrupted: Callable[..., str],
) -> None:
    assert interrupted(optuna.create_study()) == (
        WAITS + "it goes on by: hyperflock sampler 1 (or by the same call in this process), and "
        "ends by: hyperflock cancel 1. A study with a name, create_study(study_name=...), goes on "
        "by the same call"
    )


def test_a_named_study_in_memory_goes_on_by_the_same_call(interrupted: Callable[..., str]) -> None:
    study = optuna.create_study(study_name="digits")
    assert interrupted(study) == (WAITS + "the same call goes on with it, or: hyperflock sampler 1")


def test_a_name_for_the_server_is_one_too(interrupted: Callable[..., str]) -> None:
    said = interrupted(optuna.create_study(), name="digits")
    assert said.endswith("the same call goes on with it, or: hyperflock sampler 1")


def test_a_named_study_with_trials_of_its_own_goes_on_here_alone(
    interrupted: Callable[..., str],
) -> None:
    study = optuna.create_study(study_name="digits")
    study.add_trial(_trial(1.0))
    said = interrupted(study)
    assert "(or by the same call in this process)" in said
    assert "A study with a name" not in said


def test_a_study_in_a_storage_names_it(interrupted: Callable[..., str], tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a file.db"
    sampler, pruner = TPESampler(multivariate=True), optuna.pruners.NopPruner()
    study = optuna.create_study(storage=url, study_name="my study", sampler=sampler, pruner=pruner)
    assert interrupted(study, name="digits") == (
        f"{WAITS}the same call goes on with it, or: hyperflock sampler 1 --storage '{url}' "
        "--study-name 'my study' --sampler MODULE:FUNCTION --pruner MODULE:FUNCTION"
    )


def test_a_storage_without_a_url_is_to_be_named(
    interrupted: Callable[..., str], tmp_path: Path
) -> None:
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "journal")))
    study = optuna.create_study(storage=storage, study_name="digits")
    assert interrupted(study).endswith("or: hyperflock sampler 1 --storage URL")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ada:secret@host/db", "URL"),
        ("postgresql://host/db?password=secret", "URL"),
        ("postgresql://ada@host/db", "postgresql://ada@host/db"),
        ("sqlite:///study.db", "sqlite:///study.db"),
    ],
)
def test_no_password_is_shown(url: str, shown: str) -> None:
    storage = RDBStorage.__new__(RDBStorage)
    storage.url = url
    assert _detached._shown_url(storage) == shown


def test_a_storage_that_fails_now_hides_nothing(
    server: FakeConsole, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = optuna.create_study(study_name="digits")
    optimize(study, given.square, 0, client=client)

    def fail(*arguments: object) -> None:
        raise OSError("the disk is away")

    monkeypatch.setattr(_detached, "_is_like", fail)
    row = convert(server.study_row(1), StudyRow)
    assert _detached.detached_text(study, row).endswith("or: hyperflock sampler 1")
