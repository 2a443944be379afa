"""The command ``hyperflock submit``: submits a search from a script without running the script."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, cast

import typer

from hyperflock._base.errors import HyperflockError
from hyperflock._bundle.source.runtime import DEFAULT_RUNTIME
from hyperflock._bundle.wheels import read_wheels
from hyperflock._cli import notice as _notice
from hyperflock._cli.script import bundle_of, read_space
from hyperflock._cli.shared import EXIT_REFUSED, Json, Token, Url, command, show_json
from hyperflock._cli.signals import goes_on
from hyperflock._cli.studies import watch_study
from hyperflock._cli.webhook import Event
from hyperflock._client.client import Client
from hyperflock._client.placement import Requires
from hyperflock._client.submission import (
    DEFAULT_MAX_FAILURES,
    MAX_PRIORITY,
    Submission,
    key_of,
)
from hyperflock._client.view import detached_text
from hyperflock._model.data import prepare
from hyperflock._model.sweep import Sweep, read_sweep
from hyperflock._model.value_range import Range
from hyperflock._reports import export as _export
from hyperflock._transport import background_loop as _loop

SWEEP_FILES = {".json", ".yaml", ".yml"}


class Direction(str, Enum):
    """Whether smaller or larger values are better."""

    minimize = "minimize"
    maximize = "maximize"


class Backend(str, Enum):
    """The back end of trials."""

    auto = "auto"
    webgpu = "webgpu"
    webgl2 = "webgl2"
    cpu = "cpu"


class DryRunIn(str, Enum):
    """Where a dry run takes place."""

    cpython = "cpython"
    browser = "browser"


@command(
    "hyperflock submit train.py --space '{\"rate\": [0.1, 0.01]}' --watch",
    "hyperflock submit train.py:fit --space space.json --data digits=digits.npz",
    "hyperflock submit pack.train --space space.json --dry-run cpython",
    "hyperflock submit sweep.yaml --watch",
)
def submit(
    script: Annotated[
        str,
        typer.Argument(
            metavar="SCRIPT",
            help="SCRIPT.py or package.module, with ':function' (default: objective); or a sweep "
            "file, .yaml or .json.",
        ),
    ],
    space: Annotated[
        str | None,
        typer.Option(
            help="JSON such as '{\"c\": [4, 8]}' or '[{\"c\": 4}]', or a file of it.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        list[str] | None, typer.Option(help="NAME=PATH of a data set; may be repeated.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The study's name.", show_default=False)] = None,
    direction: Annotated[
        Direction | None,
        typer.Option(help="Which values are good; else small ones.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every trial's seed.")] = 0,
    runtime: Annotated[
        str, typer.Option(help="What the browsers have: chainer-7.8.1 or chainer-5.4.0.")
    ] = DEFAULT_RUNTIME,
    backend: Annotated[
        Backend | None,
        typer.Option(
            help="What the trials compute on; auto where they ask for a device.",
            show_default=False,
        ),
    ] = None,
    requires: Annotated[
        str | None,
        typer.Option(
            help="What devices must have, as JSON: '{\"memory_mb\": 4096}'.", show_default=False
        ),
    ] = None,
    time_limit_s: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            min=0,
            help="Seconds a trial may take; else 3600, or fewer if the server allows no more; "
            "0: as many as the server allows.",
            show_default=False,
        ),
    ] = None,
    value_range: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LOW HIGH",
            help="Between which numbers each value lies; -inf and inf: no limit.",
            show_default=False,
        ),
    ] = None,
    max_failures: Annotated[
        int,
        typer.Option(
            min=0, help="Failed trials alike after which the study pauses itself; 0: never."
        ),
    ] = DEFAULT_MAX_FAILURES,
    priority: Annotated[
        int | None,
        typer.Option(
            min=-MAX_PRIORITY,
            max=MAX_PRIORITY,
            help="Of your studies, the highest goes first.",
            show_default=False,
        ),
    ] = None,
    webhook: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Where the server posts what happens to the study.",
            show_default=False,
        ),
    ] = None,
    webhook_event: Annotated[
        list[Event] | None, typer.Option(help="Post only this event; may be repeated.")
    ] = None,
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
    notify: Annotated[
        bool, typer.Option("--notify", help="With --watch: notify as hyperflock watch does.")
    ] = False,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Submit a search and print the study's id. The script is read, not run."""
    goes_on("interrupted: nothing is submitted")
    if notify and not watch_it:
        raise typer.BadParameter("--notify goes with --watch")
    sweep = _search(script, space, direction)
    name = name or sweep.name
    key = key_of(name, submit_key, once=once)
    bundle = bundle_of(sweep.program, read_wheels(wheel or []))
    made = Submission(
        bundle=bundle,
        space=sweep.space,
        method=sweep.method,
        trials=sweep.trials,
        data=prepare(_data(data or [])),
        name=name or bundle.entry.split(":")[1],
        direction=sweep.direction,
        seed=seed,
        runtime=runtime,
        backend=None if backend is None else backend.value,
        requires=_requires(requires),
        time_limit_s=time_limit_s,
        max_failures=max_failures or None,
        value_range=_value_range(value_range),
        priority=sweep.priority if priority is None else priority,
        webhook=webhook,
        webhook_events=[one.value for one in webhook_event] if webhook_event else None,
        submit_key=key,
        extends=once,
    )
    if dry_run_in is not None:
        goes_on("interrupted: the dry run has ended, and nothing is submitted")
        if dry_run_in is DryRunIn.browser:
            run = Client(url, token).try_in_browser(made)
        else:
            run = _loop.run(made.dry_run("cpython"))
        if as_json:
            show_json(dataclasses.asdict(run))
        else:
            print(run)
        return 0 if run.error is None else EXIT_REFUSED
    goes_on("interrupted: see by 'hyperflock studies' whether the study is submitted")
    study = Client(url, token).submit(made)
    goes_on(detached_text(study.id))
    if watch_it:
        print(f"study {study.id}, {len(study)} trials", file=sys.stderr)
        return watch_study(study, as_json=as_json, notify=_notice.notify if notify else None)
    if as_json:
        show_json(_export.study_dict(study.row))
    else:
        print(study.id)
    return 0


def _search(script: str, space: str | None, direction: Direction | None) -> Sweep:
    """Return the search of a sweep file, or of a script with its space."""
    if Path(script).suffix not in SWEEP_FILES:
        if space is None:
            raise typer.BadParameter("a script needs --space; a sweep file has its own")
        chosen = direction or Direction.minimize
        return Sweep(script, read_space(space), None, 0, chosen.value, None)
    if space is not None or direction is not None:
        raise typer.BadParameter("a sweep file has space and direction; leave the options out")
    path = Path(script)
    sweep = read_sweep(path)
    return dataclasses.replace(sweep, program=str(path.parent / sweep.program))


def _requires(text: str | None) -> Requires | None:
    if text is None:
        return None
    try:
        requires = json.loads(text)
    except ValueError:
        requires = None
    if not isinstance(requires, dict):
        raise HyperflockError("--requires is not a JSON object", code="bad_field", field="requires")
    return cast(Requires, requires)


def _value_range(given: tuple[float, float] | None) -> Range | None:
    """Return the range with None in place of an infinite limit."""
    if given is None:
        return None
    low, high = given
    return None if low == -math.inf else low, None if high == math.inf else high


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
