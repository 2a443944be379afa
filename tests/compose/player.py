"""Plays a compose file without an engine: what `docker compose up` does, as far as this project's
file goes.

    with Machines() as machines:
        host = machines.add("host")
        with Player(file, images, machines, host, folder) as player:
            player.up()                       # in the order of depends_on, each when it is healthy
            player.exec("server", ["hyperflock-server", "--version"])

Networks, addresses, published ports, volumes, read-only files, tmpfs, users, capabilities, limits,
environments, health checks and the order of the start are as the file says. `restart`, `logging`
and `build` are the engine's and are not played.
"""

from __future__ import annotations

import ipaddress
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Set
from pathlib import Path
from types import TracebackType
from typing import Any

import network
from compose_file import ComposeError, ComposeFile, duration_s, size_bytes
from images import Image, Images

_HERE = Path(__file__).resolve().parent
_CGROUPS = Path("/sys/fs/cgroup")
#: No start is waited for longer than this: for one that never gets ready, not for a busy machine.
PATIENCE_S = 600.0


class Player:
    """The services of a file on a host."""

    def __init__(
        self,
        file: ComposeFile,
        images: Images,
        machines: network.Machines,
        host: str,
        folder: Path,
    ) -> None:
        self._file = file
        self._images = images
        self._machines = machines
        self._host = host
        self._folder = folder
        self._namespaces: dict[str, str] = {}
        self._addresses: dict[str, dict[str, str]] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._cgroups: list[Path] = []
        self.events: list[str] = []
        (folder / "logs").mkdir(parents=True)
        (folder / "volumes").mkdir()

    def __enter__(self) -> Player:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name in reversed(list(self._running)):
            self.stop(name)
        for folder in self._cgroups:
            folder.rmdir()

    def up(self, later: Set[str] = frozenset()) -> None:
        """Start every service after those that it needs are healthy, except those for later."""
        self._make_networks()
        for name in self._file.order():
            if name not in later:
                self.start_healthy(name)

    def start_healthy(self, *names: str) -> None:
        """Start services in this order, each when the one before is healthy."""
        for name in names:
            self.start(name)
            self.wait_healthy(name)

    def start(self, name: str) -> None:
        """Start a service."""
        for needed in self._file.services[name].get("depends_on", {}):
            if f"{needed} healthy" not in self.events:
                raise ComposeError(f"{name} needs {needed}, which is not healthy")
        log = open(self.log(name), "ab")  # noqa: SIM115 - the service keeps it
        with log:
            self._running[name] = subprocess.Popen(
                self._command(name, None), stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        self.events.append(f"{name} started")

    def ended(self, name: str) -> int:
        """Wait for the end of a service that runs once, and return its exit status."""
        return self._running[name].wait(PATIENCE_S)

    @property
    def running(self) -> list[str]:
        """Return the services that were started and not stopped."""
        return list(self._running)

    def ended_already(self, name: str) -> bool:
        """Return whether a service ended by itself."""
        return self._running[name].poll() is not None

    def exec(self, name: str, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command in a service's container."""
        command = self._command(name, words)
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def wait_healthy(self, name: str) -> None:
        """Wait until a service's own health check succeeds."""
        health = self._file.services[name].get("healthcheck")
        if health is None:
            return
        kind, *words = health["test"]
        if kind != "CMD":
            raise ComposeError(f"{name}: the player knows health checks of the kind CMD only")
        end = time.monotonic() + PATIENCE_S
        while True:
            if self._running[name].poll() is not None:
                raise ComposeError(f"{name} ended: {self.log(name).read_text()}")
            done = self.exec(name, words)
            if done.returncode == 0:
                break
            if time.monotonic() > end:
                raise ComposeError(f"{name} is not healthy: {done.stderr}")
            time.sleep(min(0.2, duration_s(health["interval"])))
        self.events.append(f"{name} healthy")

    def stop(self, name: str) -> int:
        """Stop a service as an engine does, and return its exit status."""
        process = self._running.pop(name)
        # The container's first process is the child of `unshare`.
        how = signal.Signals[self._file.services[name].get("stop_signal", "SIGTERM")]
        for child in network.children(process.pid):
            os.kill(child, how)
        try:
            return process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def log(self, name: str) -> Path:
        """Return the file with what a service printed."""
        return self._folder / "logs" / f"{name}.log"

    def volume(self, name: str) -> Path:
        """Return the folder of a named volume."""
        return self._folder / "volumes" / name

    def address(self, name: str, net: str) -> str:
        """Return a service's address in a network."""
        return self._addresses[name][net]

    def namespace(self, name: str) -> str:
        """Return the network namespace of a service."""
        return self._namespaces[name]

    def _make_networks(self) -> None:
        subnets = {}
        for number, (net, settings) in enumerate(self._file.networks.items()):
            given = settings.get("ipam", {}).get("config", [{}])[0].get("subnet")
            subnets[net] = ipaddress.ip_network(given or f"172.31.{200 + number}.0/24")
            gateway = f"{subnets[net][1]}/{subnets[net].prefixlen}"
            self._machines.bridge(self._host, f"br-{net}", gateway)
        network.isolate(
            self._host,
            [f"br-{net}" for net, one in self._file.networks.items() if one.get("internal")],
        )
        for number, (name, service) in enumerate(self._file.services.items()):
            self._namespaces[name] = self._machines.add(name)
            self._addresses[name] = {}
            for net, settings in self._networks_of(service).items():
                address = settings.get("ipv4_address") or str(subnets[net][10 + number])
                length = subnets[net].prefixlen
                self._machines.plug(
                    self._host, f"br-{net}", self._namespaces[name], f"{address}/{length}"
                )
                self._addresses[name][net] = address
                if not self._file.networks[net].get("internal"):
                    network.run("ip", "-n", self._namespaces[name], "route", "add", "default",
                                "via", subnets[net][1])  # fmt: skip
            for port in service.get("ports", []):
                outside = [
                    address
                    for net, address in self._addresses[name].items()
                    if not self._file.networks[net].get("internal")
                ]
                network.publish(self._host, port, outside[0])

    def _networks_of(self, service: dict[str, Any]) -> dict[str, dict[str, Any]]:
        if service.get("network_mode") == "none":
            return {}
        nets = service["networks"]
        if isinstance(nets, list):
            return {net: {} for net in nets}
        return {net: settings or {} for net, settings in nets.items()}

    def _hosts(self, name: str) -> Path:
        """Write the names of all services that a service can reach."""
        lines = ["127.0.0.1 localhost"]
        for other, addresses in self._addresses.items():
            shared = [addresses[net] for net in self._addresses[name] if net in addresses]
            lines += [f"{address} {other}" for address in shared[:1]]
        path = self._folder / f"{name}.hosts"
        text = "\n".join(lines) + "\n"
        # A container that runs may be reading it.
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        return path

    def _mounts(self, name: str, image: Image, uid: int) -> list[tuple[str, str, bool]]:
        service = self._file.services[name]
        mounts = [(str(self._hosts(name)), "/etc/hosts", True)]
        for volume in service.get("volumes", []):
            source, target, *options = volume.split(":")
            if source.startswith("."):
                mounts.append((str(image.root / source), target, "ro" in options))
                continue
            folder = self.volume(source)
            if not folder.exists():
                folder.mkdir()
                # An empty named volume takes the owner of the folder that it covers.
                covered = image.rootfs / target.strip("/")
                if covered.exists():
                    shutil.copystat(covered, folder)
                    os.chown(folder, covered.stat().st_uid, covered.stat().st_gid)
            mounts.append((str(folder), target, "ro" in options))
        for secret in service.get("secrets", []):
            given = self._file.secrets[secret]["file"]
            mounts.append((str(image.root / given), f"/run/secrets/{secret}", True))
        return mounts

    def _limits(self, name: str) -> list[str]:
        """Make the control groups of a service's limits, for version 1 and 2 of the kernel's
        interface.
        """
        service = self._file.services[name]
        limits = {
            "memory": (size_bytes(service["mem_limit"]), "memory.limit_in_bytes", "memory.max"),
            "pids": (service["pids_limit"], "pids.max", "pids.max"),
        }
        folders = []
        for controller, (value, file1, file2) in limits.items():
            is_1 = (_CGROUPS / controller).is_dir()
            parent = _CGROUPS / controller if is_1 else _CGROUPS
            folder = parent / f"{self._namespaces[name]}"
            if not folder.exists():
                folder.mkdir()
                self._cgroups.append(folder)
                (folder / (file1 if is_1 else file2)).write_text(str(value))
            folders.append(str(folder))
        return folders

    def _command(self, name: str, words: list[str] | None) -> list[str]:
        service = self._file.services[name]
        image = self._images[service["image"]]
        uid = int(service.get("user") or image.user or 0)
        command = words or [*image.entrypoint, *(service.get("command") or image.command)]
        spec = {
            "rootfs": str(image.rootfs),
            "mounts": self._mounts(name, image, uid),
            "tmpfs": [(one.partition(":")[0], one.partition(":")[2]) for one in service["tmpfs"]],
            # As engines do, where the image has no HOME.
            "environment": {
                "HOME": "/root" if uid == 0 else "/",
                **image.environment,
                **service.get("environment", {}),
            },
            "command": command,
            "uid": uid,
            "cap_add": service.get("cap_add", []),
            "nofile": service.get("ulimits", {}).get("nofile", 0),
            "cgroups": self._limits(name),
        }
        path = self._folder / f"{name}.{'exec' if words else 'run'}.json"
        path.write_text(json.dumps(spec))
        return network.inside(
            self._namespaces[name],
            *["unshare", "--mount", "--pid", "--fork", "--kill-child", "--ipc", "--uts"],
            *[sys.executable, _HERE / "container.py", path],
        )
