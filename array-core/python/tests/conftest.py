"""Every test begins with no array and counters at 0."""

from __future__ import annotations

from collections.abc import Iterator

import arraycore as ac
import pytest


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    ac.reset()
    yield
    ac.reset()
