"""Puts the tested packages and Optuna on the path. Its fixtures run code with a real Chainer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python" / "src"))
sys.path.append(str(Path(__file__).resolve().parents[3] / "python" / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fresh_python import VERSIONS, chainer_paths, optuna_paths, run_python

# These paths are last, so that an installed Optuna is used first.
sys.path += optuna_paths()

Snippet = Callable[..., Any]


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Yield each supported version of Chainer in turn."""
    return str(request.param)


@pytest.fixture
def snippet() -> Snippet:
    """Return a function that runs code with a patched Chainer."""

    def run(version: str, code: str, *, before: str = "") -> Any:
        lines = [
            "from hyperflock_worker import compat",
            "from hyperflock_worker.compat import _hooks, numpy_names, patches, stand_ins",
            before,
            "compat.install()",
            "import numpy as np, chainer",
            "import chainer.functions as F",
            code,
        ]
        return run_python("\n".join(lines), chainer_paths(version))

    return run
