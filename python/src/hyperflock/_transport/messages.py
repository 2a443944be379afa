"""The messages of the protocol as declarations: one struct each, limits included.

    message = parse_server(text)      # Welcome, Update, ...; raises ProtocolError(code, field)
    text = encode(Watch(study=3, after=0))

A researcher's client sends ``hello`` and ``watch`` only; a device's messages are declared beside
them, because the tests play devices and because one set of golden files holds the three languages
together. Plain data; any thread.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from hyperflock._base.errors import ProtocolError
from hyperflock._transport.validation import MAX_FRAME_BYTES, convert, read_json

PROTOCOL_VERSION = 1
MAX_INTEGER = 2**53 - 1
MAX_DATA = 64
MAX_SPACE_NAMES = 64
MAX_TEXT = 256

Id = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]
Count = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
Seed32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Name = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
Code = Annotated[str, Meta(max_length=64)]
Message = Annotated[str, Meta(max_length=1024)]
Line = Annotated[str, Meta(max_length=2000)]
Traceback = Annotated[str, Meta(max_length=16 * 1024, extra={"unit": "bytes"})]
Params = Annotated[str, Meta(max_length=64 * 1024, extra={"unit": "bytes"})]
Attrs = Annotated[str, Meta(max_length=64 * 1024, extra={"unit": "bytes"})]
Answer = Annotated[str, Meta(max_length=64 * 1024, extra={"unit": "bytes"})]
Distribution = Annotated[str, Meta(max_length=16 * 1024, extra={"unit": "bytes"})]
Suggested = Annotated[str, Meta(max_length=256 * 1024, extra={"unit": "bytes"})]
Label = Annotated[str, Meta(min_length=1, max_length=128)]
RefusalCode = Annotated[str, Meta(min_length=1, max_length=64)]
Entry = Annotated[str, Meta(max_length=512)]
StudyEntry = Annotated[str, Meta(max_length=512, pattern=r"^[^:]+:[^:]+\Z")]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Filename = Annotated[
    str, Meta(min_length=1, max_length=MAX_TEXT, pattern=r"^(?!\.{1,2}\Z)[^/\\\x00]+\Z")
]
Point = tuple[Count, float]
Points = Annotated[list[Point], Meta(max_length=1000)]
Values = Annotated[list[float], Meta(min_length=1, max_length=8)]
Cause = Literal[
    "worker_lost",
    "user_error",
    "out_of_memory",
    "device_lost",
    "timeout",
    "invalid",
    "cancelled",
]
DataKind = Literal["npy", "npz", "file"]
Direction = Literal["minimize", "maximize"]
Directions = Annotated[list[Direction], Meta(min_length=1, max_length=8)]
StudyKind = Literal["grid", "asked"]
Backend = Literal["auto", "webgpu", "cpu"]


class BlobRef(Struct):
    """Content by its hash."""

    sha256: Sha256
    bytes: Count


class DataRef(Struct):
    """One named data set of a study."""

    name: Name
    kind: DataKind
    filename: Filename
    sha256: Sha256
    bytes: Count


class Failure(Struct):
    """Why an attempt failed."""

    cause: Cause
    code: Code
    message: Message
    traceback: Traceback = ""


class Runtime(Struct):
    """What the objective runs on; ``backend``: the device that it asks for."""

    chainer: Name
    backend: Backend | UnsetType = UNSET


class Requirements(Struct, omit_defaults=True):
    """What a study asks of its devices; 0 and False ask for nothing."""

    memory_mb: Count = 0
    cores: Count = 0
    buffer_mb: Count = 0
    f16: bool = False
    graphics_card: bool = False


# ---- device or researcher to server


class GpuFacts(Struct):
    """A device's graphics adapter, as coarse as placing trials allows."""

    adapter: Code
    software: bool
    f16: bool
    buffer_mb: Count


class Capabilities(Struct):
    """What a device can do."""

    backends: Annotated[list[Literal["cpu", "webgpu", "webgl2"]], Meta(max_length=8)]
    memory_mb: Count
    cores: Count
    engine: Text
    device_class: Literal["phone", "tablet", "desktop", "node"] = msgspec.field(name="class")
    gpu: GpuFacts | UnsetType = UNSET


