"""Sends HTTP requests to a server's console, with retries, time-outs and errors by code.

The coroutines run on any event loop. Each request runs on a thread of its own, so connections
belong to no event loop, and several loops may use one ``Http``. A request is repeated after a
broken connection and after the statuses 429, 502, 503 and 504, with a jittered back-off. That is
safe: blobs are named by their hash, and a study by its ``submit_key``. The token is sent only to
the given origin. A forked child opens connections of its own. No other module uses the HTTP
library.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import ssl
import time
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import urllib3

from hyperflock._base.errors import (
    HyperflockError,
    ProtocolError,
    ServerUnreachableError,
    server_error,
)
from hyperflock._base.text import clean
from hyperflock._base.version import __version__
from hyperflock._transport.background_loop import in_thread
from hyperflock._transport.settings import DEFAULT_URL, authority_here

AGENT = f"hyperflock-python/{__version__}"

MAX_CONNECTIONS = 8

PATIENCE_S = 30.0
# The patience in seconds if no server has ever answered at an address: the address may be wrong.
_FIRST_PATIENCE_S = 3.0

_CONNECT_S = 10.0
_READ_S = 60.0
_PROBE_S = 5.0
_RETRY_STATUS = frozenset({429, 502, 503, 504})
_FIRST_BACK_OFF_S = 0.25
_MAX_BACK_OFF_S = 8.0


@dataclass(frozen=True)
class Reply:
    """A response with a status that the caller expects."""

    status: int
    body: bytes

    def json(self) -> Any:
        """Decode the body.

        Raises
        ------
        ProtocolError
            It is not JSON.
        """
        try:
            return json.loads(self.body)
        except ValueError:
            raise ProtocolError(
                "the server's answer is not JSON; is the address a Hyperflock console?"
            ) from None


@dataclass(frozen=True)
class Probe:
    """The response to a request without a token: header names in lower case, and its duration."""

    status: int
    headers: Mapping[str, str]
    seconds: float


@dataclass(frozen=True)
class Origin:
    """The address of a console: ``http(s)://host:port``."""

    url: str

    @classmethod
    def parse(cls, url: str) -> Origin:
        """Return the origin of an address that a person wrote.

        Raises
        ------
        HyperflockError
            ``bad_url``: it is not the address of an origin.
        """
        bad = HyperflockError(
            f"'{clean(str(url), limit=200)}' is no console address; it looks like {DEFAULT_URL}",
            code="bad_url",
        )
        try:
            parts = urllib.parse.urlsplit(url if "://" in url else f"http://{url}")
            _ = parts.port
        except (TypeError, ValueError):
            raise bad from None
        wrong = parts.scheme not in {"http", "https"} or not parts.hostname
        if wrong or parts.username or parts.query or parts.path.strip("/"):
            raise bad
        return cls(f"{parts.scheme}://{parts.netloc}")

    @property
    def websocket_url(self) -> str:
        """The address of the researchers' WebSocket."""
        return f"ws{self.url.removeprefix('http')}/ws/client"

    @property
    def secure(self) -> bool:
        """Whether the connection uses TLS."""
        return self.url.startswith("https:")


def tls_context(url: str) -> ssl.SSLContext:
    """Return a context that trusts the system's authorities, or those in ``HYPERFLOCK_CA``, a PEM
    file. For the server of this machine it also trusts this machine's own authority.

    Raises
    ------
    HyperflockError
        ``bad_ca``: the file does not exist or contains no certificate.
    """
    own = authority_here(url)
    changed = 0
    with contextlib.suppress(OSError):
        changed = own.stat().st_mtime_ns if own is not None else 0
    return _context(os.environ.get("HYPERFLOCK_CA"), own, changed)


@cache
def _context(file: str | None, own: Path | None, changed: int) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=file)
    except OSError as error:  # ssl.SSLError is a subclass
        raise HyperflockError(
            f"HYPERFLOCK_CA names '{clean(str(file), limit=200)}', which is no PEM file of "
            f"certificates: {error.strerror or error}",
            code="bad_ca",
        ) from None
    if own is not None:
        with contextlib.suppress(OSError):  # a damaged one only means that the server is refused
            context.load_verify_locations(own)
    return context


def back_off_s(attempt: int, first_s: float, most_s: float) -> float:
    """Return a jittered exponential back-off in seconds after the try ``attempt``, counted from
    1.
    """
    return min(most_s, first_s * 2.0 ** min(attempt - 1, 32)) * random.uniform(0.5, 1.0)


async def probe(url: str) -> Probe:
    """Send one GET without a token and without following redirects.

    Raises
    ------
    ServerUnreachableError
        There is no answer.
    """

    def ask() -> Probe:
        context = tls_context(url) if url.startswith("https:") else None
        timeout = urllib3.Timeout(connect=_PROBE_S, read=_PROBE_S)
        with urllib3.PoolManager(timeout=timeout, retries=False, ssl_context=context) as pool:
            begun = time.perf_counter()
            answer = pool.request("GET", url, headers={"User-Agent": AGENT}, redirect=False)
            seconds = time.perf_counter() - begun
            return Probe(answer.status, {k.lower(): v for k, v in answer.headers.items()}, seconds)

    try:
        return await in_thread(ask)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise ServerUnreachableError(f"{url} does not answer ({_reason(error)})") from None


