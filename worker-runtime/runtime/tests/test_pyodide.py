"""Tests the gathered runtime: an attempt in real Pyodide under Node, and the same one in
CPython.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import LIMIT_S, ROOT

HERE = Path(__file__).resolve().parent
REFERENCE = """
import contextlib, io, json, sys
from pathlib import Path
from hyperflock._trial.host import LocalHost
from hyperflock_worker import runner
local = LocalHost()
spec, bundle, images = (Path(name) for name in sys.argv[1:])
data = {"images": ("npy", images.read_bytes())}
output = io.StringIO()
with contextlib.redirect_stdout(output):
    outcome = runner.run_attempt(spec.read_text(), bundle.read_bytes(), data, (), local)
answer = {"outcome": json.loads(outcome), "reports": local.points, "output": output.getvalue()}
print(json.dumps(answer))
"""


@pytest.fixture(scope="module", params=["7.8.1", "5.4.0"])
def both(
    request: pytest.FixtureRequest,
    runtime: Path,
    cache: Path,
    node: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the same attempt in Pyodide and in CPython. Return both results."""
    version, folder = str(request.param), tmp_path_factory.mktemp("attempt")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.write(HERE / "cnn_objective.py", "cnn_objective.py")
    (folder / "bundle.zip").write_bytes(out.getvalue())
    np.save(folder / "images.npy", np.random.RandomState(1).rand(32, 1, 28, 28).astype(np.float32))
    spec = {
        "attempt": 1,
        "study": 1,
        "trial": 0,
        "entry": "cnn_objective:objective",
        "params": '{"channels": 8}',
        "seed": 7,
        "chainer": version,
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    files = [str(folder / name) for name in ("spec.json", "bundle.zip", "images.npy")]

    script = str(HERE / "pyodide_smoke.mjs")
    wheels = [
        cache / "wheels" / f"chainer-{version}-py3-none-any.whl",
        cache / "downloads" / "six-1.17.0-py2.py3-none-any.whl",
    ]
    sources = ("worker-runtime/python", "python/src")
    packages = [*(str(ROOT / folder) for folder in sources), *map(str, wheels)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(packages)}
    browser = last_line([node, script, str(runtime), version, *files], dict(os.environ))
    print(f"Chainer {version} under Pyodide: {browser['timings']}")
    return browser, last_line([sys.executable, "-W", "error", "-c", REFERENCE, *files], env)


def last_line(command: list[str], env: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr[-2000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def test_cnn_trains_and_equals_cpython(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    browser, reference = both
    assert reference["outcome"]["outcome"] == "complete"
    assert browser["outcome"]["outcome"] == "complete", browser["outcome"]
    assert [step for step, _ in browser["reports"]] == [0, 1]
    losses = [value for _, value in browser["reports"]]
    assert losses == pytest.approx([value for _, value in reference["reports"]], rel=1e-4)
    assert browser["outcome"]["values"] == pytest.approx(losses[-1:])
    assert losses[1] < losses[0]


def test_initial_weights_equal_cpythons_bit_by_bit(
    both: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    browser, reference = both
    assert browser["output"][0].startswith("weights ")
    assert browser["output"][0] == reference["output"].splitlines()[0]


def test_output_passes_through(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    assert both[0]["output"][1:] == ["step 0", "step 1"]


def test_reports_updates_and_suggestions_are_progress(
    both: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    assert both[0]["progress"] >= 5


def test_nothing_is_compiled_in_the_browser(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    # Compiling one module takes more time than the rest of the start. If `source_modules` names a
    # module of the standard library, add it to stdlib_hot.txt.
    assert both[0]["source_modules"] == []
    assert both[0]["modules"] > 500, "Chainer and NumPy were imported"
