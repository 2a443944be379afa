"""Turns this process into a container, as an engine would: ``container.py SPEC.json``.

`player.py` starts it in namespaces of its own (network, mounts, processes). It mounts the image's
files and what the service mounts, and gives up everything that the service drops: other files,
capabilities, the way back to more. Then it runs the service's program. It needs root.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_CAP_NET_BIND_SERVICE = 10
_CAPABILITIES = {"NET_BIND_SERVICE": _CAP_NET_BIND_SERVICE}
_DEVICES = ("null", "zero", "random", "urandom")


def mount(*words: object) -> None:
    """Run mount."""
    subprocess.run(["mount", *map(str, words)], check=True)


def bind(source: str | Path, target: Path, *, read_only: bool) -> None:
    """Show a file or a folder at another place."""
    if not target.exists():
        if Path(source).is_dir():
            target.mkdir(parents=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
    mount("--bind", source, target)
    if read_only:
        mount("-o", "remount,bind,ro", target)


def mount_all(spec: dict[str, Any]) -> None:
    """Mount what the container sees. The image's own files are read-only."""
    root = Path(spec["rootfs"])
    mount("--make-rprivate", "/")
    mount("--bind", root, root)
    for path in ("proc", "dev", "etc", "tmp"):
        (root / path).mkdir(exist_ok=True)
    mount("-t", "proc", "proc", root / "proc")
    mount("-t", "tmpfs", "-o", "mode=755,size=64k", "tmpfs", root / "dev")
    (root / "dev/shm").mkdir()
    mount("-t", "tmpfs", "-o", "mode=1777,size=64m", "tmpfs", root / "dev/shm")
    for device in _DEVICES:
        bind(f"/dev/{device}", root / "dev" / device, read_only=False)
    for path, options in spec["tmpfs"]:
        (root / path.strip("/")).mkdir(parents=True, exist_ok=True)
        mount("-t", "tmpfs", *(["-o", options] if options else []), "tmpfs", root / path.strip("/"))
    for source, target, read_only in spec["mounts"]:
        bind(source, root / target.strip("/"), read_only=read_only)
    mount("-o", "remount,bind,ro", root, root)


def call(*words: int) -> None:
    """Call prctl."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(*words, *[0] * (5 - len(words))) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {words}")


def give_up(spec: dict[str, Any]) -> None:
    """Drop capabilities, set limits, and become the service's user."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Without CAP_SYS_RESOURCE this machine's own limit is the most.
    wanted = min(spec["nofile"], hard) if spec["nofile"] else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
    os.chroot(spec["rootfs"])
    os.chdir("/")
    kept = {_CAPABILITIES[name] for name in spec["cap_add"]}
    last = int(spec["last_cap"])
    for capability in range(last + 1):
        if capability not in kept:
            call(_PR_CAPBSET_DROP, capability)
    call(_PR_SET_NO_NEW_PRIVS, 1)
    os.setgroups([])
    os.setgid(spec["uid"])
    os.setuid(spec["uid"])


def main() -> None:
    """Become the container of a specification."""
    spec = json.loads(Path(sys.argv[1]).read_text())
    spec["last_cap"] = Path("/proc/sys/kernel/cap_last_cap").read_text()
    for folder in spec["cgroups"]:
        (Path(folder) / "cgroup.procs").write_text("0")
    mount_all(spec)
    give_up(spec)
    environment = spec["environment"]
    command = spec["command"]
    os.execvpe(command[0], command, environment)


if __name__ == "__main__":
    main()
