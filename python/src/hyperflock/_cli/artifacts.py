"""The command ``hyperflock artifacts``: lists and fetches files that trials uploaded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperflock._base.errors import HyperflockError
from hyperflock._cli import tables as _tables
from hyperflock._cli.shared import (
    Json,
    StudyId,
    Token,
    Url,
    command,
    console,
    show_json,
    terminal_width,
)
from hyperflock._client.artifacts import Artifact, file_name
from hyperflock._client.client import Client
from hyperflock._client.study import Study


@command("hyperflock artifacts 3", "hyperflock artifacts 3 17 --output weights --json")
def artifacts(
    study_id: StudyId,
    number: Annotated[
        int | None, typer.Argument(metavar="TRIAL", min=0, help="Of one trial of it.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A folder to write them into, each as TRIAL-NAME; it is made.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """List the files that a study's trials uploaded, or fetch them."""
    study = Client(url, token).study(study_id)
    found = study.artifacts(number)
    if number is not None and not found:
        study.trial(number)  # raises an error if there is no such trial
    if output is None:
        if as_json:
            show_json([one.as_dict() for one in found])
        else:
            console().print(_tables.artifacts(found, terminal_width()))
        return 0
    files = _fetch(study, found, output)
    if as_json:
        show_json(
            [one.as_dict() | {"file": str(file)} for one, file in zip(found, files, strict=True)]
        )
    else:
        for file in files:
            print(file)
    return 0


def _fetch(study: Study, found: list[Artifact], folder: Path) -> list[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HyperflockError(
            f"'{folder}' cannot be made: {error.strerror or error}", code="cannot_write"
        ) from None
    files: list[Path] = []
    for one in found:
        name = file_name(one, [file.name for file in files])
        files.append(study.download_artifact(one, folder / name))
    return files
