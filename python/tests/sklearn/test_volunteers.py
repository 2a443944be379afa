"""Tests that `SearchCV` gives scikit-learn's own scores on three volunteers in Node, of which one
is killed. They run the scikit-learn of the packs.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.searches import IRIS, SEARCHES, assert_same
from hyperflock import Client
from hyperflock._local.engines import find_engine
from hyperflock._local.parts import Parts, find_parts
from hyperflock._local.server import LocalServer
from hyperflock._local.volunteers import Volunteers
from hyperflock.sklearn import SearchCV
from hyperflock.sklearn import search as _search
from patience import LIMIT_S, until
from served import BUILD, use_build
from sklearn.model_selection import RandomizedSearchCV, StratifiedKFold


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Parts:
    """Return what `./run build` has built, with the packs."""
    use_build(monkeypatch)
    assert (BUILD / "packs" / "packs.json").is_file(), "build/packs is missing: ./run build"
    return replace(find_parts(None, None, None), packs=BUILD / "packs")


@pytest.fixture
def local(parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalServer]:
    home = tmp_path / "home"
    monkeypatch.setenv("HYPERFLOCK_HOME", str(home))
    server = LocalServer(home)
    server.start(parts, ["--compute", "127.0.0.1:0", "--console", "127.0.0.1:0"])
    yield server
    server.stop()


@pytest.mark.browser
def test_scores_are_scikit_learns_own_although_a_volunteer_is_killed(
    parts: Parts, local: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_search, "differences", lambda: ())
    running = local.running()
    assert running is not None
    heard: list[str] = []
    code = str(local.credentials()["enrolment_code"])
    cv = StratifiedKFold(3, shuffle=True, random_state=5)
    with (
        Volunteers(
            find_engine("node", parts.volunteer), parts.volunteer, local.folder, heard.append
        ) as volunteers,
        ThreadPoolExecutor(1) as pool,
        Client() as client,
    ):
        volunteers.start(3, f"http://127.0.0.1:{running.port}", code)
        for number, (estimator, space) in enumerate(SEARCHES.values()):
            options: dict[str, Any] = {"n_iter": 3, "random_state": 2, "cv": cv}
            fitted = pool.submit(SearchCV(estimator, space, client=client, **options).fit, *IRIS)
            if number == 0:
                _until_all_compute(client, fitted)
                os.kill(volunteers.pids[0], signal.SIGKILL)
            theirs = RandomizedSearchCV(estimator, space, **options).fit(*IRIS)
            assert_same(fitted.result(LIMIT_S), theirs)
        assert len(client.workers()) == 2, heard


def _until_all_compute(client: Client, fitted: Future[SearchCV]) -> None:
    def computing() -> int:
        return sum(worker["state"] == "computing" for worker in client.workers())

    until("three devices that compute", lambda: fitted.done() or computing() == 3)
