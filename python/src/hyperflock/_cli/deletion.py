"""The command ``hyperflock delete``: deletes ended studies permanently."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hyperflock._base.errors import server_error
from hyperflock._cli.shared import EXIT_REFUSED, Json, StudyIds, Token, Url, command, show_json
from hyperflock._cli.signals import goes_on
from hyperflock._client.client import Client
from hyperflock._client.deletion import Deleted
from hyperflock._client.study import Study


@command("hyperflock delete 3", "hyperflock delete 3 4 5 --yes", "hyperflock delete 3 --yes --json")
def delete(
    study_ids: StudyIds,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Delete ended studies permanently: trials, curves and files.

    Code and data are deleted too, unless another study uses them. Export what you want to keep
    first.
    """
    client = Client(url, token)
    found = list({study.id: study for study in map(client.study, study_ids)}.values())
    for study in found:  # before anything is deleted
        _check_over(study)
    if not yes and not _agreed(found):
        return EXIT_REFUSED
    goes_on("interrupted: see by 'hyperflock studies' which studies are deleted")
    gone: list[Deleted] = []
    try:
        for study in found:
            gone.append(study.delete())
            if not as_json:
                print(_line(gone[-1]), flush=True)
    finally:  # if one is refused, those before it have been deleted
        if as_json:
            show_json([one.as_dict() for one in gone])
    return 0


def _line(gone: Deleted) -> str:
    if gone.trials is None or gone.artifacts is None or gone.bytes is None:
        return f"study {gone.study} is deleted; the connection broke before the server said more"
    size = f"{gone.bytes / 1e6:.1f} MB"
    return f"study {gone.study} is deleted: {gone.trials} trials, {gone.artifacts} files, {size}"


def _check_over(study: Study) -> None:
    if study.row.state == "running":
        raise server_error(
            "study_running",
            f"study {study.id} '{study.name}' is not over; end it first by: "
            f"hyperflock cancel {study.id}",
        )


def _agreed(found: list[Study]) -> bool:
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody is there to be asked; say --yes to delete for good")
    for study in found:
        print(f"study {study.id} '{study.name}', {study.done} trials done", file=sys.stderr)
    return typer.confirm("Delete for good, with trials, curves and files?", err=True)
