"""The command ``hyperflock dashboard``: shows a server's studies in optuna-dashboard."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from socketserver import ThreadingMixIn
from typing import Annotated, Any, TypeAlias
from wsgiref.simple_server import WSGIServer, make_server

import typer

from hyperflock._base.errors import HyperflockError
from hyperflock._cli.shared import Json, Token, Url, command, show_json
from hyperflock._cli.signals import goes_on
from hyperflock._client.client import Client

Environ: TypeAlias = dict[str, Any]
Application: TypeAlias = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

_SHOWN = re.compile(r"image/(?!svg)[a-z0-9.+-]+|(audio|video)/[a-z0-9.+-]+|text/plain|text/csv")
_GUARDS = (
    ("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
)
# The loggers of optuna-dashboard for exceptions in requests.
_LOGGERS = ("optuna_dashboard._bottle_util", "optuna_dashboard._app")
_failure: ContextVar[HyperflockError | None] = ContextVar("hyperflock_failure", default=None)


@command("hyperflock dashboard", "hyperflock dashboard --attributes sqlite:///notes.db --port 8081")
def dashboard(
    host: Annotated[str, typer.Option("--host", help="Where it listens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Its port.")] = 8080,
    attributes: Annotated[
        str | None,
        typer.Option(
            "--attributes",
            help="URL of an Optuna storage that keeps notes; else none can be written.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    url: Url = None,
    token: Token = None,
) -> int:
    """Show the studies in optuna-dashboard, until Ctrl-C. Anybody who reaches its address can read
    them all.

    Its address is printed first.
    """
    from hyperflock.optuna import ArtifactStore, Storage

    try:
        import optuna_dashboard
    except ImportError:
        raise HyperflockError(
            "optuna-dashboard is not installed; 'pip install optuna-dashboard' brings it",
            code="no_dashboard",
        ) from None
    client = Client(url, token)
    client.server()  # raises an error for a wrong address or token
    shown = optuna_dashboard.wsgi(
        Storage(client, attributes=attributes), artifact_store=ArtifactStore(client)
    )
    try:
        server = make_server(host, port, guarded(explained(shown)), server_class=_Server)
    except OSError as error:
        raise HyperflockError(
            f"nothing can listen at {host}:{port} ({error.strerror or error}); give another --port",
            code="cannot_listen",
        ) from None
    if as_json:
        show_json({"url": f"http://{host}:{port}"})
    else:
        print(f"optuna-dashboard at http://{host}:{port}; Ctrl-C ends it", flush=True)
    goes_on("the dashboard has ended; the studies go on at the server")
    with server:
        server.serve_forever()
    return 0


class _Server(ThreadingMixIn, WSGIServer):
    """A server with one thread per request, so that a large file delays no other request."""

    daemon_threads = True


def guarded(app: Application) -> Application:
    """Return an application that serves trials' files safely, because devices wrote them.

    The dashboard itself serves a file with the MIME type that the device gave. With this
    application a browser shows only pictures, sound and plain text, and runs no script in them. It
    downloads all other files.
    """

    def serve(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not str(environ.get("PATH_INFO", "")).startswith("/artifacts"):
            return app(environ, start_response)

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            kept = [(k, v) for k, v in headers if k.lower() != "content-type"]
            told = next((v for k, v in headers if k.lower() == "content-type"), "")
            shown = _SHOWN.fullmatch(told.partition(";")[0].strip().lower())
            kind = told if shown else "application/octet-stream"
            return start_response(status, [*kept, ("Content-Type", kind), *_GUARDS], *error)

        return app(environ, start)

    return serve


def explained(app: Application) -> Application:
    """Return an application that answers with an error's message if this package raises it."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_kept_from_log)

    def serve(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        _failure.set(None)
        told: list[bytes] = []

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            failure = _failure.get()
            if failure is None or not status.startswith("5"):
                return start_response(status, headers, *error)
            told.append(json.dumps({"reason": str(failure)}).encode())
            forbidden = failure.code == "read_only_storage"
            kind = [("Content-Type", "application/json"), ("Content-Length", str(len(told[0])))]
            return start_response("403 Forbidden" if forbidden else "502 Bad Gateway", kind)

        body = app(environ, start)
        if not told:
            return body
        if callable(close := getattr(body, "close", None)):
            close()
        return told

    return serve


def _kept_from_log(record: logging.LogRecord) -> bool:
    """Return whether to log a record. Errors of this package are not logged but put into the
    answer.
    """
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, HyperflockError):
        error = error.__context__
    if error is None:
        return True
    _failure.set(error)
    return False
