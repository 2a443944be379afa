"""Plays docker-compose.yml with deploy/compose/postgres.yml: the database is Debian's PostgreSQL,
and Prometheus of the profile `observability` watches the server. Then what operators do wrong.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import network
import pytest
from compose_file import read
from images import ROOT, Images
from stack import HOST, VARIABLES, Stack, running, until

FILES = [ROOT / "docker-compose.yml", ROOT / "deploy/compose/postgres.yml"]
TOKEN = "HYPERFLOCK_MONITORING_TOKEN"
PASSWORD = "/run/database/password"


@pytest.fixture(scope="module")
def stack(made: Images, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Return the services, all of them healthy but those that a test starts."""
    folder = tmp_path_factory.mktemp("postgres")
    variables = VARIABLES | {TOKEN: str(folder / "token"), "HYPERFLOCK_BACKUP_TO": "/backups"}
    file = read(FILES, variables, {"backup", "observability"})
    with running(made, file, folder, {"backup", "prometheus"}) as started:
        yield started


def psql(stack: Stack, statement: str, user: str = "hyperflock") -> str:
    """Return what the database answers, over the network as the server asks it."""
    script = f'PGPASSWORD=$(cat {PASSWORD}) exec psql -h 127.0.0.1 -U {user} -Atc "$0" hyperflock'
    done = stack.player.exec("database", ["sh", "-c", script, statement])
    return done.stdout.strip() or done.stderr


def password(stack: Stack) -> Path:
    """Return the file of the password."""
    return stack.player.volume("database-password") / "password"


def processes(stack: Stack, service: str) -> list[Path]:
    """Return the folders in /proc of a service's processes."""
    pids = network.run("ip", "netns", "pids", stack.player.namespace(service)).split()
    return [Path("/proc") / pid for pid in pids]


def restart(stack: Stack, *services: str) -> None:
    """Stop services in this order, and start them in the reverse one."""
    for name in services:
        assert stack.player.stop(name) == 0, stack.player.log(name).read_text()
    stack.player.start_healthy(*reversed(services))


def test_the_server_starts_when_the_database_is_healthy(stack: Stack) -> None:
    assert stack.player.events[:6] == [
        "database started",
        "database healthy",
        "server started",
        "server healthy",
        "caddy started",
        "caddy healthy",
    ]


def test_a_phone_joins_over_tls_and_computes_with_postgres(stack: Stack, tmp_path: Path) -> None:
    seen = stack.join(tmp_path)
    assert seen["joined"]["secure"]
    assert "Caddy Local Authority" in seen["joined"]["issuer"]
    assert psql(stack, "SELECT count(*) FROM trials") == "1"
    assert not (stack.player.volume("state") / "hyperflock.db").exists()


def test_the_database_keeps_what_it_acknowledged(stack: Stack) -> None:
    for name in ("fsync", "full_page_writes", "synchronous_commit", "data_checksums"):
        assert psql(stack, f"SHOW {name}") == "on"


def test_the_password_is_in_its_file_alone(stack: Stack) -> None:
    """No log, no variable and no command line has it. `docker inspect` shows the last two."""
    word = password(stack).read_text().strip()
    assert len(word) == 48
    assert stat.S_IMODE(password(stack).stat().st_mode) == 0o400
    assert password(stack).stat().st_uid == 10001
    for service in ("database", "server", "caddy"):
        assert word not in stack.player.log(service).read_text()
        looked_at = 0
        for folder in processes(stack, service):
            # A process of the database or of a health check may end meanwhile.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                for name in ("environ", "cmdline"):
                    assert word.encode() not in (folder / name).read_bytes()
                looked_at += 1
        assert looked_at > 0


def test_nobody_but_the_server_reaches_the_database(stack: Stack) -> None:
    address = stack.player.address("database", "database")

    def answers(namespace: str) -> int:
        return stack.curl(namespace, f"telnet://{address}:5432", "-m", "2").returncode

    # It is open for the server: curl waits for what never comes.
    assert answers(stack.player.namespace("server")) == 28
    for namespace in (stack.phone, stack.player.namespace("prometheus")):
        assert answers(namespace) == 7
    assert "no pg_hba.conf entry" in psql(stack, "SELECT 1", user="postgres")