class Http:
    """A client for one origin and token. With an empty token it can ask only for public resources.

    It repeats a failing request for ``patience_s`` seconds. None means ``PATIENCE_S`` seconds, or
    fewer if the client never had an answer and the connection is refused or the host is unknown.
    """

    def __init__(
        self,
        origin: Origin,
        token: str,
        *,
        patience_s: float | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.origin = origin
        self.token = token
        self._headers = {"User-Agent": AGENT}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self.patience_s = patience_s
        self._has_answered = False
        self._sleep = sleep
        self._clock = clock
        self._tls = tls_context(origin.url) if origin.secure else None
        self._pool, self._process = self._new_pool(), os.getpid()

    async def get(self, path: str) -> Any:
        """Send a GET and return the JSON answer."""
        return (await self._request("GET", path)).json()

    async def fetch(self, path: str) -> bytes:
        """Send a GET and return the body."""
        return (await self._request("GET", path, headers={"Accept-Encoding": "gzip"})).body

    async def post(self, path: str, body: bytes | Mapping[str, Any]) -> Any:
        """Send a POST with JSON and return the JSON answer."""
        content = body if isinstance(body, bytes) else json.dumps(dict(body)).encode()
        headers = {"Content-Type": "application/json"}
        return (await self._request("POST", path, lambda: content, headers)).json()

    async def delete(self, path: str) -> Any:
        """Send a DELETE and return the JSON answer.

        Return None if a repeated request finds nothing to delete, because an earlier try, whose
        answer was lost, may have deleted it.
        """
        reply = await self._request("DELETE", path, gone_is_done=True)
        return None if reply.status == 404 else reply.json()

    async def exists(self, path: str) -> bool:
        """Send a HEAD and return whether the path exists."""
        return (await self._request("HEAD", path, missing_is_answer=True)).status != 404

    async def put(self, path: str, open_content: Callable[[], BinaryIO], size: int) -> None:
        """Send a PUT with a body, which is opened again for each try."""
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        await self._request("PUT", path, open_content, headers)

    def close(self) -> None:
        """Close idle connections."""
        self._pool.clear()

    def _new_pool(self) -> urllib3.PoolManager:
        return urllib3.PoolManager(
            num_pools=1,
            maxsize=MAX_CONNECTIONS,
            block=True,  # further requests wait for a free connection
            timeout=urllib3.Timeout(connect=_CONNECT_S, read=_READ_S),
            retries=False,
            ssl_context=self._tls,
        )

    async def _request(
        self,
        method: str,
        path: str,
        open_body: Callable[[], bytes | BinaryIO] | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        missing_is_answer: bool = False,
        gone_is_done: bool = False,
    ) -> Reply:
        started = self._clock()
        attempt = 0
        may_be_done = False
        while True:
            attempt += 1
            failure: HyperflockError
            wait_s = back_off_s(attempt, _FIRST_BACK_OFF_S, _MAX_BACK_OFF_S)
            patience_s = PATIENCE_S if self.patience_s is None else self.patience_s
            try:
                status, body, told_s = await self._once(method, path, open_body, headers or {})
            except (urllib3.exceptions.HTTPError, OSError) as error:
                failure = ServerUnreachableError(
                    f"{self.origin.url} does not answer ({_reason(error)}); is the server running?"
                )
                may_be_done = may_be_done or not isinstance(
                    error, urllib3.exceptions.NewConnectionError
                )
                if self._is_nobody_there(error):
                    patience_s = _FIRST_PATIENCE_S
            else:
                self._has_answered = True
                missing = missing_is_answer or (gone_is_done and may_be_done)
                if status < 300 or (status == 404 and missing):
                    return Reply(status, body)
                failure = _refusal(status, body)
                if status not in _RETRY_STATUS:
                    raise failure
                wait_s = max(wait_s, told_s)
            if self._clock() - started + wait_s > patience_s:
                raise failure
            await self._sleep(wait_s)

    def _is_nobody_there(self, error: BaseException) -> bool:
        """Return whether a request should fail early: the connection was refused, the server has
        never answered, and the caller gave no ``patience_s``.
        """
        refused = isinstance(error, urllib3.exceptions.NewConnectionError)
        return refused and self.patience_s is None and not self._has_answered

    async def _once(
        self,
        method: str,
        path: str,
        open_body: Callable[[], bytes | BinaryIO] | None,
        headers: Mapping[str, str],
    ) -> tuple[int, bytes, float]:
        if self._process != os.getpid():  # on the parent's connections, answers would be mixed up
            self._pool, self._process = self._new_pool(), os.getpid()
        body = open_body() if open_body else None
        try:
            response = await in_thread(
                lambda: self._pool.request(
                    method,
                    self.origin.url + path,
                    body=body,
                    headers={**self._headers, **headers},
                    redirect=False,
                )
            )
        finally:
            # After a cancellation the thread still sends the body. Closing the body ends this.
            if body is not None and not isinstance(body, bytes):
                body.close()
        told = response.headers.get("Retry-After", "")
        return response.status, response.data, min(float(told), 60.0) if told.isdigit() else 0.0


def _refusal(status: int, body: bytes) -> HyperflockError:
    """Return the error for a body ``{"error": {"code", "message", "field"?, "request_id"?}}``."""
    try:
        error = json.loads(body)["error"]
        code, message = str(error["code"]), str(error["message"])
        field = str(error["field"]) if error.get("field") else None
        request_id = error.get("request_id")
    except (ValueError, KeyError, TypeError, AttributeError):
        # The answer to HEAD has no body, and a proxy sends a body of another form.
        code = {401: "unauthorized", 403: "forbidden", 404: "not_found", 429: "rate_limited"}.get(
            status, "server_error"
        )
        message, field, request_id = f"the server answered {status}", None, None
    return server_error(
        clean(code, limit=64),
        clean(message, limit=1024),
        field and clean(field, limit=256),
        request_id,
    )


def _reason(error: BaseException) -> str:
    """Return the innermost cause as a short text, without the names of urllib3's objects."""
    while True:
        inner = getattr(error, "reason", None) or error.__cause__ or error.__context__
        if not isinstance(inner, BaseException):
            break
        error = inner
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return clean(str(text), limit=200)
