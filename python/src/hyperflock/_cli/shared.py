"""Options, exit codes and printing, for all commands.

The help of a command ends with its examples, which the decorator gets:

    @command("hyperflock studies --json")
    def studies(...) -> int: ...
"""

from __future__ import annotations

import inspect
import json
import shlex
import sys
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console

from hyperflock._base.text import clean
from hyperflock._cli.signals import goes_on

EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3
EXIT_NO_RESULT = 4
EXIT_DETACHED = 130
# The width in characters of a console that must not wrap rows.
_UNLIMITED = 10**9

app = typer.Typer(
    name="hyperflock",
    help="Hyper-parameter search on volunteers' phones and browsers.",
    epilog="Exit codes: 0 done; 1 refused; 2 wrong usage; 3 the server does not answer; "
    "4 ended without a complete trial; 130 detached by Ctrl-C (the study goes on).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Url = Annotated[
    str | None,
    typer.Option(
        "--url", envvar="HYPERFLOCK_URL", help="The console's address.", show_default=False
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token", envvar="HYPERFLOCK_TOKEN", help="A researcher's token.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
StudyId = Annotated[str, typer.Argument(metavar="STUDY", help="The study's id or name.")]
StudyIds = Annotated[list[str], typer.Argument(metavar="STUDY", help="Their ids or names.")]
TrialNumber = Annotated[int, typer.Argument(metavar="TRIAL", min=0, help="The trial's number.")]

_F = TypeVar("_F", bound=Callable[..., int])


def command(*examples: str, passes_on: bool = False, negative: bool = False) -> Callable[[_F], _F]:
    """Register a function as a command of the same name, and add examples to the command's help.

    The list of commands shows the docstring's first sentence, wrapped and not cut. With
    ``passes_on``, options after the first argument, and unknown ones, are arguments for another
    program. With ``negative``, an argument may be a negative number.
    """
    settings: dict[str, bool] = {}
    if passes_on or negative:
        settings["ignore_unknown_options"] = True
    if passes_on:
        settings["allow_interspersed_args"] = False

    def register(function: _F) -> _F:
        # The character "\b" keeps the line breaks of the examples. Without it, click joins and
        # wraps the lines like other text.
        shown = "\n".join(("\b", "Examples:", *(f"  {example}" for example in examples)))
        told = inspect.getdoc(function) or ""
        first = " ".join(told.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
        registered: _F = app.command(
            epilog=shown,
            short_help=f"{first}.",
            context_settings=settings or None,
        )(function)
        return registered

    return register


def may_change(study_id: str) -> None:
    """From now on, Ctrl-C also prints the command that shows whether the server made the change."""
    goes_on(f"interrupted: see by 'hyperflock show {shlex.quote(study_id)}' whether it is done")


def complain(code: str, message: str, request_id: str | None = None) -> None:
    """Print an error as one line, and the id of its request as another."""
    print(f"error [{clean(code)}]: {clean(message)}", file=sys.stderr)
    if request_id:
        print(f"request {request_id}", file=sys.stderr)


def show_text(text: str) -> None:
    """Print a text line by line; the program that reads it may close the pipe at any time."""
    sys.stdout.writelines(text.splitlines(keepends=True))
    sys.stdout.flush()


def show_content(content: str | bytes) -> None:
    """Print a text, or bytes as they are."""
    if isinstance(content, str):
        show_text(content)
        return
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    show_text(json.dumps(value, indent=2, allow_nan=False) + "\n")


def console() -> Console:
    """Return a console for tables, without markup and highlighting, because other people chose the
    names.
    """
    # A program reads a pipe line by line, so that no row may be wrapped there.
    width = None if sys.stdout.isatty() else _UNLIMITED
    return Console(markup=False, emoji=False, highlight=False, width=width)


def terminal_width() -> int | None:
    """Return the width of a terminal's line; None if standard output is not a terminal."""
    return console().width if sys.stdout.isatty() else None


def show_lines(rows: list[tuple[str, str]]) -> None:
    """Print names and values in two columns."""
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        print(f"{name:<{width}}  {text}")
