"""The suite needs the built probe library: without it every test fails, none is skipped.

Values of casts and what is right are those of the parity suite beside this one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from array_core_fuzz.probe import library

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "parity"))


@pytest.fixture(autouse=True, scope="session")
def probe_library() -> None:
    """Load the library once, so that its absence is said once and plainly."""
    library()
