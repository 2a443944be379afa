"""Files that trials leave behind: by Optuna's own function, and by the trial's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hyperflock_worker import artifacts, bridge
from hyperflock_worker.artifacts import ArtifactError, ArtifactLostError
from hyperflock_worker.asked_trial import AskedTrial, StudyElsewhereError
from hyperflock_worker.failures import CAUSES, code_of
from hyperflock_worker.trial import Trial
from optuna.artifacts import Backoff, FileSystemArtifactStore, upload_artifact


@pytest.fixture
def local() -> Iterator[bridge.LocalBridge]:
    found = bridge.LocalBridge()
    bridge.set_bridge(found)
    yield found
    bridge.set_bridge(None)
    artifacts.forget()


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights.json"
    path.write_bytes(b"[1, 2]")
    return path


def asked() -> AskedTrial:
    return AskedTrial(3, {}, 1)


class Refusing(bridge.LocalBridge):
    """Answers each upload in the same way."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__()
        self.answer = answer
        self.asked = 0

    def upload(self, head_json: str, content: bytes) -> str:
        self.asked += 1
        return json.dumps(self.answer)


@pytest.mark.parametrize("wraps", [False, True], ids=["plain", "backoff"])
def test_optunas_own_function_sends_the_file_and_writes_nothing_here(
    local: bridge.LocalBridge, weights: Path, *, wraps: bool
) -> None:
    folder = weights.parent / "kept"
    store: Any = FileSystemArtifactStore("./kept")
    if wraps:
        store = Backoff(store)
    one = asked()
    identity = upload_artifact(
        artifact_store=store, file_path=str(weights), study_or_trial=one, mimetype="text/x-w"
    )
    [(head, content)] = local.uploads
    assert content == b"[1, 2]"
    assert head == {
        "of": "artifact",
        "id": identity,
        "name": "weights.json",
        "type": "text/x-w",
        "store": "kept",
    }
    told = json.loads(one.attributes_text({}))["system"]
    [meta] = [json.loads(text) for text in told.values()]
    assert list(told) == [f"artifacts:{identity}"]
    assert meta == {
        "artifact_id": identity,
        "filename": "weights.json",
        "mimetype": "text/x-w",
        "encoding": None,
    }
    assert not folder.exists()


@pytest.mark.parametrize("one", [asked(), Trial(0, {}, {}, 1)], ids=["asked", "grid"])
def test_a_trials_own_method_does_the_same(
    local: bridge.LocalBridge, weights: Path, one: Trial
) -> None:
    identity = one.upload_artifact(weights)
    [(head, content)] = local.uploads
    assert (head["id"], head["name"], head["type"]) == (
        identity,
        "weights.json",
        "application/json",
    )
    assert content == b"[1, 2]"
    meta = json.loads(one.system_attrs[f"artifacts:{identity}"])
    assert (meta["filename"], meta["mimetype"]) == ("weights.json", "application/json")
    packed = weights.with_name("notes.txt.gz")
    packed.write_bytes(b"")
    identity = one.upload_artifact(packed)
    assert json.loads(one.system_attrs[f"artifacts:{identity}"])["encoding"] == "gzip"
    assert local.uploads[-1][1] == b""


def test_a_store_that_nobody_announced_to_is_as_ever(
    local: bridge.LocalBridge, weights: Path
) -> None:
    asked().storage  # noqa: B018 - the stores are taught by it
    store = FileSystemArtifactStore(weights.parent)
    with weights.open("rb") as file:
        store.write("other", file)
    assert (weights.parent / "other").read_bytes() == b"[1, 2]"
    assert local.uploads == []


def test_what_was_announced_ends_with_its_attempt(weights: Path, local: bridge.LocalBridge) -> None:
    asked().storage.set_trial_system_attr(3, "artifacts:a", '{"filename": "w", "mimetype": "x/y"}')
    artifacts.forget()
    with weights.open("rb") as file:
        FileSystemArtifactStore(weights.parent).write("a", file)
    assert local.uploads == []


def test_the_storage_takes_nothing_else(local: bridge.LocalBridge) -> None:
    storage = asked().storage
    with pytest.raises(StudyElsewhereError, match="get_all_trials is not available"):
        storage.get_all_trials(0)
    one = asked()
    one.storage.set_trial_system_attr(3, "note", 1)
    assert one.system_attrs == {"note": 1}


@pytest.mark.parametrize(
    "code",
    [
        "artifact_count",
        "artifact_exists",
        "artifact_no_room",
        "artifact_too_large",
        "quota_exceeded",
    ],
)
def test_a_refusal_of_the_server_is_raised_once_with_its_code(weights: Path, code: str) -> None:
    refusing = Refusing({"ok": False, "error": {"code": code, "message": "no room"}})
    bridge.set_bridge(refusing)
    try:
        with pytest.raises(ArtifactError, match="no room") as caught:
            upload_artifact(
                artifact_store=Backoff(FileSystemArtifactStore(".")),
                file_path=str(weights),
                study_or_trial=asked(),
            )
    finally:
        bridge.set_bridge(None)
    assert (caught.value.code, code_of(caught.value)) == (code, code)
    assert CAUSES[code] == "user_error"
    assert refusing.asked == 1


def test_no_way_to_the_server_is_the_devices_fault(weights: Path) -> None:
    bridge.set_bridge(Refusing({"ok": True, "value": False}))
    one = Trial(0, {}, {}, 1)
    try:
        with pytest.raises(ArtifactLostError) as caught:
            one.upload_artifact(weights)
    finally:
        bridge.set_bridge(None)
    assert CAUSES[code_of(caught.value)] == "worker_lost"
    assert one.system_attrs == {}


def test_what_no_address_holds_is_refused_before_it_leaves(
    local: bridge.LocalBridge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Trial(0, {}, {}, 1)
    plain = tmp_path / "w"
    plain.write_bytes(b"123")
    wrong = tmp_path / "a\nb"
    wrong.write_bytes(b"1")
    for path, mimetype in ((wrong, None), (plain, "x" * 128), (plain, "x/ä")):
        with pytest.raises(ArtifactError) as caught:
            one.upload_artifact(path, mimetype=mimetype)
        assert code_of(caught.value) == "artifact_invalid"
    monkeypatch.setattr(artifacts, "MAX_BYTES", 2)
    with pytest.raises(ArtifactError) as caught:
        one.upload_artifact(plain)
    assert code_of(caught.value) == "artifact_too_large"
    with pytest.raises(FileNotFoundError):
        one.upload_artifact(tmp_path / "none")
    assert local.uploads == []
