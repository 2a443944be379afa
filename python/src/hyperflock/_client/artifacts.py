"""Files that trials left behind: listed and fetched, each checked by its hash.

    found = await artifacts(http, study=3)
    content = await content_of(http, 3, found[0])

Names and types come from devices: nothing here makes a path of one. Coroutines; any event loop.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from hyperflock._base.errors import HyperflockError, NotFoundError
from hyperflock._base.text import clean
from hyperflock._reports import export as _export
from hyperflock._transport.http import Http
from hyperflock._transport.messages import Count, Id, Sha256, Text
from hyperflock._transport.validation import convert

ArtifactId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z")]
# Of paths, and of what Windows allows in no name.
_NOT_IN_NAMES = re.compile(r'[/\\:*?"<>|]')
_MAX_STEM_BYTES = 120
_MAX_SUFFIX = 16


class ArtifactRow(Struct):
    """A file that a trial uploaded, as the server shows it."""

    id: ArtifactId
    trial: Count
    attempt: Id
    name: Text
    type: Text
    sha256: Sha256
    bytes: Count
    created_at: Count
    store: Text | UnsetType = UNSET


@dataclass(frozen=True)
class Artifact:
    """A file that a trial uploaded.

    Attributes
    ----------
    id : str
        Its own in the study; Optuna's ``artifact_id``.
    trial : int
        The trial's number.
    attempt : int
        The run that uploaded it.
    name : str
        The file's name on the device, without a folder.
    type : str
        MIME type, as the trial said.
    bytes : int
        Its size.
    sha256 : str
        Of its content.
    created_at : datetime
        When the server had it.
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
        """Give it as plain values, for JSON."""
        return {**vars(self), "created_at": self.created_at.isoformat()}


async def rows(http: Http, study: int, trial: int | None = None) -> list[ArtifactRow]:
    """Fetch the rows of a study's artifacts, or of one trial's, as they came."""
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
    """Fetch what there is of a study, or of one trial of it, as it came."""
    return [artifact_of(row) for row in await rows(http, study, trial)]


def artifact_of(row: ArtifactRow) -> Artifact:
    """Make it of the server's row; texts are cleaned."""
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
        ``blob_damaged``: they are not those of its hash.
    """
    content = await http.fetch(f"/api/studies/{study}/artifacts/{artifact.id}")
    if hashlib.sha256(content).hexdigest() != artifact.sha256:
        raise HyperflockError(
            f"the server sent other bytes of the artifact '{artifact.id}' than its hash says",
            code="blob_damaged",
        )
    return content


async def find(http: Http, study: int, identity: str) -> Artifact:
    """Find an artifact by its id.

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
    """Write an artifact to a file, or under its name into a folder; where it is then.

    Raises
    ------
    HyperflockError
        ``cannot_write``, ``blob_damaged``.
    """
    target = path / file_name(artifact) if path.is_dir() else path
    _export.write(target, await content_of(http, study, artifact))
    return target


def file_name(artifact: Artifact, taken: Collection[str] = ()) -> str:
    """Give the name under which a device's file is written into a folder.

    The trial's number stands in front, so that none is a hidden file, or one that a program reads
    by its name. Where ``taken`` has it, in whatever case, the id does too.
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
