"""A console server in this process for unit tests: HTTP and the researchers' WebSocket on one port.

    with FakeConsole() as server:
        client = Client(server.url, server.token)
        server.finish(study_id, 0, value=0.5)

It follows the written interface: the package's codec, which the golden files check, parses every
message that the server sends, and checks every spec that it receives. The event loop runs in a
thread of its own. The test's thread changes the server's state only by the methods of
`FakeConsole`, which hold the lock.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from fake_asked import DEVICE, AskedStudy
from fakes import blobs, files, list_pages
from fakes.answers import (
    Answer,
    attempt_of,
    blobs_of,
    extended,
    json_answer,
    point_text,
    refusal,
    space_of,
    trial_count,
)
from hyperflock._base.errors import HyperflockError
from hyperflock._base.version import __version__
from hyperflock._model import grid as _grid
from hyperflock._model import spec as _spec
from hyperflock._transport import frames
from hyperflock._transport import messages as _protocol
from hyperflock._transport.validation import convert
from patience import LIMIT_S
from websockets.frames import Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

NOW = 1_763_683_200_000


def artifact_id(study: int, count: int) -> str:
    """Return the id of an artifact of a study that already had ``count`` artifacts."""
    return f"{study:08x}-0000-4000-8000-{count:012x}"


def _meets(row: dict[str, Any]) -> bool:
    """Return whether a trial meets the constraints that its objective set.

    Malformed attributes contain no constraints, as at the server.
    """
    try:
        system = json.loads(row.get("attrs") or "{}").get("system", {})
    except ValueError:
        return True
    return all(value <= 0 for key, value in system.items() if key.startswith("constraints:"))


def _front(rows: list[dict[str, Any]], directions: list[str]) -> dict[str, Any]:
    """Return the row's field ``best_trials``: the trials on the Pareto front. Without trials,
    return an empty dict.
    """
    signs = [-1 if one == "maximize" else 1 for one in directions]
    losses = {r["trial"]: [s * v for s, v in zip(signs, r["values"], strict=True)] for r in rows}

    def beats(one: list[float], other: list[float]) -> bool:
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    front = [n for n, mine in losses.items() if not any(beats(o, mine) for o in losses.values())]
    return {"best_trials": sorted(front)} if front else {}


class FakeConsole:
    """A console that knows one researcher's token."""

    token = "hfr_fake"

    def __init__(self) -> None:
        self.lock = threading.RLock()
        # The uploaded bytes by hash, and the hashes of those that only somebody else uploaded.
        self.blobs: dict[str, bytes] = {}
        self.of_others: set[str] = set()
        self.specs: dict[int, _protocol.StudySpec] = {}
        self.by_key: dict[str, int] = {}
        self.finished: dict[int, list[dict[str, Any]]] = {}
        # The numbers of the grid trials that run, by study.
        self.begun: dict[int, set[int]] = {}
        self.cancelled: set[int] = set()
        self.paused: set[int] = set()
        self.held: dict[int, dict[str, str]] = {}
        self.priorities: dict[int, int] = {}
        self.earlier_specs: dict[int, list[_protocol.StudySpec]] = {}
        self.estimates: dict[int, dict[str, Any]] = {}
        # Method and path of every request, in order, and the hello and watch messages of the
        # WebSocket.
        self.requests: list[str] = []
        self.messages: list[_protocol.ClientMessage] = []
        # Address and port of each client that has connected.
        self.connections: set[tuple[str, int]] = set()
        # Each of the next requests gets one of these instead of an answer: a status, or None, which
        # drops the connection.
        self.faults: list[int | None] = []
        # The codes with which the next WebSocket sessions are refused.
        self.refusals: list[str] = []
        # Frames that are sent as they are, before all others.
        self.strange_frames: list[str | bytes] = []
        # The lines that trials printed, by study and number.
        self.printed: dict[tuple[int, int], list[str]] = {}
        # The series that trials logged, by study and trial. Each is a list of a name, steps and
        # values.
        self.series: dict[tuple[int, int], list[list[Any]]] = {}
        self.artifacts: dict[int, dict[str, tuple[dict[str, Any], bytes]]] = {}
        # The server's part of each ask-and-tell study.
        self.asked: dict[int, AskedStudy] = {}
        self.asked_more = threading.Condition(self.lock)
        # The folder of pages and runtime that this console also serves, as the compute origin does.
        # None: it serves no files.
        self.built: Path | None = None
        # The list of packs; None: it has none.
        self.packs: bytes | None = files.listed()
        # The answer to requests for the placement of any study. `reasons` has the number of devices
        # that may not run its trials, by reason.
        self.placement: dict[str, Any] = {
            "reasons": {"no_webgpu": 1},
            "share": {"weight": 100, "weights": 300, "guaranteed": 0, "devices": 1, "ahead": 2},
            "waits": "others_first",
        } | {"devices": 2, "matching": 1}
        self.page = 500
        self.max_blob_bytes = 512 << 20
        self._seq = 0
        self._last_study = 0
        self._wake: set[asyncio.Event] = set()
        self._sockets: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fake-console", daemon=True)
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> FakeConsole:
        self._thread.start()
        assert self._started.wait(LIMIT_S)
        return self

    def __exit__(self, *exception: object) -> None:
        self._call(self._stop)
        self._thread.join(LIMIT_S)
        assert not self._thread.is_alive()

    # ---- What a test calls

    def finish(self, study: int, number: int, state: str = "complete", **fields: Any) -> None:
        """Finish a trial.

        The fields are those of a trial's row: `value` or `values`, `error`, `device`.
        """
        with self.lock:
            spec = self.specs[study]
            value = fields.pop("value", None)
            self._seq += 1
            row: dict[str, Any] = {
                "study": study,
                "trial": number,
                "state": state,
                "params": point_text(spec, number),
                "seed": _grid.trial_seed(spec.seed, number),
                "values": [] if value is None else [value],
                "attempts": 1,
                **({} if state == "failed" else {"accepted_attempt": 7}),
                "started_at": NOW,
                "finished_at": NOW + 1000,
                "run_ms": 900,
                "load_ms": 100,
                "seq": self._seq,
                "device": DEVICE,
                "code_version": len(self.earlier_specs.get(study, ())) + 1,
            }
            row.update(fields)
            if "error" in row:
                row["error"] = {"cause": "user_error", "traceback": "", **row["error"]}
            self.begun.get(study, set()).discard(number)
            # A failed trial may finish again: the later row replaces the earlier one.
            self.finished[study] = [r for r in self.finished[study] if r["trial"] != number]
            self.finished[study].append(row)
        self._call(self._notify)

    def keep(
        self, study: int, trial: int, name: str, content: bytes, *, store: str | None = None
    ) -> str:
        """Store an artifact as if a trial had uploaded it. Return its id."""
        with self.lock:
            kept = self.artifacts.setdefault(study, {})
            identity = artifact_id(study, len(kept))
            row = {
                "id": identity,
                "trial": trial,
                "attempt": 7,
                "name": name,
                "type": "text/plain",
                "sha256": hashlib.sha256(content).hexdigest(),
                "bytes": len(content),
                "created_at": 1_763_683_200_000,
                "store": store or "",
            }
            kept[identity] = (row, content)
        return identity

    def begin(self, study: int, number: int) -> None:
        """Set a grid's trial to running, even if it failed before."""
        with self.lock:
            self.begun.setdefault(study, set()).add(number)
            self.finished[study] = [r for r in self.finished[study] if r["trial"] != number]

    def _running_row(self, study: int, number: int) -> dict[str, Any]:
        spec = self.specs[study]
        return {
            "study": study,
            "trial": number,
            "state": "running",
            "params": point_text(spec, number),
            "seed": _grid.trial_seed(spec.seed, number),
            "values": [],
            "attempts": 1,
            "started_at": NOW,
            "finished_at": 0,
            "run_ms": 0,
            "load_ms": 0,
            "seq": 0,
            "code_version": len(self.earlier_specs.get(study, ())) + 1,
            "device": DEVICE,
        }

    def cancel(self, study: int) -> None:
        with self.lock:
            self.cancelled.add(study)
        self._call(self._notify)

    def kick(self) -> None:
        """Drop every WebSocket without a close frame."""
        self._call(self._break_sockets)

    def study_row(self, study: int) -> dict[str, Any]:
        with self.lock:
            spec = self.specs[study]
            asked = self.asked.get(study)
            rows = self.finished[study] if asked is None else asked.finished()
            count = {
                s: sum(r["state"] == s for r in rows) for s in ("complete", "pruned", "failed")
            }
            total = trial_count(spec)
            ended = sum(count.values()) == total
            state = "cancelled" if study in self.cancelled else "finished" if ended else "running"
            begun = len(self.begun.get(study, ()))
            row: dict[str, Any] = {
                "study": study,
                "name": spec.name,
                "owner": "ada",
                "project": "First project",
                "state": state,
                **({"paused": True} if study in self.paused else {}),
                **({"held": self.held[study]} if study in self.held else {}),
                **(
                    {"priority": rank}
                    if (rank := self.priorities.get(study, spec.priority))
                    else {}
                ),
                "direction": spec.direction,
                "total": total,
                **count,
                "running": 0 if state == "cancelled" else begun,
                "attempts": len(rows) + begun,
                "cursor": rows[-1]["seq"] if rows else 0,
                "entry": spec.entry,
                "seed": spec.seed,
                "created_at": NOW,
                "space": space_of(spec),
                **({"kind": spec.kind} if spec.kind else {}),
                "runtime": msgspec.to_builtins(spec.runtime),
                **({"requires": msgspec.to_builtins(spec.requires)} if spec.requires else {}),
                "bundle": msgspec.to_builtins(spec.bundle),
            }
            if study in self.earlier_specs:
                row["code_version"] = len(self.earlier_specs[study]) + 1
            if asked is not None:
                row.update(asked.study_fields())
            if row["state"] == "running":
                row["estimate"] = self.estimates.get(
                    study, {"runs": 0, "devices": 0, "why": "no_run"}
                )
            if row["state"] != "running":
                row["finished_at"] = NOW + 1000
            complete = [r for r in rows if r["state"] == "complete" and _meets(r)]
            if asked is not None and len(row["directions"]) > 1:
                row.update(_front(complete, row["directions"]))
                return row
            if complete:
                sign = -1 if spec.direction == "maximize" else 1
                best = min(complete, key=lambda r: (sign * r["values"][0], r["trial"]))
                row["best"] = {
                    "trial": best["trial"],
                    "value": best["values"][0],
                    "params": best["params"],
                }
            return row

    # ---- HTTP

    def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        path, _, query = path.partition("?")
        if path.startswith(("/runtime/", "/app/", "/local-run.json")):
            return files.opened(self.built, path)
        if path == "/packs.json":
            return files.packs(self.packs)
        if headers.get("authorization") != f"Bearer {self.token}":
            return refusal(401, "unauthorized", "the token is unknown")
        parts = path.strip("/").split("/")
        match method, parts:
            case "GET", ["api", "me"]:
                none = {"studies": 0, "trials": 0, "bytes": 0}
                me = {
                    "name": "ada",
                    "role": "researcher",
                    "token": 2,
                    "projects": ["First project"],
                    "quota": none,
                    "used": none,
                    "stored": dict.fromkeys(
                        ("data", "artifacts", "checkpoints", "records", "most_records"), 0
                    ),
                    "server": __version__,
                    "max_blob_bytes": self.max_blob_bytes,
                    "join_origin": self.url,
                }
                return json_answer(200, me)
            case _, ["api", "blobs", sha256, *rest]:
                return blobs.answer(self, method, sha256, rest, body)
            case "POST", ["api", "studies"]:
                return self._submit(body)
            case "GET", ["api", "studies"]:
                rows = [self.study_row(study) for study in self.specs]
                return json_answer(200, list_pages.newest_first(query, rows, self.page))
            case "POST", ["api", "enrolment"]:
                return json_answer(201, {"code": "abc", "join_url": "http://127.0.0.1:1/join#abc"})
            case "GET", ["api", "workers"]:
                return json_answer(200, {"workers": [], "cursor": 0, "more": False})
            case _, ["api", "studies", text, *rest] if text.isdigit() and int(text) in self.specs:
                return self._about(method, int(text), rest, query, body)
            case _, ["api", "studies", _, *_]:
                return refusal(404, "unknown_study", "there is no such study")
        return refusal(404, "not_found", "there is no such page")

    def _submit(self, body: bytes) -> Answer:
        try:
            spec = _spec.parse_spec(body.decode())
        except HyperflockError as error:
            status = 400 if error.code == "malformed" else 422
            return refusal(status, error.code, error.message, error.field)
        if spec.submit_key in self.by_key:
            earlier = self.by_key[spec.submit_key]
            was = self.specs[earlier]
            spec.name, spec.provenance = was.name, was.provenance
            spec.webhook = was.webhook
            if spec != was:
                return refusal(409, "study_exists", f"study {earlier} was made of other content")
            return json_answer(200, self.study_row(earlier))
        for index, sha256 in enumerate([spec.bundle.sha256, *(d.sha256 for d in spec.data)]):
            if sha256 not in self.blobs:
                field = f"data[{index - 1}].sha256" if index else "bundle.sha256"
                return refusal(422, "unknown_blob", "a blob was not uploaded", field)
        self._last_study += 1
        study = self._last_study
        self.specs[study] = spec
        self.by_key[spec.submit_key] = study
        self.finished[study] = []
        if spec.kind == "asked":
            self.asked[study] = AskedStudy(study, spec, self.lock, self._notify)
            self.asked_more.notify_all()
        return json_answer(201, self.study_row(study))

    def _delete(self, study: int) -> Answer:
        row = self.study_row(study)
        if row["state"] == "running":
            return refusal(409, "study_running", "the study is not over")
        spec = self.specs.pop(study)
        del self.by_key[spec.submit_key]
        files = [kept["bytes"] for kept, _ in self.artifacts.pop(study, {}).values()]
        named = {blob.sha256 for other in self.specs.values() for blob in blobs_of(other)}
        size = sum(files)
        for blob in blobs_of(spec):
            if blob.sha256 not in named and self.blobs.pop(blob.sha256, None) is not None:
                size += blob.bytes
        self._notify()
        trials = row["complete"] + row["pruned"] + row["failed"]
        return json_answer(
            200, {"study": study, "trials": trials, "artifacts": len(files), "bytes": size}
        )

    def _extend(self, study: int, body: dict[str, Any]) -> Answer:
        found = extended(self.specs[study], body)
        if isinstance(found, Answer):
            return found
        self.specs[study] = found
        self._notify()
        return json_answer(200, self.study_row(study))

    def _take_code(self, study: int, code: _protocol.NewCode) -> None:
        self.earlier_specs.setdefault(study, []).append(self.specs[study])
        self.specs[study] = msgspec.structs.replace(
            self.specs[study],
            entry=code.entry,
            bundle=code.bundle,
            data=code.data,
            versions=code.versions,
            provenance=code.provenance,
        )

    def _series_row(self, study: int, row: dict[str, Any]) -> dict[str, Any]:
        series = self.series.get((study, row["trial"]), [])
        return {"trial": row["trial"], "seq": row["seq"], "series": series}

    def _about(self, method: str, study: int, rest: list[str], query: str, body: bytes) -> Answer:
        asked = self.asked.get(study)
        with_points = "points=1" in query.split("&")
        if asked is None:
            finished = self.finished[study]
            unfinished = [self._running_row(study, n) for n in sorted(self.begun.get(study, ()))]
            if with_points:
                finished = [{"points": [[0, 0.5]], **row} for row in finished]
                unfinished = [{"points": [[0, 0.5]], **row} for row in unfinished]
        else:
            finished = asked.finished(with_points=with_points)
            unfinished = asked.unfinished(with_points=with_points)
        match method, rest:
            case "GET", ["unfinished"]:
                return json_answer(200, list_pages.by_number(query, unfinished, self.page))
            case "GET", []:
                return json_answer(200, self.study_row(study))
            case "GET", ["spec"]:
                version = int(query.partition("=")[2] or 0)
                earlier = self.earlier_specs.get(study, [])
                specs = [*earlier, self.specs[study]]
                return json_answer(200, msgspec.to_builtins(specs[version - 1]))
            case "GET", ["blobs", sha256]:
                return Answer(200, self.blobs[sha256])
            case "GET", ["placement"]:
                reasons = self.placement["reasons"].items()
                listed = [{"code": code, "devices": count} for code, count in reasons]
                return json_answer(200, {**self.placement, "reasons": listed})
            case "POST", ["cancel"]:
                self.cancelled.add(study)
                if asked is not None:
                    asked.cancel()
                self._notify()
                return json_answer(200, self.study_row(study))
            case "POST", ["pause" | "resume" as change]:
                (self.paused.add if change == "pause" else self.paused.discard)(study)
                self._notify()
                return json_answer(200, self.study_row(study))
            case "POST", ["extend"]:
                return self._extend(study, json.loads(body))
            case "POST", ["priority"]:
                self.priorities[study] = json.loads(body)["priority"]
                return json_answer(200, self.study_row(study))
            case "DELETE", []:
                return self._delete(study)
            case "POST", ["replay"]:
                reissue = convert(json.loads(body or b"{}"), _protocol.Reissue)
                if isinstance(reissue.code, _protocol.NewCode):
                    if not any(row["state"] == "failed" for row in self.finished[study]):
                        return refusal(409, "no_failed_trial", "no trial has failed")
                    self._take_code(study, reissue.code)
                for row in self.finished[study]:
                    if row["state"] == "failed":
                        self.begun.setdefault(study, set()).add(row["trial"])
                rows = self.finished[study]
                self.finished[study] = [r for r in rows if r["state"] != "failed"]
                self._notify()
                return json_answer(200, self.study_row(study))
            case "GET", ["artifacts"]:
                given = dict(item.split("=") for item in query.split("&"))
                kept = [row for row, _ in self.artifacts.get(study, {}).values()]
                rows = kept[int(given["after"]) :][: self.page]
                cursor = int(given["after"]) + len(rows)
                if "trial" in given:
                    rows = [row for row in kept if row["trial"] == int(given["trial"])]
                    rows, cursor = rows if given["after"] == "0" else [], 1
                return json_answer(200, {"artifacts": rows, "cursor": cursor})
            case "GET", ["artifacts", identity]:
                if identity not in self.artifacts.get(study, {}):
                    return refusal(404, "unknown_artifact", "there is no such artifact")
                return Answer(200, self.artifacts[study][identity][1])
            case "GET", ["trials"]:
                given = dict(item.split("=") for item in query.split("&"))
                limit = min(int(given["limit"]), self.page)
                rows = [r for r in finished if r["seq"] > int(given["after"])][:limit]
                cursor = rows[-1]["seq"] if rows else int(given["after"])
                return json_answer(200, {"trials": rows, "cursor": cursor})
            case "GET", ["series", "trials"]:
                given = dict(item.split("=") for item in query.split("&"))
                rows = [r for r in finished if r["seq"] > int(given["after"])][: self.page]
                cursor = rows[-1]["seq"] if rows else int(given["after"])
                told = [self._series_row(study, row) for row in rows]
                return json_answer(200, {"trials": told, "cursor": cursor})
            case "GET", ["trials", number, "series"]:
                row = next(r for r in [*finished, *unfinished] if r["trial"] == int(number))
                return json_answer(200, self._series_row(study, row))
            case "GET", ["trials", number, "log"]:
                after = int(query.partition("=")[2])
                lines = self.printed.get((study, int(number)), [])
                rows = [{"line": i + 1, "attempt": 7, "text": t} for i, t in enumerate(lines)]
                return json_answer(200, {"lines": rows[after:], "cursor": len(rows)})
            case "GET", ["trials", number]:
                for row in [*finished, *unfinished]:
                    if row["trial"] == int(number):
                        points = [[0, 0.5]] if asked is None else asked.trials[int(number)].points
                        attempts = [] if row["attempts"] == 0 else [attempt_of(row)]
                        return json_answer(
                            200, {"points": points, "attempts_list": attempts, **row}
                        )
        return refusal(404, "not_found", "there is no such page")

    # ---- The thread of the event loop

    def _call(self, function: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(function)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0)
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self._started.set()
        self._loop.run_forever()
        for task in list(self._tasks):
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def _stop(self) -> None:
        self._server.close()
        self._loop.stop()

    def _notify(self) -> None:
        if threading.current_thread() is not self._thread:
            self._call(self._notify)
            return
        for event in self._wake:
            event.set()

    def _break_sockets(self) -> None:
        for writer in list(self._sockets):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections.add(writer.get_extra_info("peername"))
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        line, *lines = head.decode().rstrip().split("\r\n")
        method, path, _ = line.split(" ")
        headers = {k.strip().lower(): v.strip() for k, v in (item.split(":", 1) for item in lines)}
        with self.lock:
            self.requests.append(f"{method} {path}")
            fault = self.faults.pop(0) if self.faults else 0
        if fault is None:
            return False
        if path == "/ws/client" and not fault:
            await self._talk(head, reader, writer)
            return False
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        if fault:
            answer = refusal(fault, "storage_unavailable", "the store is away; try again")
        else:
            try:
                with self.lock:
                    answer = self._answer(method, path, headers, body)
            except Exception:
                # The status is 400, because clients repeat a request for minutes after a dropped
                # connection or a status of 500 and more.
                answer = refusal(400, "fake_console_broken", traceback.format_exc())
        writer.write(answer.encode(with_body=method != "HEAD"))
        await writer.drain()
        return True

    # ---- WebSocket

    async def _talk(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        wire = ServerProtocol(max_size=1 << 20)
        wire.receive_data(head)
        (request,) = wire.events_received()
        assert isinstance(request, Request)
        wire.send_response(wire.accept(request))
        self._sockets.add(writer)
        wake = asyncio.Event()
        self._wake.add(wake)
        session = _Session(self, wire)
        try:
            _flush(wire, writer)
            for frame in self.strange_frames:
                (wire.send_text if isinstance(frame, str) else wire.send_binary)(
                    frame.encode() if isinstance(frame, str) else frame
                )
            reading = asyncio.ensure_future(reader.read(1 << 16))
            while not reader.at_eof():
                woken = asyncio.ensure_future(wake.wait())
                await asyncio.wait({reading, woken}, return_when=asyncio.FIRST_COMPLETED)
                woken.cancel()
                wake.clear()
                if reading.done():
                    data = reading.result()
                    if not data:
                        break
                    wire.receive_data(data)
                    reading = asyncio.ensure_future(reader.read(1 << 16))
                with self.lock:
                    session.step()
                _flush(wire, writer)
                await writer.drain()
                if session.over:
                    break
            reading.cancel()
        finally:
            with self.lock:
                session.left()
            self._wake.discard(wake)
            self._sockets.discard(writer)


class _Session:
    """One session of the researcher."""

    def __init__(self, server: FakeConsole, wire: ServerProtocol) -> None:
        self.server = server
        self.wire = wire
        self.over = False
        self._greeted = False
        self._watching: int | None = None
        self._cursor = 0
        self._last = ""
        self._owned: AskedStudy | None = None

    def step(self) -> None:
        for event in self.wire.events_received():
            opcode = getattr(event, "opcode", None)
            if opcode is Opcode.TEXT:
                self._take(frames.parse_client(event.data.decode()))  # type: ignore[union-attr]
            elif opcode is Opcode.CLOSE:
                self.over = True
        if self._watching is not None and not self.over:
            self._update(self._watching)
        if self._owned is not None and not self.over:
            self._own(self._owned)

    def _take(self, message: _protocol.ClientMessage) -> None:
        self.server.messages.append(message)
        if isinstance(message, _protocol.HelloResearcher) and not self._greeted:
            code = self.server.refusals.pop(0) if self.server.refusals else None
            if message.token != self.server.token:
                code = "bad_token"
            if code:
                self._send(_protocol.Refused(code, "not now"))
                self.wire.send_close(1008)
                self.over = True
                return
            self._greeted = True
            self._send(_protocol.Welcome(1, 1, "fake", 10_000, 0, []))
        elif isinstance(message, _protocol.Watch):
            if message.study not in self.server.specs:
                self._send(
                    _protocol.ErrorMessage("unknown_study", "there is no such study", field="study")
                )
                return
            if isinstance(message.own, _protocol.OwnerClaim):
                self._claim(message.study, message.own)
                return
            self._watching, self._cursor = message.study, message.after
            self._space_once = message.space_once is True
            self._update(message.study, first=True)
        elif isinstance(message, _protocol.OwnerReply):
            if self._owned is None or self._owned.owner is not self:
                self._send(_protocol.ErrorMessage("not_owner", "it is not yours"))
                return
            for error in self._owned.reply(message):
                self._send(error)

    def _claim(self, study: int, claim: _protocol.OwnerClaim) -> None:
        asked = self.server.asked.get(study)
        if asked is None or asked.state == "cancelled":
            code = "not_asked" if asked is None else "study_cancelled"
            self._send(_protocol.ErrorMessage(code, "it cannot be owned", study=study))
            return
        self._owned, self._claimed = asked, claim
        if claim.standby:
            asked.standing_by.append(self)
            if asked.owner is not None:
                self._stand_by(asked)
            else:
                self._attach(asked)
            return
        before = asked.owner
        self._attach(asked)
        if isinstance(before, _Session) and before is not self:
            before._replaced(asked)
            self.server._notify()

    def _attach(self, asked: AskedStudy) -> None:
        asked.claim(self)
        asked.label = self._claimed.label
        self._send(asked.first_batch())

    def _stand_by(self, asked: AskedStudy) -> None:
        self._send(_protocol.OwnerCall(asked.study, 0, 0, 0, []))

    def _replaced(self, asked: AskedStudy) -> None:
        if self._claimed.standby:
            self._stand_by(asked)
            return
        self._owned = None
        self.over = True
        self.wire.send_close(4005)

    def _own(self, asked: AskedStudy) -> None:
        if asked.state != "running" and (asked.owner is self or self in asked.standing_by):
            code = "study_cancelled" if asked.state == "cancelled" else "study_stopped"
            self._send(_protocol.ErrorMessage(code, "it has ended", study=asked.study))
            asked.left(self)
            self._owned = None
            return
        if asked.owner is None and self in asked.standing_by:
            self._attach(asked)
        if asked.owner is not self:
            return
        batch = asked.next_batch()
        if batch is not None:
            self._send(batch)

    def left(self) -> None:
        if self._owned is not None:
            self._owned.left(self)
            self.server._notify()

    def _update(self, study: int, *, first: bool = False) -> None:
        row = self.server.study_row(study)
        rows = [r for r in self.server.finished[study] if r["seq"] > self._cursor]
        while rows or first or row["state"] != self._last:
            page, rows = rows[: self.server.page], rows[self.server.page :]
            self._cursor = page[-1]["seq"] if page else max(self._cursor, row["cursor"])
            if self._space_once and not first:
                row = {**row, "space": [{"name": d["name"], "values": []} for d in row["space"]]}
            self._last, first = row["state"], False
            update = {"type": "update", "study": row, "trials": page, "cursor": self._cursor}
            self._send(frames.parse_server(json.dumps(update)))

    def _send(self, message: _protocol.ServerMessage) -> None:
        if self.over:
            return
        text = frames.encode(message)
        assert isinstance(frames.parse_server(text), type(message))
        self.wire.send_text(text.encode())


def _flush(wire: ServerProtocol, writer: asyncio.StreamWriter) -> None:
    for data in wire.data_to_send():
        if data:
            writer.write(data)
