"""Checks everything that a volunteer's result depends on, and names a remedy for each problem.

    for check in checks(settings(None, None), browser=True): print(check.state, check.name)

`checks` requests the server's public pages and, with the token, the user's name and role. It
changes nothing. Functions block.
"""

from __future__ import annotations

import platform
import socket
import ssl
import time
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from importlib import metadata
from ipaddress import ip_address
from typing import Any, Literal

from hyperflock._base.errors import HyperflockError
from hyperflock._base.text import clean
from hyperflock._base.version import __version__
from hyperflock._bundle.source.runtime import RUNTIMES
from hyperflock._execution import browser as _browser
from hyperflock._execution.file_cache import cache_folder
from hyperflock._execution.runtime_files import PAGES_LIST
from hyperflock._local.parts import find_program
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.http import Http, Origin, Probe, probe, tls_context
from hyperflock._transport.settings import CREDENTIALS_FILE, Settings, data_folder, settings_here

State = Literal["ok", "warning", "failed", "skipped"]

# If the clocks of the server and this machine differ by more seconds than this, `doctor` warns.
MAX_SKEW_S = 30.0
_SOON_DAYS = 14.0
_DAY_S = 86_400.0
_NEEDED = ("msgspec", "numpy", "rich", "segno", "tqdm", "typer", "urllib3", "websockets")


@dataclass(frozen=True)
class Check:
    """One line of the report.

    Attributes
    ----------
    name : str
        What was checked.
    state : str
        ``ok``, ``warning``, ``failed`` or ``skipped``.
    found : str
        What was found.
    remedy : str
        What to do; empty if nothing has to be done.
    """

    name: str
    state: State
    found: str
    remedy: str = ""


def checks(settings: Settings, *, browser: bool) -> Iterator[Check]:
    """Run all checks one after the other and yield their lines."""
    yield _python()
    yield _packages()
    try:
        origin = Origin.parse(settings.url)
    except HyperflockError as error:
        yield Check("address", "failed", error.message, "set HYPERFLOCK_URL or give --url")
        return
    yield _tls(origin)
    try:
        answer = _loop.run(probe(f"{origin.url}/healthz"))
    except HyperflockError as error:
        yield Check("server", "failed", error.message, _remedy_of_server())
        yield from _of_this_machine(browser)
        return
    yield _health(origin, answer)
    yield _clock(answer)
    me: dict[str, Any] = {}
    try:
        if not settings.token:
            raise HyperflockError("there is no token", code="no_token")
        me = _loop.run(Http(origin, settings.token, patience_s=0).get("/api/me"))
        yield Check("token", "ok", f"{clean(str(me.get('name')))}, {clean(str(me.get('role')))}")
    except HyperflockError as error:
        yield Check("token", "failed", error.message, _remedy_of_token(settings))
    yield _version(me)
    yield _join_page(me)
    yield _local_runs(me)
    yield from _of_this_machine(browser)


def _remedy_of_server() -> str:
    try:
        find_program()
    except HyperflockError:
        return "set HYPERFLOCK_URL or give --url; this installation has no server of its own"
    return "start one with 'hyperflock up', or set HYPERFLOCK_URL or give --url"


def _remedy_of_token(asked: Settings) -> str:
    here = settings_here()
    if here is None or here.url != asked.url:
        return "set HYPERFLOCK_TOKEN or give --token; the operator makes tokens"
    folder = data_folder()
    file = folder / CREDENTIALS_FILE
    if asked.token != here.token:
        return f"the server is your own, and '{file}' has its token: unset HYPERFLOCK_TOKEN"
    return (
        "the server is your own: after 'hyperflock down', 'hyperflock-server token recover "
        f"--state {folder / 'state'}' prints an administrator's token for HYPERFLOCK_TOKEN"
    )


def _of_this_machine(browser: bool) -> Iterator[Check]:
    yield Check("runtimes", "ok", ", ".join(RUNTIMES))
    if not browser:
        yield Check("browser", "skipped", "not asked to look")
        return
    yield from _browsers()


def _python() -> Check:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return Check("python", "ok", found)  # an older Python cannot import this package


def _packages() -> Check:
    versions, missing = [], []
    for name in _NEEDED:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        remedy = "pip install --force-reinstall hyperflock"
        return Check("packages", "failed", f"missing: {', '.join(missing)}", remedy)
    return Check("packages", "ok", f"hyperflock {__version__}, {', '.join(versions)}")


def _tls(origin: Origin) -> Check:
    parts = urllib.parse.urlsplit(origin.url)
    host = parts.hostname or ""
    if not origin.secure:
        if _is_loopback(host):
            return Check("tls", "ok", "plain HTTP on this machine only")
        return Check(
            "tls", "warning", "plain HTTP: the token and the code travel in the clear",
            "reach the console by 'ssh -L 8790:127.0.0.1:8790 SERVER', or by HTTPS",
        )  # fmt: skip
    try:
        with (
            socket.create_connection((host, parts.port or 443), timeout=5) as plain,
            tls_context(origin.url).wrap_socket(plain, server_hostname=host) as secured,
        ):
            certificate: Any = secured.getpeercert() or {}
            spoken = secured.version()
    except ssl.SSLCertVerificationError as error:
        remedy = "HYPERFLOCK_CA names a PEM file of further authorities"
        return Check("tls", "failed", clean(error.verify_message, limit=200), remedy)
    except HyperflockError as error:
        return Check("tls", "failed", error.message, "correct HYPERFLOCK_CA, or remove it")
    except OSError as error:
        found = clean(str(error), limit=200)
        return Check("tls", "failed", found, "is it an HTTPS port, and does the server run?")
    left = (ssl.cert_time_to_seconds(str(certificate["notAfter"])) - time.time()) / _DAY_S
    found = f"{spoken}, the certificate is good for {left:.0f} days more"
    if left < _SOON_DAYS:
        return Check("tls", "warning", found, "renew it; the server reads it again on SIGHUP")
    return Check("tls", "ok", found)


