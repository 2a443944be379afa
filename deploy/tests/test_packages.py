"""Builds the Debian package and the archive, installs both into folders, and starts the server.

dpkg installs into a folder that has nothing else but the libraries of the program. The server then
runs by the line of the installed unit, with the installed settings, and this folder is its root.
"""

import json
import os
import re
import shlex
import shutil
import socket
import stat
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy"))
import packages  # noqa: E402

BUILD = ROOT / "build/release"
TIME_S = 1_750_000_000
VERSION = "9.8.7"
#: Only root may install files of root. In a user namespace anybody is root.
AS_ROOT = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]


@pytest.fixture(scope="module")
def deb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Debian package of the built server."""
    return packages.debian_package(ROOT, BUILD, tmp_path_factory.mktemp("deb"), VERSION, TIME_S)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the archive, here of the program that is linked with Debian's libraries."""
    return packages.tarball(ROOT, BUILD, tmp_path_factory.mktemp("tar"), VERSION, TIME_S)


class Machine:
    """A folder into which dpkg installs, with its own database of packages."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("info", "updates"):
            (root / "var/lib/dpkg" / name).mkdir(parents=True)
        for name in ("status", "available"):
            (root / "var/lib/dpkg" / name).touch()
        (root / "etc").mkdir()

    def dpkg(self, *words: object) -> str:
        """Run dpkg on this folder and return what it prints."""
        command = [*AS_ROOT, "dpkg", f"--root={self.root}", "--force-script-chrootless"]
        command += ["--force-depends", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def has(self, name: str) -> bool:
        """Return whether a file or folder exists."""
        return (self.root / name.strip("/")).exists()

    def text(self, name: str) -> str:
        """Return the text of a file."""
        return (self.root / name.strip("/")).read_text()

    def add_libraries(self, program: str) -> None:
        """Copy the libraries with which a program is linked."""
        command = ["ldd", str(self.root / program)]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"(/\S+) \(0x", listed):
            place = self.root / library.strip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return an empty machine."""
    return Machine(tmp_path / "root")


def installed(machine: Machine, deb: Path) -> str:
    """Install the package and return what dpkg prints."""
    return machine.dpkg("--install", deb)


def test_the_package_has_what_it_should(deb: Path) -> None:
    assert deb.name.startswith(f"hyperflock-server_{VERSION}-1_")
    listed = subprocess.run(["dpkg", "--contents", deb], capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=5) for line in listed.stdout.splitlines()]
    assert {line[1] for line in lines} == {"root/root"}
    modes = {line[5]: line[0] for line in lines}
    assert modes["./usr/bin/hyperflock-server"] == "-rwxr-xr-x"
    assert modes["./etc/hyperflock/server.toml"] == "-rw-r--r--"
    assert {
        "./usr/share/hyperflock/web/join.html",
        "./usr/share/hyperflock/runtime/index.json",
    } <= set(modes)
    assert set(modes.values()) == {"drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--"}
    fields = subprocess.run(["dpkg", "--field", deb], capture_output=True, text=True, check=True)
    assert re.search(r"^Depends: .*\blibc6 \(>= .*\blibssl3\b", fields.stdout, re.MULTILINE)


def test_the_same_build_gives_the_same_package(deb: Path, tmp_path: Path) -> None:
    again = packages.debian_package(ROOT, BUILD, tmp_path, VERSION, TIME_S)
    assert again.read_bytes() == deb.read_bytes()


def test_lintian_finds_no_error(deb: Path) -> None:
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error", deb],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_installation_makes_the_user_and_starts_nothing(machine: Machine, deb: Path) -> None:
    printed = installed(machine, deb)
    assert "systemctl enable --now hyperflock-server" in printed
    assert re.search(
        r"^hyperflock:.*:/var/lib/hyperflock:", machine.text("etc/passwd"), re.MULTILINE
    )
    assert not machine.has("etc/systemd/system/multi-user.target.wants")
    # An upgrade does not say it again.
    assert "systemctl enable" not in installed(machine, deb)


