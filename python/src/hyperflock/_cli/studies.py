"""The commands for existing studies: list, show, watch, export, plot, cancel and others."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from hyperflock._base.errors import HyperflockError, NoCompleteTrialError
from hyperflock._bundle.wheels import read_wheels
from hyperflock._cli import notice as _notice
from hyperflock._cli import tables as _tables
from hyperflock._cli.script import bundle_of, read_space
from hyperflock._cli.shared import (
    EXIT_NO_RESULT,
    Json,
    StudyId,
    Token,
    Url,
    command,
    complain,
    console,
    may_change,
    show_content,
    show_json,
    show_lines,
    show_text,
    terminal_width,
)
from hyperflock._cli.signals import goes_on
from hyperflock._client.client import Client
from hyperflock._client.idle_notice import placement_text
from hyperflock._client.study import Study
from hyperflock._client.submission import MAX_PRIORITY
from hyperflock._client.view import detached_text
from hyperflock._model.results import TrialResult
from hyperflock._reports import export as _export
from hyperflock._reports.best import best_line, no_best, number_text
from hyperflock._reports.html import state_text
from hyperflock._reports.plots import PlotKind


class Format(str, Enum):
    """The format of an export."""

    csv = "csv"
    json = "json"
    jsonl = "jsonl"
    parquet = "parquet"


class Kind(str, Enum):
    """The kind of a plot."""

    history = "history"
    parallel = "parallel"


@command(
    "hyperflock watch 3",
    "hyperflock watch digits --notify",
    "hyperflock watch 3 --json | jq .value",
)
def watch(
    study_id: StudyId,
    notify: Annotated[
        bool,
        typer.Option(
            "--notify",
            help="Notify at the end, and when nothing can run: on the desktop, or a bell.",
        ),
    ] = False,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Show a study's results as they arrive, then its best trial. Ctrl-C detaches.

    With --json each finished trial is one line. Exit codes: 0 the study has ended with a complete
    trial, 4 it was cancelled or has none, 130 detached.
    """
    goes_on(detached_text(shlex.quote(study_id)))
    study = Client(url, token).study(study_id)
    return watch_study(study, as_json=as_json, notify=_notice.notify if notify else None)


@command("hyperflock studies", "hyperflock studies --json")
def studies(as_json: Json = False, url: Url = None, token: Token = None) -> int:
    """List studies, the newest first."""
    found = Client(url, token).studies()
    if as_json:
        show_json([_export.study_dict(study.row) for study in found])
    else:
        console().print(_tables.studies(found, terminal_width()))
    return 0


