"""Networks, machines and published ports, made of network namespaces.

    with Machines() as machines:
        host = machines.add("host")                     # the operator's machine
        machines.connect(host, machines.add("phone"))   # 10.99.0.1 and 10.99.0.2

It needs root. Addresses are those of the namespaces only.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from pathlib import Path
from types import TracebackType

_machines = itertools.count()
HOST_ADDRESS, PHONE_ADDRESS = "10.99.0.1", "10.99.0.2"


def run(*words: object) -> str:
    """Run a command and return what it prints."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def inside(namespace: str, *words: object) -> list[str]:
    """Return a command that runs another one in a namespace."""
    # `ip netns exec` would hide the control groups.
    return ["nsenter", f"--net=/run/netns/{namespace}", "--", *map(str, words)]


def children(pid: int) -> list[int]:
    """Return the processes that a process's first thread started, or none if it has ended."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


class Machines:
    """Namespaces that end with this object."""

    def __init__(self) -> None:
        self._prefix = f"hf{os.getpid()}x{next(_machines)}"
        self._namespaces: list[str] = []
        self._links = itertools.count()

    def __enter__(self) -> Machines:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for namespace in self._namespaces:
            run("ip", "netns", "delete", namespace)

    def add(self, name: str) -> str:
        """Make a machine and return its namespace."""
        namespace = f"{self._prefix}-{name}"
        run("ip", "netns", "add", namespace)
        self._namespaces.append(namespace)
        run("ip", "-n", namespace, "link", "set", "lo", "up")
        return namespace

    def _cable(self, one: str, other: str) -> tuple[str, str]:
        """Connect two namespaces and return the names of the ends."""
        number = next(self._links)
        ends = (f"a{number}", f"b{number}")
        run("ip", "link", "add", ends[0], "netns", one, "type", "veth", "peer", "name", ends[1],
            "netns", other)  # fmt: skip
        for namespace, end in zip((one, other), ends, strict=True):
            run("ip", "-n", namespace, "link", "set", end, "up")
        return ends

    def connect(self, host: str, phone: str) -> None:
        """Put the host and a phone into one network."""
        near, far = self._cable(host, phone)
        run("ip", "-n", host, "address", "add", f"{HOST_ADDRESS}/24", "dev", near)
        run("ip", "-n", phone, "address", "add", f"{PHONE_ADDRESS}/24", "dev", far)

    def bridge(self, host: str, name: str, gateway: str) -> None:
        """Make a network of containers on a host. ``gateway`` is the host's address with the length
        of the network's prefix.
        """
        run("ip", "-n", host, "link", "add", name, "type", "bridge")
        run("ip", "-n", host, "address", "add", gateway, "dev", name)
        run("ip", "-n", host, "link", "set", name, "up")

    def plug(self, host: str, bridge: str, container: str, address: str) -> None:
        """Put a container into a network of its host."""
        near, far = self._cable(host, container)
        run("ip", "-n", host, "link", "set", near, "master", bridge)
        run("ip", "-n", container, "address", "add", address, "dev", far)


def isolate(host: str, internal: list[str]) -> None:
    """Let a host pass packets between its networks, but never from or to an internal one."""
    run(*inside(host, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1",
                "net.ipv4.conf.all.route_localnet=1"))  # fmt: skip
    rules = ["table ip hyperflock {", "chain forward { type filter hook forward priority 0;"]
    for bridge in internal:
        rules += [f"iifname {bridge} oifname != {bridge} drop",
                  f"oifname {bridge} iifname != {bridge} drop"]  # fmt: skip
    rules += ["}", "chain before { type nat hook prerouting priority -100; }"]
    rules += ["chain own { type nat hook output priority -100; }"]
    rules += ["chain after { type nat hook postrouting priority 100;",
              "ip saddr 127.0.0.0/8 oifname != lo masquerade", "}", "}"]  # fmt: skip
    subprocess.run(inside(host, "nft", "-f", "-"), input="\n".join(rules), text=True, check=True)


def publish(host: str, port: str, container: str) -> None:
    """Publish a port of a container as ``ports:`` says: ``[ADDRESS:]PORT:PORT[/udp]``."""
    text, _, protocol = port.partition("/")
    *address, outer, inner = text.split(":")
    match = f"{protocol or 'tcp'} dport {outer} dnat to {container}:{inner}"
    shown = ":".join(address)
    if shown != "127.0.0.1":
        rule = f"iifname != br* {match}"
        run(*inside(host, "nft", "add", "rule", "ip", "hyperflock", "before", rule))
    where = f"ip daddr {shown or '127.0.0.0/8'}"
    run(*inside(host, "nft", "add", "rule", "ip", "hyperflock", "own", f"{where} {match}"))
