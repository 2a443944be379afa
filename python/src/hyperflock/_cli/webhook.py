"""The command for webhooks: sets, shows and removes a study's webhook, and prints the key that
signs deliveries.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from hyperflock._cli.shared import Json, Token, Url, command, may_change, show_json
from hyperflock._client.client import Client
from hyperflock._reports import export as _export
from hyperflock._reports.webhook import webhook_text


class Event(str, Enum):
    """The events of a study that the server can post to its webhook."""

    finished = "finished"
    stopped = "stopped"
    cancelled = "cancelled"
    no_devices = "no_devices"


@command(
    "hyperflock webhook 3 https://hooks.example.org/me",
    "hyperflock webhook 3 https://hooks.example.org/me --event finished",
    "hyperflock webhook 3 --remove",
    "hyperflock webhook --secret",
)
def webhook(
    study_id: Annotated[
        str | None, typer.Argument(metavar="STUDY", help="The study's id or name.")
    ] = None,
    address: Annotated[
        str | None, typer.Argument(metavar="ADDRESS", help="Where the server posts events.")
    ] = None,
    event: Annotated[
        list[Event] | None, typer.Option(help="Only this event; may be repeated.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Post nothing any more.")] = False,
    secret: Annotated[
        bool, typer.Option("--secret", help="Print the key that signs what is posted to you.")
    ] = False,
    renew: Annotated[bool, typer.Option("--renew", help="With --secret: make a new key.")] = False,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Let the server post what happens to a study to an address. Without an address, show what
    became of the last event.
    """
    if secret:
        return _secret(Client(url, token), study_id, renew=renew, as_json=as_json)
    if renew:
        raise typer.BadParameter("--renew goes with --secret")
    if study_id is None:
        raise typer.BadParameter("name a STUDY, or give --secret")
    if remove and (address or event):
        raise typer.BadParameter("--remove goes without an ADDRESS and without --event")
    if event and not address:
        raise typer.BadParameter("--event needs an ADDRESS")
    changes = bool(address) or remove
    if changes:
        may_change(study_id)
    study = Client(url, token).study(study_id)
    if changes:
        study.notify(address, events=[one.value for one in event] if event else None)
    if as_json:
        show_json(_export.study_dict(study.row)["webhook"])
    else:
        print(webhook_text(study.row) or f"study {study.id} has no webhook")
    return 0


def _secret(client: Client, study_id: str | None, *, renew: bool, as_json: bool) -> int:
    if study_id is not None:
        raise typer.BadParameter("--secret goes without a STUDY: the key is the same for all")
    key = client.webhook_secret(renew=renew)
    if as_json:
        show_json({"secret": key})
    else:
        print(key)
    return 0
