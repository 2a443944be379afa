"""Tests trials in a browser on this machine: the page that the browser opens, the page's messages,
and each way in which a run ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_console import FakeConsole
from hyperflock import AsyncClient, Client, DryRunError
from hyperflock._execution import browser as _browser
from hyperflock._execution import browser_run as _browser_run
from hyperflock._execution import page_server as _page_server
from hyperflock._execution.page_server import Content, PageServer
from patience import LIMIT_S, is_once_below, until
from small_runtime import ARCHIVE, PAGE, RARE, THREAD, SmallRuntime, fake_browser
from travelling_helper import holding

SPACE = {"x": [1.0]}
DONE = [
    {"kind": "alive"},
    {"kind": "running"},
    {"kind": "output", "lines": ["one", "two\x1b[2J"]},
    {
        "kind": "ended",
        "outcome": {"outcome": "complete", "values": [0.5]},
        "points": [[3, 0.25]],
        "runMs": 1_500_000,
        "backend": "cpu",
        "software": f"hyperflock-worker/0.1.0 runtime/{'a' * 64} pyodide/1",
    },
]


@pytest.fixture(autouse=True)
def built(server: FakeConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallRuntime:
    monkeypatch.setenv("HYPERFLOCK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_browser_run, "_LOOK_S", 0.02)
    built = SmallRuntime(tmp_path / "built")
    server.built = built.folder
    return built


def _run(client: Client, **options: Any) -> Any:
    return client.grid(
        holding(np.ones(4)), SPACE, {"ones": np.ones(2)}, dry_run="browser", **options
    )


def _tells(
    monkeypatch: pytest.MonkeyPatch, folder: Path, told: object, *, stays: bool = True
) -> Path:
    browser, seen = fake_browser(folder, told, stays=stays)
    monkeypatch.setenv("HYPERFLOCK_BROWSER", browser)
    return seen


def test_what_a_page_tells_is_the_result_and_nothing_stays(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen_at = _tells(monkeypatch, tmp_path, DONE)
    run = _run(client, backend="webgpu")
    assert (run.state, run.values, run.points, run.seconds) == (
        "complete", (0.5,), ((3, 0.25),), 1500.0,
    )  # fmt: skip
    assert run.output == "one\ntwo[2J\n"
    seen = json.loads(seen_at.read_text())
    assert seen["opened"] == "webgpu"
    assert seen["lease"]["runtime"] == {"chainer": "7.8.1", "backend": "webgpu"}
    assert seen["bytes"] == [seen["lease"]["bundle"]["bytes"], seen["lease"]["data"][0]["bytes"]]
    assert not Path(f"/proc/{seen['pid']}").exists()
    assert not Path(seen["profile"]).exists()
    # Any user of the machine can read a program's arguments, so the page's address must be secret.
    secret = urllib.parse.urlsplit(seen["url"]).path.strip("/")
    assert len(secret) > 40
    assert not any(secret in argument for argument in seen["argv"])


def test_trial_that_takes_too_long_is_ended(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _tells(monkeypatch, tmp_path, DONE[:3])

    def seconds() -> float:
        run = _run(client, time_limit_s=0.5)
        assert run.error is not None
        assert (run.error.code, run.error.message) == (
            "time_limit",
            "the trial took longer than its 0.5 s",
        )
        assert isinstance(run.seconds, float)
        assert run.seconds > 0.5
        return run.seconds

    assert is_once_below(10.0, seconds)


def test_outcome_that_comes_after_the_limit_is_none(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _tells(monkeypatch, tmp_path, DONE)
    run = _run(client, time_limit_s=1400)
    assert run.error is not None
    assert (run.error.code, run.seconds, run.points) == ("time_limit", 1500.0, ())


@pytest.mark.parametrize(
    ("told", "stays", "message"),
    [
        ([], False, "the browser ended without an outcome, with code 7"),
        (["no message"], True, "the page told what is no message of its kinds"),
        (
            [{"kind": "failed", "code": "load_timeout", "message": "no\nprogress"}],
            True,
            "the browser could not run the trial: no progress [load_timeout]",
        ),
    ],
)
def test_run_without_an_outcome(
    client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: object,
    stays: bool,
    message: str,
) -> None:
    _tells(monkeypatch, tmp_path, told, stays=stays)
    with pytest.raises(DryRunError) as caught:
        _run(client)
    assert (caught.value.code, caught.value.message) == ("dry_run_broken", message)


def test_page_that_never_begins(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_browser_run, "SILENCE_S", 0.2)
    _tells(monkeypatch, tmp_path, [])
    with pytest.raises(DryRunError, match="did not begin the trial"):
        _run(client)


def test_page_that_falls_silent(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_browser_run, "RUNNING_SILENCE_S", 0.2)
    _tells(monkeypatch, tmp_path, DONE[:3])
    with pytest.raises(DryRunError, match="the page has told nothing for") as caught:
        _run(client)
    assert caught.value.code == "dry_run_broken"


def test_browser_that_is_none(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERFLOCK_BROWSER", str(tmp_path / "none"))
    with pytest.raises(DryRunError, match="no browser is here") as caught:
        _run(client)
    assert caught.value.code == "dry_run_unavailable"
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    monkeypatch.setenv("HYPERFLOCK_BROWSER", str(tmp_path / "text"))
    with pytest.raises(DryRunError, match="cannot be started") as caught:
        _run(client)
    assert caught.value.code == "dry_run_unavailable"


def test_cancelled_run_ends_the_browser(
    server: FakeConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen_at = _tells(monkeypatch, tmp_path, DONE[:2])

    async def main() -> None:
        client = AsyncClient(server.url, server.token)
        running = asyncio.ensure_future(client.grid(holding(np.ones(4)), SPACE, dry_run="browser"))
        while not (seen_at.exists() and seen_at.read_text().endswith("}")):
            await asyncio.sleep(0.02)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    seen = json.loads(seen_at.read_text())
    assert not Path(f"/proc/{seen['pid']}").exists()
    assert not Path(seen["profile"]).exists()


@pytest.mark.browser
def test_browser_ends_with_a_process_that_is_killed() -> None:
    opens = f"""
