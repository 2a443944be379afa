"""Defines fixtures for all tests: a fake console, its client, and an environment without
settings.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_console import FakeConsole
from hyperflock import Client
from hypothesis import HealthCheck, settings
from patience import LIMIT_S
from real_server import Server

SERVER_VARIABLE = "HYPERFLOCK_TEST_SERVER_BIN"

# Hypothesis's time limits are off, because a slow machine says nothing about the tested code.
settings.register_profile(
    "steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts background jobs with Ctrl-C ignored, and the tested commands would inherit
    # that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", f"server: needs a built server ({SERVER_VARIABLE})")
    config.addinivalue_line("markers", f"browser: needs a built runtime too ({SERVER_VARIABLE})")


def pytest_report_header() -> str:
    path = os.environ.get(SERVER_VARIABLE)
    return (
        f"server: {path}"
        if path
        else f"server: {SERVER_VARIABLE} is not set, its tests are deselected"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if SERVER_VARIABLE in os.environ:
        return
    marks = ("server", "browser")
    left_out = [item for item in items if any(map(item.get_closest_marker, marks))]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in ("URL", "TOKEN", "CA", "SERVER", "APP", "RUNTIME", "BROWSER"):
        monkeypatch.delenv(f"HYPERFLOCK_{name}", raising=False)
    # Never use the developer's own local server and tokens.
    monkeypatch.setenv("HYPERFLOCK_HOME", str(tmp_path_factory.getbasetemp() / "no-home"))
    # All tests share one cache, so that the files for real browsers are fetched and checked once.
    monkeypatch.setenv("HYPERFLOCK_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a real server that the tests of one file share (marked ``server``)."""
    server = Server(tmp_path_factory.mktemp("server")).start()
    yield server
    server.stop()


@pytest.fixture
def server() -> Iterator[FakeConsole]:
    with FakeConsole() as console:
        yield console


@pytest.fixture
def built_pages(server: FakeConsole) -> None:
    """Let the fake console serve the pages of `./run build`, for tests marked ``browser``."""
    server.built = Path(__file__).resolve().parents[2] / "build"


@pytest.fixture
def client(server: FakeConsole) -> Iterator[Client]:
    with Client(server.url, server.token, patience_s=LIMIT_S) as made:
        yield made
