"""Runs one trial in a local headless browser, with the pages and runtime of volunteers.

    told = await run_in_browser(job, http, time_limit_s=60, browser=None)
    told.outcome, told.points, told.output

This process serves the page (page_server.py) with the scripts and the runtime of a Hyperflock
server (runtime_files.py). The page gets the job as a lease of the protocol and posts what happens.
Cancelling the coroutine ends the browser. No files are left behind.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from hyperflock._base.errors import DryRunError
from hyperflock._base.text import clean
from hyperflock._bundle.source.runtime import ASKED_PACKAGES, CORE_PIECES, chainer_of
from hyperflock._execution.browser import NOT_STARTED, Browser, find_browser
from hyperflock._execution.job import Job
from hyperflock._execution.page_server import Content, PageServer, UnavailableError
from hyperflock._execution.runtime_files import RuntimeFiles, find_runtime
from hyperflock._transport.background_loop import in_thread
from hyperflock._transport.http import Http

# If the page sends no request and no message for this many seconds, its start has failed.
SILENCE_S = 180.0
# A page that runs a trial sends a message every 5 s.
RUNNING_SILENCE_S = 60.0
MAX_OUTPUT_CHARACTERS = 1 << 20

_LOOK_S = 0.2
_SCRIPTS = "script-src 'self' 'wasm-unsafe-eval'"
_POLICIES = {
    "page": f"default-src 'none'; {_SCRIPTS}; connect-src 'self'; worker-src 'self'",
    # The server sends volunteers the same headers: a trial can fetch the runtime and nothing else.
    "python-thread": "default-src 'none'; {scripts}; connect-src {runtime}; worker-src 'none'",
    "gpu-thread": "default-src 'none'; script-src 'self'; worker-src 'none'",
}
_TYPES = {
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "json": "application/json",
    "wasm": "application/wasm",
}


@dataclass
class Told:
    """What a page reported about its run.

    Attributes
    ----------
    outcome : dict or None
        The outcome as the worker's runner returns it; None if the time limit was exceeded.
    points : list of (step, value)
        The reported curve.
    rows : list of (step, dict)
        The logged rows: steps and values by name.
    seconds : float
        How long the objective ran.
    output : str
        What the trial printed.
    software : str
        The versions, as ``name/version name/version``.
    backend : str
        ``webgpu``, ``cpu`` or ``numpy``; empty if the page did not report it.
    """

    outcome: dict[str, Any] | None = None
    points: list[tuple[int, float]] = field(default_factory=list)
    rows: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    seconds: float = 0.0
    output: str = ""
    software: str = ""
    backend: str = ""


class Exits(Protocol):
    """A process that has an exit code once it has ended."""

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while the process runs."""
        ...


async def run_in_browser(
    job: Job, http: Http, time_limit_s: float, browser: str | None = None
) -> Told:
    """Run a job in a browser and return what its page reported.

    Parameters
    ----------
    job
        The job.
    http
        A connection to the server whose pages and runtime are used.
    time_limit_s
        The time limit of the trial alone; 0 means no limit.
    browser
        The browser's program; None for the one that `find_browser` finds.

    Raises
    ------
    DryRunError
        ``dry_run_unavailable``: there is no such browser. ``dry_run_broken``: the browser ended,
        did not start, or stopped reporting. ``runtime_unavailable``, ``runtime_damaged``: see
        `find_runtime`.
    """
    path = find_browser(browser)
    if path is None:
        named = f"'{clean(browser)}' is no program; name" if browser else "no browser is here: name"
        raise DryRunError(f"{named} a Chromium, Chrome or Edge by its path, or install Chromium")
    files = await find_runtime(http)
    run = _Run(job, files)
    try:
        await files.prefetch(_pieces_of(job))
        with PageServer(run.find, run.hear) as pages:
            run.serve(pages)
            return await _opened(run, path, pages.url, job.opened == "webgpu", time_limit_s)
    finally:
        run.stop()
        files.close()


