"""Defines fixtures for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hyperflock import Client
from real_server import Server


@pytest.fixture
def real_client(real: Server) -> Iterator[Client]:
    """Yield a client of the real server, and cancel what still runs afterwards. Otherwise the next
    test's devices would get its trials.
    """
    with real.client() as made:
        yield made
        for study in made.studies():
            if study.row.state == "running":
                study.cancel()
