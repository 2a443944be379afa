"""A Debian 12 that boots its own systemd, in namespaces: a machine on which nothing was installed.

    with Debian(folder, namespace) as debian:
        debian.run("apt-get install -y ./hyperflock-server_*.deb", online=True)

It needs root. Its network is the namespace; ``online`` lets a command use this machine's network.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import network

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
_TAR = _ROOT / "build/cache/first-hour-debian.tar"
_PATIENCE_S = 600.0
_APART = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--ipc", "--uts", "--cgroup"]


class Debian:
    """The machine, which ends with this object."""

    def __init__(self, folder: Path, namespace: str) -> None:
        self.root = folder / "debian"
        self._namespace = namespace
        self._log = folder / "boot.log"
        if not _TAR.exists():
            subprocess.run([_HERE / "debian.sh", folder / "new", _TAR], check=True)
        self.root.mkdir()
        subprocess.run(["tar", "-C", self.root, "-xf", _TAR], check=True)
        self._group = Path("/sys/fs/cgroup") / f"hf{os.getpid()}"
        unified = Path("/sys/fs/cgroup/unified")
        if unified.is_dir():
            self._group = unified / self._group.name

    def __enter__(self) -> Debian:
        self._group.mkdir()
        script = f'echo 0 >{self._group}/cgroup.procs; exec "$@"'
        apart = network.inside(self._namespace, *_APART, _HERE / "boot.sh", self.root)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["bash", "-c", script, "boot", *apart],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        end = time.monotonic() + _PATIENCE_S
        while self.try_run("systemctl is-system-running").stdout.strip() not in (
            "running",
            "degraded",
        ):
            assert self._process.poll() is None, self._log.read_text()
            assert time.monotonic() < end, self._log.read_text()
            time.sleep(0.2)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pid = self._init()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        self._process.wait()
        groups = sorted(self._group.rglob("*"), reverse=True)
        for group in [one for one in groups if one.is_dir()] + [self._group]:
            group.rmdir()

    def _init(self) -> int | None:
        """Return the process that is systemd."""
        return next(iter(network.children(self._process.pid)), None)

    def try_run(self, command: str, *, online: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command in the machine, as its root."""
        pid = self._init()
        if pid is None:
            return subprocess.CompletedProcess([command], 1, "", "")
        spaces = ["--mount", "--pid", "--ipc", "--uts", "--cgroup"]
        spaces += [] if online else ["--net"]
        line = ["nsenter", f"--target={pid}", *spaces, "--root", "env", "-i"]
        line += ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"]
        line += ["bash", "-c", f"cd && {command}"]
        return subprocess.run(line, capture_output=True, text=True, check=False)

    def run(self, command: str, *, online: bool = False) -> str:
        """Run a command that has to succeed, and return what it prints."""
        done = self.try_run(command, online=online)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        print(command, file=sys.stderr)
        return done.stdout
