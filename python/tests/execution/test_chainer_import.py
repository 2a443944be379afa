"""Tests that ``import hyperflock.chainer`` lets unmodified Chainer import and train on this
NumPy.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import hyperflock
import pytest
from example_files import ROOT, paths
from hyperflock import Client, DryRun
from hyperflock._execution.notes import version_notes
from imported import ImportedFiles
from patience import LIMIT_S

TRAINS = """
import hyperflock.chainer
import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

hyperflock.chainer
import hyperflock.chainer

np.random.seed(0)
x, t = np.random.rand(32, 1, 8, 8).astype("f"), (np.arange(32) % 10).astype("i")
model = L.Classifier(chainer.Sequential(L.Convolution2D(1, 4, 3), F.relu, L.Linear(None, 10)))
optimizer = chainer.optimizers.Adam().setup(model)
iterator = chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(x, t), 16)
updater = chainer.training.StandardUpdater(iterator, optimizer)
losses = []
for _ in range(6):
    updater.update()
    losses.append(float(model.loss.array))
assert model.loss.dtype == np.float32, model.loss.dtype
print(chainer.__version__, losses[-1] < losses[0])
run = hyperflock.run_local(lambda trial: float(model(x, t).array), {})
print(run.state, [note for note in run.notes if "Chainer" in note])
"""


def _run(text: str, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.mark.parametrize("version", ["7.8.1", "5.4.0"])
def test_chainer_trains(version: str) -> None:
    done = _run(TRAINS, paths(version))
    assert done.stdout.splitlines() == [f"{version} True", "complete []"], done.stderr


def test_without_chainer_the_import_says_how_to_install_it() -> None:
    done = _run("import hyperflock.chainer", str(ROOT / "python" / "src"))
    assert done.returncode == 1
    assert "ImportError: Chainer is not installed, and PyPI has no wheel of it; a" in done.stderr
    assert "pip install --find-links FOLDER_OF_THE_RELEASE 'hyperflock[chainer]'" in done.stderr


def test_a_run_says_that_chainer_is_missing(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Chainer is not installed here, so what a trial does with it was not looked at"
    assert said in hyperflock.run_local(lambda trial: 1.0, {}).notes
    monkeypatch.syspath_prepend(str(tmp_path))
    files = ImportedFiles(tmp_path)
    module = files(
        "try:\n    import chainer\nexcept ImportError:\n    chainer = None",
        "float(chainer is None)",
    )
    try:
        run = client.grid(module.objective, {"x": [1]}, dry_run=True)
    finally:
        files.forget()
    assert isinstance(run, DryRun)
    assert run.value == 1.0
    assert said in run.notes
    assert f"note: {said}" in str(run).splitlines()


def test_versions_that_differ_are_said() -> None:
    here = {"python": "3.14.1", "numpy": "1.26.4", "chainer": "5.4.0"}
    assert version_notes(here, "chainer-7.8.1") == (
        "NumPy is 1.26.4 here and 2.4.3 on devices",
        "Chainer is 5.4.0 here and 7.8.1 on devices",
    )
    assert version_notes({"numpy": "2.4.9"}, None) == ()