def _pieces_of(job: Job) -> list[str]:
    """Return the parts of the runtime that a page will need; others are fetched on demand."""
    pieces = [*CORE_PIECES, job.runtime]
    if job.backend is not None:
        pieces.append("arraycore")
    if job.has_optuna:
        pieces += sorted(ASKED_PACKAGES)
    return [*pieces, *job.packs]


async def _opened(run: _Run, path: str, url: str, software_gpu: bool, time_limit_s: float) -> Told:
    try:
        opened = Browser(path, url, software_gpu=software_gpu)
    except OSError as error:  # only on Windows: elsewhere the shell's exit code reports it
        raise DryRunError(f"{path} cannot be started: {error.strerror}") from None
    with opened as browser:
        return await in_thread(lambda: run.wait(browser, time_limit_s))


class _Run:
    """The state of one job, shared by the page server's threads and the thread that waits."""

    def __init__(self, job: Job, files: RuntimeFiles) -> None:
        self._job = job
        self._files = files
        self._pages: PageServer | None = None
        self._changed = threading.Condition()
        self._heard_at = time.monotonic()
        self._running_at: float | None = None
        self._told = Told()
        self._failure: DryRunError | None = None
        self._is_over = False
        self._bundle_sha256 = hashlib.sha256(job.bundle).hexdigest()

    # ---- called on the page server's threads

    def serve(self, pages: PageServer) -> None:
        """Set the address at which the page is served."""
        self._pages = pages

    def find(self, path: str) -> Content | None:
        """Return the content for a request of the page."""
        self._heard()
        if path == "":
            return Content(_page(self._files.page), "text/html; charset=utf-8", _POLICIES["page"])
        if path == "job":
            return Content(json.dumps(self._as_message()).encode(), _TYPES["json"])
        if path.startswith("blob/"):
            blob = self._blob(path.removeprefix("blob/"))
            return None if blob is None else Content(blob, "application/octet-stream")
        if path not in self._files:
            return None
        try:
            content = self._files.read(path)
        except DryRunError as error:
            self._fail(error)
            raise UnavailableError from None
        self._heard()
        kind = _TYPES.get(path.rpartition(".")[2], "application/octet-stream")
        return Content(content, kind, self._policy_of(path))

    def hear(self, body: bytes) -> None:
        """Handle a message of the page. It is validated, because the browser is not part of this
        package.
        """
        try:
            told = json.loads(body)
            kind = told["kind"]
            with self._changed:
                self._hear(kind, told)
                self._changed.notify_all()
        except (ValueError, KeyError, TypeError, AttributeError):
            self._fail(_broken("the page told what is no message of its kinds"))
        self._heard()

    def _hear(self, kind: str, told: Mapping[str, Any]) -> None:
        if kind == "running":
            self._running_at = time.monotonic()
        elif kind == "output":
            lines = "".join(f"{line}\n" for line in told["lines"])
            self._told.output = (self._told.output + lines)[-MAX_OUTPUT_CHARACTERS:]
        elif kind == "ended":
            self._told.outcome = dict(told["outcome"])
            self._told.points = [(int(step), float(value)) for step, value in told["points"]]
            self._told.rows = [
                (int(row["step"]), {str(name): float(value) for name, value in row["values"]})
                for row in told.get("rows", ())
            ]
            self._told.seconds = float(told.get("runMs", 0)) / 1000
            self._told.software = str(told.get("software", ""))
            self._told.backend = str(told.get("backend", ""))
            self._is_over = True
        elif kind == "failed" and self._failure is None:
            code, message = clean(str(told["code"])), clean(str(told["message"]), limit=1000)
            self._failure = _broken(f"the browser could not run the trial: {message} [{code}]")

    def _heard(self) -> None:
        with self._changed:
            self._heard_at = time.monotonic()

    def _fail(self, error: DryRunError) -> None:
        with self._changed:
            self._failure = self._failure or error
            self._changed.notify_all()

    # ---- called on the thread that waits

    def wait(self, browser: Exits, time_limit_s: float) -> Told:
        """Wait until the run ends; the outcome is None if the trial exceeded its time limit."""
        with self._changed:
            while True:
                if self._failure is not None:
                    raise self._failure
                now = time.monotonic()
                if self._is_over:
                    return self._told
                if self._is_late(now, time_limit_s):
                    self._told.seconds = now - (self._running_at or now)
                    return self._told
                if now - self._heard_at > self._patience_s():
                    raise self._silent()
                if browser.exit_code is not None:
                    raise _ended_with(browser.exit_code)
                self._changed.wait(_LOOK_S)

    def stop(self) -> None:
        """Let `wait` return."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _is_late(self, now: float, time_limit_s: float) -> bool:
        began = self._running_at
        return bool(time_limit_s) and began is not None and now - began > time_limit_s

    def _patience_s(self) -> float:
        return SILENCE_S if self._running_at is None else RUNNING_SILENCE_S

    def _silent(self) -> DryRunError:
        if self._running_at is None:
            return _broken(f"the browser did not begin the trial within {SILENCE_S:.0f} s")
        return _broken(
            f"the page has told nothing for {RUNNING_SILENCE_S:.0f} s; its memory may have been "
            "too little for the trial"
        )

    # ---- the files that the page gets

    def _blob(self, sha256: str) -> bytes | None:
        if sha256 == self._bundle_sha256:
            return self._job.bundle
        for item in self._job.data:
            if item.ref.sha256 == sha256:
                with item.open() as file:
                    return file.read()
        return None

    def _policy_of(self, path: str) -> str:
        name = path.rpartition("/")[2]
        policies = (policy for start, policy in _POLICIES.items() if name.startswith(f"{start}-"))
        policy = next(policies, "default-src 'none'")
        runtime = f"{self._pages.url}runtime/" if self._pages else "'none'"
        return policy.format(scripts=_SCRIPTS, runtime=runtime)

    def _as_message(self) -> dict[str, Any]:
        job = self._job
        runtime = {"chainer": chainer_of(job.runtime)}
        if job.backend is not None:
            runtime["backend"] = job.backend
        lease: dict[str, Any] = {
            "attempt": 1,
            "study": 1,
            "trial": job.number,
            "kind": "primary",
            "study_name": "",
            "owner": "",
            "total": job.number + 1,
            "params": job.params,
            "seed": job.seed,
            "entry": job.entry,
            "bundle": {"sha256": self._bundle_sha256, "bytes": len(job.bundle)},
            "data": [
                {
                    "name": item.ref.name,
                    "kind": item.ref.kind,
                    "filename": item.ref.filename,
                    "sha256": item.ref.sha256,
                    "bytes": item.ref.bytes,
                }
                for item in job.data
            ],
            "runtime": runtime,
            "time_limit_ms": 0,
            "lease_ms": 0,
        }
        if job.asked is not None:
            told = {k: job.asked.get(k) for k in ("directions", "suggested", "attrs")}
            lease |= {"asked": True, **{k: v for k, v in told.items() if v is not None}}
        return {
            "schema": 1,
            "lease": {"type": "lease", "lease": lease},
            "opened": job.opened,
            "again": job.again,
            "prune_at": job.prune_at,
        }


def _page(script: str) -> bytes:
    head = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">'
    return f'{head}<title>Hyperflock</title><script type="module" src="{script}"></script>'.encode()


def _ended_with(code: int) -> DryRunError:
    if code in NOT_STARTED:
        return DryRunError(f"the browser cannot be started (code {code}); name one by its path")
    return _broken(f"the browser ended without an outcome, with code {code}")


def _broken(why: str) -> DryRunError:
    return DryRunError(why, code="dry_run_broken")
