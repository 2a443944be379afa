"""The command's ``dashboard``: optuna-dashboard on a server's studies. One process."""

from __future__ import annotations

from typing import Annotated

import typer

from hyperflock._cli_shared import Json, Token, Url, command, show_json
from hyperflock._client import Client
from hyperflock._errors import HyperflockError


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
    """Show the studies in optuna-dashboard, until Ctrl-C. Whoever reaches it reads them all.

    With --json its address is printed first.
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
    client.server()  # says what is wrong with address or token
    if as_json:
        show_json({"url": f"http://{host}:{port}"})
    optuna_dashboard.run_server(
        Storage(client, attributes=attributes),
        host=host,
        port=port,
        artifact_store=ArtifactStore(client),
    )
    return 0
