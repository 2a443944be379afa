"""The sampler service: owns a study while no other process does, for closed notebooks.

    serve(client, study_id, Description(storage="sqlite:///study.db", sampler="mine:make_sampler"))

The service takes over when the owner leaves, and gives up the study when another process claims it.
`serve` blocks and needs one thread per study.
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
    """The description of an Optuna study in text, because nothing is unpickled.

    Attributes
    ----------
    storage : str or None
        Optuna's URL of the storage; None for a study in memory, which is restored from the server.
    study_name : str or None
        The study's name in the storage; None means its name at the server.
    sampler, pruner : str or None
        ``module:factory``, which is called without arguments; None means Optuna's default.
    catch : bool
        Whether an exception of the objective fails only its trial.
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
    """Own a study whenever no other process does, until it has ended.

    Parameters
    ----------
    client
        The server.
    study_id
        The study's number at the server.
    description
        The description of the Optuna study.
    notice
        Called with the state ``standing by``, ``sampling`` or ``finished`` when it begins.

    Raises
    ------
    HyperflockError
        ``bad_factory``, ``bad_storage``, ``directions_differ``, and the codes of `optimize`.
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
    except Exception as error:  # any exception of any database
        reason = clean(f"{type(error).__name__}: {error}", limit=300)
    # The URL is not shown, because it may contain a password.
    raise HyperflockError(
        f"Optuna's storage cannot be used: {reason}; give the URL and the name that the study was "
        "made with",
        code="bad_storage",
    )


def _made(factory: str | None, kind: type) -> Any:
    """Call ``module:factory`` and return its result, which must be an instance of ``kind``."""
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
    except Exception as error:  # any exception of the module
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
