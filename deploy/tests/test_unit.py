"""Tests the unit of systemd by systemd's own tools, without starting it."""

import ctypes
import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SYSTEMD = ROOT / "deploy/systemd"
UNIT = (SYSTEMD / "hyperflock-server.service").read_text()
DOMAIN = (SYSTEMD / "hyperflock-server@.service").read_text()
TLS = (SYSTEMD / "tls.conf").read_text()
PROGRAM = ROOT / "build/release/bin/hyperflock-server"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the unit, which runs the built program, and its example for TLS."""
    (tmp_path / "plain.service").write_text(
        UNIT.replace("/usr/bin/hyperflock-server", str(PROGRAM))
    )
    (tmp_path / "domain@.service").write_text(
        DOMAIN.replace("/usr/bin/hyperflock-server", str(PROGRAM))
    )
    drop_in = tmp_path / "tls.service.d"
    drop_in.mkdir()
    (drop_in / "tls.conf").write_text(TLS)
    (tmp_path / "tls.service").write_text((tmp_path / "plain.service").read_text())
    return tmp_path


def analyze(*words: object) -> subprocess.CompletedProcess[str]:
    """Run systemd-analyze."""
    command = ["systemd-analyze", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["plain", "tls", "domain@flock.example.org"])
def test_systemd_understands_every_line(folder: Path, name: str) -> None:
    done = analyze("verify", folder / f"{name}.service")
    # It also looks at the units of this machine, which are not ours to judge.
    ours = [line for line in done.stderr.splitlines() if str(folder) in line]
    assert ours == []
    broken = folder / "broken.service"
    broken.write_text((folder / "plain.service").read_text().replace("Type=notify", "Type=nothing"))
    assert "broken.service" in analyze("verify", broken).stderr


#: The exposure that server/docs/operate.md states, on systemd's scale from 0 to 10.
@pytest.mark.parametrize(("name", "exposure"), [("plain", 1.2), ("tls", 1.5), ("domain@", 1.5)])
def test_the_exposure_is_the_documented_one(folder: Path, name: str, exposure: float) -> None:
    unit = folder / f"{name}.service"
    done = analyze("security", "--offline=true", f"--threshold={exposure * 10:.0f}", unit)
    assert done.returncode == 0, done.stdout
    assert re.search(rf"^.*Overall exposure level .*: {exposure}\b", done.stdout, re.MULTILINE), (
        done.stdout
    )
    page = (ROOT / "server/docs/operate.md").read_text()
    assert re.search(rf"\b(says|it is) {re.escape(str(exposure))}\b", page)


def test_the_unit_of_a_name_differs_only_where_it_has_to() -> None:
    changed = ("#", "Description=", "Conflicts=", "ExecStart=", "RestartSec=")
    changed += ("CapabilityBoundingSet=", "AmbientCapabilities=", "PrivateUsers=")

    def rest(unit: str) -> list[str]:
        return [line for line in unit.splitlines() if not line.startswith(changed)]

    assert rest(DOMAIN) == rest(UNIT)
    (start,) = re.findall(r"^ExecStart=(.+)$", UNIT, re.MULTILINE)
    assert f"\nExecStart={start} --domain %i\n" in DOMAIN


def test_a_certificate_by_credentials_sets_what_the_server_knows() -> None:
    names = re.findall(r"^Environment=(\w+)=%d/([\w-]+)$", TLS, re.MULTILINE)
    loaded = re.findall(r"^LoadCredential=([\w-]+):", TLS, re.MULTILINE)
    assert [credential for _, credential in names] == loaded
    page = (ROOT / "server/docs/settings.md").read_text()
    for name, _ in names:
        key = name.removeprefix("HYPERFLOCK_").lower().replace("_", "-")
        assert f"| `{key}` |" in page


def test_the_units_folders_are_those_of_its_settings() -> None:
    settings = (SYSTEMD / "server.toml").read_text()
    assert 'state = "/var/lib/hyperflock"' in settings
    assert "\nStateDirectory=hyperflock\n" in UNIT
    assert "serve --config /etc/hyperflock/server.toml\n" in UNIT


def test_every_key_of_the_settings_exists_with_the_default_that_is_shown(tmp_path: Path) -> None:
    """Also of those that are commented out. Their values are defaults or examples."""
    text = (SYSTEMD / "server.toml").read_text().replace("/usr/share/hyperflock", str(tmp_path))
    (tmp_path / "web").mkdir()
    (tmp_path / "runtime").mkdir()
    for name in ("fullchain.pem", "privkey.pem"):
        (tmp_path / name).touch()
    text = text.replace("/etc/hyperflock/tls", str(tmp_path))
    whole = re.sub(r"^#(?=[a-z-]+ = )", "", text, flags=re.MULTILINE)
    assert whole.count("\n#") < text.count("\n#")
    for content in (text, whole):
        file = tmp_path / "server.toml"
        file.write_text(content)
        command = [str(PROGRAM), "config", "check", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout


def allowed_calls() -> set[str]:
    """Return the system calls that the lines SystemCallFilter= of the unit allow."""
    groups: dict[str, set[str]] = {}
    name = ""
    for line in analyze("syscall-filter").stdout.splitlines():
        if line.startswith("@"):
            name = line.strip()
            groups[name] = set()
        elif line.startswith("    ") and not line.strip().startswith("#"):
            groups[name].add(line.strip())

    def calls(entry: str) -> set[str]:
        return {entry} if entry[0] != "@" else set().union(*map(calls, groups[entry]))

    allowed: set[str] = set()
    for line in re.findall(r"^SystemCallFilter=(.+)$", UNIT, re.MULTILINE):
        named = set().union(*map(calls, line.lstrip("~").split()))
        allowed = allowed - named if line.startswith("~") else allowed | named
    return allowed


def allow_only(names: set[str]) -> None:
    """Let the kernel end this process at any other system call. Runs between fork and exec."""
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    kill_process, allow = 0x80000000, 0x7FFF0000
    context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(kill_process)))
    for name in names:
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # it exists on this processor
            seccomp.seccomp_rule_add(context, ctypes.c_uint32(allow), number, 0)
    if seccomp.seccomp_load(context) != 0:
        raise OSError("the filter cannot be loaded")


def answers_under(calls: set[str], folder: Path) -> bool:
    """Return whether a server that may make these system calls starts, answers and stops."""
    folder.mkdir()
    ready = folder / "ready.json"
    state = folder / "state"
    command = [str(PROGRAM), "serve", "--state", str(state), "--compute", "127.0.0.1:0"]
    command += ["--console", "127.0.0.1:0", "--ready-file", str(ready)]
    with subprocess.Popen(command, preexec_fn=lambda: allow_only(calls), stderr=-3) as server:
        try:
            while server.poll() is None and not ready.exists():
                time.sleep(0.02)
            if server.poll() is not None:
                return False
            ports = json.loads(ready.read_text())
            for port in (ports["compute_port"], ports["console_port"]):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
                    assert answer.status == 200
            server.send_signal(signal.SIGHUP)
            server.terminate()
            return server.wait() == 0
        finally:
            server.kill()


def test_the_server_makes_no_system_call_that_the_unit_forbids(tmp_path: Path) -> None:
    calls = allowed_calls()
    if os.geteuid() == 0:
        # As root, which the service is not, SQLite gives its files the owner of the database.
        calls |= {"fchown"}
    assert {"read", "prlimit64", "fsync"} <= calls
    assert not {"mount", "setrlimit", "ptrace"} & calls
    assert answers_under(calls, tmp_path / "allowed")
    assert not answers_under(calls - {"fsync", "fdatasync"}, tmp_path / "fewer")
