"""Tests that an attempt that resumes a checkpoint has the attributes that were set when it was
saved.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from hyperflock._trial.attributes import MAX_BYTES, MEMBER
from hyperflock._trial.optuna_trial import OptunaTrial
from hyperflock._trial.trial import Saved, Trial
from recording_host import RecordingHost


@pytest.fixture
def local() -> RecordingHost:
    return RecordingHost()


def trial(host: RecordingHost, checkpoint: Saved | None = None) -> Trial:
    return Trial({}, number=0, seed=1, data={}, checkpoint=checkpoint, host=host)


def saved(local: RecordingHost, attributes: dict[str, Any]) -> Saved:
    """Set these user attributes, then save a checkpoint. Return the checkpoint."""
    first = trial(local)
    for key, value in attributes.items():
        first.set_user_attr(key, value)
    assert first.checkpoint({"epoch": 3})
    first.set_user_attr("after", "nobody resumes with this")
    return local.checkpoints[-1]


def with_member(content: bytes, told: str) -> bytes:
    """Replace the attributes in the content of a checkpoint."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, told.encode() if name == MEMBER else old.read(name))
    return out.getvalue()


def test_they_are_there_after_resume_and_travel_with_the_result(local: RecordingHost) -> None:
    second = trial(local, saved(local, {"epochs": [1, 2], "name": "é世"}))
    assert second.user_attrs == {}  # an objective that does not resume starts anew
    assert second.resume() == {"epoch": 3}
    assert second.user_attrs == {"epochs": [1, 2], "name": "é世"}
    second.set_user_attr("epochs", [3])
    text = json.loads(second.attributes_text({}))
    assert text == {"user": {"epochs": [3], "name": "é世"}}


def test_they_go_on_over_several_devices(local: RecordingHost) -> None:
    second = trial(local, saved(local, {"first": 1}))
    second.resume()
    second.set_user_attr("second", 2)
    second.checkpoint({"epoch": 5})
    third = trial(local, local.checkpoints[-1])
    third.resume()
    assert third.user_attrs == {"first": 1, "second": 2}


def test_what_the_attempt_has_set_before_stays(local: RecordingHost) -> None:
    second = trial(local, saved(local, {"device": "old", "seed": 1}))
    second.set_user_attr("device", "new")
    assert second.resume() == second.resume() == {"epoch": 3}
    assert second.user_attrs == {"device": "new", "seed": 1}


def test_what_the_owner_gave_is_overwritten_by_what_was_set_since(
    local: RecordingHost,
) -> None:
    given: dict[str, dict[str, Any]] = {
        "user": {"note": "enqueued", "kept": 1},
        "system": {"fixed_params": {"x": 1}},
    }
    first = OptunaTrial(number=0, seed=1, data={}, host=local, attributes=given)
    first.set_user_attr("note", "changed")
    first.set_constraint("size", -1.0)
    first.checkpoint({})
    second = OptunaTrial(
        number=0, seed=1, data={}, checkpoint=local.checkpoints[-1], attributes=given
    )
    assert second.resume() == {}
    assert second.user_attrs == {"note": "changed", "kept": 1}
    assert second.constraints == {"size": -1.0}
    assert second.attributes_text({}) == first.attributes_text({})


def test_a_checkpoint_without_attributes_changes_none(local: RecordingHost) -> None:
    kind, step, content = saved(local, {"x": 1})
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in set(old.namelist()) - {MEMBER}:
            new.writestr(name, old.read(name))
    second = trial(local, (kind, step, out.getvalue()))
    assert second.resume() == {"epoch": 3}
    assert second.user_attrs == {}


@pytest.mark.parametrize(
    "told",
    [
        *("no JSON", "[]", "7", '{"user": []}', '{"system": "text"}', "null"),
        json.dumps({"user": {"long": "x" * MAX_BYTES}}),
        json.dumps({"user": {"long": "x" * 3 * MAX_BYTES}}),
        "[" * 100_000,
        # The JSON parser accepts this depth, but a deep copy does not.
        '{"user": {"deep": %s}}' % ("[" * 900 + "]" * 900),
    ],
)
def test_malformed_ones_begin_the_trial_anew(
    local: RecordingHost, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, step, content = saved(local, {"x": 1})
    second = trial(local, (kind, step, with_member(content, told)))
    second.set_user_attr("own", 1)
    assert second.resume() is None
    assert second.user_attrs == {"own": 1}
    assert "the trial begins anew" in capsys.readouterr().err
