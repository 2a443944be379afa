"""Defines fixtures with the paths of the gathered runtime, of the download cache and of Node.js."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from places import ROOT, SCRIPTS

sys.path.insert(0, str(SCRIPTS))


@pytest.fixture(scope="session")
def runtime() -> Path:
    """Return the folder ``HYPERFLOCK_RUNTIME`` or ``build/runtime``. The test fails if it is not
    built.
    """
    folder = Path(os.environ.get("HYPERFLOCK_RUNTIME", ROOT / "build" / "runtime"))
    if not (folder / "index.json").is_file():
        pytest.fail(f"{folder} has no index.json: gather the runtime first (./run build)")
    return folder


@pytest.fixture(scope="session")
def index(runtime: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((runtime / "index.json").read_text())
    return loaded


@pytest.fixture(scope="session")
def cache() -> Path:
    """Return the folder of the verified downloads."""
    return Path(os.environ.get("HYPERFLOCK_CACHE", ROOT / "build" / "cache"))


@pytest.fixture(scope="session")
def node() -> str:
    """Return the path of Node.js: the project's own if it exists, otherwise the system's."""
    own = ROOT / "build" / "venv" / "bin" / "node"
    found = str(own) if own.is_file() else shutil.which("node")
    if found is None:
        pytest.fail("Node.js was not found: run ./run setup")
    return found