class HelloDevice(Struct, tag_field="type", tag="hello"):
    """A device opens its session."""

    protocol: Count
    role: Literal["device"]
    device: Text
    secret: Text
    agent: Text
    capabilities: Capabilities
    attempts: Annotated[list[Id], Meta(max_length=16)] = msgspec.field(default_factory=list)


class HelloResearcher(Struct, tag_field="type", tag="hello"):
    """A researcher opens a session."""

    protocol: Count
    role: Literal["researcher"]
    token: Text
    agent: Text


class Ready(Struct, tag_field="type", tag="ready"):
    """A device asks for work."""


class Pulse(Struct):
    """Life sign of one attempt."""

    attempt: Id
    progress: Count
    state: Literal["loading", "running", "waiting_call"]


class Heartbeat(Struct, tag_field="type", tag="heartbeat"):
    """Life sign of a device and its attempts."""

    attempts: Annotated[list[Pulse], Meta(max_length=16)]


class Report(Struct, tag_field="type", tag="report"):
    """Points of a metric's curve."""

    attempt: Id
    seq: Id
    points: Points


class CallArgs(Struct):
    """Arguments of a call."""

    step: Count | UnsetType = UNSET


class Call(Struct, tag_field="type", tag="call"):
    """A question that an objective waits for."""

    id: Count
    attempt: Id
    method: Text
    args: CallArgs = msgspec.field(default_factory=CallArgs)
    points: Points = msgspec.field(default_factory=list)


class SuggestArgs(Struct):
    """Arguments of a suggestion."""

    name: Name
    distribution: Distribution


class Suggest(Struct, tag_field="type", tag="call"):
    """A parameter's value is asked for; `call` on the wire."""

    id: Count
    attempt: Id
    method: Literal["suggest"]
    args: SuggestArgs
    points: Points = msgspec.field(default_factory=list)


class RunMetrics(Struct):
    """How long an attempt took."""

    load_ms: Count
    run_ms: Count


class Result(Struct, tag_field="type", tag="result"):
    """The end of an attempt."""

    attempt: Id
    seq: Id
    outcome: Literal["complete", "pruned", "failed"]
    values: Values | UnsetType = UNSET
    error: Failure | UnsetType = UNSET
    points: Points = msgspec.field(default_factory=list)
    metrics: RunMetrics = msgspec.field(default_factory=lambda: RunMetrics(0, 0))
    backend: Text = ""
    next: bool = False
    attrs: Attrs | UnsetType = UNSET
    software: Text | UnsetType = UNSET


class Release(Struct, tag_field="type", tag="release"):
    """A device gives an attempt back."""

    attempt: Id
    seq: Id
    reason: Literal["page_hidden", "stopped", "shutdown", "cannot_run", "no_owner"]


class Output(Struct, tag_field="type", tag="output"):
    """What a running objective printed."""

    attempt: Id
    lines: Annotated[list[Line], Meta(max_length=200)]
    dropped: Count = 0


class OwnerClaim(Struct):
    """Who wants to own an asked study."""

    label: Label
    standby: bool = False


class Watch(Struct, tag_field="type", tag="watch"):
    """A researcher asks for a study's news beyond a cursor, for a trial's lines, or to own it."""

    study: Id
    after: Count
    trial: Count | UnsetType = UNSET
    log_after: Count | UnsetType = UNSET
    own: OwnerClaim | UnsetType = UNSET


class OwnerAnswer(Struct):
    """An owner's answer to a call: a value as JSON text, or a code with its message."""

    id: Count
    value: Answer | UnsetType = UNSET
    code: RefusalCode | UnsetType = UNSET
    message: Message | UnsetType = UNSET


class AskedTrial(Struct):
    """A trial that an owner's sampler was asked for, and what it begins with."""

    trial: Count
    params: Params = "{}"
    attrs: Attrs | UnsetType = UNSET


class OwnerReply(Struct, tag_field="type", tag="reply"):
    """What the owner of a study says; `reply` on the wire."""

    study: Id
    taken: Count
    room: Count
    target: Count | UnsetType = UNSET
    replies: Annotated[list[OwnerAnswer], Meta(max_length=1000)] = msgspec.field(
        default_factory=list
    )
    asked: Annotated[list[AskedTrial], Meta(max_length=1000)] = msgspec.field(default_factory=list)
    finish: bool = False


