"""Tests that invalid arguments of `optimize` are refused before any request to the server."""

from __future__ import annotations

import math
from typing import Any

import asked_objectives as given
import hyperflock
import hyperflock.optuna
import optuna
import pytest
from fake_console import FakeConsole
from hyperflock import Client

optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.mark.parametrize("name", ["n_trials", "n_jobs", "timeout"])
@pytest.mark.parametrize("value", ["a", "3", math.nan, -2, True, [1], 1j])
def test_what_is_no_limit_is_refused(
    server: FakeConsole, client: Client, name: str, value: Any
) -> None:
    study = optuna.create_study()
    limit: dict[str, Any] = {name: value}
    with pytest.raises(hyperflock.HyperflockError, match=f"^{name} is ") as caught:
        hyperflock.optuna.optimize(study, given.square, client=client, **limit)
    assert (caught.value.code, caught.value.field) == ("bad_number", name)
    assert server.requests == []


@pytest.mark.parametrize("value", [math.inf, 1.5])
def test_number_of_trials_is_whole(client: Client, value: Any) -> None:
    with pytest.raises(hyperflock.HyperflockError, match="must be a whole number"):
        hyperflock.optuna.optimize(optuna.create_study(), given.square, value, client=client)