def exec_start(machine: Machine, unit: str) -> list[str]:
    """Return the words of the unit's ExecStart=."""
    found = re.search(r"^ExecStart=(.+)$", machine.text(unit), re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


def wait_ready(receiver: socket.socket, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server reports that it is ready, as systemd does."""
    receiver.settimeout(1)
    while server.poll() is None:
        try:
            if receiver.recv(4096) == b"READY=1":
                return
        except TimeoutError:
            continue
    raise AssertionError(f"the server ended with {server.returncode}")


def run_service(machine: Machine, unit: str) -> None:
    """Start the server by the unit's line, ask it, and let it stop."""
    words = exec_start(machine, unit)
    state = machine.root / "var/lib/hyperflock"
    user: list[str] = []
    # The unit's StateDirectory= makes this folder.
    state.mkdir(mode=0o700, parents=True)
    if not AS_ROOT:
        entry = next(
            line
            for line in machine.text("etc/passwd").splitlines()
            if line.startswith("hyperflock:")
        )
        uid, gid = map(int, entry.split(":")[2:4])
        os.chown(state, uid, gid)
        user = [f"--userspec={uid}:{gid}"]
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(f"\0{machine.root}")
    # Free ports instead of those that this machine may use already.
    environment = {
        "NOTIFY_SOCKET": f"@{machine.root}",
        "HYPERFLOCK_COMPUTE": "127.0.0.1:0",
        "HYPERFLOCK_CONSOLE": "127.0.0.1:0",
        "HYPERFLOCK_READY_FILE": "/var/lib/hyperflock/ready.json",
    }
    command = [*AS_ROOT, "chroot", *user, str(machine.root), *words]
    with receiver, subprocess.Popen(command, env=os.environ | environment) as server:
        try:
            wait_ready(receiver, server)
            ready = json.loads((state / "ready.json").read_text())
            for port in (ready["compute_port"], ready["console_port"]):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
                    assert answer.status == 200
            join = f"http://127.0.0.1:{ready['compute_port']}/join"
            with urllib.request.urlopen(join) as answer:
                assert answer.headers["Content-Type"].startswith("text/html")
            server.terminate()
            assert server.wait() == 0
        finally:
            server.kill()
    assert stat.S_IMODE((state / "credentials.json").stat().st_mode) == 0o600


def test_the_installed_service_answers_and_only_purge_removes_its_state(
    machine: Machine, deb: Path
) -> None:
    installed(machine, deb)
    machine.add_libraries("usr/bin/hyperflock-server")
    run_service(machine, "usr/lib/systemd/system/hyperflock-server.service")
    machine.dpkg("--remove", "hyperflock-server")
    assert not machine.has("usr/bin/hyperflock-server")
    assert machine.has("etc/hyperflock/server.toml")
    assert machine.has("var/lib/hyperflock/hyperflock.db")
    (machine.root / "etc/hyperflock/tls").mkdir()
    machine.dpkg("--purge", "hyperflock-server")
    assert not machine.has("etc/hyperflock")
    assert not machine.has("var/lib/hyperflock")


def test_settings_that_were_changed_stay_at_an_upgrade(machine: Machine, deb: Path) -> None:
    installed(machine, deb)
    settings = machine.root / "etc/hyperflock/server.toml"
    settings.write_text(settings.read_text() + "io-threads = 2\n")
    installed(machine, deb)
    assert "io-threads = 2" in settings.read_text()


@pytest.fixture
def unpacked(machine: Machine, archive: Path) -> Machine:
    """Return a machine on which the commands of the documentation were run."""
    local = machine.root / "usr/local"
    local.mkdir(parents=True)
    command = ["tar", "-xzf", str(archive), "-C", str(local), "--strip-components=1"]
    subprocess.run(command, check=True)
    (machine.root / "etc/hyperflock").mkdir()
    shutil.copy(local / "share/hyperflock/server.toml", machine.root / "etc/hyperflock")
    (machine.root / "usr/lib").mkdir()
    users = "local/lib/sysusers.d/hyperflock-server.conf"
    command = [
        *AS_ROOT,
        "systemd-sysusers",
        f"--root={machine.root}",
        str(machine.root / "usr" / users),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return machine


def test_the_archive_gives_a_service_below_usr_local(unpacked: Machine) -> None:
    unit = "usr/local/lib/systemd/system/hyperflock-server.service"
    assert exec_start(unpacked, unit)[0] == "/usr/local/bin/hyperflock-server"
    unpacked.add_libraries("usr/local/bin/hyperflock-server")
    run_service(unpacked, unit)


def test_an_upgrade_by_the_archive_replaces_no_settings(archive: Path) -> None:
    with tarfile.open(archive) as packed:
        entries = {entry.name: entry for entry in packed}
    top = f"hyperflock-server-{VERSION}"
    assert {name.split("/")[0] for name in entries} == {top}
    assert f"{top}/share/hyperflock/server.toml" in entries
    assert not any(name.startswith(f"{top}/etc") for name in entries)
    assert {entry.uname for entry in entries.values()} == {""}


def test_the_page_names_the_files_that_are_built(deb: Path, archive: Path) -> None:
    page = (ROOT / "server/docs/operate.md").read_text()
    for command in ("apt install", "tar -xzf"):
        found = re.search(rf"{command} (?:\./)?(\S+)", page)
        assert found is not None
        assert any(Path(path.name).match(found[1]) for path in (deb, archive)), found[1]
