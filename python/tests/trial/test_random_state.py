"""Tests that a checkpoint contains the state of the random generators, and nothing that harms its
reader.
"""

from __future__ import annotations

import io
import json
import random
import sys
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hyperflock._base.errors import CheckpointError
from hyperflock._trial.random_state import MEMBER, restore, snapshot
from hyperflock._trial.trial import Saved, Trial
from recording_host import RecordingHost


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    before = random.getstate(), np.random.get_state()
    yield
    random.setstate(before[0])
    np.random.set_state(before[1])


def trial(checkpoint: Saved | None = None, host: RecordingHost | None = None) -> Trial:
    return Trial({}, number=0, seed=1, data={}, checkpoint=checkpoint, host=host)


def drawn() -> list[float]:
    """Return the next numbers of both generators, also from functions that draw numbers in
    pairs.
    """
    return [random.random(), random.gauss(0, 1), np.random.rand(), np.random.randn()]


@pytest.mark.parametrize("state", [{"epoch": 3}, [np.arange(3)]])
def test_who_goes_on_draws_what_an_unbroken_run_draws(state: Any) -> None:
    local = RecordingHost()
    random.seed(1)
    np.random.seed(1)
    drawn()  # one number of a pair is kept for the next call
    trial(host=local).checkpoint(state)
    unbroken = drawn()
    random.seed(2)
    np.random.seed(2)
    gone_on = trial(local.checkpoints[-1])
    assert repr(gone_on.resume()) == repr(state), "what was saved, and nothing else"
    assert drawn() == unbroken


def test_array_cores_generator_goes_on_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream:
        state = ((3, 2**40), 5)

        def get_state(self) -> Any:
            return self.state

        def set_state(self, state: Any) -> None:
            self.state = state

    class Arraycore:
        stream = Stream()

        @property
        def random(self) -> Any:
            return self

        def get_random_state(self) -> Stream:
            return self.stream

    there = Arraycore()
    monkeypatch.setitem(sys.modules, "arraycore", there)
    content = archive({MEMBER: snapshot()})
    there.stream.state = ((0, 0), 0)
    restore(content)
    assert there.stream.state == ((3, 2**40), 5)


def test_a_checkpoint_without_a_word_of_them_leaves_them() -> None:
    before = random.getstate()
    restore(archive({"tree.json": "{}"}))
    assert random.getstate() == before


def archive(members: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, text in members.items():
            made.writestr(name, text)
    return out.getvalue()


def spoiled(change: Callable[[Any], None]) -> bytes:
    told = json.loads(snapshot())
    change(told)
    return archive({MEMBER: json.dumps(told)})


@pytest.mark.parametrize(
    "content",
    [
        b"no zip",
        archive({MEMBER: "no JSON"}),
        archive({MEMBER: "[]"}),
        archive({MEMBER: "null"}),
        archive({MEMBER: " " * 70_000}),
        spoiled(lambda told: told["numpy"].__setitem__(2, 100_000)),
        spoiled(lambda told: told["numpy"].__setitem__(2, -1)),
        spoiled(lambda told: told["numpy"].__setitem__(4, float("inf"))),
        spoiled(lambda told: told["numpy"][1].pop()),
        spoiled(lambda told: told["numpy"][1].__setitem__(0, 2**32)),
        spoiled(lambda told: told["python"][1].__setitem__(-1, 625)),
        spoiled(lambda told: told["python"].__setitem__(2, "x")),
        spoiled(lambda told: told.pop("python")),
    ],
)
def test_what_is_no_state_reaches_no_generator(
    content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    before = random.getstate(), np.random.get_state(legacy=False)["state"]["pos"]
    with pytest.raises(CheckpointError):
        restore(content)
    assert (random.getstate(), np.random.get_state(legacy=False)["state"]["pos"]) == before
    assert trial(("tree", 3, content)).resume() is None
    assert "checkpoint_malformed" in capsys.readouterr().err
