"""The suite needs the built probe library: without it every test fails, none is skipped."""

from __future__ import annotations

import pytest
from array_core_fuzz.probe import library


@pytest.fixture(autouse=True, scope="session")
def probe_library() -> None:
    """Load the library once, so that its absence is said once and plainly."""
    library()
