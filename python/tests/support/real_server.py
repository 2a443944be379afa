"""A real server process for tests, on a folder of its own; it may be killed and started again.

    server = Server(tmp_path).start()
    with server.client() as client, server.device() as device: ...
    server.stop()

Needs ``HYPERFLOCK_TEST_SERVER_BIN``, the path of a built ``hyperflock-server``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from device import Device
from hyperflock import Client
from tied import tied

START_S = 30.0


class Server:
    """One server process on a state folder, with options of its own; may be started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.options = options
        self.process: subprocess.Popen[bytes] | None = None
        self.ports = ("0", "0")

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
                *("--compute", f"127.0.0.1:{self.ports[0]}"),
                *("--console", f"127.0.0.1:{self.ports[1]}"),
                *("--app", self.folder / "app", "--runtime", self.folder / "runtime"),
                *("--credentials-file", self.folder / "credentials.json"),
                *("--ready-file", ready),
                *self.options,
            ]
            self.process = subprocess.Popen(tied(command), stdout=log, stderr=log)
        deadline = time.monotonic() + START_S
        while not ready.exists():
            assert self.process.poll() is None, (self.folder / "server.log").read_text()
            assert time.monotonic() < deadline, "the server did not get ready"
            time.sleep(0.02)
        told = json.loads(ready.read_text())
        self.ports = (str(told["compute_port"]), str(told["console_port"]))
        self.compute, self.console = told["compute"], told["console"]
        self.credentials = json.loads((self.folder / "credentials.json").read_text())
        return self

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                code = self.process.wait(20)
            finally:
                self.process.kill()
            assert code == 0, (self.folder / "server.log").read_text()

    def client(self) -> Client:
        return Client(self.console, self.credentials["researcher_token"])

    def device(self) -> Device:
        return Device.join(self.compute, self.credentials["enrolment_code"])
