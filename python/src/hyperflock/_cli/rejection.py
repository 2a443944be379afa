"""The command ``hyperflock reject``: takes back results that nobody should trust."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from hyperflock._cli.shared import Json, StudyId, Token, Url, command, may_change, show_json
from hyperflock._client.client import Client


@command(
    "hyperflock reject 3 --device d_3kq",
    "hyperflock reject 3 --trial 17 --reason 'far below the others'",
    "hyperflock reject 3 --device d_3kq --since 2026-11-28T09:00",
)
def reject(
    study_id: StudyId,
    device: Annotated[
        str | None,
        typer.Option(help="The device that sent them, by its id.", show_default=False),
    ] = None,
    trial: Annotated[
        int | None, typer.Option(min=0, help="The trial, by its number.", show_default=False)
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d"],
            help="The time from which on they arrived; local time.",
            show_default=False,
        ),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; shown with them.", show_default=False)] = "",
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Reject results of a study: they do not count, and their trials run again elsewhere.

    Give at least one of --device, --trial and --since; all that are given must hold. The results
    are kept as evidence. The same command again rejects nothing.
    """
    if device is None and trial is None and since is None:
        raise typer.BadParameter("give --device, --trial or --since")
    may_change(study_id)
    study = Client(url, token).study(study_id)
    done = study.reject(device=device, trial=trial, since=since, reason=reason)
    if as_json:
        show_json(done.as_dict())
    else:
        print(
            f"study {study.id}: {done.attempts} attempts rejected, {done.trials} trials run again"
        )
    return 0
