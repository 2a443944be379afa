"""The services of compose files, played on a host, and a phone in a network next to it.

    with running(made, read([FILE], VARIABLES), folder) as stack:
        stack.join(tmp_path)              # the phone computes a trial
        stack.curl(stack.phone, url)

Chromium is the phone.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import Any

import network
from compose_file import ComposeFile
from images import ROOT, Images
from player import PATIENCE_S, Player

HERE = Path(__file__).resolve().parent
HOST = "flock.test"
CREDENTIALS = "credentials.json"
#: What the operator writes into .env.
VARIABLES = {"HYPERFLOCK_HOST": HOST, "HYPERFLOCK_TLS": "internal"}
#: No test starts these: Debian has no Grafana.
NOT_PLAYED = {"grafana"}


def until(what: str, ready: Callable[[], bool]) -> None:
    """Wait until something is true."""
    end = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < end, what
        time.sleep(0.1)


class Stack:
    """The services, the host and a phone."""

    def __init__(self, player: Player, host: str, phone: str, folder: Path) -> None:
        self.player = player
        self.host = host
        self.phone = phone
        self.folder = folder

    def credentials(self) -> dict[str, str]:
        """Return the first tokens, as `docker compose cp` gives them to the operator."""
        text = (self.player.volume("state") / CREDENTIALS).read_text()
        found: dict[str, str] = json.loads(text)
        return found

    def root_certificate(self) -> Path:
        """Return the certificate of Caddy's authority, once there is one."""
        path = self.player.volume("certificates") / "caddy/pki/authorities/local/root.crt"
        until("a certificate", path.exists)
        return path

    def curl(self, namespace: str, url: str, *more: str | Path) -> subprocess.CompletedProcess[str]:
        """Ask for something with a client that trusts the authority."""
        names = dict.fromkeys((80, 443), network.HOST_ADDRESS) | {8443: "127.0.0.1"}
        resolve = [
            word for port, to in names.items() for word in ("--resolve", f"{HOST}:{port}:{to}")
        ]
        command = ["curl", "-sS", "-m", "60", "--cacert", self.root_certificate(), *resolve]
        line = network.inside(namespace, *command, *more, url)
        return subprocess.run(line, capture_output=True, text=True, check=False)

    def console(self, path: str) -> Any:
        """Return what the console answers to the first researcher."""
        token = f"Authorization: Bearer {self.credentials()['researcher_token']}"
        answer = self.curl(self.host, f"http://127.0.0.1:8790{path}", "-H", token)
        return json.loads(answer.stdout)

    def join(self, home: Path) -> dict[str, Any]:
        """Let a researcher submit a study, and Chromium join and compute it. Return what Chromium
        saw.
        """
        credentials = self.credentials()
        trust(home, self.root_certificate())
        return joined(self.host, self.phone, home, credentials, network.HOST_ADDRESS, "quic")


def trust(home: Path, certificate: Path) -> None:
    """Let Chromium with this home trust an authority."""
    database = home / ".pki/nssdb"
    database.mkdir(parents=True)
    for words in (["-N", "--empty-password"], ["-A", "-n", "authority", "-t", "C,,", "-i"]):
        more = [str(certificate)] if "-i" in words else []
        subprocess.run(["certutil", "-d", f"sql:{database}", *words, *more], check=True)


def joined(
    host: str, phone: str, home: Path, credentials: dict[str, str], *words: str
) -> dict[str, Any]:
    """Submit a study on a host, open the join link on a phone, and return what the phone saw when
    the study was complete. ``words`` are phone.ts's.
    """
    environment = os.environ | {
        "HYPERFLOCK_URL": "http://127.0.0.1:8790",
        "HYPERFLOCK_TOKEN": credentials["researcher_token"],
    }
    study = subprocess.Popen(
        network.inside(host, ROOT / "build/venv/bin/python", HERE / "objective.py"),
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    with study:
        script = [ROOT / "build/venv/bin/node", HERE / "phone.ts"]
        opened = subprocess.run(
            network.inside(phone, *script, credentials["join_url"], *words),
            env=os.environ | {"HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
        )
        if opened.returncode != 0:
            study.kill()
        assert opened.returncode == 0, opened.stderr
        assert study.communicate()[0].split() == ["complete", "14.0"]
    seen: dict[str, Any] = json.loads(opened.stdout)
    return seen


@contextlib.contextmanager
def running(
    made: Images, file: ComposeFile, folder: Path, later: Set[str] = frozenset()
) -> Iterator[Stack]:
    """Start the services, except those for later, and wait until they are healthy."""
    with network.Machines() as machines:
        host, phone = machines.add("host"), machines.add("phone")
        machines.connect(host, phone)
        with Player(file, made, machines, host, folder / "run") as player:
            player.up(later=NOT_PLAYED | later)
            yield Stack(player, host, phone, folder)
