"""Uploads files of a trial, such as weights or pictures, while it runs.

    identity = trial.upload_artifact("weights.npz")
    optuna.artifacts.upload_artifact(artifact_store=s, file_path=f, study_or_trial=trial)

Both calls do the same. Optuna's function first describes the artifact in the trial's storage, which
is `StorageOfTrial` here, and then writes the file to its store. Optuna's file stores are patched:
they send a described file to the host, so that the store on the researcher's machine gets it. Only
the thread that runs the objective uses this module.
"""

from __future__ import annotations

import functools
import io
import json
import os
import uuid
from collections.abc import Callable
from typing import Any, BinaryIO

from hyperflock._base.errors import ArtifactError, ArtifactLostError, CallError
from hyperflock._trial.host import Artifact, Host

MAX_BYTES = 64 * 1024 * 1024
MAX_NAME_BYTES = 255
MAX_TYPE_BYTES = 127
# These constants have the same values in `optuna.artifacts`.
ATTRIBUTE = "artifacts:"
DEFAULT_TYPE = "application/octet-stream"

# Codes with which the server refuses an artifact.
_REFUSALS = frozenset(
    {
        *("artifact_too_large", "artifact_count", "artifact_exists"),
        *("artifact_no_room", "no_room", "quota_exceeded", "device_share"),
    }
)
# A function that sets an attribute of the trial. Its arguments are the key and the value.
SetAttribute = Callable[[str, Any], None]


def upload(
    host: Host,
    set_attribute: SetAttribute,
    file_path: str | os.PathLike[str],
    mimetype: str | None,
    encoding: str | None,
) -> str:
    """Upload a file as an artifact of the trial, describe it in an attribute, and return its id.

    Raises
    ------
    ArtifactError
        The server refuses it.
    ArtifactLostError
        ``artifact_not_stored``.
    """
    # Most trials upload nothing, and an import at the top would make each start slower.
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
        _send(host, meta, "", file)
    set_attribute(ATTRIBUTE + identity, json.dumps(meta))
    return identity


def upload_image(host: Host, set_attribute: SetAttribute, name: str, png: bytes) -> None:
    """Upload an image as an artifact; errors are those of `upload`."""
    identity = str(uuid.uuid4())
    meta = {
        "artifact_id": identity,
        "filename": name,
        "mimetype": "image/png",
        "encoding": None,
    }
    _send(host, meta, "", io.BytesIO(png))
    set_attribute(ATTRIBUTE + identity, json.dumps(meta))


class StorageOfTrial:
    """The object ``trial.storage``, which only `optuna.artifacts.upload_artifact` can use.

    Parameters
    ----------
    host : Host
        Gets the files.
    set_attribute : callable
        Sets the attribute that describes an artifact.
    refuse : callable
        Raises an error for any other name that is used; it gets the name.
    """

    def __init__(
        self, host: Host, set_attribute: SetAttribute, refuse: Callable[[str], Any]
    ) -> None:
        self._host = host
        self._set_attribute = set_attribute
        self._refuse = refuse
        _patch_stores()

    def set_trial_system_attr(self, trial_id: int, key: str, value: Any) -> None:
        """Set an attribute. If it describes an artifact, its file is expected next."""
        if key.startswith(ATTRIBUTE):
            _announced[key.removeprefix(ATTRIBUTE)] = (self._host, json.loads(value))
        self._set_attribute(key, value)

    def __getattr__(self, name: str) -> Any:
        return self._refuse(name)


# The artifacts that were described and not yet written, by id.
_announced: dict[str, tuple[Host, dict[str, Any]]] = {}


def forget() -> None:
    """Forget the artifacts that an attempt described and never wrote. It is called when the attempt
    ends.
    """
    _announced.clear()


def _send(host: Host, meta: dict[str, Any], store: str, file: BinaryIO) -> None:
    name, mimetype = str(meta["filename"]), str(meta["mimetype"])
    shown = name.isprintable() and mimetype.isprintable() and mimetype.isascii()
    bad = not name or not mimetype or not shown or "\\" in name
    if bad or len(name.encode()) > MAX_NAME_BYTES or len(mimetype) > MAX_TYPE_BYTES:
        raise ArtifactError(
            f"an artifact's file has a name of 1 to {MAX_NAME_BYTES} bytes and a MIME type of at "
            f"most {MAX_TYPE_BYTES}, both of characters that can be shown: {name!r:.300}",
            code="artifact_invalid",
        )
    content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ArtifactError(
            f"'{name}' is larger than an artifact's {MAX_BYTES} bytes", code="artifact_too_large"
        )
    artifact = Artifact(str(meta["artifact_id"]), name, mimetype, store)
    try:
        stored = host.upload_artifact(artifact, content)
    except CallError as error:
        if error.code in _REFUSALS:
            raise ArtifactError(error.message, code=error.code) from None
        raise
    if not stored:
        raise ArtifactLostError(f"'{name}' could not be brought to the server in time")


def _label(store: Any) -> str:
    """Return the name by which the researcher's process finds the store of which ``store`` is a
    copy.
    """
    path = str(getattr(store, "_base_path", ""))
    fits = path.isprintable() and len(path.encode()) <= MAX_NAME_BYTES
    return path if fits and path != "." else ""


@functools.cache
def _patch_stores() -> None:
    """Let Optuna's stores send described artifacts to the host. Other writes do not change."""
    from optuna.artifacts import Backoff, FileSystemArtifactStore

    def patch(kind: Any, inner: Callable[[Any], Any]) -> None:
        write = kind.write

        @functools.wraps(write)
        def send(self: Any, artifact_id: str, content_body: BinaryIO) -> None:
            announced = _announced.pop(artifact_id, None)
            if announced is None:
                write(self, artifact_id, content_body)
            else:
                host, meta = announced
                _send(host, meta, _label(inner(self)), content_body)

        kind.write = send

    patch(FileSystemArtifactStore, lambda store: store)
    # Optuna's Backoff repeats failed writes. Here that would only delay a refusal, because the
    # agent repeats an upload by itself.
    patch(Backoff, lambda store: store._backend)
