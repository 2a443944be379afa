"""The command ``hyperflock replay``: runs a trial again on this machine and compares.

It has its own exit codes: 0 the results are equal, 1 they differ, 2 the trial cannot run here.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import Annotated

import typer

from hyperflock._base.errors import HyperflockError, ServerUnreachableError
from hyperflock._cli import tables as _tables
from hyperflock._cli.shared import (
    Json,
    StudyId,
    Token,
    TrialNumber,
    Url,
    command,
    complain,
    console,
    show_lines,
    show_text,
    terminal_width,
)
from hyperflock._client.client import Client
from hyperflock._execution.replay import DEFAULT_TOLERANCE, Replay, ReplayOn

EXIT_DIFFERENT = 1
EXIT_CANNOT = 2


class On(str, Enum):
    """Where the trial runs."""

    cpython = "cpython"
    chromium = "chromium"


@command(
    "hyperflock replay 3 17",
    "hyperflock replay 3 17 --on chromium --tolerance 0.05",
    "hyperflock replay 3 17 --json | jq .same",
)
def replay(
    study_id: StudyId,
    number: TrialNumber,
    on: Annotated[
        On, typer.Option("--on", help="Python here, or a local headless Chromium.")
    ] = On.cpython,
    tolerance: Annotated[
        float,
        typer.Option(min=0, help="Part of a number by which it may differ; below 1 that much."),
    ] = DEFAULT_TOLERANCE,
    browser: Annotated[
        str | None,
        typer.Option(help="The browser's program, for --on chromium.", show_default=False),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the code of somebody else's study.")
    ] = False,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Run a trial's code again here with its parameters and seed, and compare.

    The study's code runs on this machine, so replay only code that you trust. Exit codes: 0 the
    results are equal, 1 they differ, 2 the trial cannot run here.
    """
    place: ReplayOn = on.value
    try:
        study = Client(url, token).study(study_id)
        found = study.replay(number, on=place, tolerance=tolerance, browser=browser, trust=trust)
    except ServerUnreachableError:
        raise
    except HyperflockError as error:
        complain(error.code, error.message)
        return EXIT_CANNOT
    if as_json:
        show_text(json.dumps(found.as_dict(), indent=2, allow_nan=False) + "\n")
    else:
        _show(found)
    return 0 if found.same else EXIT_DIFFERENT


def _show(found: Replay) -> None:
    how = "the same" if found.same else "different"
    print(f"trial {found.trial} of study {found.study}: {how} within {found.tolerance:g}")
    console().print(_tables.replayed(found.compared, short=terminal_width() is not None))
    told = found.provenance
    device = " ".join(filter(None, (told.device_class, told.engine, told.backend, told.adapter)))
    show_lines(
        [
            ("recorded", f"{device or '-'}, {found.recorded_s:.1f} s"),
            ("", _tables.versions_text(told.software)),
            ("here", f"{found.on} {found.backend}, {found.seconds:.1f} s"),
            ("", _tables.versions_text(found.versions)),
            *(("note", note) for note in found.notes),
        ]
    )
    if found.error is not None:
        print(f"error [{found.error.code}]: {found.error.message}")
        print(found.error.traceback, end="")
