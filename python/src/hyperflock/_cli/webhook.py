"""The commands for webhooks: set or remove that of a study, and the key that signs deliveries."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from hyperflock._cli.shared import Json, StudyId, Token, Url, command, show_json
from hyperflock._client.client import Client
from hyperflock._reports import export as _export
from hyperflock._reports.webhook import webhook_text


class Event(str, Enum):
    """What a webhook can be told."""

    finished = "finished"
    stopped = "stopped"
    cancelled = "cancelled"
    no_devices = "no_devices"


@command(
    "hyperflock webhook 3 https://hooks.example.org/me",
    "hyperflock webhook 3 https://hooks.example.org/me --event finished --event no_devices",
    "hyperflock webhook 3 --remove",
)
def webhook(
    study_id: StudyId,
    address: Annotated[
        str | None, typer.Argument(metavar="ADDRESS", help="Where the server posts events.")
    ] = None,
    event: Annotated[
        list[Event] | None, typer.Option(help="Only this event; may be repeated.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Post nothing any more.")] = False,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Let the server post what happens to a study to an address, or show what was posted."""
    if remove and (address or event):
        raise typer.BadParameter("--remove goes without an ADDRESS and without --event")
    if event and not address:
        raise typer.BadParameter("--event needs an ADDRESS")
    study = Client(url, token).study(study_id)
    if address or remove:
        study.notify(address, events=[one.value for one in event] if event else None)
    if as_json:
        show_json(_export.study_dict(study.row)["webhook"])
    else:
        print(webhook_text(study.row) or f"study {study.id} has no webhook")
    return 0


@command("hyperflock webhook-secret", "hyperflock webhook-secret --renew")
def webhook_secret(
    renew: Annotated[bool, typer.Option("--renew", help="Make a new key; forget the old.")] = False,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Print the key with which the server signs what it posts to your webhooks. It is a secret."""
    secret = Client(url, token).webhook_secret(renew=renew)
    if as_json:
        show_json({"secret": secret})
    else:
        print(secret)
    return 0
