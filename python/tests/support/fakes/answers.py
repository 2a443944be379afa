"""Makes the answers of the fake console, and parts of its rows. Pure."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hyperflock._base.param_values import params_text
from hyperflock._model import grid as _grid
from hyperflock._model import spec as _spec
from hyperflock._transport import messages as _protocol


class Answer:
    """An answer of the console to one request."""

    def __init__(
        self, status: int, body: bytes = b"", kind: str = "application/octet-stream"
    ) -> None:
        self.status = status
        self.body = body
        self.kind = kind

    def encode(self, *, with_body: bool) -> bytes:
        head = (
            f"HTTP/1.1 {self.status} Fake\r\n"
            f"Content-Type: {self.kind}\r\n"
            f"Content-Length: {len(self.body) if with_body else 0}\r\n\r\n"
        )
        return head.encode() + (self.body if with_body else b"")


def json_answer(status: int, value: Any) -> Answer:
    """Return a value as JSON."""
    return Answer(status, json.dumps(value).encode(), "application/json")


def refusal(status: int, code: str, message: str, field: str | None = None) -> Answer:
    """Return an error with its code."""
    error = {"code": code, "message": message} | ({"field": field} if field else {})
    return json_answer(status, {"error": error})


def attempt_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the last attempt of a trial, in the form of the answer about a single trial."""
    copied = ["device", "values", "started_at", "finished_at", "run_ms", "load_ms", "error"]
    copied.append("code_version")
    state = {"running": "live", "failed": "failed"}.get(row["state"], "accepted")
    attempt = {"attempt": 7, "kind": "primary", "state": state, "code_version": 1}
    attempt |= {name: row[name] for name in copied if name in row}
    return attempt if state == "live" else {**attempt, "software": "hyperflock-server/0.2.0"}


def blobs_of(spec: _protocol.StudySpec) -> list[Any]:
    """Return the references to the blobs that a study names."""
    return [spec.bundle, *spec.data]


def point_text(spec: _protocol.StudySpec, number: int) -> str:
    """Return the parameters of a trial as the JSON text that the server sends."""
    return params_text(_grid.point_of(_spec.kind_of(spec), spec.space, number, spec.seed))


def trial_count(spec: _protocol.StudySpec) -> int:
    """Return the number of trials that a spec describes."""
    if spec.kind == "asked":
        return 0
    return spec.trials or _grid.count_of(_spec.kind_of(spec), spec.space)


def space_of(spec: _protocol.StudySpec) -> Any:
    """Return the space in the form of a study's row. Of a list of points it has only the
    parameters' names.
    """
    if spec.kind == "points":
        return [{"name": d.name, "values": []} for d in spec.space]
    return msgspec.to_builtins(spec.space)


def extended(spec: _protocol.StudySpec, body: dict[str, Any]) -> _protocol.StudySpec | Answer:
    """Return the spec with the additional points that a request's body asks for, or a refusal."""
    if isinstance(spec.trials, int):  # a random or Sobol study
        if body["trials"] < spec.trials:
            return refusal(409, "space_changed", f"it has {spec.trials} trials", "space")
        return msgspec.structs.replace(spec, trials=body["trials"])
    given = {d["name"]: [json.dumps(v) for v in d["values"]] for d in body["space"]}
    space = []
    for known in spec.space:
        values = [json.dumps(v) for v in known.values]
        if lost := [v for v in values if v not in given.get(known.name, [])]:
            message = f'"{known.name}" has lost the value {lost[0]}'
            return refusal(409, "space_changed", message, "space")
        more = [v for v in given[known.name] if v not in values]
        space.append(_protocol.Dimension(known.name, [*known.values, *map(json.loads, more)]))
    return msgspec.structs.replace(spec, space=space)
