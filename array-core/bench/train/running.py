"""Runs ``steps.py`` in a place, which is a host and a back end (``PLACES``). Returns one JSON
object for each network.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "array-core/bench"), str(ROOT / "array-core/tests/chainer")]

from cnn_losses import NODE, PLACES  # noqa: E402
from places import VERSIONS, python_path, wheel  # noqa: E402

__all__ = ["NODE", "PLACES", "ROOT", "VERSIONS", "command", "lines", "run"]

STEPS = Path(__file__).with_name("steps.py")
#: The folders that the script imports from, besides its own.
MOUNTS = ("python/examples", "array-core/tests/chainer")


def command(where: str | None, version: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the command that runs the script, without the script's own arguments; and the
    environment of the command.

    ``where`` is a place, or None for a native process.
    """
    env = dict(os.environ)
    place = None if where is None else PLACES[where]
    if place is None:
        env["PYTHONPATH"] = python_path(version)
        env.setdefault("ARRAYCORE_LIBRARY", str(ROOT / "build/release/lib/libarraycore.so"))
        return (sys.executable, str(STEPS)), env
    mounts = [word for folder in MOUNTS for word in ("--mount", folder)]
    return (*NODE, *place, *mounts, "--wheel", str(wheel(version)), str(STEPS)), env


def lines(command: tuple[str, ...], env: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects that a command prints, one per line, as they come.

    Raises
    ------
    subprocess.CalledProcessError
        The command failed. It is raised after the objects that it printed before.
    """
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                yield json.loads(line)
            else:
                print(line, end="", file=sys.stderr)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


def run(where: str | None, version: str, *arguments: str, on: str = "") -> list[dict[str, Any]]:
    """Return the objects, one per network, that ``steps.py`` prints in a place.

    If ``where`` is None, it runs in a native process.
    """
    line, env = command(where, version)
    on = on or ("numpy" if where is None else "cupy")
    return list(lines((*line, *arguments, "--on", on), env))
