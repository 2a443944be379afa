"""A study that is checked and ready to be submitted: code, data, space and options.

    made = Submission(bundle, space, data, name="digits", runtime="chainer-5.4.0")
    made.blobs, made.body()          # what the server gets, completely checked
    run = await made.dry_run("cpython")

The module has plain data only; any thread may use it.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

from msgspec import UNSET

from hyperflock._base.errors import HyperflockError
from hyperflock._bundle.bundle import Bundle, needing
from hyperflock._bundle.source.runtime import DEFAULT_RUNTIME, RUNTIME_VERSIONS, chainer_of
from hyperflock._client.packs import pack_refs
from hyperflock._client.placement import Requires, backend_of, requirements_of
from hyperflock._client.uploads import Blob
from hyperflock._client.webhooks import webhook_of
from hyperflock._execution.dry_run import DryRun, Where, dry_run
from hyperflock._model.data import DataSet
from hyperflock._model.grid import point_of, trial_seed
from hyperflock._model.space import SearchSpace, Space, dimensions_of, kind_of
from hyperflock._model.spec import encode_spec
from hyperflock._model.value_range import Range, bounds_of
from hyperflock._transport.http import AGENT, Http
from hyperflock._transport.messages import (
    Backend,
    BlobRef,
    Bounds,
    Dimension,
    Direction,
    Limits,
    Runtime,
    StudyKind,
    StudySpec,
    Versions,
    WebhookEvent,
)

# The number of failed trials that are alike after which a study pauses itself.
DEFAULT_MAX_FAILURES = Limits().max_failures

# The longest time of a trial, in seconds, in a study that names none. The server's limit may be
# lower.
DEFAULT_TIME_LIMIT_S = Limits().time_limit_ms / 1000

# The highest priority of a study; the lowest one is its negative.
MAX_PRIORITY = 100

DryRunChoice = bool | Literal["cpython", "browser"]
# How a study draws its points.
Method = Literal["random", "sobol"]


class GridOptions(TypedDict, total=False):
    """The keyword options of `Client.grid`, `random` and `sobol` without ``dry_run``;
    `AsyncClient.grid` describes them.
    """

    direction: Direction
    seed: int
    runtime: str
    backend: Backend | None
    requires: Requires | None
    time_limit_s: float | None
    max_failures: int | None
    value_range: Range | None
    priority: int
    webhook: str | None
    webhook_events: Sequence[WebhookEvent] | None
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
    space: Space | SearchSpace
    data: Sequence[DataSet]
    name: str
    direction: Direction = "minimize"
    seed: int = 0
    runtime: str = DEFAULT_RUNTIME
    # None means DEFAULT_TIME_LIMIT_S, or the server's limit if that is lower.
    time_limit_s: float | None = None
    max_failures: int | None = DEFAULT_MAX_FAILURES
    value_range: Range | Sequence[Range] | None = None
    priority: int = 0
    webhook: str | None = None
    webhook_events: Sequence[WebhookEvent] | None = None
    submit_key: str | None = None
    # Whether an existing study with this key is extended if its space is smaller.
    extends: bool = False
    backend: Backend | None = None
    requires: Requires | None = None
    # The number of points that `method` draws from the space. If it is 0, every point of the space
    # is tried.
    trials: int = 0
    method: Method | None = None
    # The directions of an ask-and-tell study, which has no space; None for any other study.
    directions: Sequence[Direction] | None = None
    # The name of the Optuna study, if it differs from the name at the server.
    asked_as: str | None = None

    def __post_init__(self) -> None:
        packs = frozenset(name for item in self.data for name in item.packs)
        object.__setattr__(self, "bundle", needing(self.bundle, packs))
        chainer_of(self.runtime)
        backend_of(self.backend, self.bundle)
        requirements_of(self.requires)
        webhook_of(self.webhook, self.webhook_events)
        if self.method and (isinstance(self.trials, bool) or not isinstance(self.trials, int)):
            raise HyperflockError(
                f"trials is {self.trials!r:.100}, not a whole number from 1 on",
                code="bad_number",
                field="trials",
            )
        try:
            fits = self.time_limit_s is None or 0 <= self.time_limit_s < 2**43
        except TypeError:
            fits = False
        if not fits:
            raise HyperflockError(
                "time_limit_s is not a number of seconds from 0 on", code="bad_number"
            )
        most = self.max_failures
        if most is not None and (type(most) is not int or not 1 <= most < 2**53):
            raise HyperflockError(
                f"max_failures is {most!r:.100}, but must be a whole number from 1 on, or None",
                code="bad_number",
                field="max_failures",
            )
        check_priority(self.priority)
        self._bounds()

    @property
    def blobs(self) -> list[Blob]:
        """The code and the data as blobs."""
        return blobs_of(self.bundle, self.data)

    @property
    def kind(self) -> StudyKind:
        """The kind of study: how its trials get their parameters."""
        if self.directions is not None:
            return "asked"
        return self.method or kind_of(self.space)

    @property
    def dimensions(self) -> list[Dimension]:
        """The space as the server gets it; empty for an ask-and-tell study."""
        return [] if self.kind == "asked" else dimensions_of(self.space, self.kind)

    @property
    def content_sha256(self) -> str:
        """The SHA-256 of all that determines the results: the spec without name, key,
        provenance, webhook and limit of failures.
        """
        told = json.loads(self.body())
        for name in ("name", "submit_key", "provenance"):
            del told[name]
        del told["limits"]["max_failures"]
        # A study that names no time limit has the same content everywhere, whatever the server
        # allows.
        told["limits"].setdefault("time_limit_ms", Limits().time_limit_ms)
        del told["versions"]  # the bundle has them too
        told.pop("packs", None)  # likewise
        told.pop("priority", None)
        told.pop("webhook", None)
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def body(self) -> bytes:
        """Return the study spec as JSON.

        Raises
        ------
        ProtocolError, InvalidSpaceError
            The server would refuse it.
        """
        spec = StudySpec(
            kind=UNSET if self.kind == "grid" else self.kind,
            directions=list(self.directions) if self.directions is not None else UNSET,
            name=self.name,
            submit_key=self.submit_key or uuid.uuid4().hex,
            direction=self.direction,
            entry=self.bundle.entry,
            bundle=BlobRef(self.bundle.sha256, len(self.bundle.content)),
            space=self.dimensions,
            trials=self.trials if self.method else UNSET,
            data=[item.ref for item in (*self.data, *self.bundle.attached)],
            seed=self.seed,
            runtime=Runtime(chainer_of(self.runtime), backend_of(self.backend, self.bundle)),
            requires=requirements_of(self.requires),
            versions=Versions(**RUNTIME_VERSIONS),
            packs=pack_refs(self.bundle.content) or UNSET,
            limits=Limits(
                time_limit_ms=round(self._time_limit_s * 1000),
                max_failures=self.max_failures or 0,
            ),
            value_range=self._bounds() or UNSET,
            priority=self.priority or UNSET,
            webhook=webhook_of(self.webhook, self.webhook_events) or UNSET,
            provenance={
                **made_with(self.bundle),
                **({"asked_as": self.asked_as} if self.asked_as else {}),
            },
        )
        return encode_spec(spec, names_time_limit=self.time_limit_s is not None)

    def _bounds(self) -> list[Bounds]:
        directions = 1 if self.directions is None else len(self.directions)
        return bounds_of(self.value_range, directions)

    @property
    def _time_limit_s(self) -> float:
        return DEFAULT_TIME_LIMIT_S if self.time_limit_s is None else self.time_limit_s

    async def dry_run(self, where: Where, http: Http | None = None) -> DryRun:
        """Run the first trial on this machine; see `hyperflock._execution.dry_run.dry_run`.

        ``http`` is a connection to the server whose runtime a browser uses; CPython needs none.
        """
        return await dry_run(
            self.bundle,
            self.data,
            params=point_of(self.kind, self.dimensions, 0, self.seed),
            seed=trial_seed(self.seed, 0),
            runtime=self.runtime,
            backend=backend_of(self.backend, self.bundle) or None,
            time_limit_s=self._time_limit_s,
            where=where,
            http=http,
        )


def blobs_of(bundle: Bundle, data: Sequence[DataSet] = ()) -> list[Blob]:
    """Return the code, the data that belongs to it, and further data as blobs."""
    code = bundle.content
    found = [Blob(bundle.sha256, len(code), "the code", lambda: io.BytesIO(code))]
    for item in (*data, *bundle.attached):
        found.append(Blob(item.ref.sha256, item.ref.bytes, f"'{item.ref.name}'", item.open))
    return found


def made_with(bundle: Bundle) -> dict[str, Any]:
    """Return the provenance of code: what submits it, and the files that it comes from."""
    return {
        "client": AGENT,
        "python": platform.python_version(),
        "source_sha256": bundle.source_sha256,
        "files": list(bundle.files[:200]),
    }


def check_priority(priority: object) -> None:
    """Check the priority of a study among those of its owner.

    Raises
    ------
    HyperflockError
        ``bad_number``: it is not a whole number from -100 to 100.
    """
    if type(priority) is not int or not -MAX_PRIORITY <= priority <= MAX_PRIORITY:
        raise HyperflockError(
            f"priority is {priority!r:.100}, but must be a whole number from -100 to 100",
            code="bad_number",
            field="priority",
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