# ---- server to device or researcher


class Welcome(Struct, tag_field="type", tag="welcome"):
    """A session is open."""

    protocol: Count
    session: Count
    server: Text
    heartbeat_ms: Count
    lease_ms: Count
    attempts: list[Id]


class Refused(Struct, tag_field="type", tag="refused"):
    """A session is not opened."""

    code: Code
    message: Message


class CheckpointRef(Struct):
    """What an attempt saved of its trial, and a later one begins with."""

    attempt: Id
    format: Literal["tree", "npz"]
    sha256: Sha256
    bytes: Count
    step: Count | UnsetType = UNSET


class LeaseBody(Struct):
    """One attempt and all that it needs."""

    attempt: Id
    study: Id
    trial: Count
    kind: Literal["primary", "duplicate", "replica"]
    study_name: Text
    owner: Text
    total: Count
    params: Params
    seed: Seed32
    entry: Entry
    bundle: BlobRef
    data: Annotated[list[DataRef], Meta(max_length=MAX_DATA)]
    runtime: Runtime
    time_limit_ms: Count
    lease_ms: Count
    checkpoint: CheckpointRef | UnsetType = UNSET
    asked: bool | UnsetType = UNSET
    directions: Annotated[int, Meta(ge=1, le=8)] | UnsetType = UNSET
    suggested: Suggested | UnsetType = UNSET
    attrs: Attrs | UnsetType = UNSET


class Lease(Struct, tag_field="type", tag="lease"):
    """Work for a device."""

    lease: LeaseBody


class Wait(Struct, tag_field="type", tag="wait"):
    """No work now."""

    delay_ms: Count
    reason: Literal["no_work", "no_matching_work", "draining", "read_only"]


class Ack(Struct, tag_field="type", tag="ack"):
    """Something was taken."""

    attempt: Id | UnsetType = UNSET
    seq: Id | UnsetType = UNSET


class ResultAck(Struct, tag_field="type", tag="result_ack"):
    """A result is committed."""

    attempt: Id
    seq: Id
    verdict: Literal["accepted", "evidence", "recorded"]
    lease: LeaseBody | UnsetType = UNSET


class Reply(Struct, tag_field="type", tag="reply"):
    """Answer to a call."""

    id: Count
    value: bool


class TextReply(Struct, tag_field="type", tag="reply"):
    """Answer to a suggestion: the value as JSON text; `reply` on the wire."""

    id: Count
    text: Answer


class Error(Struct, tag_field="type", tag="error"):
    """A message was not taken."""

    code: Code
    message: Message
    field: Annotated[str, Meta(max_length=512)] | UnsetType = UNSET
    id: Count | UnsetType = UNSET
    attempt: Id | UnsetType = UNSET
    study: Id | UnsetType = UNSET
    trial: Count | UnsetType = UNSET


class Revoke(Struct, tag_field="type", tag="revoke"):
    """An attempt must stop."""

    attempt: Id
    code: Literal["cancelled", "timeout", "stalled", "superseded", "device_revoked"]
    message: Message


class Dimension(Struct):
    """One name of a grid and its values, in order."""

    name: Name
    values: list[Any]


class BestRow(Struct):
    """The best complete trial of a study."""

    trial: Count
    value: float
    params: Params


class SamplerRow(Struct):
    """Who owns an asked study."""

    generation: Count
    attached: bool
    label: Text
    since: Count


class StudyRow(Struct):
    """A study as the server shows it."""

    study: Id
    name: Text
    owner: Text
    project: Text
    state: Literal["running", "finished", "cancelled"]
    direction: Direction
    total: Count
    complete: Count
    pruned: Count
    failed: Count
    running: Count
    attempts: Count
    cursor: Count
    entry: Entry
    seed: Count
    created_at: Count
    space: list[Dimension]
    runtime: Runtime
    bundle: BlobRef
    paused: bool | UnsetType = UNSET
    requires: Requirements | UnsetType = UNSET
    finished_at: Count | UnsetType = UNSET
    best: BestRow | UnsetType = UNSET
    kind: StudyKind | UnsetType = UNSET
    directions: Directions | UnsetType = UNSET
    sampler: SamplerRow | UnsetType = UNSET
    wanted: Count | UnsetType = UNSET

    @property
    def done(self) -> int:
        """How many trials have finished."""
        return self.complete + self.pruned + self.failed

    @property
    def goal(self) -> int:
        """How many trials there will be, as far as that is known: an owner may ask for more."""
        return max(self.total, self.wanted) if isinstance(self.wanted, int) else self.total

    @property
    def aims(self) -> list[Direction]:
        """The direction of each objective."""
        return self.directions if isinstance(self.directions, list) else [self.direction]

    @property
    def runtime_name(self) -> str:
        """What its trials run on, by the name of the runtime's piece."""
        return f"chainer-{self.runtime.chainer}"


