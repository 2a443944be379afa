"""The command ``hyperflock sampler``: samples for studies whose notebook is closed."""

from __future__ import annotations

import json
import shlex
import threading
from typing import Annotated

import typer

from hyperflock._base.errors import HyperflockError
from hyperflock._cli.shared import EXIT_REFUSED, Json, StudyIds, Token, Url, command, complain
from hyperflock._cli.signals import goes_on
from hyperflock._client.client import Client
from hyperflock._transport.http import PATIENCE_S


@command(
    "hyperflock sampler 3",
    "hyperflock sampler 3 --storage sqlite:///study.db --sampler mine:make",
    "hyperflock sampler 3 4 5 --catch",
)
def sampler(
    study_ids: StudyIds,
    storage: Annotated[
        str | None,
        typer.Option(help="Optuna's URL of the storage; else in memory.", show_default=False),
    ] = None,
    study_name: Annotated[
        str | None,
        typer.Option(help="The name there, if it is not the server's.", show_default=False),
    ] = None,
    sampler_factory: Annotated[
        str | None,
        typer.Option("--sampler", help="module:function that makes it.", show_default=False),
    ] = None,
    pruner_factory: Annotated[
        str | None,
        typer.Option("--pruner", help="module:function that makes it.", show_default=False),
    ] = None,
    catch: Annotated[
        bool, typer.Option("--catch", help="Go on where an objective raises.")
    ] = False,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Sample for Optuna studies while no other process does, until they have ended.

    A notebook that comes back takes over its study at once. Ctrl-C ends this command, and the
    studies then wait for a sampler.
    """
    from hyperflock.optuna.owner.service import Description, serve

    description = Description(storage, study_name, sampler_factory, pruner_factory, catch)
    # The command may be started together with its server, so it waits until the server answers.
    client = Client(url, token, patience_s=PATIENCE_S)
    failed: list[int] = []

    def run(study: int) -> None:
        def notice(text: str) -> None:
            told = json.dumps({"study": study, "state": text})
            print(told if as_json else f"study {study}: {text}", flush=True)

        try:
            serve(client, study, description, notice)
        except HyperflockError as error:
            failed.append(study)
            complain(error.code, f"study {study}: {error.message}")

    again = f"hyperflock sampler {shlex.join(study_ids)}"
    goes_on(f"detached: running trials go on, and new ones wait for a sampler, such as: {again}")
    numbers = dict.fromkeys(_numbers(client, study_ids))
    threads = [threading.Thread(target=run, args=(study,), daemon=True) for study in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():  # on some systems Ctrl-C does not interrupt one long wait
            thread.join(0.5)
    return EXIT_REFUSED if failed else 0


def _numbers(client: Client, texts: list[str]) -> list[int]:
    """Return the ids of studies that are given by id or name. Only names need a running server."""
    return [int(text) if text.isdecimal() else client.study(text).id for text in texts]