import sys, time
sys.path[:0] = {sys.path!r}
from hyperflock._execution.browser import Browser, find_browser
from hyperflock._execution.page_server import Content, PageServer
def find(path):
    print(browser._home, flush=True)
    return Content(b"page", "text/html")
with PageServer(find, print) as pages, Browser(find_browser(), pages.url) as browser:
    time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", opens], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        profile = run.stdout.readline().strip()
        assert _has_programs(profile)
        run.kill()
    until("the end of the browser", lambda: not _has_programs(profile))
    shutil.rmtree(profile)


def _has_programs(profile: str) -> bool:
    """Return whether any process of this machine has this profile in its arguments."""
    for called in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"--user-data-dir={profile}" in called.read_text("utf-8", "replace"):
                return True
    return False


# ---- the page's server


@pytest.fixture
def pages() -> Iterator[PageServer]:
    heard.clear()
    with PageServer(lambda path: None if path else Content(b"page", "text/html"), _hear) as server:
        yield server


heard: list[bytes] = []


def _hear(body: bytes) -> None:
    heard.append(body)


def _asked(pages: PageServer, path: str, host: str | None = None, method: str = "GET") -> int:
    parts = urllib.parse.urlsplit(pages.origin)
    link = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=LIMIT_S)
    body = b"{}" if method == "POST" else None
    link.request(method, path, body, {"Host": host} if host else {})
    status = link.getresponse().status
    link.close()
    return status