class DeviceRow(Struct):
    """The device of a trial's deciding attempt."""

    device: Text
    device_class: Text = msgspec.field(name="class")
    engine: Text
    backend: Text
    adapter: Text | UnsetType = UNSET


class AttemptRow(Struct):
    """One run of a trial on one device."""

    attempt: Id
    kind: Text
    state: Text
    device: DeviceRow
    values: Annotated[list[float], Meta(max_length=8)]
    started_at: Count
    finished_at: Count
    run_ms: Count
    load_ms: Count
    resumed_from: Id | UnsetType = UNSET
    resumed_step: Count | UnsetType = UNSET
    software: Annotated[str, Meta(max_length=2 * MAX_TEXT)] | UnsetType = UNSET
    error: Failure | UnsetType = UNSET


class TrialRow(Struct):
    """A trial as the server shows it."""

    study: Id
    trial: Count
    state: Literal["running", "complete", "pruned", "failed", "cancelled"]
    params: Params
    seed: Seed32
    values: Annotated[list[float], Meta(max_length=8)]
    attempts: Count
    started_at: Count
    finished_at: Count
    run_ms: Count
    load_ms: Count
    seq: Count
    accepted_attempt: Id | UnsetType = UNSET
    device: DeviceRow | UnsetType = UNSET
    error: Failure | UnsetType = UNSET
    points: list[Point] | UnsetType = UNSET
    attempts_list: list[AttemptRow] | UnsetType = UNSET
    suggested: list[tuple[Name, Distribution, Answer]] | UnsetType = UNSET
    attrs: Attrs | UnsetType = UNSET
    asked_attrs: Attrs | UnsetType = UNSET


class Update(Struct, tag_field="type", tag="update"):
    """News of a watched study."""

    study: StudyRow
    trials: list[TrialRow]
    cursor: Count


class LogLine(Struct):
    """A line that a trial printed."""

    line: Id
    attempt: Id
    text: Line


class TrialLog(Struct, tag_field="type", tag="log"):
    """Lines of a watched trial."""

    study: Id
    trial: Count
    lines: list[LogLine]
    cursor: Count


class StepArgs(Struct):
    """A step, or none."""

    step: Count | UnsetType = UNSET


class DeviceArgs(Struct):
    """The device of an attempt."""

    device: Text


class SuggestCall(Struct, tag_field="method", tag="suggest"):
    """An attempt asks the owner for a value."""

    id: Count
    trial: Count
    attempt: Id
    args: SuggestArgs


class PruneCall(Struct, tag_field="method", tag="should_prune"):
    """An attempt asks whether to go on; ``points``: those that were not told yet."""

    id: Count
    trial: Count
    attempt: Id
    args: StepArgs = msgspec.field(default_factory=StepArgs)
    points: Points = msgspec.field(default_factory=list)


class PointsCall(Struct, tag_field="method", tag="points"):
    """Points of a trial's curve."""

    trial: Count
    attempt: Id
    points: Points


class ResumedCall(Struct, tag_field="method", tag="resumed"):
    """The trial's points above ``step`` are superseded; without one, all are."""

    trial: Count
    attempt: Id
    args: StepArgs = msgspec.field(default_factory=StepArgs)


class StartedCall(Struct, tag_field="method", tag="started"):
    """The first lease of an attempt."""

    trial: Count
    attempt: Id
    args: DeviceArgs


class FinishedArgs(Struct, kw_only=True):
    """A trial's outcome."""

    state: Literal["complete", "pruned", "failed"]
    values: Annotated[list[float], Meta(max_length=8)]
    params: Params
    attrs: Attrs | UnsetType = UNSET
    error: Failure | UnsetType = UNSET
    seq: Id
    device: Text | UnsetType = UNSET


