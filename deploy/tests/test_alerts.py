"""Causes the trouble of each alert rule on a real server. Prometheus' own evaluator must say that
the alert fires then, and not before.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import socket
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import urllib3
from authority import own_certificate
from ground import Ground
from hyperflock._transport.messages import Report
from local_postgres import LocalPostgres
from patience import LIMIT_S, until
from real_server import HeldPort, Server
from small_disk import small_disk
from tied import tied
from timeline import PROMTOOL, RULES, Connection, Timeline, rules

#: The disk of this machine may be nearly full, which is not what these tests are about.
ROOM = ("--min-free-bytes", str(1 << 20))
BACKUP_AT = "hyperflock_backup_last_success_timestamp_seconds{}"


@contextlib.contextmanager
def running(folder: Path, *options: str) -> Iterator[Server]:
    """Run a server, which ends with the block."""
    folder.mkdir(exist_ok=True)
    server = Server(folder, *ROOM, *options).start()
    try:
        yield server
    finally:
        server.kill()


@contextlib.contextmanager
def held_database(server: Server) -> Iterator[None]:
    """Hold the database's lock for writing, as a program does that the server does not know."""
    (file,) = (server.folder / "state").glob("*.db")
    other = sqlite3.connect(file, timeout=LIMIT_S, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def line_of(server: Server, step_s: int = 60) -> Timeline:
    """Return a line of time for scrapes of this server."""
    return Timeline(server.console, server.credentials["admin_token"], step_s)


def join(server: Server) -> int:
    """Join as a device, which is a commit, and return the answer's status."""
    body = {"code": server.credentials["enrolment_code"], "class": "node", "engine": "test 1"}
    address = f"{server.compute}/api/join"
    return urllib3.request("POST", address, json=body, retries=False, timeout=LIMIT_S).status


def becomes(line: Timeline, series: str, value: float) -> None:
    """Wait until a metric has a value."""
    until(f"{series} {value}", lambda: line.scrape().get(series) == value)


def test_the_rules_are_valid() -> None:
    command = [PROMTOOL, "check", "rules", RULES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_rule_has_a_test_that_causes_it() -> None:
    caused = re.findall(r'fires(?:_if_it_stays)?\("(\w+)"', Path(__file__).read_text())
    assert set(caused) == set(rules())


def test_prometheus_finds_no_fault_in_the_names_and_units_of_the_metrics(tmp_path: Path) -> None:
    with running(tmp_path / "server") as server:
        _, text = Connection(server.console).get("/metrics")
    command = [PROMTOOL, "check", "metrics"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_healthy_server_fires_nothing_in_eight_hours(tmp_path: Path) -> None:
    folders = ["--standby", str(tmp_path / "standby"), "--backup-to", str(tmp_path / "backups")]
    with running(tmp_path / "server", *folders) as server:
        assert join(server) == 201
        line = line_of(server, step_s=240)
        becomes(line, "hyperflock_standby_current{}", 1)
        until("a backup", lambda: line.scrape()[BACKUP_AT] > 0)
        for _ in range(10):
            line.rests(*rules())
            for _ in range(11):
                line.scrape()
    line.check(tmp_path)


def test_a_server_that_ended_is_down(tmp_path: Path) -> None:
    with running(tmp_path / "server") as server:
        line = line_of(server)
        line.rests("HyperflockDown")
        server.kill()
        line.fires("HyperflockDown")
    line.check(tmp_path)


def test_a_locked_database_makes_it_read_only(tmp_path: Path) -> None:
    with running(tmp_path / "server") as server:
        line = line_of(server)
        line.rests("HyperflockReadOnly")
        with held_database(server):
            assert join(server) == 503
            line.fires("HyperflockReadOnly")
        until("a device joins", lambda: join(server) == 201)
        line.rests("HyperflockReadOnly")
    line.check(tmp_path)


def test_a_full_disk_is_full_and_requests_fail(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    with small_disk(folder / "state", mib=16) as disk, running(folder) as server:
        line = line_of(server)
        assert join(server) == 201
        line.rests("HyperflockDiskFull", "HyperflockRequestsFail")
        disk.fill()
        line.fires("HyperflockDiskFull")

        def fail() -> None:
            assert {join(server) for _ in range(8)} <= {503, 507}

        line.fires("HyperflockRequestsFail", fail)
        disk.free()
        becomes(line, "hyperflock_disk_full{}", 0)
        line.rests("HyperflockDiskFull")
        server.kill()
    line.check(tmp_path)


def test_a_disk_that_fills_is_foreseen(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    with small_disk(folder / "state", mib=64) as disk, running(folder) as server:
        line = line_of(server, step_s=300)
        line.rests("HyperflockDiskSoonFull")
        more = disk.folder / "more"

        def grow() -> None:
            with more.open("ab") as file:
                file.write(bytes(256 << 10))

        line.fires("HyperflockDiskSoonFull", grow)
        server.kill()
    line.check(tmp_path)


def test_a_slow_disk_makes_commits_slow(tmp_path: Path) -> None:
    fast = 'hyperflock_commit_duration_seconds_bucket{le="0.5"}'
    every = 'hyperflock_commit_duration_seconds_bucket{le="+Inf"}'
    with running(tmp_path / "server") as server:
        line = line_of(server, step_s=150)
        line.rests("HyperflockCommitsSlow")
        metrics = line_of(server)

        def slow_commits() -> float:
            found = metrics.scrape()
            return found[every] - found[fast]

        def one_slow_commit() -> None:
            before, held_s = slow_commits(), 0.7
            while slow_commits() == before:
                joining = threading.Thread(target=join, args=(server,))
                with held_database(server):
                    joining.start()
                    joining.join(held_s)
                joining.join()
                held_s = min(2 * held_s, 3.0)

        line.fires("HyperflockCommitsSlow", one_slow_commit)
    line.check(tmp_path)


def test_more_work_than_the_disk_can_write_is_a_backlog(tmp_path: Path) -> None:
    backlog = "hyperflock_commit_backlog_transitions{}"
    with Ground(tmp_path, *ROOM, working=False) as ground:
        ground.study()
        server = ground.server
        assert server.process is not None
        line = line_of(server)
        line.rests("HyperflockCommitBacklog")

        def overloaded() -> bool:
            """Send a server more than it can write. It waits for the lock for five seconds only,
            so on a busy machine this may have to be done again.
            """
            until("a device joins", lambda: join(server) == 201)
            phones = [ground.device() for _ in range(24)]
            attempts = [phone.ready().attempt for phone in phones]
            with held_database(server):
                server.process.send_signal(signal.SIGSTOP)
                # No phone may have more than 64 messages that are not written yet.
                for phone, attempt in zip(phones, attempts, strict=True):
                    for sent in range(1, 65):
                        phone.send(Report(attempt, sent, [(sent, 0.5)]))
                server.process.send_signal(signal.SIGCONT)
                while (found := line.scrape())[backlog] <= 1024:
                    if found["hyperflock_read_only{}"] == 1:
                        return False
            return True

        until("a backlog", overloaded)
        line.fires_if_it_stays("HyperflockCommitBacklog")
        server.kill()  # the phones do not read what it still has for them
    line.check(tmp_path)


def test_a_full_console_refuses_connections(tmp_path: Path) -> None:
    with running(tmp_path / "server", "--max-console-connections", "2") as server:
        own = {"Authorization": f"Bearer {server.credentials['admin_token']}"}
        line = line_of(server)
        second = Connection(server.console)
        line.rests("HyperflockConnectionsRefused")
        place = urlsplit(server.console)

        def one_more() -> bytes:
            with socket.create_connection((place.hostname, place.port)) as refused:
                return refused.recv(1 << 16)

        def knock() -> None:
            # A connection with a valid token is not displaced by a new one.
            for each in (line.connection, second):
                assert each.get("/api/me", own)[0] == 200
            for _ in range(8):
                assert b'"code":"full"' in one_more()

        line.fires("HyperflockConnectionsRefused", knock)
    line.check(tmp_path)


def test_readers_that_hang_make_a_queue(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    page = folder / "app" / "app" / "slow.js"
    page.parent.mkdir(parents=True)
    page.write_text("a page that is read from a disk that hangs")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    with running(folder) as server, contextlib.ExitStack() as asking:
        line = line_of(server)
        line.rests("HyperflockReadersBusy")
        # Whoever opens this waits until somebody writes, as on a disk that does not answer.
        page.unlink()
        os.mkfifo(page)
        place = urlsplit(server.compute)
        for source in ("127.0.0.2", "127.0.0.3", "127.0.0.4"):
            for _ in range(200):
                one = socket.create_connection((place.hostname, place.port), None, (source, 0))
                asking.enter_context(one)
                one.sendall(b"GET /app/slow.js HTTP/1.1\r\nHost: a\r\n\r\n")
        # Each address may use one of the two threads at a time.
        becomes(line, 'hyperflock_reader_queue_tasks{band="devices"}', 598)
        line.fires("HyperflockReadersBusy", band="devices")
    line.check(tmp_path)


def test_a_lost_disk_of_the_backups_lets_them_become_old(tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    options = ("--backup-to", str(folder), "--backup-every", "1 min")
    with running(tmp_path / "server", *options) as server:
        line = line_of(server)
        until("a backup", lambda: line.scrape()[BACKUP_AT] > 0)
        line.rests("HyperflockBackupOld")
        # The disk of the backups is gone.
        folder.rename(tmp_path / "gone")
        folder.write_text("")
        state = server.folder / "state"
        binary = os.environ["HYPERFLOCK_TEST_SERVER_BIN"]
        command = [binary, "backup", folder, "--state", state]
        assert subprocess.run(command, capture_output=True, check=False).returncode != 0
        line.fires("HyperflockBackupOld")
        folder.unlink()
        (tmp_path / "gone").rename(folder)
        subprocess.run(command, capture_output=True, check=True)
        line.rests("HyperflockBackupOld")
    line.check(tmp_path)


def test_a_backup_that_fails_once_is_told(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("of somebody else")
    with running(tmp_path / "server") as server:
        line = line_of(server)
        line.rests("HyperflockBackupFails")
        binary = os.environ["HYPERFLOCK_TEST_SERVER_BIN"]
        command = [binary, "backup", tmp_path / "other", "--state", server.folder / "state"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "not_a_backup_folder" in done.stdout + done.stderr, done
        line.fires("HyperflockBackupFails", cause="not_a_backup_folder")
    line.check(tmp_path)


def test_a_full_disk_of_the_standby_leaves_it_behind(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", mib=16) as disk:
        standby = disk.folder / "standby"
        with running(tmp_path / "server", "--standby", str(standby)) as server:
            line = line_of(server)
            becomes(line, "hyperflock_standby_current{}", 1)
            line.rests("HyperflockStandbyBehind")
            disk.fill()
            assert join(server) == 201
            becomes(line, "hyperflock_standby_current{}", 0)
            line.fires("HyperflockStandbyBehind")
    line.check(tmp_path)


def test_a_certificate_ends_soon(tmp_path: Path) -> None:
    own_certificate(tmp_path, "own", days=9)
    names = ("--tls-cert", str(tmp_path / "own.pem"), "--tls-key", str(tmp_path / "own-key.pem"))
    with running(tmp_path / "server", *names) as server:
        line = line_of(server)
        line.rests("HyperflockCertificateEnds")
        line.fires("HyperflockCertificateEnds")
        expiry = "hyperflock_tls_certificate_expiry_timestamp_seconds{}"
        before = line.scrape()[expiry]
        own_certificate(tmp_path, "own", days=90)
        assert server.process is not None
        server.process.send_signal(signal.SIGHUP)
        until("the new certificate", lambda: line.scrape()[expiry] > before)
        line.rests("HyperflockCertificateEnds")
    line.check(tmp_path)


@contextlib.contextmanager
def spare(folder: Path, *options: str) -> Iterator[tuple[str, str]]:
    """Run a server that waits for the database of another one. Yield its two origins."""
    folder.mkdir()
    ports = [HeldPort(), HeldPort()]
    compute, console = (f"127.0.0.1:{port.number}" for port in ports)
    binary = os.environ["HYPERFLOCK_TEST_SERVER_BIN"]
    words = [binary, "serve", "--state", folder / "state", *ROOM, *options]
    words += ["--compute", compute, "--console", console]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(tied(words), stdout=log, stderr=log)
    try:
        health = Connection(f"http://{console}")

        def lives() -> bool:
            with contextlib.suppress(ConnectionRefusedError):
                return health.get("/healthz")[0] == 200
            return False

        until("the spare", lives)
        yield f"http://{compute}", f"http://{console}"
    finally:
        process.kill()
        process.wait(LIMIT_S)


def test_a_spare_loses_the_database_and_the_server(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(LocalPostgres())
        options = ["--database", database.database("alerts"), "--peer", "127.0.0.1:0"]
        options += ["--wait-for-shard", "--shared-files", str(tmp_path / "files")]
        server = stack.enter_context(running(tmp_path / "server", *options))
        compute, console = stack.enter_context(spare(tmp_path / "spare", *options))
        client = Connection(compute)
        until("a link", lambda: client.get("/selftest")[0] == 404)  # from the server
        line = Timeline(console, "", path="/metrics/own")
        line.rests("HyperflockSpareBlind", "HyperflockSpareLinksFail", "HyperflockDown")
        stack.enter_context(database.away())
        becomes(line, "hyperflock_spare_database_away{}", 1)
        line.fires("HyperflockSpareBlind")
        server.kill()

        def knock() -> None:
            for _ in range(20):
                assert client.get("/selftest")[0] == 503

        line.fires("HyperflockSpareLinksFail", knock)
    line.check(tmp_path)


def test_a_collector_that_is_away_loses_traces(tmp_path: Path) -> None:
    away = HeldPort()  # nobody listens there
    options = ["--otlp-endpoint", f"http://127.0.0.1:{away.number}", "--trace-sample", "0.2"]
    with running(tmp_path / "server", *options) as server:
        # Few scrapes far apart: after each batch that is lost, the server waits twice as long.
        line = line_of(server, step_s=240)
        reader = Connection(server.console)
        line.rests("HyperflockTracesDropped")
        lost = 'hyperflock_trace_spans_dropped_total{reason="endpoint"} '

        def dropped() -> float:
            _, text = reader.get("/metrics")
            return float(text.partition(lost)[2].partition("\n")[0])

        def ask() -> None:
            before = dropped()
            for _ in range(300):
                assert reader.get("/readyz")[0] == 200
            until("lost spans", lambda: dropped() >= before + 30)

        line.fires("HyperflockTracesDropped", ask, reason="endpoint")
    line.check(tmp_path)


def test_files_are_scarce(tmp_path: Path) -> None:
    with running(tmp_path / "server") as server, contextlib.ExitStack() as open_:
        line = line_of(server)
        line.rests("HyperflockFilesScarce")
        place = urlsplit(server.compute)
        for _ in range(100):
            open_.enter_context(socket.create_connection((place.hostname, place.port)))
        used = until(
            "the connections",
            lambda: (now := line.scrape()["process_open_fds{}"]) > 100 and now,
        )
        assert server.process is not None
        limit = int(used) + 8
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
        line.fires("HyperflockFilesScarce")
    line.check(tmp_path)
