"""Writes the message after Ctrl-C in `optimize`: how the study can be continued."""

from __future__ import annotations

import shlex
from contextlib import suppress

import optuna
from optuna.storages import BaseStorage, InMemoryStorage, RDBStorage

from hyperflock._base.text import clean
from hyperflock._transport.messages import StudyRow
from hyperflock.optuna.internals import UNNAMED, storage_behind, storage_of, study_id_of
from hyperflock.optuna.study_import import IDENTITY


def detached_text(study: optuna.Study, row: StudyRow) -> str:
    """Return how a study can be continued, and how to end it if only this process can continue
    it.
    """
    number = row.study
    command = f"hyperflock sampler {number}"
    with suppress(Exception):  # an error of a storage must not hide Ctrl-C
        command = shlex.join([*command.split(), *_options(study, row)])
    waits = f"detached: study {number} waits for its sampler at the server"
    if _goes_on_anywhere(study):
        return f"{waits}; the same call goes on with it, or: {command}"
    text = (
        f"{waits}; it goes on by: {command} (or by the same call in this process), "
        f"and ends by: hyperflock cancel {number}"
    )
    if study.study_name.startswith(UNNAMED):
        text += ". A study with a name, create_study(study_name=...), goes on by the same call"
    return text


def _goes_on_anywhere(study: optuna.Study) -> bool:
    """Return whether the same call in another process finds the same study at the server."""
    if not _is_in_memory(storage_of(study)):
        return True
    known = str(storage_of(study).get_study_system_attrs(study_id_of(study)).get(IDENTITY, ""))
    return known.startswith("name:") and not known.startswith(f"name:{UNNAMED}")


def _options(study: optuna.Study, row: StudyRow) -> list[str]:
    """Return the options of the command that samples for the study."""
    words: list[str] = []
    if not _is_in_memory(storage_of(study)):
        words += ["--storage", _shown_url(storage_of(study))]
        # A name that Optuna chose needs no option `--study-name`, because the command finds that
        # name itself.
        if study.study_name != row.name and not study.study_name.startswith(UNNAMED):
            words += ["--study-name", clean(study.study_name)]
    several = len(study.directions) > 1
    sampler = optuna.samplers.NSGAIISampler() if several else optuna.samplers.TPESampler()
    if not _is_like(study.sampler, sampler):
        words += ["--sampler", "MODULE:FUNCTION"]
    if not _is_like(study.pruner, optuna.pruners.MedianPruner()):
        words += ["--pruner", "MODULE:FUNCTION"]
    return words


def _is_in_memory(storage: BaseStorage) -> bool:
    return isinstance(storage, InMemoryStorage) or _url(storage) in {
        "sqlite://",
        "sqlite:///:memory:",
    }


def _url(storage: BaseStorage) -> str | None:
    """Return the URL of a database, as it was given for the study."""
    inner = storage_behind(storage)
    return inner.url if isinstance(inner, RDBStorage) else None


def _shown_url(storage: BaseStorage) -> str:
    """Return the URL of a storage; ``URL`` if there is none or it may contain a password."""
    url = _url(storage)
    if url is None:
        return "URL"
    from sqlalchemy.engine import make_url

    parts = make_url(url)
    return "URL" if parts.password is not None or parts.query else url


def _is_like(made: object, default: object) -> bool:
    """Return whether a sampler or pruner has the same class and options as Optuna's default."""
    return type(made) is type(default) and _plain(made) == _plain(default)


def _plain(made: object) -> dict[str, object]:
    return {
        name: value
        for name, value in vars(made).items()
        if value is None or isinstance(value, bool | int | float | str)
    }
