"""The command ``demo``: a server, volunteers on this machine, and a first study.

It runs in one thread. The server's data is in a temporary folder, which is removed at the end.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from hyperflock._base.errors import HyperflockError
from hyperflock._cli.shared import command
from hyperflock._cli.signals import goes_on
from hyperflock._cli.up import EngineChoice
from hyperflock._local.engines import find_engine
from hyperflock._local.lifeline import end_with_parent
from hyperflock._local.parts import find_parts
from hyperflock._local.server import LocalServer
from hyperflock._local.volunteers import Volunteers

_LOOK_S = 0.2
_END_S = 10.0

_HERE = Path(__file__).resolve().parents[1] / "_local" / "demo"
_SCRIPT = "digits_grid.py"
# Scikit-learn's digits as plain arrays; _local/demo/README.md says where they come from.
_DIGITS = _HERE / "digits.npz"
# A checkout has the script among the examples, and a wheel has it next to the digits.
_PLACES = (_HERE, Path(__file__).resolve().parents[4] / "python" / "examples")
_ANY_PORTS = ("--compute", "127.0.0.1:0", "--console", "127.0.0.1:0")


@command(
    "hyperflock demo",
    "hyperflock demo --volunteers 4 --engine node",
    "hyperflock demo train.py 2",
    passes_on=True,
)
def demo(
    script: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCRIPT.py",
            help="A script that submits a study, and its arguments; default: a search on digits.",
            show_default=False,
        ),
    ] = None,
    volunteers: Annotated[
        int, typer.Option(min=1, max=64, help="How many volunteers compute on this machine.")
    ] = 2,
    engine: Annotated[
        EngineChoice, typer.Option(help="What they run in; auto: a browser if there is one.")
    ] = EngineChoice.auto,
) -> int:
    """Show everything at once: a server, volunteers and a search, all on this machine."""
    goes_on("interrupted: the demo's server and volunteers have ended, and its data is removed")
    began = time.monotonic()
    parts = find_parts(None, None, None)
    chosen = find_engine(engine.value, parts.volunteer)
    with tempfile.TemporaryDirectory(prefix="hyperflock-demo-") as place:
        folder = Path(place)
        words = _command(script or [], folder)
        local = LocalServer(folder / "home")
        with contextlib.ExitStack() as running_things:
            options = [*_ANY_PORTS, "--project", "Digits demo", "--researcher", "the demo"]
            running_things.callback(local.stop)
            running = local.start(parts, options)
            told = local.credentials()
            link = f"{running.compute}/join#{told['enrolment_code']}"
            print(f"server      {running.compute} (volunteers), {running.console} (researchers)")
            print(f"join page   {link}", flush=True)
            team = Volunteers(chosen, parts.volunteer, local.folder, _say)
            running_things.callback(team.stop)
            team.start(volunteers, running.compute, str(told["enrolment_code"]))
            status = _run(
                words,
                {
                    "HYPERFLOCK_URL": running.console,
                    "HYPERFLOCK_TOKEN": str(told["researcher_token"]),
                    "HYPERFLOCK_JOIN_URL": link,
                },
                team,
            )
    if status == 0:
        print(
            f"demo        finished in {time.monotonic() - began:.0f} s. With a phone: "
            "'hyperflock up --share' starts a server of your own and shows a link for it."
        )
    return status


def _command(script: list[str], folder: Path) -> list[str]:
    """Return the command line that runs the script. If ``script`` has only options, they are for
    the default script.
    """
    if script and script[0].endswith(".py"):
        if not Path(script[0]).is_file():
            raise HyperflockError(f"'{script[0]}' is no file", code="demo_missing")
        return script
    found = next((place / _SCRIPT for place in _PLACES if (place / _SCRIPT).is_file()), None)
    if found is None:
        raise HyperflockError(
            "the demo's script is not in this installation; install hyperflock again, or name a "
            "script of your own",
            code="demo_missing",
        )
    # The script is copied, because code among installed packages is not sent to devices.
    shutil.copyfile(found, folder / _SCRIPT)
    return [str(folder / _SCRIPT), "--digits", str(_DIGITS), *script]


def _run(words: list[str], settings: dict[str, str], team: Volunteers) -> int:
    """Run the script and return its exit code."""
    process = subprocess.Popen(
        [sys.executable, "-u", *words],
        env={**os.environ, **settings},
        # Ctrl-C must not reach the script, because it would print a traceback there. `_end` sends
        # SIGTERM instead.
        start_new_session=True,
        preexec_fn=end_with_parent(),
    )
    try:
        while (status := process.poll()) is None:
            if not team.is_any_running:
                raise HyperflockError(
                    "every volunteer has ended before the study; their lines above say why",
                    code="volunteer_failed",
                )
            time.sleep(_LOOK_S)
    finally:
        _end(process)
    return status if status >= 0 else 128 - status


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the script if it still runs."""
    process.terminate()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _say(text: str) -> None:
    print(text, flush=True)
