"""Plays docker-compose.yml without an engine, and joins it with a phone over TLS.

The images are built by buildah. Every service runs in namespaces of its own, with the files, users,
capabilities, limits and networks that the file gives it. The phone is Chromium in another network,
which trusts Caddy's own authority and nothing else new. ``./run compose-test`` runs it; needs root.
"""

from __future__ import annotations

import hashlib
import json
import ssl
from collections.abc import Iterator
from pathlib import Path

import network
import pytest
from compose_file import ComposeError, read
from images import ROOT, Images
from stack import CREDENTIALS, HOST, VARIABLES, Stack, running

FILES = [ROOT / "docker-compose.yml"]


@pytest.fixture(scope="module")
def stack(made: Images, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Return the services of the compose file, all of them healthy."""
    folder = tmp_path_factory.mktemp("compose")
    variables = VARIABLES | {
        "HYPERFLOCK_STUDIES": "999999",
        "HYPERFLOCK_SAMPLER_TOKEN": str(folder / "token"),
    }
    file = read(FILES, variables, {"backup", "lan", "sampler"})
    with running(made, file, folder, {"sampler"}) as started:
        yield started


def test_a_host_is_needed() -> None:
    with pytest.raises(ComposeError, match="HYPERFLOCK_HOST=flock"):
        read(FILES, {})


def test_caddy_starts_when_the_server_is_healthy(stack: Stack) -> None:
    assert stack.player.events[:4] == [
        "server started",
        "server healthy",
        "caddy started",
        "caddy healthy",
    ]


def test_the_join_link_is_the_one_that_phones_open(stack: Stack) -> None:
    credentials = stack.credentials()
    assert credentials["join_url"].startswith(f"https://{HOST}/join#")
    assert credentials["console"] == f"https://{HOST}:8443"
    assert credentials["join_url"] in stack.player.log("server").read_text()


def test_no_token_is_in_a_log(stack: Stack) -> None:
    credentials = stack.credentials()
    stack.curl(
        stack.host,
        "http://127.0.0.1:8790/api/me",
        "-H",
        f"Authorization: Bearer {credentials['researcher_token']}",
    )
    for service in ("server", "caddy"):
        log = stack.player.log(service).read_text()
        for name in ("admin_token", "researcher_token"):
            assert credentials[name] not in log


def test_a_phone_joins_over_tls_and_computes(stack: Stack, tmp_path: Path) -> None:
    seen = stack.join(tmp_path)
    for visit in seen.values():
        assert visit["secure"]
        assert visit["isolated"]
        assert "Caddy Local Authority" in visit["issuer"]
    assert seen["joined"]["protocol"] == "h2"
    assert seen["quic"]["protocol"] == "h3"


def test_the_server_knows_each_phone_by_its_address(stack: Stack) -> None:
    """The phone's address comes from Caddy, whatever the phone says of itself."""
    answer = stack.curl(
        stack.phone,
        f"https://{HOST}/api/join",
        *["-X", "POST", "-H", "Content-Type: application/json"],
        *["-H", "X-Forwarded-For: 203.0.113.9", "-d", '{"code": "wrong"}'],
    )
    assert json.loads(answer.stdout)["error"]["code"]
    log = stack.player.log("server").read_text()
    assert "forwarded_ignored" not in log
    assert "203.0.113.9" not in log


def test_the_runtime_comes_compressed_and_is_kept_by_browsers(stack: Stack) -> None:
    index = json.loads(stack.curl(stack.phone, f"https://{HOST}/runtime/index.json").stdout)
    path = index["pieces"]["pyodide"]["base"] + "pyodide.asm.wasm"
    answer = stack.curl(
        stack.phone,
        f"https://{HOST}{path}",
        *["-H", "Accept-Encoding: br", "-o", "/dev/null", "-D", "-"],
    )
    head = answer.stdout.lower()
    assert "content-encoding: br" in head
    assert "immutable" in head
    assert "cross-origin-embedder-policy: require-corp" in head
    # Caddy offers HTTP/3 for the next visit.
    assert 'alt-svc: h3=":443"' in head


def test_plain_http_leads_to_tls(stack: Stack) -> None:
    answer = stack.curl(stack.phone, f"http://{HOST}/join", "-o", "/dev/null", "-D", "-")
    assert answer.stdout.startswith("HTTP/1.1 308")
    assert f"location: https://{HOST}/join" in answer.stdout.lower()


@pytest.mark.parametrize("port", [8443, 8790, 8791, 8780, 8081])
def test_a_phone_reaches_no_console_and_not_the_server(stack: Stack, port: int) -> None:
    assert stack.curl(stack.phone, f"http://{network.HOST_ADDRESS}:{port}/healthz").returncode == 7


def test_the_console_is_on_this_machine(stack: Stack) -> None:
    assert stack.curl(stack.host, "http://127.0.0.1:8790/readyz").returncode == 0
    page = stack.curl(stack.host, f"https://{HOST}:8443/research")
    assert "<html" in page.stdout
    # The compute origin has no console, and the console computes nothing.
    compute = stack.curl(stack.phone, f"https://{HOST}/research", "-w", "%{http_code}")
    assert compute.stdout.endswith("404")
    console = stack.curl(stack.host, f"https://{HOST}:8443/join", "-w", "%{http_code}")
    assert console.stdout.endswith("404")


def test_metrics_need_a_token_through_caddy(stack: Stack) -> None:
    asked = stack.curl(stack.host, "http://127.0.0.1:8790/metrics", "-w", "%{http_code}")
    assert asked.stdout.endswith("401")


def test_the_server_reaches_no_other_machine(stack: Stack) -> None:
    server = stack.player.namespace("server")
    outside = stack.player.address("caddy", "outside")
    for address in (network.HOST_ADDRESS, network.PHONE_ADDRESS, outside):
        assert stack.curl(server, f"http://{address}:80/").returncode == 7


def test_a_container_may_nothing_else(stack: Stack) -> None:
    """The processes have the user, capabilities, limits and files of the compose file."""
    wanted = {"server": ("10001", 0), "caddy": ("0", 1 << 10)}
    for service, (uid, capabilities) in wanted.items():
        namespace = stack.player.namespace(service)
        pids = network.run("ip", "netns", "pids", namespace).split()
        statuses = []
        for pid in pids:
            status = Path(f"/proc/{pid}/status").read_text()
            fields = dict(line.split(":", 1) for line in status.splitlines())
            # The first processes of a container are this test's own.
            if fields["Name"].strip() in ("unshare", "python3", "python"):
                continue
            statuses.append(fields)
            root = Path(f"/proc/{pid}/root")
            with pytest.raises(OSError, match="Read-only"):
                (root / "usr/bin/new").touch()
            assert not (root / "root/.bashrc").exists()
        assert statuses
        for fields in statuses:
            assert fields["Uid"].split()[0] == uid
            assert int(fields["CapBnd"], 16) == capabilities
            assert fields["NoNewPrivs"].strip() == "1"


def test_the_server_makes_the_backup_that_is_asked_for(stack: Stack) -> None:
    assert stack.player.ended("backup") == 0, stack.player.log("backup").read_text()
    verified = stack.player.exec("server", ["hyperflock-server", "verify", "/backups"])
    assert verified.returncode == 0, verified.stdout + verified.stderr
    (name,) = [path.name for path in stack.player.volume("backups").iterdir() if "T" in path.name]
    assert name.endswith("Z")
    assert not list(stack.player.volume("backups").rglob(CREDENTIALS))


def test_a_phone_finds_how_to_trust_caddy(stack: Stack) -> None:
    page = stack.curl(stack.phone, f"http://{HOST}/trust").stdout
    assert '<svg role="img"' in page
    answer = stack.curl(stack.phone, f"http://{HOST}/hyperflock-ca.crt", "-o", stack.folder / "ca")
    assert answer.returncode == 0
    der = (stack.folder / "ca").read_bytes()
    assert der == ssl.PEM_cert_to_DER_cert(stack.root_certificate().read_text())
    digest = hashlib.sha256(der).hexdigest().upper()
    assert digest in stack.player.log("trust").read_text().replace(":", "")


def test_the_sampler_asks_the_server_with_its_secret(stack: Stack) -> None:
    """There is no such study, which only a researcher with a valid token is told."""
    (stack.folder / "token").write_text(stack.credentials()["researcher_token"])
    stack.player.start("sampler")
    assert stack.player.ended("sampler") != 0
    log = stack.player.log("sampler").read_text()
    assert "unknown_study" in log, log
    assert stack.credentials()["researcher_token"] not in log


def test_a_restart_of_the_server_is_waited_for(stack: Stack) -> None:
    assert stack.player.stop("server") == 0
    stack.player.start_healthy("server")
    answer = stack.curl(stack.phone, f"https://{HOST}/healthz", "-w", "%{http_code}")
    assert answer.stdout.endswith("200")
    assert "This is the first start" in stack.player.log("server").read_text()
    assert stack.player.log("server").read_text().count("This is the first start") == 1