class FinishedCall(Struct, tag_field="method", tag="finished", kw_only=True):
    """A trial has its outcome."""

    trial: Count
    attempt: Id | UnsetType = UNSET
    args: FinishedArgs
    points: Points = msgspec.field(default_factory=list)


OwnerCallItem: TypeAlias = (
    SuggestCall | PruneCall | PointsCall | ResumedCall | StartedCall | FinishedCall
)


class OwnerCall(Struct, tag_field="type", tag="call"):
    """One batch for the owner of a study; `call` on the wire."""

    study: Id
    generation: Count
    batch: Count
    demand: Count
    calls: Annotated[list[OwnerCallItem], Meta(max_length=1000)]


ServerMessage: TypeAlias = (
    Welcome
    | Refused
    | Lease
    | Wait
    | Ack
    | ResultAck
    | Reply
    | TextReply
    | Error
    | Revoke
    | Update
    | TrialLog
    | OwnerCall
)
ClientMessage: TypeAlias = (
    HelloDevice
    | HelloResearcher
    | Ready
    | Heartbeat
    | Report
    | Call
    | Suggest
    | Result
    | Release
    | Output
    | Watch
    | OwnerReply
)

_SERVER: dict[str, type[ServerMessage]] = {
    "welcome": Welcome,
    "refused": Refused,
    "lease": Lease,
    "wait": Wait,
    "ack": Ack,
    "result_ack": ResultAck,
    "reply": Reply,
    "error": Error,
    "revoke": Revoke,
    "update": Update,
    "log": TrialLog,
    "call": OwnerCall,
}
_CLIENT: dict[str, type[ClientMessage]] = {
    "ready": Ready,
    "heartbeat": Heartbeat,
    "report": Report,
    "call": Call,
    "result": Result,
    "release": Release,
    "output": Output,
    "watch": Watch,
    "reply": OwnerReply,
}


class _Role(Struct):
    role: Literal["device", "researcher"]


class _Values(Struct):
    values: Values


class _Failed(Struct):
    error: Failure


def encode(message: ClientMessage | ServerMessage) -> str:
    """Write a message as one frame's text."""
    return msgspec.json.encode(message).decode()


def parse_server(text: str, max_bytes: int = MAX_FRAME_BYTES) -> ServerMessage:
    """Read one frame from the server.

    Raises
    ------
    ProtocolError
        With the code and the field of the first thing that is wrong.
    """
    name, value = _open(text, max_bytes)
    if name not in _SERVER:
        raise ProtocolError(
            "the server sent a type that this version does not know", code="unknown_type"
        )
    if name == "reply" and "text" in value:
        return convert(value, TextReply)
    return convert(value, _SERVER[name])


def parse_client(text: str) -> ClientMessage:
    """Read one frame from a device or a researcher; errors as in :func:`parse_server`."""
    name, value = _open(text)
    if name == "hello":
        if convert(value, _Role).role == "device":
            return convert(value, HelloDevice)
        return convert(value, HelloResearcher)
    if name not in _CLIENT:
        raise ProtocolError(
            "a client sent a type that this version does not know", code="unknown_type"
        )
    if name == "call" and value.get("method") == "suggest":
        return convert(value, Suggest)
    message = convert(value, _CLIENT[name])
    if isinstance(message, Result):
        # What is optional for a result as such may be what its outcome needs.
        if message.outcome == "complete":
            convert(value, _Values)
        elif message.outcome == "failed":
            convert(value, _Failed)
    if isinstance(message, OwnerReply):
        for index, answer in enumerate(message.replies):
            _check_answer(answer, f"replies[{index}]")
    return message


def _check_answer(answer: OwnerAnswer, path: str) -> None:
    missing = "value" if answer.code is UNSET else "message"
    if getattr(answer, missing) is UNSET:
        field = f"{path}.{missing}"
        raise ProtocolError(f"{field} is missing", code="missing_field", field=field)


def _open(text: str, max_bytes: int = MAX_FRAME_BYTES) -> tuple[str, dict[str, Any]]:
    value = read_json(text, max_bytes)
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise ProtocolError("a message is an object with a type", code="malformed")
    return value["type"], value