def test_backups_are_made_on_demand_and_by_themselves(stack: Stack) -> None:
    backups = stack.player.volume("backups")

    def names() -> list[str]:
        return [path.name for path in backups.glob("2*Z")]

    until("the server's own backup", lambda: len(names()) == 1)
    stack.player.start("backup")
    assert stack.player.ended("backup") == 0, stack.player.log("backup").read_text()
    verified = stack.player.exec("server", ["hyperflock-server", "verify", "/backups"])
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert len(names()) == 2


def test_a_restart_of_the_database_is_waited_for(stack: Stack) -> None:
    restart(stack, "database")
    until(
        "a server that is ready",
        lambda: stack.curl(stack.phone, f"https://{HOST}/readyz", "-f").returncode == 0,
    )
    assert [row["state"] for row in stack.console("/api/studies")["studies"]] == ["finished"]


def refused_start(stack: Stack) -> str:
    """Start the server, which has to end by itself, and return what it says."""
    before = len(stack.player.log("server").read_text())
    stack.player.start("server")
    assert stack.player.ended("server") == 1
    return stack.player.log("server").read_text()[before:]


def test_a_server_without_its_database_says_so_and_ends(stack: Stack) -> None:
    """As after a restart of the machine, when an engine starts all at once. It tries again."""
    assert stack.player.stop("server") == 0
    assert stack.player.stop("database") == 0
    said = refused_start(stack)
    assert "Cannot connect to the database (host=database" in said or "user=hyperflock" in said
    assert "Check that it runs and is reachable from here." in said
    stack.player.start_healthy("database", "server")


def test_a_password_that_cannot_be_read_or_is_wrong_is_said(stack: Stack) -> None:
    assert stack.player.stop("server") == 0
    password(stack).chmod(0)
    assert PASSWORD in refused_start(stack)
    right = password(stack).read_text()
    password(stack).write_text("another\n")
    password(stack).chmod(0o444)
    said = refused_start(stack)
    assert "Check the user and the password." in said
    assert right.strip() not in said
    # The start of the database mends the mode.
    password(stack).write_text(right)
    restart(stack, "database")
    assert stat.S_IMODE(password(stack).stat().st_mode) == 0o400
    stack.player.start_healthy("server")


def test_who_removes_the_password_gets_a_new_one(stack: Stack) -> None:
    old = password(stack).read_text()
    password(stack).unlink()
    restart(stack, "server", "database")
    assert len(password(stack).read_text()) == len(old)
    assert password(stack).read_text() != old
    assert [row["state"] for row in stack.console("/api/studies")["studies"]] == ["finished"]


def test_files_of_another_version_are_not_touched(stack: Stack) -> None:
    """As after an upgrade of the image to a newer PostgreSQL, which cannot read the files."""
    for name in ("server", "database"):
        assert stack.player.stop(name) == 0
    volume = stack.player.volume("database")
    (volume / "15").rename(volume / "14")
    stack.player.start("database")
    assert stack.player.ended("database") == 1
    assert "has a database of PostgreSQL 14" in stack.player.log("database").read_text()
    (volume / "14").rename(volume / "15")
    stack.player.start_healthy("database", "server")


# ---- a disk that is full


