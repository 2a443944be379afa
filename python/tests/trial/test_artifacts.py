"""Tests files that trials upload by Optuna's own function and by the trial's method."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hyperflock._base.errors import (
    ArtifactError,
    ArtifactLostError,
    CallError,
    StudyElsewhereError,
)
from hyperflock._trial import artifacts
from hyperflock._trial.host import Artifact, Host
from hyperflock._trial.optuna_trial import OptunaTrial
from hyperflock._trial.trial import Trial
from optuna.artifacts import Backoff, FileSystemArtifactStore, upload_artifact
from recording_host import RecordingHost, Refusing


@pytest.fixture
def local() -> Iterator[RecordingHost]:
    yield RecordingHost()
    artifacts.forget()


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights.json"
    path.write_bytes(b"[1, 2]")
    return path


def optuna_trial(host: Host) -> OptunaTrial:
    return OptunaTrial(number=3, seed=1, data={}, host=host)


def grid_trial(host: Host) -> Trial:
    return Trial({}, number=0, seed=1, data={}, host=host)


@pytest.mark.parametrize("wraps", [False, True], ids=["plain", "backoff"])
def test_optunas_own_function_sends_the_file_and_writes_nothing_here(
    local: RecordingHost, weights: Path, *, wraps: bool
) -> None:
    folder = weights.parent / "kept"
    store: Any = FileSystemArtifactStore("./kept")
    if wraps:
        store = Backoff(store)
    one: Any = optuna_trial(local)
    identity = upload_artifact(
        artifact_store=store, file_path=str(weights), study_or_trial=one, mimetype="text/x-w"
    )
    assert local.artifacts == [(Artifact(identity, "weights.json", "text/x-w", "kept"), b"[1, 2]")]
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


@pytest.mark.parametrize("made", [optuna_trial, grid_trial])
def test_a_trials_own_method_does_the_same(
    local: RecordingHost, weights: Path, made: Callable[[Host], Trial]
) -> None:
    one = made(local)
    identity = one.upload_artifact(weights)
    sent = Artifact(identity, "weights.json", "application/json", "")
    assert local.artifacts == [(sent, b"[1, 2]")]
    meta = json.loads(one.system_attrs[f"artifacts:{identity}"])
    assert (meta["filename"], meta["mimetype"]) == ("weights.json", "application/json")
    packed = weights.with_name("notes.txt.gz")
    packed.write_bytes(b"")
    identity = one.upload_artifact(packed)
    assert json.loads(one.system_attrs[f"artifacts:{identity}"])["encoding"] == "gzip"
    assert local.artifacts[-1][1] == b""


def test_a_store_that_nobody_announced_to_is_as_ever(local: RecordingHost, weights: Path) -> None:
    optuna_trial(local).storage  # noqa: B018 - the stores are patched by it
    store = FileSystemArtifactStore(weights.parent)
    with weights.open("rb") as file:
        store.write("other", file)
    assert (weights.parent / "other").read_bytes() == b"[1, 2]"
    assert local.artifacts == []


def test_what_was_announced_ends_with_its_attempt(weights: Path, local: RecordingHost) -> None:
    optuna_trial(local).storage.set_trial_system_attr(
        3, "artifacts:a", '{"filename": "w", "mimetype": "x/y"}'
    )
    artifacts.forget()
    with weights.open("rb") as file:
        FileSystemArtifactStore(weights.parent).write("a", file)
    assert local.artifacts == []


def test_the_storage_takes_nothing_else(local: RecordingHost) -> None:
    storage = optuna_trial(local).storage
    with pytest.raises(StudyElsewhereError, match="get_all_trials is not available"):
        storage.get_all_trials(0)
    one = optuna_trial(local)
    one.storage.set_trial_system_attr(3, "note", 1)
    assert one.system_attrs == {"note": 1}


@pytest.mark.parametrize(
    "code",
    [
        "artifact_count",
        "artifact_exists",
        "artifact_no_room",
        "artifact_too_large",
        "device_share",
        "no_room",
        "quota_exceeded",
    ],
)
def test_a_refusal_of_the_server_is_raised_once_with_its_code(weights: Path, code: str) -> None:
    refusing = Refusing(CallError("no room", code=code))
    with pytest.raises(ArtifactError, match="no room") as caught:
        upload_artifact(
            artifact_store=Backoff(FileSystemArtifactStore(".")),
            file_path=str(weights),
            study_or_trial=cast(Any, optuna_trial(refusing)),
        )
    assert caught.value.code == code
    assert refusing.asked == 1


def test_no_way_to_the_server_is_the_devices_fault(weights: Path) -> None:
    one = grid_trial(Refusing())
    with pytest.raises(ArtifactLostError) as caught:
        one.upload_artifact(weights)
    assert caught.value.code == "artifact_not_stored"
    assert one.system_attrs == {}


def test_what_no_address_holds_is_refused_before_it_leaves(
    local: RecordingHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = grid_trial(local)
    plain = tmp_path / "w"
    plain.write_bytes(b"123")
    wrong = tmp_path / "a\nb"
    wrong.write_bytes(b"1")
    for path, mimetype in ((wrong, None), (plain, "x" * 128), (plain, "x/ä")):
        with pytest.raises(ArtifactError) as caught:
            one.upload_artifact(path, mimetype=mimetype)
        assert caught.value.code == "artifact_invalid"
    monkeypatch.setattr(artifacts, "MAX_BYTES", 2)
    with pytest.raises(ArtifactError) as caught:
        one.upload_artifact(plain)
    assert caught.value.code == "artifact_too_large"
    with pytest.raises(FileNotFoundError):
        one.upload_artifact(tmp_path / "none")
    assert local.artifacts == []
