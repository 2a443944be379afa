"""Files that a trial leaves behind, weights or pictures: brought to the server while it runs.

    identity = trial.upload_artifact("weights.npz")
    optuna.artifacts.upload_artifact(artifact_store=s, file_path=f, study_or_trial=trial)

Both do the same. Optuna's function first notes what the artifact is in the trial's storage, which
is `StorageOfTrial` here, and then writes it to its store: the file stores of Optuna's are taught to
send what was noted to the server instead, so that the store on the researcher's machine gets it.
Used on the thread that runs the objective.
"""

from __future__ import annotations

import functools
import json
import os
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

from hyperflock_worker import bridge

if TYPE_CHECKING:
    from hyperflock_worker.trial import Trial

MAX_BYTES = 64 * 1024 * 1024
MAX_NAME_BYTES = 255
MAX_TYPE_BYTES = 127
# As `optuna.artifacts` has them.
ATTRIBUTE = "artifacts:"
DEFAULT_TYPE = "application/octet-stream"

CODES = frozenset(
    {
        *("artifact_too_large", "artifact_invalid", "artifact_count", "artifact_exists"),
        *("artifact_no_room", "quota_exceeded"),
    }
)


class ArtifactError(ValueError):
    """An artifact cannot be stored; ``code`` is its stable code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ArtifactLostError(RuntimeError):
    """The server could not be reached in time: another device may do better."""

    code = "artifact_not_stored"


def upload(
    trial: Trial, file_path: str | os.PathLike[str], mimetype: str | None, encoding: str | None
) -> str:
    """Bring a file to the server as an artifact of the trial; its id.

    Raises
    ------
    ArtifactError
        One of `CODES`.
    ArtifactLostError
        ``artifact_not_stored``.
    """
    # Not at the top: most trials leave nothing behind, and a start compiles what it imports.
    import mimetypes

    identity = str(uuid.uuid4())
    name = os.path.basename(file_path)
    guessed, guessed_encoding = mimetypes.guess_type(name)
    meta = {
        "artifact_id": identity,
        "filename": name,
        "mimetype": mimetype or guessed or DEFAULT_TYPE,
        "encoding": encoding or guessed_encoding,
    }
    with open(file_path, "rb") as file:
        _send(meta, "", file)
    trial.set_system_attr(ATTRIBUTE + identity, json.dumps(meta))
    return identity


class StorageOfTrial:
    """``trial.storage`` for `optuna.artifacts.upload_artifact`, and for nothing else.

    Parameters
    ----------
    trial
        Gets the attribute that says what an artifact is.
    refuse
        Called with the name of whatever else is asked for; raises.
    """

    def __init__(self, trial: Trial, refuse: Callable[[str], Any]) -> None:
        self._trial = trial
        self._refuse = refuse
        _teach()

    def set_trial_system_attr(self, trial_id: int, key: str, value: Any) -> None:
        """Keep an attribute; one that tells of an artifact announces it."""
        if key.startswith(ATTRIBUTE):
            _announced[key.removeprefix(ATTRIBUTE)] = json.loads(value)
        self._trial.set_system_attr(key, value)

    def __getattr__(self, name: str) -> Any:
        return self._refuse(name)


# What was noted and not yet written, by id.
_announced: dict[str, dict[str, Any]] = {}


def forget() -> None:
    """End an attempt: what it announced and never wrote is no artifact."""
    _announced.clear()


def _send(meta: dict[str, Any], store: str, file: BinaryIO) -> None:
    name, mimetype = str(meta["filename"]), str(meta["mimetype"])
    shown = name.isprintable() and mimetype.isprintable() and mimetype.isascii()
    bad = not name or not mimetype or not shown or "\\" in name
    if bad or len(name.encode()) > MAX_NAME_BYTES or len(mimetype) > MAX_TYPE_BYTES:
        raise ArtifactError(
            "artifact_invalid",
            f"an artifact's file has a name of 1 to {MAX_NAME_BYTES} bytes and a MIME type of at "
            f"most {MAX_TYPE_BYTES}, both of characters that can be shown: {name!r:.300}",
        )
    content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ArtifactError(
            "artifact_too_large", f"'{name}' is larger than an artifact's {MAX_BYTES} bytes"
        )
    bridge.progress()
    try:
        stored = bridge.artifact(str(meta["artifact_id"]), name, mimetype, store, content)
    except bridge.CallError as error:
        if error.code in CODES:
            raise ArtifactError(error.code, str(error)) from None
        raise
    finally:
        bridge.progress()
    if not stored:
        raise ArtifactLostError(f"'{name}' could not be brought to the server in time")


def _label(store: Any) -> str:
    """By what the researcher's process finds the store of its own that this one stands for."""
    path = str(getattr(store, "_base_path", ""))
    fits = path.isprintable() and len(path.encode()) <= MAX_NAME_BYTES
    return path if fits and path != "." else ""


@functools.cache
def _teach() -> None:
    """Let Optuna's stores send what was announced; all else they do as ever."""
    from optuna.artifacts import Backoff, FileSystemArtifactStore

    def taught(kind: Any, inner: Callable[[Any], Any]) -> None:
        write = kind.write

        @functools.wraps(write)
        def send(self: Any, artifact_id: str, content_body: BinaryIO) -> None:
            meta = _announced.pop(artifact_id, None)
            if meta is None:
                write(self, artifact_id, content_body)
            else:
                _send(meta, _label(inner(self)), content_body)

        kind.write = send

    taught(FileSystemArtifactStore, lambda store: store)
    # Its tries would only make a refusal late: the agent tries again by itself.
    taught(Backoff, lambda store: store._backend)