def test_page_is_isolated_and_for_who_knows_it_alone(pages: PageServer) -> None:
    with urllib.request.urlopen(pages.url) as answer:
        assert answer.read() == b"page"
        told = {name.lower(): value for name, value in answer.headers.items()}
    assert told["cross-origin-opener-policy"] == "same-origin"
    assert told["cross-origin-embedder-policy"] == "require-corp"
    assert told["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in told
    assert pages.origin.startswith("http://127.0.0.1:")
    assert len(pages.folder) > 40
    wrong = pages.folder.replace(pages.folder[5], "~")
    for path in ("/", "/told", wrong, pages.folder + "other"):
        assert _asked(pages, path) == 404
    # The request names an attacker's host, whose name the attacker resolves to this machine's
    # address.
    port = pages.origin.rpartition(":")[2]
    assert _asked(pages, pages.folder, host=f"attacker.example:{port}") == 404
    assert _asked(pages, pages.folder + "told", f"attacker.example:{port}", "POST") == 404
    assert _asked(pages, "/told", method="POST") == 404
    assert heard == []
    assert _asked(pages, pages.folder + "told", method="POST") == 204
    assert heard == [b"{}"]


def test_post_beyond_the_limit_is_refused(
    pages: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_page_server, "MAX_TOLD_BYTES", 1)
    assert _asked(pages, pages.folder + "told", method="POST") == 413
    assert heard == []


class Looks(_browser.Browser):
    """A browser that, when it starts, lets the test send requests of its own."""

    look: Callable[[str], None]

    def __init__(self, path: str, url: str, *, software_gpu: bool = False) -> None:
        super().__init__(path, url, software_gpu=software_gpu)
        threading.Thread(target=type(self).look, args=(url,)).start()


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> type[Looks]:
    _tells(monkeypatch, tmp_path, [])
    monkeypatch.setattr(_browser_run, "Browser", Looks)
    return Looks


def test_threads_get_the_policies_that_volunteers_have(client: Client, looks: type[Looks]) -> None:
    found: dict[str, str] = {}

    def look(url: str) -> None:
        for name in ("", THREAD, ARCHIVE):
            with urllib.request.urlopen(url + name) as answer:
                found[name] = answer.headers["Content-Security-Policy"]
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{url}runtime/six-12/other.zip")
        found["url"] = url
        urllib.request.urlopen(f"{url}told", data=json.dumps(DONE[-1]).encode()).close()

    looks.look = staticmethod(look)
    _run(client)
    assert "worker-src 'self'" in found[""]
    assert f"connect-src {found['url']}runtime/; worker-src 'none'" in found[THREAD]
    assert found[ARCHIVE] == "default-src 'none'"


def test_what_is_not_fetched_before_is_fetched_when_it_is_asked_for(
    client: Client, server: FakeConsole, built: SmallRuntime, looks: type[Looks]
) -> None:
    found: list[bytes] = []

    def look(url: str) -> None:
        assert [path for path in (PAGE, THREAD, ARCHIVE, RARE) if _fetched(server, path)] == [
            *(PAGE, THREAD, ARCHIVE)
        ]
        with urllib.request.urlopen(url + RARE) as answer:
            found.append(answer.read())
        urllib.request.urlopen(f"{url}told", data=json.dumps(DONE[-1]).encode()).close()

    looks.look = staticmethod(look)
    _run(client)
    assert found == [built.files[RARE]]


def _fetched(server: FakeConsole, path: str) -> bool:
    return f"GET /{path}" in server.requests


def test_file_that_cannot_be_had_is_the_reason(
    client: Client, built: SmallRuntime, looks: type[Looks]
) -> None:
    built.path(RARE).write_bytes(b"something else")

    def look(url: str) -> None:
        with pytest.raises(urllib.error.HTTPError, match="502"):
            urllib.request.urlopen(url + RARE)

    looks.look = staticmethod(look)
    with pytest.raises(DryRunError) as caught:
        _run(client)
    assert caught.value.code == "runtime_damaged"
