"""Runs a real server process with its own folder, for tests. It can be killed and started again.

    server = Server(tmp_path).start()
    with server.client() as client, server.device() as device: ...
    server.stop()

Needs ``HYPERFLOCK_TEST_SERVER_BIN``, the path of a built ``hyperflock-server``.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

from device import Device
from hyperflock import Client
from patience import LIMIT_S, until
from tied import tied


class HeldPort:
    """A free TCP port of 127.0.0.1, kept for a server that this process starts.

    The socket is bound and never listens. While it is open, the kernel does not give the port to
    programs that ask for any port, but a server that names it (with SO_REUSEADDR) can listen on it.
    """

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number: int = self._socket.getsockname()[1]

    def __del__(self) -> None:
        self._socket.close()


def _small_reserve(options: tuple[str, ...]) -> tuple[str, ...]:
    """Return the option for a small reserve on the disk, because tests start many servers."""
    return () if "--reserve-bytes" in options else ("--reserve-bytes", str(1 << 20))


class Server:
    """A server process with a state folder and options. It can be started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.options = options
        self.process: subprocess.Popen[bytes] | None = None
        # The ports stay held while the server is down, so that it comes back at the same addresses.
        self._ports = [HeldPort(), HeldPort()]

    @property
    def compute_port(self) -> int:
        """The port of the compute origin, also before the start."""
        return self._ports[0].number

    def start(self) -> Server:
        binary = Path(os.environ["HYPERFLOCK_TEST_SERVER_BIN"])
        assert binary.is_file(), f"HYPERFLOCK_TEST_SERVER_BIN is no file: {binary}"
        ready = self.folder / "ready.json"
        ready.unlink(missing_ok=True)
        for name in ("app", "runtime"):
            (self.folder / name).mkdir(exist_ok=True)
        with (self.folder / "server.log").open("ab") as log:
            command: list[str | os.PathLike[str]] = [
                *(binary, "serve", "--state", self.folder / "state"),
                *("--compute", f"127.0.0.1:{self._ports[0].number}"),
                *("--console", f"127.0.0.1:{self._ports[1].number}"),
                *("--app", self.folder / "app", "--runtime", self.folder / "runtime"),
                *("--credentials-file", self.folder / "credentials.json"),
                *("--ready-file", ready),
                *_small_reserve(self.options),
                *self.options,
            ]
            self.process = subprocess.Popen(tied(command), stdout=log, stderr=log)
        process = self.process

        def is_ready() -> bool:
            assert process.poll() is None, (self.folder / "server.log").read_text()
            return ready.exists()

        until("the server", is_ready)
        told = json.loads(ready.read_text())
        self.compute, self.console = told["compute"], told["console"]
        self.credentials = json.loads((self.folder / "credentials.json").read_text())
        return self

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(LIMIT_S)

    def stop(self) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                code = self.process.wait(LIMIT_S)
            finally:
                self.process.kill()
            assert code == 0, (self.folder / "server.log").read_text()

    def client(self) -> Client:
        return Client(self.console, self.credentials["researcher_token"])

    def device(self) -> Device:
        return Device.join(self.compute, self.credentials["enrolment_code"])
