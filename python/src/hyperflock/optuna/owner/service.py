"""The sampler service: owns a study while nobody else does, so that a notebook may be closed.

    serve(client, study_id, Description(storage="sqlite:///study.db", sampler="mine:make_sampler"))

It stands by, takes over when the owner goes, and steps back when one comes. Blocking: one thread a
study.
"""

from __future__ import annotations

import importlib
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna

from hyperflock._base.errors import HyperflockError
from hyperflock._base.text import clean
from hyperflock._client.client import Client
from hyperflock._transport.messages import StudyRow
from hyperflock.optuna.owner.optimize import own
from hyperflock.optuna.owner.owner import Owner
from hyperflock.optuna.owner.run import Plan
from hyperflock.optuna.study_import import name_there, to_optuna


@dataclass(frozen=True)
class Description:
    """A study in words, because nothing is unpickled.

    Attributes
    ----------
    storage : str or None
        Optuna's URL of it; None: in memory, made again of what the server keeps.
    study_name : str or None
        Its name there; None: the server's.
    sampler, pruner : str or None
        ``module:factory``, called without arguments; None: Optuna's default.
    catch : bool
        Whether a trial that raised is only a failed one.
    """

    storage: str | None = None
    study_name: str | None = None
    sampler: str | None = None
    pruner: str | None = None
    catch: bool = False


def serve(
    client: Client,
    study_id: int,
    description: Description,
    notice: Callable[[str], None] = lambda text: None,
) -> None:
    """Stand by for a study and own it whenever nobody else does, until it has ended.

    Parameters
    ----------
    client
        The server.
    study_id
        The study's number there.
    description
        What makes the Optuna study again.
    notice
        Told ``standing by``, ``sampling`` and ``finished``, as they come about.

    Raises
    ------
    HyperflockError
        ``bad_factory``, ``bad_storage``, ``directions_differ``, and those of `optimize`.
    """
    sampler = _made(description.sampler, optuna.samplers.BaseSampler)
    pruner = _made(description.pruner, optuna.pruners.BasePruner)
    row = client.study(study_id).row
    study = _study(client, row, description, sampler, pruner)
    catch = (Exception,) if description.catch else ()
    owner = Owner(study, row, catch=catch)
    label = f"sampler@{socket.gethostname()}"
    own(owner, client, Plan(to_target=True), label=label, standby=True, notice=notice)
    notice("finished")


def _study(
    client: Client, row: StudyRow, description: Description, sampler: Any, pruner: Any
) -> optuna.Study:
    if description.storage is None:
        study = to_optuna(client._core._http, row)
        study.sampler = sampler or study.sampler
        study.pruner = pruner or study.pruner
        return study
    name = description.study_name or name_there(client._core._http, row)
    try:
        return optuna.load_study(
            study_name=name, storage=description.storage, sampler=sampler, pruner=pruner
        )
    except KeyError:
        reason = f"it has no study '{clean(name, limit=100)}'"
    except Exception as error:  # of whichever database it is
        reason = clean(f"{type(error).__name__}: {error}", limit=300)
    # The URL is not shown: a password may be in it.
    raise HyperflockError(
        f"Optuna's storage cannot be used: {reason}; give the URL and the name that the study was "
        "made with",
        code="bad_storage",
    )


def _made(factory: str | None, kind: type) -> Any:
    """Call ``module:factory``; what it gives must be of a kind."""
    if factory is None:
        return None
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    module, _, path = factory.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        made = found()
    except Exception as error:  # whatever the module does
        reason = clean(f"{type(error).__name__}: {error}", limit=300)
        made = None
    else:
        reason = f"it gave a {type(made).__name__}, not a {kind.__name__}"
    if not isinstance(made, kind):
        raise HyperflockError(
            f"'{clean(factory, limit=100)}' makes nothing to sample with ({reason}); give "
            "module:function of a function without arguments",
            code="bad_factory",
        )
    return made
