"""The command ``hyperflock``: submit, watch, studies, trials. One process, one thread of our own.

Exit codes: 0 done; 1 refused by the server or by a check here; 2 wrong usage; 3 the server does not
answer; 4 the watched study ended without a complete trial or was cancelled; 130 detached by Ctrl-C.
Errors are one line on standard error: ``error [code]: message``.
"""

from __future__ import annotations

import csv
import json
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from hyperflock import _tables
from hyperflock._bundle import Bundle, bundle_module, bundle_script
from hyperflock._client import Client, key_of
from hyperflock._data import prepare
from hyperflock._dry_run import dry_run
from hyperflock._errors import (
    HyperflockError,
    InvalidSpaceError,
    NoCompleteTrialError,
    ServerUnreachableError,
)
from hyperflock._grid import grid_point, trial_seed
from hyperflock._results import TrialResult
from hyperflock._study import Study
from hyperflock._text import clean
from hyperflock._version import __version__
from hyperflock._wheels import Wheel, read_wheels

EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3
EXIT_NO_RESULT = 4
EXIT_DETACHED = 130

app = typer.Typer(
    name="hyperflock",
    help="Hyper-parameter search on volunteers' phones and browsers.",
    epilog="Exit codes: 0 done; 1 refused; 2 wrong usage; 3 the server does not answer; "
    "4 ended without a complete trial; 130 detached by Ctrl-C (the study goes on).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
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


class Direction(str, Enum):
    """Whether a small or a large value is good."""

    minimize = "minimize"
    maximize = "maximize"


class DryRunIn(str, Enum):
    """Where a dry run takes place."""

    cpython = "cpython"
    browser = "browser"


def main() -> None:
    """Run the command and exit with its code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command; the exit code."""
    try:
        code = app(arguments, prog_name="hyperflock", standalone_mode=False)
    except HyperflockError as error:
        where = f" ({error.field})" if error.field else ""
        _complain(error.code, f"{error.message}{where}")
        return EXIT_UNREACHABLE if isinstance(error, ServerUnreachableError) else EXIT_REFUSED
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_DETACHED
    except Exception as error:
        # typer's own complaints about the arguments; anything else is a fault of ours and shows.
        show = getattr(error, "format_message", None)
        if show is None:
            raise
        _complain("usage", str(show()))
        return EXIT_USAGE
    return code if isinstance(code, int) else 0


def _complain(code: str, message: str) -> None:
    print(f"error [{clean(code)}]: {clean(message)}", file=sys.stderr)


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


@app.command()
def submit(
    script: Annotated[
        str,
        typer.Argument(help="SCRIPT.py or package.module, with ':function' (default: objective)."),
    ],
    space: Annotated[str, typer.Option(help="JSON such as '{\"c\": [4, 8]}', or a file of it.")],
    data: Annotated[
        list[str] | None, typer.Option(help="NAME=PATH of a data set; may be repeated.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The study's name.", show_default=False)] = None,
    direction: Annotated[
        Direction, typer.Option(help="Which values are good.")
    ] = Direction.minimize,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every trial's seed.")] = 0,
    chainer: Annotated[str, typer.Option(help="Chainer's version in the browsers.")] = "7.8.1",
    time_limit_s: Annotated[
        float, typer.Option("--time-limit", min=0, help="Seconds a trial may take; 0: any.")
    ] = 3600,
    submit_key: Annotated[
        str | None,
        typer.Option(help="Makes a repeated submit give the same study.", show_default=False),
    ] = None,
    wheel: Annotated[
        list[str] | None, typer.Option(help="A pure Python wheel it imports; may be repeated.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Take the name for the submit key.")] = False,
    dry_run_in: Annotated[
        DryRunIn | None,
        typer.Option(
            "--dry-run", help="Run the first trial here, submit nothing.", show_default=False
        ),
    ] = None,
    watch_it: Annotated[bool, typer.Option("--watch", help="Stay and show the results.")] = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Submit a grid; the script is read, not run. Prints the study's id."""
    key = key_of(name, submit_key, once=once)
    bundle = _bundle(script, read_wheels(wheel or []))
    points, sets = _space(space), prepare(_data(data or []))
    if dry_run_in is not None:
        run = dry_run(
            bundle,
            sets,
            params=grid_point(points, 0),
            seed=trial_seed(seed, 0),
            chainer=chainer,
            time_limit_s=time_limit_s,
            where=dry_run_in.value,
        )
        print(run)
        return 0 if run.error is None else EXIT_REFUSED
    study = Client(url, token)._submit(
        bundle,
        points,
        sets,
        name=name or bundle.entry.split(":")[1],
        direction=direction.value,
        seed=seed,
        chainer=chainer,
        time_limit_s=time_limit_s,
        submit_key=key,
        progress=None,
    )
    if not watch_it:
        print(study.id)
        return 0
    print(f"study {study.id}, {len(study)} trials", file=sys.stderr)
    return _watch(study)


@app.command()
def watch(
    study_id: Annotated[int, typer.Argument(metavar="STUDY", min=1, help="The study's id.")],
    url: Url = None,
    token: Token = None,
) -> int:
    """Show a study's results as they arrive, then its best trial. Ctrl-C detaches."""
    return _watch(Client(url, token).study(study_id))


@app.command()
def studies(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """List studies, the newest first."""
    found = Client(url, token).studies()
    if as_json:
        print(json.dumps([_tables.study_dict(study) for study in found], indent=2))
    else:
        _console().print(_tables.studies(found))
    return 0


@app.command()
def trials(
    study_id: Annotated[int, typer.Argument(metavar="STUDY", min=1, help="The study's id.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="As CSV.")] = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """List a study's finished trials."""
    if as_json and as_csv:
        raise typer.BadParameter("give one of --json and --csv")
    study = Client(url, token).study(study_id)
    found = study.trials
    if as_json:
        print(json.dumps([trial.as_dict() for trial in found], indent=2))
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows(_tables.csv_rows(study, found))
    else:
        _console().print(_tables.trials(study, found))
    return 0


def _watch(study: Study) -> int:
    line = _tables.Lines(study)
    print(line.head())
    try:
        for trial in study.watch():
            _print_beside_bar(line.of(trial))
    except KeyboardInterrupt:
        study._say_detached()
        raise
    try:
        best = study.best_trial
    except NoCompleteTrialError:
        _complain("no_complete_trial", f"study {study.id} ended without a complete trial")
        return EXIT_NO_RESULT
    print(_best_line(best))
    return EXIT_NO_RESULT if study.row.state == "cancelled" else 0


def _best_line(best: TrialResult) -> str:
    return f"best: trial {best.number}, value {best.value:.6g}, {_tables.params_text(best.params)}"


def _print_beside_bar(text: str) -> None:
    """Print a line; a progress bar on the same terminal is moved out of its way."""
    from tqdm.auto import tqdm

    with tqdm.external_write_mode(file=sys.stdout):
        print(text, flush=True)


def _console() -> Console:
    # No markup, no emoji codes, no highlighting: names come from other people.
    width = None if sys.stdout.isatty() else 200
    return Console(markup=False, emoji=False, highlight=False, width=width)


def _bundle(target: str, wheels: list[Wheel]) -> Bundle:
    """``path/to/script.py:function`` or ``package.module:function``."""
    where, colon, function = target.rpartition(":")
    # A drive's colon is none of ours, and a function's name is an identifier.
    if not colon or not function.isidentifier():
        where, function = target, "objective"
    if where.endswith(".py"):
        return bundle_script(where, function, wheels)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return bundle_module(where, function, wheels)


def _space(text: str) -> dict[str, Any]:
    if not text.lstrip().startswith("{"):
        try:
            text = Path(text).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidSpaceError(
                f"--space is neither a JSON object nor a file of one: {error}", code="bad_space"
            ) from None
    try:
        space = json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise InvalidSpaceError(f"--space is not JSON: {error}", code="bad_space") from None
    if not isinstance(space, dict):
        raise InvalidSpaceError("--space is not a JSON object", code="bad_space")
    return space


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name is there twice")
    return dict(pairs)


def _data(items: list[str]) -> dict[str, str]:
    data: dict[str, str] = {}
    for item in items:
        name, equals, path = item.partition("=")
        if not equals or not name or not path:
            raise typer.BadParameter(f"--data takes NAME=PATH, not '{item}'")
        if name in data:
            raise typer.BadParameter(f"--data names '{name}' twice")
        data[name] = path
    return data


if __name__ == "__main__":
    main()
