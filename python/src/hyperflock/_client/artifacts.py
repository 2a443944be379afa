"""Lists and fetches files that trials uploaded, and checks each by its hash.

    found = await artifacts(http, study=3)
    content = await content_of(http, 3, found[0])

Names and types come from devices, so no path is made from an unchecked name. The coroutines run on
any event loop.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from hyperflock._base.errors import HyperflockError, NotFoundError
from hyperflock._base.text import clean
from hyperflock._reports import export as _export
from hyperflock._transport.http import Http
from hyperflock._transport.messages import ArtifactRow
from hyperflock._transport.validation import convert

# Matches path separators, and the characters that Windows does not allow in names.
_NOT_IN_NAMES = re.compile(r'[/\\:*?"<>|]')
_MAX_STEM_BYTES = 120
_MAX_SUFFIX = 16


@dataclass(frozen=True)
class Artifact:
    """A file that a trial uploaded.

    Attributes
    ----------
    id : str
        The file's id, which is Optuna's ``artifact_id``.
    trial : int
        The trial's number.
    attempt : int
        The run that uploaded it.
    name : str
        The file's name on the device, without a folder.
    type : str
        The MIME type that the trial gave.
    bytes : int
        Its size.
    sha256 : str
        The SHA-256 of its content.
    created_at : datetime
        When the server received it.
    """

    id: str
    trial: int
    attempt: int
    name: str
    type: str
    bytes: int
    sha256: str
    created_at: datetime

    def as_dict(self) -> dict[str, Any]:
        """Return the artifact as plain values for JSON."""
        return {**vars(self), "created_at": self.created_at.isoformat()}


async def rows(http: Http, study: int, trial: int | None = None) -> list[ArtifactRow]:
    """Fetch the rows of a study's or a trial's artifacts, in the order of their upload."""
    found: list[ArtifactRow] = []
    cursor = 0
    which = "" if trial is None else f"&trial={trial}"
    while True:
        page = await http.get(f"/api/studies/{study}/artifacts?after={cursor}{which}")
        fresh = [convert(row, ArtifactRow) for row in page["artifacts"]]
        if not fresh:
            return found
        found += fresh
        cursor = int(page["cursor"])


async def artifacts(http: Http, study: int, trial: int | None = None) -> list[Artifact]:
    """Fetch the artifacts of a study or of one trial, in the order of their upload."""
    return [artifact_of(row) for row in await rows(http, study, trial)]


def artifact_of(row: ArtifactRow) -> Artifact:
    """Return the artifact in a row, with cleaned texts."""
    return Artifact(
        id=row.id,
        trial=row.trial,
        attempt=row.attempt,
        name=clean(row.name),
        type=clean(row.type),
        bytes=row.bytes,
        sha256=row.sha256,
        created_at=datetime.fromtimestamp(row.created_at / 1000, timezone.utc),
    )


async def content_of(http: Http, study: int, artifact: Artifact | ArtifactRow) -> bytes:
    """Fetch an artifact's bytes.

    Raises
    ------
    HyperflockError
        ``blob_damaged``: the bytes do not have the artifact's hash.
    """
    content = await http.fetch(
        f"/api/studies/{study}/artifacts/{artifact.id}?trial={artifact.trial}"
    )
    if hashlib.sha256(content).hexdigest() != artifact.sha256:
        raise HyperflockError(
            f"the server sent other bytes of the artifact '{artifact.id}' than its hash says",
            code="blob_damaged",
        )
    return content


async def find(http: Http, study: int, identity: str) -> Artifact:
    """Fetch a study's artifact by its id.

    Raises
    ------
    NotFoundError
        ``unknown_artifact``.
    """
    for artifact in await artifacts(http, study):
        if artifact.id == identity:
            return artifact
    raise NotFoundError(
        f"study {study} has no artifact '{clean(identity, limit=100)}'", code="unknown_artifact"
    )


async def download(http: Http, study: int, artifact: Artifact, path: Path) -> Path:
    """Write an artifact to a file, or into a folder under its own name, and return its path.

    Raises
    ------
    HyperflockError
        ``cannot_write``, ``blob_damaged``.
    """
    target = path / file_name(artifact) if path.is_dir() else path
    _export.write(target, await content_of(http, study, artifact))
    return target


def file_name(artifact: Artifact, taken: Collection[str] = ()) -> str:
    """Return the name under which an artifact is written into a folder.

    It begins with the trial's number, so it is never the name of a hidden file or of a file that
    programs look for. If it is in ``taken``, whatever the case of its letters, the id is added.
    """
    plain = _NOT_IN_NAMES.sub("_", clean(artifact.name))
    stem, dot, suffix = plain.rpartition(".")
    if not dot or len(suffix) > _MAX_SUFFIX:
        stem, suffix = plain, ""
    kept = stem.encode()[:_MAX_STEM_BYTES].decode("utf-8", "ignore")
    end = f"{kept}.{suffix}" if dot and suffix else kept
    name = f"{artifact.trial}-{end}"
    if name.casefold() in {other.casefold() for other in taken}:
        name = f"{artifact.trial}-{artifact.id}-{end}"
    return name
