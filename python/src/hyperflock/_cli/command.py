"""The command ``hyperflock``; this module imports all its commands and runs them.

Exit codes: 0 success; 1 the server or this package refused the request; 2 wrong usage; 3 the server
does not answer; 4 the watched study was cancelled or ended without a complete trial; 130 Ctrl-C
ended the command; 143 SIGTERM ended it (signals.py).
An error is one line on standard error: ``error [code]: message``.

The commands are in submit.py, studies.py, artifacts.py, replay.py, deletion.py, dashboard.py,
rejection.py, sampler.py, webhook.py, server.py, up.py and demo.py.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hyperflock._base.errors import HyperflockError, ServerUnreachableError
from hyperflock._base.version import __version__
from hyperflock._cli import artifacts as _cli_artifacts
from hyperflock._cli import dashboard as _cli_dashboard
from hyperflock._cli import deletion as _cli_deletion
from hyperflock._cli import demo as _cli_demo
from hyperflock._cli import rejection as _cli_rejection
from hyperflock._cli import replay as _cli_replay
from hyperflock._cli import sampler as _cli_sampler
from hyperflock._cli import server as _cli_server
from hyperflock._cli import studies as _cli_studies
from hyperflock._cli import submit as _cli_submit
from hyperflock._cli import up as _cli_up
from hyperflock._cli import webhook as _cli_webhook
from hyperflock._cli.shared import (
    EXIT_DETACHED,
    EXIT_NO_RESULT,
    EXIT_REFUSED,
    EXIT_UNREACHABLE,
    EXIT_USAGE,
    app,
    complain,
)
from hyperflock._cli.signals import ended_by_signals, print_note

__all__ = [
    "EXIT_DETACHED",
    "EXIT_NO_RESULT",
    "EXIT_REFUSED",
    "EXIT_UNREACHABLE",
    "EXIT_USAGE",
    "app",
    "run",
]

PARTS = (
    _cli_submit,
    _cli_studies,
    _cli_artifacts,
    _cli_deletion,
    _cli_dashboard,
    _cli_replay,
    _cli_rejection,
    _cli_sampler,
    _cli_webhook,
    _cli_server,
    _cli_up,
    _cli_demo,
)  # importing a module registers its commands


def run(arguments: list[str]) -> int:
    """Run the command and return its exit code: 130 if a signal ended it, without a traceback.

    What the command has started ends too. A note says what goes on without the command.
    """
    try:
        with ended_by_signals():
            code = _run(arguments)
    except KeyboardInterrupt:
        code = EXIT_DETACHED
    if code == EXIT_DETACHED:
        print_note()
    return code


def _run(arguments: list[str]) -> int:
    try:
        # Without arguments, the command prints its help, which is not a wrong usage.
        if not arguments or arguments[0] == "help":
            arguments = [*arguments[1:], "--help"]
        code = app(arguments, prog_name="hyperflock", standalone_mode=False)
    except HyperflockError as error:
        where = f" ({error.field})" if error.field else ""
        complain(error.code, f"{error.message}{where}", getattr(error, "request_id", None))
        return EXIT_UNREACHABLE if isinstance(error, ServerUnreachableError) else EXIT_REFUSED
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_DETACHED
    except Exception as error:
        # Only typer's errors about arguments are caught. Any other error is a bug and is shown.
        show = getattr(error, "format_message", None)
        if show is None:
            raise
        context = getattr(error, "ctx", None)
        if (
            context is not None and context.parent is not None and len(arguments) == 1
        ):  # a command without its arguments
            print(f"{context.get_help()}\n", file=sys.stderr)
        complain("usage", str(show()))
        return EXIT_USAGE
    return code if isinstance(code, int) else 0


def _version(wanted: bool) -> None:
    if wanted:
        print(f"hyperflock {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
