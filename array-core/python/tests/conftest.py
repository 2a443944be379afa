"""Every test begins with no array and counters at 0."""

from __future__ import annotations

from collections.abc import Iterator

import arraycore as ac
import pytest
from arraycore import _library


@pytest.fixture
def unfused() -> Iterator[None]:
    """Every operation is launched when it is called: for tests that count launches or crossings."""
    before = _library.set_fusing(False)
    ac.reset()
    yield
    _library.set_fusing(before)


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    ac.reset()
    yield
    ac.reset()
