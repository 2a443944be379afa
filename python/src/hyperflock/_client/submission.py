"""A study that is checked and ready to be submitted: code, data, space and options.

    made = Submission(bundle, space, data, name="digits", runtime="chainer-5.4.0")
    made.blobs, made.body()          # what the server gets, completely checked
    run = await made.dry_run("cpython")

Plain data; any thread.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from msgspec import UNSET

from hyperflock._base.errors import HyperflockError
from hyperflock._bundle.bundle import Bundle
from hyperflock._bundle.source.runtime import DEFAULT_RUNTIME, chainer_of
from hyperflock._client.placement import Requires, backend_of, requirements_of
from hyperflock._client.uploads import Blob
from hyperflock._execution.dry_run import DryRun, Where, dry_run
from hyperflock._model.data import DataSet
from hyperflock._model.grid import Scalar, dimensions_of, grid_point, trial_seed
from hyperflock._model.spec import encode_spec
from hyperflock._transport.http import AGENT, Http
from hyperflock._transport.messages import Backend, BlobRef, Direction, Limits, Runtime, StudySpec

DryRunChoice = bool | Literal["cpython", "browser"]


class GridOptions(TypedDict, total=False):
    """The keyword options of `Client.grid` without ``dry_run``; `AsyncClient.grid` describes
    them.
    """

    direction: Direction
    seed: int
    runtime: str
    backend: Backend | None
    requires: Requires | None
    time_limit_s: float
    submit_key: str | None
    once: bool
    wheels: Sequence[str | Path]
    progress: bool | None


@dataclass(frozen=True)
class Submission:
    """A study that is ready to be submitted.

    Raises
    ------
    HyperflockError
        ``unknown_runtime``, ``bad_number``, ``bad_field``: an option is invalid. `body` checks the
        rest.
    """

    bundle: Bundle
    space: Mapping[str, Sequence[Scalar]]
    data: Sequence[DataSet]
    name: str
    direction: Direction = "minimize"
    seed: int = 0
    runtime: str = DEFAULT_RUNTIME
    time_limit_s: float = 3600
    submit_key: str | None = None
    backend: Backend | None = None
    requires: Requires | None = None
    # The directions of an ask-and-tell study, which has no space; None for a grid.
    directions: Sequence[Direction] | None = None
    # The name of the Optuna study, if it differs from the name at the server.
    asked_as: str | None = None

    def __post_init__(self) -> None:
        chainer_of(self.runtime)
        backend_of(self.backend, self.bundle)
        requirements_of(self.requires)
        try:
            fits = 0 <= self.time_limit_s < 2**43
        except TypeError:
            fits = False
        if not fits:
            raise HyperflockError(
                "time_limit_s is not a number of seconds from 0 on", code="bad_number"
            )

    @property
    def blobs(self) -> list[Blob]:
        """The code and the data as blobs."""
        code = self.bundle.content
        found = [Blob(self.bundle.sha256, len(code), "the code", lambda: io.BytesIO(code))]
        for item in (*self.data, *self.bundle.attached):
            found.append(Blob(item.ref.sha256, item.ref.bytes, f"'{item.ref.name}'", item.open))
        return found

    @property
    def content_sha256(self) -> str:
        """The SHA-256 of all that determines the results: the spec without name, key and
        provenance.
        """
        told = json.loads(self.body())
        for name in ("name", "submit_key", "provenance"):
            del told[name]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def body(self) -> bytes:
        """Return the study spec as JSON.

        Raises
        ------
        ProtocolError, InvalidSpaceError
            The server would refuse it.
        """
        asked = self.directions is not None
        spec = StudySpec(
            kind="asked" if asked else UNSET,
            directions=list(self.directions) if self.directions is not None else UNSET,
            name=self.name,
            submit_key=self.submit_key or uuid.uuid4().hex,
            direction=self.direction,
            entry=self.bundle.entry,
            bundle=BlobRef(self.bundle.sha256, len(self.bundle.content)),
            space=[] if asked else dimensions_of(self.space),
            data=[item.ref for item in (*self.data, *self.bundle.attached)],
            seed=self.seed,
            runtime=Runtime(chainer_of(self.runtime), backend_of(self.backend, self.bundle)),
            requires=requirements_of(self.requires),
            limits=Limits(time_limit_ms=round(self.time_limit_s * 1000)),
            provenance={
                "client": AGENT,
                "python": platform.python_version(),
                "source_sha256": self.bundle.source_sha256,
                "files": list(self.bundle.files[:200]),
                **({"asked_as": self.asked_as} if self.asked_as else {}),
            },
        )
        return encode_spec(spec)

    async def dry_run(self, where: Where, http: Http | None = None) -> DryRun:
        """Run the first trial on this machine; see `hyperflock._execution.dry_run.dry_run`.

        ``http`` is a connection to the server whose runtime a browser uses; CPython needs none.
        """
        return await dry_run(
            self.bundle,
            self.data,
            params=grid_point(self.space, 0),
            seed=trial_seed(self.seed, 0),
            runtime=self.runtime,
            backend=backend_of(self.backend, self.bundle) or None,
            time_limit_s=self.time_limit_s,
            where=where,
            http=http,
        )


def key_of(name: str | None, submit_key: str | None, *, once: bool) -> str | None:
    """Return the key for submitting a study; with ``once`` it is made from the name.

    Raises
    ------
    HyperflockError
        ``bad_once``: there is no name, or a key was given too.
    """
    if not once:
        return submit_key
    if submit_key or not name:
        raise HyperflockError("'once' needs a name and no submit_key", code="bad_once")
    return f"name:{name}"
