"""Runs ``steps.py`` in one of the places of ``cnn_losses.py``; gives its objects, one a network."""

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
#: What the script imports besides its own folder.
MOUNTS = ("python/examples", "array-core/tests/chainer")


def command(where: str | None, version: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The command line before the script's arguments, and its environment; None: natively."""
    env = dict(os.environ)
    place = None if where is None else PLACES[where]
    if place is None:
        env["PYTHONPATH"] = python_path(version)
        env.setdefault("ARRAYCORE_LIBRARY", str(ROOT / "build/release/lib/libarraycore.so"))
        return (sys.executable, str(STEPS)), env
    mounts = [word for folder in MOUNTS for word in ("--mount", folder)]
    return (*NODE, *place, *mounts, "--wheel", str(wheel(version)), str(STEPS)), env


def lines(command: tuple[str, ...], env: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
    """The JSON objects that a command prints, one a line, as they come.

    Raises
    ------
    subprocess.CalledProcessError
        It failed, after what was given.
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
    """What ``steps.py`` says in a place, or (None) on CPython and NumPy: an object a network."""
    line, env = command(where, version)
    on = on or ("numpy" if where is None else "cupy")
    return list(lines((*line, *arguments, "--on", on), env))