@command("hyperflock show 3", "hyperflock show 3 17", "hyperflock show 3 17 --json")
def show(
    study_id: StudyId,
    number: Annotated[
        int | None, typer.Argument(metavar="TRIAL", min=0, help="One trial of it.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Show one study, or one of its trials with curve, runs and provenance."""
    study = Client(url, token).study(study_id)
    short = terminal_width() is not None
    if number is None:
        if as_json:
            show_json(_export.study_dict(study.row))
        else:
            show_lines([*_tables.study_lines(study, short=short), *_why_nothing_runs(study)])
        return 0
    trial = study.trial(number)
    if as_json:
        show_json(trial.as_dict())
        return 0
    show_lines(_tables.trial_lines(trial, short=short))
    for text in _tables.attempt_texts(trial):
        print(text)
    if trial.provenance is not None:
        print()
        show_lines(_tables.provenance_lines(trial.provenance))
    return 0


@command("hyperflock trials 3", "hyperflock trials 3 --json")
def trials(
    study_id: StudyId,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="As CSV.")] = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """List a study's finished trials."""
    if as_json and as_csv:
        raise typer.BadParameter("give one of --json and --csv")
    study = Client(url, token).study(study_id)
    if as_csv:
        show_text(study.export("csv"))
    elif as_json:
        show_json([trial.as_dict() for trial in study.trials])
    else:
        console().print(_tables.trials(study.trials, terminal_width(), row=study.row))
    return 0


@command(
    "hyperflock export 3 > trials.csv",
    "hyperflock export 3 --format json -o trials.json",
    "hyperflock export 3 --format jsonl | jq .params",
    "hyperflock export 3 --format parquet -o trials.parquet",
    "hyperflock export 3 --series -o steps.csv",
)
def export(
    study_id: StudyId,
    format: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.csv,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A file; else standard output.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    series: Annotated[
        bool, typer.Option("--series", help="What the trials logged, one row per step.")
    ] = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Write a study's finished trials, or what they logged, as CSV, JSON, JSON lines or Parquet."""
    study = Client(url, token).study(study_id)
    kind: _export.Format = "json" if as_json else format.value
    content = study.export(kind, output, series=series)
    if output is None:
        show_content(content)
    return 0


@command("hyperflock plot 3 -o history.svg", "hyperflock plot 3 --kind parallel -o parallel.svg")
def plot(
    study_id: StudyId,
    output: Annotated[Path, typer.Option("--output", "-o", help="An SVG file.")],
    kind: Annotated[Kind, typer.Option("--kind", help="What to draw.")] = Kind.history,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Draw a study's trials into an SVG file: values over time, or parallel coordinates."""
    drawn: PlotKind = kind.value
    study = Client(url, token).study(study_id)
    study.plot(drawn).save(output)
    if as_json:
        show_json({"study": study.id, "kind": drawn, "file": str(output)})
    return 0


@command("hyperflock logs 3", "hyperflock logs 3 17", "hyperflock logs 3 17 --follow")
def logs(
    study_id: StudyId,
    number: Annotated[
        int | None,
        typer.Argument(metavar="TRIAL", min=0, help="One trial; else each that failed."),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Print what the trial prints, until it is over.")
    ] = False,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Show the runs of a trial, or of each failed one: devices, errors, lines printed."""
    study = Client(url, token).study(study_id)
    if follow:
        if number is None:
            raise typer.BadParameter("--follow goes with one TRIAL")
        again = f"hyperflock logs {shlex.quote(study_id)} {number} --follow"
        goes_on(f"detached: the trial goes on; follow it again by: {again}")
        for line in study.log(number, follow=True):
            print(json.dumps(line) if as_json else line, flush=True)
        return 0
    numbers = [t.number for t in study.trials if t.error] if number is None else [number]
    found = [study.trial(each) for each in numbers]
    if as_json:
        told = [{**each.as_dict(), "lines": list(study.log(each.number))} for each in found]
        show_json(told)
        return 0
    for trial in found:
        params = _tables.params_text(trial.params, short=terminal_width() is not None)
        print(f"trial {trial.number} {trial.state}, {params}")
        for text in (*_tables.attempt_texts(trial), *study.log(trial.number)):
            print(text)
    return 0


@command("hyperflock cancel 3")
def cancel(study_id: StudyId, as_json: Json = False, url: Url = None, token: Token = None) -> int:
    """End a study now; results so far are kept."""
    may_change(study_id)
    return _changed(Client(url, token).study(study_id).cancel(), as_json)


@command("hyperflock pause 3")
def pause(study_id: StudyId, as_json: Json = False, url: Url = None, token: Token = None) -> int:
    """Start no more trials of a study; running ones continue and count."""
    may_change(study_id)
    return _changed(Client(url, token).study(study_id).pause(), as_json)


@command("hyperflock resume 3")
def resume(study_id: StudyId, as_json: Json = False, url: Url = None, token: Token = None) -> int:
    """Start the trials of a paused study again."""
    may_change(study_id)
    return _changed(Client(url, token).study(study_id).resume(), as_json)


@command("hyperflock priority 3 10", "hyperflock priority nightly -5", negative=True)
def priority(
    study_id: StudyId,
    number: Annotated[
        int, typer.Argument(metavar="N", min=-MAX_PRIORITY, max=MAX_PRIORITY, help="Its priority.")
    ],
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Give a study a priority among your studies: the highest with work gets devices first."""
    may_change(study_id)
    study = Client(url, token).study(study_id).set_priority(number)
    if as_json:
        show_json(_export.study_dict(study.row))
    else:
        print(f"study {study.id} has priority {study.priority}")
    return 0


@command("hyperflock retry 3", "hyperflock retry 3 --script mended.py")
def retry(
    study_id: StudyId,
    script: Annotated[
        str | None,
        typer.Option(
            help="SCRIPT.py or package.module with the mended objective, with ':function'.",
            show_default=False,
        ),
    ] = None,
    keep_checkpoints: Annotated[
        bool,
        typer.Option("--keep-checkpoints", help="Continue from checkpoints of the code before it."),
    ] = False,
    wheel: Annotated[
        list[str] | None, typer.Option(help="A pure Python wheel it imports; may be repeated.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Issue every failed trial of a study again; a finished study runs again.

    With --script they and the trials that have not begun run the mended objective. Results so far
    are kept.
    """
    may_change(study_id)
    if script is None and (keep_checkpoints or wheel):
        raise typer.BadParameter("--keep-checkpoints and --wheel go with --script")
    bundle = None if script is None else bundle_of(script, read_wheels(wheel or []))
    study = Client(url, token).study(study_id)
    return _changed(study.retry_with(bundle, keep_checkpoints=keep_checkpoints), as_json)


@command(
    "hyperflock extend 3 --space '{\"rate\": [0.1, 0.01, 0.001]}'",
    "hyperflock extend 3 --space space.json",
    "hyperflock extend 4 --trials 200",
)
def extend(
    study_id: StudyId,
    space: Annotated[
        str | None,
        typer.Option(
            help="The study's space with more values, as JSON or a file of it.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Of a random or Sobol study, how many.", show_default=False),
    ] = None,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Add the points that a larger space has; a finished study runs again.

    The trials that exist keep their numbers and results.
    """
    may_change(study_id)
    if (space is None) == (trials is None):
        raise typer.BadParameter("give one of --space and --trials")
    larger = None if space is None else read_space(space)
    study = Client(url, token).study(study_id).extend(larger, trials=trials)
    return _changed(study, as_json)


def watch_study(
    study: Study, *, as_json: bool, notify: Callable[[str, str], object] | None = None
) -> int:
    """Print a study's trials as they finish, then the best one, and return the exit code.

    ``notify`` gets a title and a text when nothing can run, and at the end.
    """
    goes_on(detached_text(study.id))
    study._detached = True  # the command itself says it
    title = f"study {study.id} {study.name}"

    def waits(reason: str) -> None:
        if notify is not None:
            notify(title, f"waits: {reason}")

    code = _watched(study, waits, as_json=as_json)
    if notify is not None:
        notify(title, f"{study.row.state}: {study.done} of {len(study)} trials, {_best(study)}")
    return code


def _best(study: Study) -> str:
    return f"best {study.best_text}" if study.row.complete else "none complete"


def _watched(study: Study, waits: Callable[[str], None], *, as_json: bool) -> int:
    line = _tables.Lines(study, short=terminal_width() is not None)
    if not as_json:
        print(line.head())
    for trial in study.watch(on_idle=waits):
        _print_beside_bar(json.dumps(trial.as_dict()) if as_json else line.of(trial))
    if len(study.row.aims) > 1:
        return _end_of_several(study, as_json=as_json)
    try:
        best = study.best_trial
    except NoCompleteTrialError as error:
        complain(error.code, error.message)
        return EXIT_NO_RESULT
    if not as_json:
        print(_best_line(best))
    return EXIT_NO_RESULT if study.row.state == "cancelled" else 0


def _end_of_several(study: Study, *, as_json: bool) -> int:
    """Print how a study with several objectives ended; such a study has no single best trial."""
    row = study.row
    if not row.best_trials:
        error = no_best(row)
        complain(error.code, error.message)
        return EXIT_NO_RESULT
    if not as_json:
        short = terminal_width() is not None
        best = best_line(row, short=short)
        print(f"{row.complete} complete trials of {len(row.aims)} objectives: {best}")
    return EXIT_NO_RESULT if study.row.state == "cancelled" else 0


def _why_nothing_runs(study: Study) -> list[tuple[str, str]]:
    """If no trial of a study runs, return a table row that says whether the connected devices can
    run one. Otherwise, and if the study is paused or has ended, return no row.
    """
    row = study.row
    if row.state != "running" or row.running or row.paused or row.held:
        return []
    try:
        return [("devices", placement_text(study.placement(), row))]
    except HyperflockError:  # an older server does not have this page
        return []


def _changed(study: Study, as_json: bool) -> int:
    if as_json:
        show_json(_export.study_dict(study.row))
    else:
        state = state_text(study.row)
        print(f"study {study.id} is {state}, {study.done} of {len(study)} trials done")
    return 0


def _best_line(best: TrialResult) -> str:
    short = terminal_width() is not None
    value, params = best.values[0], _tables.params_text(best.params, short=short)
    return f"best: trial {best.number}, value {number_text(value, short=short)}, {params}"


def _print_beside_bar(text: str) -> None:
    """Print a line above a progress bar on the same terminal."""
    from tqdm.auto import tqdm

    with tqdm.external_write_mode(file=sys.stdout):
        print(text, flush=True)
