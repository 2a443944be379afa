"""A real server with an attacker's project and another tenant's, for one attack.

    with Ground(folder, "--max-connections", "64") as ground:
        answer = ground.http("POST", "/api/join", {"code": "wrong"}, at="compute")
        assert answer.code == "bad_enrolment_code"

The attacker is a researcher with a project, a join link of it, and a join link of the other
tenant's project, because anybody may get one. The other tenant works in a process of its own
(`neighbour.py`). All calls block, in one thread.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import socket
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from urllib.parse import urlsplit

import urllib3
from device import Device
from patience import LIMIT_S
from real_server import Server
from watched import Watched

Origin = Literal["compute", "console"]
#: The state of a connection in /proc/net/tcp (include/net/tcp_states.h of Linux).
_ESTABLISHED = "01"
#: The bundle of a study whose code does not matter.
EMPTY_ZIP = b"PK\x05\x06" + bytes(18)
_RUNTIME = {"chainer": "7.8.1"}


@dataclass(frozen=True)
class Answer:
    """An answer of the server. ``code`` is its error code, or ``ok``."""

    status: int
    code: str
    body: Any
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Tenant:
    """A researcher with a project and the code of its join link."""

    person: int
    token: str
    project: str
    link: str


class Ground:
    """The server and the three who use it: attacker, neighbour and administrator.

    With ``working=False`` the neighbour does not work.
    """

    def __init__(self, folder: Path, *options: str, working: bool = True) -> None:
        self.server = Server(folder, *options)
        self._working = working
        self._pool = urllib3.PoolManager(maxsize=16, timeout=LIMIT_S, retries=False)
        self._closed_last = ExitStack()

    def __enter__(self) -> Ground:
        self.server.start()
        self._closed_last.callback(self._end_server)
        self._closed_last.callback(self._pool.clear)
        self.admin: str = self.server.credentials["admin_token"]
        self.attacker = self.tenant("attacker", "attacked project")
        self.other = other = self.tenant("neighbour", "neighbour's project")
        if self._working:
            self.neighbour = self._closed_last.enter_context(
                Watched(self.server, other.token, other.link, self.admin)
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed_last.close()

    def _end_server(self) -> None:
        process = self.server.process
        if process is not None and process.poll() is None:
            self.server.kill()

    # ---- what an attacker can do ----

    def http(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        at: Origin = "console",
        token: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request and return its answer. ``body`` is bytes, or a value for JSON."""
        sent = dict(headers or {})
        if token:
            sent["Authorization"] = token if " " in token else f"Bearer {token}"
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        found = self._pool.request(method, f"{self.origin(at)}{path}", body=data, headers=sent)
        try:
            read = found.json()
        except ValueError:
            read = None
        code = "ok" if found.status < 400 else str(found.status)
        if isinstance(read, dict) and isinstance(read.get("error"), dict):
            code = read["error"]["code"]
        return Answer(found.status, code, read, found.headers)

    def connect(self, at: Origin, source: str = "") -> socket.socket:
        """Open a bare TCP connection, perhaps from another address of this machine. The ground
        closes it at the end.
        """
        place = urlsplit(self.origin(at))
        opened = socket.create_connection(
            (place.hostname, place.port), LIMIT_S, (source, 0) if source else None
        )
        return self._closed_last.enter_context(opened)

    def origin(self, at: Origin) -> str:
        """Return the address of one of the server's two origins."""
        return self.server.compute if at == "compute" else self.server.console

    def device(self, link: str = "") -> Device:
        """Return a new device that has joined by ``link``, or else by the attacker's join link."""
        return self._closed_last.enter_context(
            Device.join(self.server.compute, link or self.attacker.link)
        )

    def tenant(self, name: str, project: str) -> Tenant:
        """Make a researcher with a project and a join link, as the administrator does."""
        self._made("/api/projects", {"project": project})
        person = self._made("/api/researchers", {"name": name, "projects": [project]})
        link = self._made("/api/enrolment", {"project": project}, person["token"])
        return Tenant(person["researcher"], person["token"], project, link["code"])

    def blob(self, content: bytes, token: str = "") -> str:
        """Upload bytes as a bundle or a data set, and return their SHA-256."""
        sha256 = hashlib.sha256(content).hexdigest()
        answer = self.http(
            "PUT", f"/api/blobs/{sha256}", content, token=token or self.attacker.token
        )
        assert answer.status < 400, answer
        return sha256

    def spec(self, bundle: bytes = EMPTY_ZIP, **fields: Any) -> dict[str, Any]:
        """Return the spec of a grid of 1,000 trials whose bundle is not uploaded yet."""
        return {
            "name": "a grid",
            "submit_key": secrets.token_hex(8),
            "direction": "minimize",
            "entry": "objective:objective",
            "bundle": {"sha256": hashlib.sha256(bundle).hexdigest(), "bytes": len(bundle)},
            "space": [{"name": "x", "values": list(range(1000))}],
            "runtime": _RUNTIME,
            **fields,
        }

    def study(self, token: str = "", **fields: Any) -> int:
        """Submit a study with its bundle and return its number."""
        bundle = fields.pop("content", EMPTY_ZIP)
        self.blob(bundle, token)
        answer = self.http(
            "POST", "/api/studies", self.spec(bundle, **fields), token=token or self.attacker.token
        )
        assert answer.status == 201, answer
        number: int = answer.body["study"]
        return number

    def set_quota(self, **quota: int) -> None:
        """Limit what the attacker may store, as the administrator does."""
        path = f"/api/researchers/{self.attacker.person}"
        assert self.http("POST", path, {"quota": quota}, token=self.admin).code == "ok"

    def keep_up(self, attack: Callable[[], None], cycles: int = 200) -> None:
        """Attack again and again until the neighbour has finished this many more trials."""
        wanted = self.neighbour.cycles + cycles
        while self.neighbour.cycles < wanted:
            self.neighbour.check()
            attack()

    def resident_bytes(self) -> int:
        """Return how many bytes of the server's memory are resident (RSS)."""
        assert self.server.process is not None
        status = Path(f"/proc/{self.server.process.pid}/status").read_text()
        (line,) = [one for one in status.splitlines() if one.startswith("VmRSS:")]
        return int(line.split()[1]) * 1024

    def descriptors(self) -> int:
        """Return how many files and connections the server has open."""
        assert self.server.process is not None
        return len(list(Path(f"/proc/{self.server.process.pid}/fd").iterdir()))

    def unread_bytes(self) -> int:
        """Return how many bytes wait in the server's connections until it reads them (IPv4)."""
        ports = {
            f"{urlsplit(origin).port:04X}" for origin in (self.server.compute, self.server.console)
        }
        rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return sum(
            int(row[4].partition(":")[2], 16)
            for row in rows
            if row[3] == _ESTABLISHED and row[1].partition(":")[2] in ports
        )

    # ---- what must hold after an attack ----

    def check_intact(self) -> None:
        """Check that the administrator is served, every result counts once, the database is sound,
        the log has no error, and the server starts again with the same results.
        """
        assert self.http("GET", "/api/researchers", token=self.admin).code == "ok"
        self.neighbour.finish()
        self._check_results()
        self.server.stop()
        self._check_database()
        self._check_log()
        self.server.start()
        self._check_results()

    def _check_results(self) -> None:
        expected = self.neighbour.results
        found: dict[int, float] = {}
        after = 0
        while True:
            path = f"/api/studies/{self.neighbour.study}/trials?after={after}&limit=1000"
            page = self.http("GET", path, token=self.other.token).body
            if not page["trials"]:
                break
            for trial in page["trials"]:
                assert trial["trial"] not in found, f"trial {trial['trial']} finished twice"
                found[trial["trial"]] = trial["values"][0]
            after = page["cursor"]
        assert found == expected

    def _check_database(self) -> None:
        (database,) = (self.server.folder / "state").glob("*.db")
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as opened:
            assert opened.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert opened.execute("PRAGMA foreign_key_check").fetchall() == []

    def _check_log(self) -> None:
        lines = (self.server.folder / "server.log").read_text().splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{")]
        errors = [event for event in events if event["level"] == "error"]
        assert errors == []

    def _made(self, path: str, body: Any, token: str = "") -> Any:
        answer = self.http(
            "POST", path, body, token=token or self.server.credentials["admin_token"]
        )
        assert answer.status == 201, answer
        return answer.body
