"""Tests that the installed Optuna has each private name that the package uses, and that one module
lists them.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hyperflock
import optuna
import pytest
from hyperflock.optuna import internals
from optuna.artifacts import Backoff, FileSystemArtifactStore
from optuna.samplers import GridSampler, TPESampler
from optuna.storages import InMemoryStorage, RDBStorage
from optuna.trial import TrialState

optuna.logging.set_verbosity(optuna.logging.ERROR)
PACKAGE = Path(hyperflock.__file__).parent
PRIVATE = {name for names in internals.NAMES.values() for name in names if name.startswith("_")}
# These files use private names without `internals`: the first one must not import Optuna, and the
# second one runs in browsers, which have no `internals`.
ELSEWHERE = {
    PACKAGE / "_bundle" / "capture_stores.py": {"_backend", "_base_path"},
    PACKAGE / "_trial" / "artifacts.py": {"_backend", "_base_path"},
}


@pytest.fixture
def owners(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object or module that has the names, for each key of `NAMES`."""
    study = optuna.create_study()
    trial = study.ask()
    store = FileSystemArtifactStore(tmp_path)
    memory: Any = study._storage
    database: Any = optuna.create_study(storage=f"sqlite:///{tmp_path}/study.db")
    yield {
        "artifact store in a folder": store,
        "artifact store that retries": Backoff(store),
        "grid sampler": GridSampler({"x": [1, 2]}),
        "memory storage": memory,
        "memory storage's study": memory._studies[study._study_id],
        "percentile pruner": optuna.pruners.MedianPruner(),
        "storage with a cache": database._storage,
        "storage with a cache, its study": database._storage._studies[database._study_id],
        "storage in a database": database._storage._backend,
        "study": study,
        "study's thread": study._thread_local,
        "TPE sampler": TPESampler(),
        "trial": trial,
        "trial of the past": study.get_trials()[0],
        **{name: importlib.import_module(name) for name in internals.NAMES if "optuna." in name},
    }
    database._storage.remove_session()


def test_each_private_name_exists(owners: dict[str, Any]) -> None:
    assert owners.keys() == internals.NAMES.keys()
    for owner, names in internals.NAMES.items():
        for name in names:
            assert hasattr(owners[owner], name), f"{name} of {owner}, Optuna {optuna.__version__}"


def _private_names(path: Path) -> set[str]:
    """Return Optuna's private names and modules that a file uses, also those in strings."""
    tree = ast.parse(path.read_text())
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"})
    }
    used |= {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("optuna")
        for alias in node.names
    }
    used |= {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    modules = {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module is not None
        and node.module.startswith("optuna.")
        and "._" in node.module
    }
    return (used & PRIVATE) | modules


def test_no_other_module_names_them() -> None:
    found = {
        path: names
        for path in PACKAGE.rglob("*.py")
        if path.name != "internals.py" and (names := _private_names(path))
    }
    assert found == ELSEWHERE
    listed = {name.rpartition(" ")[2] for name in internals.NAMES if "._" in name}
    assert PRIVATE | listed <= _private_names(Path(internals.__file__)) | {"_base_path"}


def test_names_that_optuna_gives_are_those_of_the_constants(tmp_path: Path) -> None:
    study = optuna.create_study(sampler=GridSampler({"x": [1, 2, 3]}))
    assert study.study_name.startswith(internals.UNNAMED)
    study.optimize(lambda trial: trial.suggest_categorical("x", [1, 2, 3]), n_trials=2)
    sampler = study.sampler
    assert isinstance(sampler, GridSampler)
    assert internals.grid_points_left(study, sampler) == 1
    path = tmp_path / "file"
    path.write_text("x")
    optuna.artifacts.upload_artifact(
        artifact_store=FileSystemArtifactStore(tmp_path),
        file_path=str(path),
        study_or_trial=study.ask(),
    )
    assert any(key.startswith(internals.ARTIFACTS) for key in study.get_trials()[-1].system_attrs)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_constraints_are_found() -> None:
    def constraints(trial: optuna.trial.FrozenTrial) -> list[float]:
        return [-1.0, 2.0]

    study = optuna.create_study(sampler=TPESampler(constraints_func=constraints))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    assert internals.constraints_of(study.trials[0].system_attrs) == [-1.0, 2.0]


def test_a_loop_is_entered_stopped_and_left() -> None:
    study = optuna.create_study()
    assert not internals.is_optimizing(study)
    with internals.optimizing(study):
        assert internals.is_optimizing(study)
        assert not internals.is_stopped(study)
        study.stop()
        assert internals.is_stopped(study)
    assert not internals.is_optimizing(study)


def test_trials_in_memory_are_changed_and_read() -> None:
    study = optuna.create_study()
    trial = study.ask()
    storage = internals.storage_of(study)
    assert isinstance(storage, InMemoryStorage)
    trial.report(1.0, 3)

    def change(stored: optuna.trial.FrozenTrial) -> optuna.trial.FrozenTrial:
        stored.intermediate_values = {5: 2.0}
        return stored

    internals.change_stored(storage, internals.trial_id_of(trial), change)
    internals.tell(study, trial.number, [4.0], TrialState.COMPLETE)
    with internals.stored_trials(storage, internals.study_id_of(study)) as trials:
        assert [(t.value, t.intermediate_values) for t in trials] == [(4.0, {5: 2.0})]


def test_database_behind_the_cache(tmp_path: Path) -> None:
    study = optuna.create_study(storage=f"sqlite:///{tmp_path}/study.db")
    assert isinstance(internals.storage_behind(internals.storage_of(study)), RDBStorage)
    assert isinstance(internals.storage_behind(InMemoryStorage()), InMemoryStorage)


def test_liar_and_percentile_options() -> None:
    sampler = TPESampler(constant_liar=False)
    assert not internals.has_constant_liar(sampler)
    internals.set_constant_liar(sampler, on=True)
    assert internals.has_constant_liar(sampler)
    pruner = optuna.pruners.PercentilePruner(
        20.0, n_startup_trials=1, n_warmup_steps=2, interval_steps=3, n_min_trials=4
    )
    assert internals.options_of(pruner) == (20.0, 1, 2, 3, 4)
