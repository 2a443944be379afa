"""Lets every test begin without arrays and with counters at 0.

`--sample N` keeps the first and about one in N other cases of each parametrised test that is not
marked `whole`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import arraycore as ac
import pytest
from arraycore._runtime import session


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--sample",
        type=int,
        default=1,
        metavar="N",
        help="about one case in N of each parametrised test, always the same ones (default: all)",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    every = config.getoption("--sample")
    if every < 1:
        raise pytest.UsageError("--sample takes a number from 1")
    seen: set[str] = set()
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        # A hash of the name selects the cases. If every Nth case was selected, all might have the
        # same dtype.
        whole = item.get_closest_marker("whole") is not None
        in_sample = whole or test not in seen or zlib.crc32(item.name.encode()) % every == 0
        (kept if in_sample else left).append(item)
        seen.add(test)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


@pytest.fixture
def share(request: pytest.FixtureRequest) -> int:
    """Return the number by which a test divides its number of random cases: 1, or 2 with
    ``--sample``.
    """
    return 2 if request.config.getoption("--sample") > 1 else 1


@pytest.fixture
def unfused() -> Iterator[None]:
    """Launch every operation when it is called, for tests that count launches or Python's calls."""
    before = session.set_fusing(False)
    ac.reset()
    yield
    session.set_fusing(before)


@pytest.fixture
def cupys_rules() -> Iterator[None]:
    """Follow CuPy's rules, under which functions take arrays of arraycore and numbers alone."""
    before = session.set_promotion("cupy")
    yield
    session.set_promotion(before)


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    ac.reset()
    yield
    ac.reset()