def _health(origin: Origin, answer: Probe) -> Check:
    took = f"{origin.url} answers in {answer.seconds * 1000:.0f} ms"
    if answer.status != 200:
        found = f"{origin.url} answered {answer.status} to /healthz"
        return Check("server", "failed", found, "is it the console's address (port 8790)?")
    ready = _loop.run(probe(f"{origin.url}/readyz"))
    if ready.status != 200:
        remedy = "it is stopping, or its disk is full: look at its log"
        return Check("server", "warning", f"{took}, but takes nothing in now", remedy)
    return Check("server", "ok", took)


def _clock(answer: Probe) -> Check:
    told = answer.headers.get("date", "")
    try:
        then = parsedate_to_datetime(told).timestamp()
    except (TypeError, ValueError):
        return Check("clock", "skipped", "the server does not tell its time")
    # The header Date has whole seconds. The middle of its second is the best estimate of the
    # server's time.
    skew = time.time() - (then + 0.5)
    found = f"this clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} the server's"
    if abs(skew) > MAX_SKEW_S:
        return Check("clock", "warning", found, "let both take their time by NTP")
    return Check("clock", "ok", found if abs(skew) >= 1.5 else "the same as the server's")


def _version(me: dict[str, Any]) -> Check:
    theirs = clean(str(me.get("server", "")))
    if not theirs:
        return Check("version", "skipped", "not known without a token")
    found = f"the server is {theirs}, this package {__version__}"
    if theirs.split(".")[:2] != __version__.split(".")[:2]:
        return Check("version", "warning", found, "take both of one release")
    return Check("version", "ok", found)


def _join_page(me: dict[str, Any]) -> Check:
    origin = str(me.get("join_origin", ""))
    if not origin.startswith(("http://", "https://")):
        return Check("join page", "skipped", "not known without a token")
    origin = clean(origin)
    try:
        answer = _loop.run(probe(f"{origin}/join"))
    except HyperflockError as error:
        remedy = "volunteers need this address: look at the server's --public-url"
        return Check("join page", "failed", error.message, remedy)
    if answer.status != 200:
        remedy = "./run build makes the pages; serve --app FOLDER names them"
        return Check("join page", "failed", f"{origin}/join answered {answer.status}", remedy)
    isolated = (
        answer.headers.get("cross-origin-opener-policy") == "same-origin"
        and "cross-origin-embedder-policy" in answer.headers
    )
    if not isolated:
        remedy = "let the proxy pass the Cross-Origin headers as they come"
        return Check("join page", "failed", f"{origin}/join is not isolated", remedy)
    if not origin.startswith("https:"):
        found = f"{origin} is plain HTTP: no phone computes there"
        return Check("join page", "warning", found, "'hyperflock up --share' names the ways")
    return Check("join page", "ok", f"{origin}, isolated, HTTPS")


def _local_runs(me: dict[str, Any]) -> Check:
    name, origin = "browser runs", str(me.get("join_origin", ""))
    if not origin.startswith(("http://", "https://")):
        return Check(name, "skipped", "not known without a token")
    origin = clean(origin)
    try:
        answer = _loop.run(probe(f"{origin}/{PAGES_LIST}"))
    except HyperflockError as error:
        remedy = "replay --on chromium needs this address, or what it has fetched before"
        return Check(name, "warning", error.message, remedy)
    if answer.status != 200:
        remedy = "for replay --on chromium update the server; serve --app FOLDER names its pages"
        return Check(name, "warning", f"{origin} has no page for trials in a browser here", remedy)
    return Check(name, "ok", f"by the pages of {origin}, kept in {cache_folder()}")


def _browsers() -> Iterator[Check]:
    path = _browser.find_browser()
    if path is None:
        remedy = (
            "install Chromium for replay --on chromium and dry_run='browser', "
            "or name one by HYPERFLOCK_BROWSER"
        )
        yield Check("browser", "warning", "no Chromium, Chrome or Edge is here", remedy)
        return
    told = _browser.ask_browser(path)
    if told is None:
        remedy = "start it by hand once; HYPERFLOCK_BROWSER names another one"
        yield Check("browser", "warning", f"{path} told nothing", remedy)
        return
    if told.get("isolated") is True and told.get("webassembly") is True:
        yield Check("browser", "ok", f"{path}: isolated pages, WebAssembly")
    else:
        remedy = "take a newer one; HYPERFLOCK_BROWSER names it"
        yield Check("browser", "warning", f"{path} computes in no isolated page", remedy)
    adapter = told.get("webgpu")
    remedy = "trials run on the CPU there; newer drivers may bring WebGPU"
    if not isinstance(adapter, str):
        error = told.get("error")
        why = f": {clean(error, limit=200)}" if isinstance(error, str) else ""
        yield Check("webgpu", "warning", f"the browser gives no adapter{why}", remedy)
    elif told.get("software") is True:
        found = f"{clean(adapter, limit=80)}, a software adapter"
        yield Check("webgpu", "warning", found, "slower than the CPU: for tests only")
    else:
        yield Check("webgpu", "ok", clean(adapter, limit=80))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