def test_a_full_disk_is_said_and_room_is_enough(
    made: Images, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("full")
    file = read(FILES, VARIABLES)
    disk = folder / "run/volumes/database"
    with running(made, file, folder, set(file.services)) as stack:
        disk.mkdir()
        size = "mode=700,uid=10001,gid=10001,size="
        network.run("mount", "-t", "tmpfs", "-o", f"{size}16m", "tmpfs", disk)
        try:
            fill_and_free(stack, disk)
        finally:
            for name in list(stack.player.running):
                stack.player.stop(name)
            network.run("umount", disk)


def fill(rest: Path) -> None:
    """Write a file until the disk is full."""
    with contextlib.suppress(OSError), rest.open("wb", buffering=0) as filling:
        while True:
            filling.write(bytes(1 << 16))
    assert shutil.disk_usage(rest.parent).free < 1 << 16


def fill_and_free(stack: Stack, disk: Path) -> None:
    """Start on a disk that is too small, then fill it while the server runs."""
    stack.player.start("database")
    assert stack.player.ended("database") == 1
    said = stack.player.log("database").read_text()
    assert "No space left on device" in said
    assert "database: no database could be made in the volume" in said
    network.run("mount", "-o", "remount,size=256m", disk)
    stack.player.start_healthy("database", "server", "caddy")
    rest = disk / "rest"
    fill(rest)
    code = stack.credentials()["join_url"].split("#")[1]
    body = json.dumps({"code": code, "class": "phone", "engine": "test 1"})

    def join() -> dict[str, Any]:
        words = ["-X", "POST", "-H", "Content-Type: application/json", "-d", body]
        answer = stack.curl(stack.phone, f"https://{HOST}/api/join", *words)
        found: dict[str, Any] = json.loads(answer.stdout or "{}")
        return found

    until("a refusal", lambda: "error" in join())
    assert join()["error"]["code"] in {"storage_unavailable", "no_room", "disk_full"}
    rest.unlink()
    if stack.player.ended_already("database"):
        # An engine starts it again.
        stack.player.start_healthy("database")
    until("a device that joins", lambda: "error" not in join())


# ---- the profile observability


def test_prometheus_watches_the_server_from_inside(stack: Stack) -> None:
    words = ["hyperflock-server", "researcher", "create", "monitoring", "--bytes", "1"]
    words += ["--credentials-file", "/var/lib/hyperflock/credentials.json"]
    made = stack.player.exec("server", words)
    assert made.returncode == 0, made.stdout + made.stderr
    # As the sed of server/docs/compose.md takes it.
    (token,) = re.findall(r"^token *(\S+)$", made.stdout, re.MULTILINE)
    (stack.folder / "token").write_text(f"{token}\n")
    stack.player.start_healthy("prometheus")
    until("a scrape", lambda: value(stack, 'up{job="hyperflock"}') == 1)
    board = json.loads((ROOT / "deploy/monitoring/board.json").read_text())
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert len(expressions) > 20
    for expression in expressions:
        assert asked(stack, "query", expression)["status"] == "success", expression
    assert value(stack, "hyperflock_devices_connected") == 0
    (group,) = asked(stack, "rules")["data"]["groups"]
    assert len(group["rules"]) > 10
    assert {rule["health"] for rule in group["rules"]} <= {"ok", "unknown"}


def asked(stack: Stack, what: str, query: str = "") -> dict[str, Any]:
    """Return what Prometheus answers in its network, where Grafana asks it."""
    address = stack.player.address("prometheus", "inside")
    words = ["-G", "--data-urlencode", f"query={query}"] if query else []
    server = stack.player.namespace("server")
    answer = stack.curl(server, f"http://{address}:9090/api/v1/{what}", *words)
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def value(stack: Stack, query: str) -> float | None:
    """Return the value of the only series of a query."""
    found = asked(stack, "query", query)["data"]["result"]
    return float(found[0]["value"][1]) if len(found) == 1 else None


def test_nobody_outside_reaches_the_metrics(stack: Stack) -> None:
    address = stack.player.address("prometheus", "inside")
    for place in (
        f"{network.HOST_ADDRESS}:9090",
        f"{network.HOST_ADDRESS}:8792",
        f"{address}:9090",
    ):
        assert stack.curl(stack.phone, f"http://{place}/").returncode == 7
    # Prometheus itself reaches no other machine.
    inside = stack.player.namespace("prometheus")
    assert stack.curl(inside, f"http://{network.PHONE_ADDRESS}/").returncode == 7


def test_the_board_is_on_this_machine_and_by_its_own_name(stack: Stack) -> None:
    """Grafana is not here, so its place answers 404, and to another name the answer is empty."""
    code = ["-o", "/dev/null", "-w", "%{http_code}"]
    assert stack.curl(stack.host, "http://127.0.0.1:8792/", *code).stdout == "404"
    other = stack.curl(stack.host, "http://127.0.0.1:8792/", *code, "-H", "Host: evil.example")
    assert other.stdout == "200"
