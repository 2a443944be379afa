"""Runs Optuna's own storage tests on the storage that shows a real server's studies.

storage_list.py lists the tests that this storage cannot pass, each with its reason. A listed test
that passes is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.testing.pytest_storages import StorageTestCase
from real_server import Server
from storage_list import NOT_CARRIED, Reason
from written_storage import WrittenStorage

pytestmark = pytest.mark.server
VERSION = int(optuna.__version__.partition(".")[0])
DOCS = Path(__file__).resolve().parents[2] / "docs" / "search" / "optuna.md"


def listed(name: str) -> Reason | None:
    """Return why a test of this Optuna version cannot pass on the storage of a server's studies.

    None means that it can pass.
    """
    reason = NOT_CARRIED.get(name)
    return reason if reason and VERSION in reason.versions else None


@pytest.fixture
def storage(
    real: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WrittenStorage]:
    made = WrittenStorage(real, JournalStorage(JournalFileBackend(str(tmp_path / "attributes"))))
    monkeypatch.setenv("HYPERFLOCK_TOKEN", made.token)
    yield made
    made.close()


class TestView(StorageTestCase):
    @pytest.fixture(autouse=True)
    def _expect(self, request: pytest.FixtureRequest) -> None:
        reason = listed(request.node.originalname)
        if reason is not None:
            mark = pytest.mark.xfail(reason=reason.why, raises=reason.raises, strict=True)
            request.applymarker(mark)


def test_list_names_tests_that_there_are() -> None:
    here = {name for name in dir(StorageTestCase) if name.startswith("test_")}
    assert {name for name in NOT_CARRIED if listed(name)} <= here
    assert len(here) - sum(map(bool, map(listed, NOT_CARRIED))) > 24


def test_documentation_gives_every_reason() -> None:
    told = set(re.findall(r"^- (.+)$", DOCS.read_text("utf-8"), re.MULTILINE))
    assert {reason.why for reason in NOT_CARRIED.values()} <= told
