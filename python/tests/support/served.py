"""Provides the products of `./run build` for tests in which real volunteers compute (marked
``browser``).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[3] / "build"


def use_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands find the server of the tests, and the built pages and runtime."""
    monkeypatch.setenv("HYPERFLOCK_SERVER", os.environ["HYPERFLOCK_TEST_SERVER_BIN"])
    for name in ("web", "runtime", "volunteer"):
        assert (BUILD / name).is_dir(), f"build/{name} is missing: ./run build"
    monkeypatch.setenv("HYPERFLOCK_APP", str(BUILD / "web"))
    monkeypatch.setenv("HYPERFLOCK_RUNTIME", str(BUILD / "runtime"))


def trials_done(lines: str) -> int:
    """Return how many trials the volunteers have done, according to the newest count of each."""
    counts = re.findall(r"^volunteer (\d+)  .*; (\d+) trials? done$", lines, re.MULTILINE)
    return sum({number: int(count) for number, count in counts}.values())
