"""Runs the server behind Debian's Caddy, with the Caddyfile of docker-compose.yml, in a network of
its own. A device joins over TLS through it. tests/compose does the same with the whole file.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CADDY = ROOT / "build/cache/debian/caddy"
SERVER = ROOT / "build/release/bin/hyperflock-server"
CADDYFILE = ROOT / "deploy/compose/Caddyfile"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
#: In a user namespace anybody may make networks and mounts.
APART = ["unshare", "--net", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what a device, a researcher and a stranger got."""
    script = Path(__file__).with_name("behind_caddy.py")
    folder = tmp_path_factory.mktemp("caddy")
    command = [*APART, sys.executable, script, CADDY, SERVER, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + (folder / "log").read_text(errors="replace")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("tls", ["acme", "internal", "", "other"])
def test_the_caddyfile_is_valid(tls: str, tmp_path: Path) -> None:
    command = [CADDY, "validate", "--config", CADDYFILE, "--adapter", "caddyfile"]
    variables = {"HYPERFLOCK_HOST": "flock.example.org", "HYPERFLOCK_TLS": tls}
    if not tls:
        del variables["HYPERFLOCK_TLS"]
    environment = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), **variables}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (tls != "other"), done.stderr


def test_a_device_joins_through_caddy(seen: dict[str, Any]) -> None:
    assert seen["welcome"]["type"] == "welcome"


def test_the_credentials_name_the_origins_of_caddy(seen: dict[str, Any]) -> None:
    credentials = seen["credentials"]
    assert credentials["join_url"].startswith("https://flock.test/join#")
    assert credentials["console"] == "https://flock.test:8443"


def test_caddy_leaves_the_headers_of_the_pages(seen: dict[str, Any]) -> None:
    status, headers = seen["join"]
    assert status == 200
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-embedder-policy"] == "require-corp"
    assert "default-src" in headers["content-security-policy"]


def test_the_runtime_stays_compressed_and_cacheable(seen: dict[str, Any]) -> None:
    status, headers = seen["runtime"]
    assert status == 200
    assert headers["content-encoding"] == "br"
    assert "immutable" in headers["cache-control"]


def test_data_is_cacheable_at_its_signed_address(seen: dict[str, Any]) -> None:
    status, headers = seen["data"]
    assert status == 200
    assert re.fullmatch(r"public, max-age=\d+, immutable", headers["cache-control"])
    assert headers["etag"].strip('"') == seen["data address"].rpartition("/")[2]
    assert headers["cross-origin-resource-policy"]
    status, headers = seen["forged data"]
    assert (status, headers["cache-control"]) == (403, "no-store")


def test_the_console_has_an_origin_of_its_own(seen: dict[str, Any]) -> None:
    assert seen["console"][0] == 200
    assert seen["loopback"][0] == 200
    assert seen["no console"][0] == 404


def test_metrics_need_a_token_although_caddy_is_on_this_machine(seen: dict[str, Any]) -> None:
    assert seen["metrics"][0] == 401
    assert seen["health"][0] == 200


def test_a_volunteer_does_not_choose_the_id_of_a_request(seen: dict[str, Any]) -> None:
    assert re.fullmatch("[0-9a-f]{32}", seen["volunteer's id"][1]["x-request-id"])
    assert seen["volunteer's id"][1]["x-request-id"] != TRACE
    assert seen["researcher's id"][1]["x-request-id"] == TRACE


def test_a_phone_finds_how_to_trust_the_own_authority(seen: dict[str, Any]) -> None:
    """Over plain HTTP, because it trusts nothing yet. The page has its own QR code."""
    assert seen["no trust page"] == 404
    shown = seen["trust page"]
    assert '<svg role="img"' in shown
    assert "could pretend to be any site" in shown
    assert "どのサイトにもなりすませます" in shown
    assert "{" not in re.sub(r"<style>.*?</style>", "", shown, flags=re.DOTALL)
    digits = re.sub(r"[^0-9A-F]", "", "".join(re.findall(r"<span>(.*?)</span>", shown)))
    assert seen["fingerprint"] * 2 == digits
    assert seen["same certificate"]
    # Nothing else is in the folder for it, and all other addresses lead to TLS.
    assert seen["key"] == 404
    assert seen["to TLS"] == 200


def test_no_token_is_in_a_log(seen: dict[str, Any]) -> None:
    for name in ("admin_token", "researcher_token"):
        assert seen["credentials"][name] not in seen["log"]
