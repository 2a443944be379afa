"""Makes every test fail, instead of being skipped, if the probe library is not built.

The values of casts and the expected results come from the parity suite.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from array_core_fuzz.probe import library

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "parity"))


@pytest.fixture(autouse=True, scope="session")
def probe_library() -> None:
    """Load the library before the tests, so that its absence is reported clearly."""
    library()
