"""Starts the server behind Caddy with the compose file's Caddyfile, and joins as a device over TLS.

    unshare --net --mount python3 behind_caddy.py CADDY SERVER FOLDER

It changes the network and the mounts of its own namespaces only. Prints what the device got, as
JSON. The ports are those of the Caddyfile.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

ROOT = Path(__file__).resolve().parents[2]
CADDYFILE = ROOT / "deploy/compose/Caddyfile"
HOST = "flock.test"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PATIENCE_S = 300.0
BUNDLE = b"not a bundle: nobody runs it"


def started(stack: ExitStack, command: list[object], folder: Path, **variables: str) -> None:
    """Start a program that ends with this one."""
    log = stack.enter_context((folder / "log").open("ab"))
    process = stack.enter_context(
        subprocess.Popen(
            [str(word) for word in command], env=os.environ | variables, stdout=log, stderr=log
        )
    )
    stack.callback(process.send_signal, signal.SIGTERM)


def wait(what: str, ready: Any) -> Any:
    """Return what ``ready`` returns as soon as it is not None."""
    end = time.monotonic() + PATIENCE_S
    while (found := ready()) is None:
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)
    return found


def ask(
    url: str, tls: ssl.SSLContext | None, body: object = None, **headers: str
) -> tuple[int, dict[str, str], bytes] | None:
    """Return the answer to a request, or None if nobody answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers)
    if body is not None:
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, context=tls) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()
    except OSError:
        return None


def device(tls: ssl.SSLContext, code: str) -> tuple[dict[str, Any], str]:
    """Join as a device, through the WebSocket.

    Returns the server's first message, and the credential of the device.
    """
    joined = ask(f"https://{HOST}/api/join", tls, {"code": code, "class": "phone", "engine": "t"})
    assert joined is not None
    assert joined[0] == 201, joined
    identity = json.loads(joined[2])
    hello = {
        "type": "hello",
        "protocol": 1,
        "role": "device",
        "device": identity["device"],
        "secret": identity["secret"],
        "agent": "test/1",
        "capabilities": {
            "backends": ["cpu"],
            "memory_mb": 1024,
            "cores": 1,
            "engine": "t",
            "class": "phone",
        },
        "attempts": [],
    }
    with connect(f"wss://{HOST}/ws/worker", ssl=tls) as socket:
        socket.send(json.dumps(hello))
        welcome: dict[str, Any] = json.loads(socket.recv())
        return welcome, f"Device {identity['device']}:{identity['secret']}"


def data_address(tls: ssl.SSLContext, researcher: dict[str, str], device: str) -> str:
    """Submit a study, and return the signed address at which a phone fetches its bundle."""
    sha256 = hashlib.sha256(BUNDLE).hexdigest()
    console = f"https://{HOST}:8443"
    request = urllib.request.Request(
        f"{console}/api/blobs/{sha256}", BUNDLE, researcher, method="PUT"
    )
    with urllib.request.urlopen(request, context=tls) as answer:
        assert answer.status == 201
    study = {
        "name": "caddy",
        "submit_key": "caddy",
        "direction": "minimize",
        "entry": "objective:objective",
        "bundle": {"sha256": sha256, "bytes": len(BUNDLE)},
        "space": [{"name": "x", "values": [1, 2]}],
        "runtime": {"chainer": "7.8.1"},
    }
    submitted = wait("the study", lambda: ask(f"{console}/api/studies", tls, study, **researcher))
    assert submitted[0] == 201, submitted
    link = f"https://{HOST}/api/blobs/{sha256}/link"
    given = wait("the link", lambda: ask(link, tls, None, Authorization=device))
    assert given[0] == 200, given
    url: str = json.loads(given[2])["url"]
    return url


def forged(address: str) -> str:
    """Return the address with another signature."""
    *before, _, sha256 = urllib.parse.urlsplit(address).path.split("/")
    return "/".join([*before, "0" * 64, sha256])


