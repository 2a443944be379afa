"""Three servers of one database, each a process that can be killed, stopped and continued.

    with Servers(folder, database, count=3) as servers:
        first = servers.serving()
        first.kill()
        servers.serving(other_than=first)

The server that has the database serves, the others wait as spares. With `relay`, spares pass
connections on to it. Every wait has a time limit.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

import urllib3
from patience import LIMIT_S, until
from real_server import HeldPort
from tied import tied

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_ANSWER_S = 2.0
_pool = urllib3.PoolManager(maxsize=8, retries=False)
_OPTIONS = (
    *("--wait-for-shard", "--min-free-bytes", "0", "--reserve-bytes", str(1 << 20)),
    # All emulated devices have one address.
    *("--max-connections-per-address", "20000", "--joins-burst", "100000"),
    # A device notices a stopped server after three heartbeats. No lease ends while devices pause.
    *("--heartbeat-ms", "2000", "--lease-ms", "120000"),
)


class Node:
    """One server. It keeps its ports while its process is down."""

    def __init__(self, name: str, binary: Path, folder: Path, options: list[str]) -> None:
        self.name = name
        self._folder = folder / name
        self._log = folder / f"{name}.log"
        self._ports = [HeldPort(), HeldPort()]
        self._command: list[str | os.PathLike[str]] = [
            *(binary, "serve", "--state", self._folder, "--ready-file", folder / f"{name}.ready"),
            *("--compute", f"127.0.0.1:{self.compute_port}"),
            *("--console", f"127.0.0.1:{self.console_port}"),
            *options,
        ]
        self._ready = folder / f"{name}.ready"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def compute_port(self) -> int:
        """The port for devices."""
        return self._ports[0].number

    @property
    def console_port(self) -> int:
        """The port for researchers."""
        return self._ports[1].number

    @property
    def console(self) -> str:
        """The address for researchers."""
        return f"http://127.0.0.1:{self.console_port}"

    @property
    def state(self) -> Path:
        """The state folder."""
        return self._folder

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start the process and wait until it listens."""
        self._ready.unlink(missing_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(tied(self._command), stdout=log, stderr=log)
        process = self._process

        def is_ready() -> bool:
            assert process.poll() is None, self.log()[-2_000:]
            return self._ready.exists()

        until(f"server {self.name}", is_ready)

    def kill(self) -> None:
        """End the process with SIGKILL and wait until it has ended."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the process with SIGTERM. It gives the database away at once."""
        self._end(signal.SIGTERM)

    def freeze(self) -> None:
        """Stop the process with SIGSTOP, and wait until none of its threads runs."""
        os.kill(self.pid, signal.SIGSTOP)
        until("a stopped process", lambda: _stat(Path(f"/proc/{self.pid}"))[0] == "T")

    def thaw(self) -> None:
        """Continue the process with SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def is_running(self) -> bool:
        """Return whether there is a process."""
        return self._process is not None and self._process.poll() is None

    def serves(self) -> bool:
        """Return whether the server has the database."""
        return self._status() == 200

    def waits(self) -> bool:
        """Return whether the server answers as a spare."""
        return self._status() == 503 and self._code() == "shard_waiting"

    def log(self) -> str:
        """Return the log of all its processes."""
        return self._log.read_text(errors="replace")

    def metrics(self) -> dict[str, float]:
        """Return the metrics without labels."""
        text = _pool.request("GET", f"{self.console}/metrics", timeout=LIMIT_S).data.decode()
        rows = (line.split() for line in text.splitlines() if line and line[0] != "#")
        return {row[0]: float(row[1]) for row in rows if "{" not in row[0]}

    def cpu_s(self) -> float:
        """Return the processor time of the process so far."""
        return cpu_s(Path(f"/proc/{self.pid}"))

    def thread_cpu_s(self) -> dict[str, float]:
        """Return the processor time of each thread, by its number and name."""
        found = {}
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            found[f"{(task / 'comm').read_text().strip()} {task.name}"] = cpu_s(task)
        return found

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)
            self._process.wait(LIMIT_S)

    def _answer(self) -> urllib3.BaseHTTPResponse | None:
        if not self.is_running():
            return None
        try:
            return _pool.request("GET", f"{self.console}/readyz", timeout=_ANSWER_S)
        except urllib3.exceptions.HTTPError:
            return None  # nobody listens for a moment during a takeover

    def _status(self) -> int:
        answer = self._answer()
        return 0 if answer is None else answer.status

    def _code(self) -> str:
        answer = self._answer()
        body: Any = {} if answer is None else answer.json()
        return str(body.get("error", {}).get("code", ""))


class Servers:
    """The servers of one database. They end together with the context."""

    def __init__(
        self, binary: Path, folder: Path, database: str, count: int, *, relay: bool = False
    ) -> None:
        self._credentials = folder / "credentials.json"
        self.shared = folder / "shared"
        options = [
            *_OPTIONS,
            *("--database", database, "--shared-files", str(self.shared)),
            *("--credentials-file", str(self._credentials)),
            *(("--peer", "127.0.0.1:0") if relay else ()),
        ]
        self.nodes = [Node(f"server-{i + 1}", binary, folder, options) for i in range(count)]

    def __enter__(self) -> Servers:
        try:
            self.nodes[0].start()
            self.serving()
            for node in self.nodes[1:]:
                node.start()
            for node in self.nodes[1:]:
                until("a spare", node.waits)
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def kill(self) -> None:
        """Kill every server."""
        for node in self.nodes:
            node.kill()

    def serving(self, other_than: Node | None = None) -> Node:
        """Wait until a server has the database, and return it."""
        others = [node for node in self.nodes if node is not other_than]
        (found,) = until(
            "a server that serves", lambda: [one for one in others if one.serves()][:1]
        )
        return found

    def credentials(self) -> dict[str, str]:
        """Return the first tokens and the code of the join link."""
        found: dict[str, str] = json.loads(self._credentials.read_text())
        return found


def _stat(process: Path) -> list[str]:
    """Return the fields of a process or thread after its name (proc(5))."""
    return (process / "stat").read_text().rpartition(")")[2].split()


def cpu_s(process: Path, *, with_ended_children: bool = False) -> float:
    """Return the processor time of a process or a thread so far."""
    fields = _stat(process)[11 : 15 if with_ended_children else 13]
    return sum(map(int, fields)) / _TICKS_PER_S


def children(pid: int) -> list[Path]:
    """Return the folders in /proc of the processes that a process has started."""
    found = []
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            if _stat(place)[1] == str(pid):
                found.append(place)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
    return found


def ask_json(method: str, url: str, headers: dict[str, str], body: Any = None) -> Any:
    """Send a request with bytes or JSON, and return the JSON answer."""
    content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    answer = _pool.request(method, url, body=content, headers=headers, timeout=LIMIT_S)
    assert answer.status < 300, answer.data
    return answer.json() if answer.data else None
