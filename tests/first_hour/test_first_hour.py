"""The first hour of an operator: a Debian 12 on which nothing was installed, the three commands of
server/docs/operate.md, and a phone in another network that joins over TLS and computes a trial.

Pebble stands for the authority of the internet, which this network does not reach. Chromium trusts
it and nothing else new. ``./run first-hour`` runs it; needs root.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import network
import packages
import pytest
from authority import Pebble
from machine import Debian
from stack import joined, trust

ROOT = Path(__file__).resolve().parents[2]
HOST = "flock.test"
PAGE = (ROOT / "server/docs/operate.md").read_text()


class Authority(Pebble):
    """Pebble in the machine's network. It asks port 80, as authorities do."""

    def __init__(self, folder: Path, namespace: str) -> None:
        super().__init__(folder)
        self._namespace = namespace
        self._config["pebble"]["httpPort"] = 80

    def _start(self, command: list[object], variables: dict[str, str]) -> None:
        super()._start(list(network.inside(self._namespace, *command)), variables)

    def _ask(self, url: str, body: object = None) -> bytes:
        assert body is None
        words = ["curl", "-sSf", "--cacert", self.ca, url]
        done = subprocess.run(network.inside(self._namespace, *words), capture_output=True)
        if done.returncode != 0:
            raise OSError(done.stderr.decode())
        return done.stdout


def commands() -> list[str]:
    """Return the three commands of the page, for a name that leads to the machine."""
    found = re.search(r"## On Debian 12\n\n```\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    assert "hyperflock-server@flock.example.org" in PAGE
    lines = found[1].replace("now hyperflock-server", f"now hyperflock-server@{HOST}").splitlines()
    # It is root who types them here, and nobody answers apt's question.
    return [line.replace("sudo ", "").replace("apt install", "apt install -y") for line in lines]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Debian package of the built server, as ./run packages makes it."""
    folder = tmp_path_factory.mktemp("package")
    time_s = int(packages.git(ROOT, "log", "-1", "--format=%ct"))
    version = packages.version_of(ROOT)
    return packages.debian_package(ROOT, ROOT / "build/release", folder, version, time_s)


def test_three_commands_on_a_clean_debian_let_a_phone_join(package: Path, tmp_path: Path) -> None:
    assert os.geteuid() == 0
    with network.Machines() as machines:
        host, phone = machines.add("host"), machines.add("phone")
        machines.connect(host, phone)
        authority = tmp_path / "authority"
        authority.mkdir()
        with Authority(authority, host) as pebble, Debian(tmp_path, host) as debian:
            # The authority of this network in place of that of the internet.
            drop_in = debian.root / "etc/systemd/system/hyperflock-server@.service.d/test.conf"
            drop_in.parent.mkdir()
            drop_in.write_text(
                f"[Service]\nEnvironment=HYPERFLOCK_ACME_DIRECTORY={pebble.directory}\n"
                "Environment=HYPERFLOCK_ACME_CA=/etc/authority.pem\n"
            )
            shutil.copy(pebble.ca, debian.root / "etc/authority.pem")
            shutil.copy(package, debian.root / "root")
            seconds = []
            for number, command in enumerate(commands()):
                began = time.monotonic()
                said = debian.run(command, online=number == 0)
                seconds.append(time.monotonic() - began)
            credentials = json.loads(said)
            assert credentials["join_url"].startswith(f"https://{HOST}/join#")
            home = tmp_path / "home"
            root = tmp_path / "root.pem"
            root.write_text(pebble.root())
            trust(home, root)
            began = time.monotonic()
            seen = joined(host, phone, home, credentials, network.HOST_ADDRESS)
            seconds.append(time.monotonic() - began)
            assert seen["joined"]["secure"]
            assert seen["joined"]["isolated"]
            assert "Pebble" in seen["joined"]["issuer"]
            # A restart of the machine's service keeps it all.
            debian.run(f"systemctl restart hyperflock-server@{HOST}")
            assert debian.run(f"systemctl is-active hyperflock-server@{HOST}").strip() == "active"
            service = f"systemctl show -p User -p NoNewPrivileges hyperflock-server@{HOST}"
            assert debian.run(service).split() == ["User=hyperflock", "NoNewPrivileges=yes"]
    named = ["install", "start with a certificate", "show", "join and compute a trial"]
    figures = {name: round(each, 1) for name, each in zip(named, seconds, strict=True)}
    folder = ROOT / "build/reports"
    folder.mkdir(exist_ok=True)
    (folder / "first-hour.json").write_text(json.dumps(figures, indent=2) + "\n")
