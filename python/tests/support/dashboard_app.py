"""Calls optuna-dashboard's application without a socket, and makes a study for it to show."""

from __future__ import annotations

import io
import json
from typing import Any
from wsgiref.util import setup_testing_defaults

import asked_objectives as given
import hyperflock.optuna
import optuna
import optuna_dashboard
from fake_asked import Devices
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock._cli.dashboard import explained
from hyperflock.optuna import ArtifactStore, Storage


def asked(server: FakeConsole, client: Client, n_trials: int, name: str = "mine") -> optuna.Study:
    """Run an ask-and-tell study. Return the Optuna study of the researcher's process."""
    sampler = optuna.samplers.RandomSampler(seed=7)
    pruner = optuna.pruners.MedianPruner(2)
    study = optuna.create_study(study_name=name, sampler=sampler, pruner=pruner)
    with Devices(server, given.curved, 2):
        hyperflock.optuna.optimize(study, given.curved, n_trials, client=client)
    return study


class Dashboard:
    """The dashboard's application, which is called directly instead of over a socket."""

    def __init__(
        self,
        storage: Storage | None = None,
        artifacts: ArtifactStore | None = None,
        *,
        app: Any = None,
    ) -> None:
        self._app = app or explained(optuna_dashboard.wsgi(storage, artifact_store=artifacts))

    def ask(self, path: str, method: str = "GET", body: object = None) -> tuple[str, Any]:
        """Send a request. Return the status of the answer, and its content as JSON or text."""
        content = json.dumps(body).encode()
        path, _, query = path.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(content)),
            "wsgi.input": io.BytesIO(content),
        }
        setup_testing_defaults(environ)
        told: list[str] = []
        chunks = self._app(environ, lambda status, headers, *_: told.append(status))
        text = b"".join(chunks).decode()
        if hasattr(chunks, "close"):
            chunks.close()
        return told[0], json.loads(text) if path.startswith("/api") and text else text