def main() -> None:
    """Start both programs, join, and print what came."""
    caddy, server, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    hosts = folder / "hosts"
    hosts.write_text(f"127.0.0.1 localhost server caddy trust {HOST}\n")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)
    state, data = folder / "state", folder / "data"
    with ExitStack() as stack:
        started(
            stack,
            [
                *[server, "serve", "--state", state, "--trusted-proxy", "127.0.0.1"],
                "--proxy-traceparent",  # so that only Caddy keeps volunteers from choosing ids
            ],
            folder,
            HYPERFLOCK_PUBLIC_URL=f"https://{HOST}",
            HYPERFLOCK_CONSOLE_URL=f"https://{HOST}:8443",
            HYPERFLOCK_APP=str(ROOT / "build/web"),
            HYPERFLOCK_RUNTIME=str(ROOT / "build/runtime"),
            HYPERFLOCK_WEBHOOKS="false",
        )
        wait("the server", lambda: ask("http://server:8780/readyz", None))
        started(
            stack,
            [caddy, "run", "--config", CADDYFILE, "--adapter", "caddyfile"],
            folder,
            HYPERFLOCK_HOST=HOST,
            HYPERFLOCK_TLS="internal",
            XDG_DATA_HOME=str(data),
            XDG_CONFIG_HOME=str(data),
            HOME=str(data),
        )
        root = data / "caddy/pki/authorities/local/root.crt"
        wait("the authority", lambda: root.exists() or None)
        tls = wait("its certificate", lambda: _context(root))
        wait("Caddy", lambda: ask(f"https://{HOST}/healthz", tls))
        page, file = f"http://{HOST}/trust", f"http://{HOST}/hyperflock-ca.crt"
        seen: dict[str, Any] = {"no trust page": wait("Caddy", lambda: ask(page, None))[0]}
        started(
            stack,
            [
                *[sys.executable, "-m", "hyperflock._local.trust_service", "--url", page],
                *["--certificate", "http://caddy:8082/root.crt", "--listen", "127.0.0.1:8781"],
            ],
            folder,
            PYTHONPATH=str(ROOT / "python/src"),
        )
        wait("the trust page", lambda: ask("http://trust:8781/", None))
        seen["trust page"] = wait("it", lambda: ask(page, None))[2].decode()
        der = wait("the certificate", lambda: ask(file, None))[2]
        seen["same certificate"] = der == ssl.PEM_cert_to_DER_cert(root.read_text())
        seen["fingerprint"] = hashlib.sha256(der).hexdigest().upper()
        seen["key"] = wait("no key", lambda: ask("http://caddy:8082/root.key", None))[0]
        seen["to TLS"] = wait("a page", lambda: ask(f"http://{HOST}/join", tls))[0]
        credentials = json.loads((state / "credentials.json").read_text())
        seen["credentials"] = credentials
        seen["welcome"], phone = device(tls, credentials["enrolment_code"])
        token = {"Authorization": f"Bearer {credentials['researcher_token']}"}
        seen["data address"] = data_address(tls, token, phone)
        pyodide = json.loads(wait("i", lambda: ask(f"https://{HOST}/runtime/index.json", tls))[2])
        file = pyodide["pieces"]["pyodide"]["base"] + "pyodide.asm.wasm"
        trace = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "X-Request-Id": TRACE}
        asked = {
            "volunteer's id": (f"https://{HOST}/join", trace),
            "researcher's id": (f"https://{HOST}:8443/api/me", token | trace),
            "join": (f"https://{HOST}/join", {}),
            "runtime": (f"https://{HOST}{file}", {"Accept-Encoding": "br"}),
            "console": (f"https://{HOST}:8443/api/me", token),
            "loopback": ("http://127.0.0.1:8791/api/me", token),
            "metrics": ("http://127.0.0.1:8791/metrics", {}),
            "health": ("http://127.0.0.1:8081/", {}),
            "no console": (f"https://{HOST}/research", {}),
            "data": (urllib.parse.urljoin(f"https://{HOST}", seen["data address"]), {}),
            "forged data": (f"https://{HOST}{forged(seen['data address'])}", {}),
        }
        for name, (url, headers) in asked.items():
            status, answer, _ = wait(name, lambda u=url, h=headers: ask(u, tls, **h))
            seen[name] = [status, {key.lower(): value for key, value in answer.items()}]
    seen["log"] = (folder / "log").read_text(errors="replace")
    print(json.dumps(seen))


def _context(root: Path) -> ssl.SSLContext | None:
    """Return a client's context that trusts the authority, once its file is whole."""
    try:
        return ssl.create_default_context(cafile=str(root))
    except (OSError, ssl.SSLError):
        return None


if __name__ == "__main__":
    main()
