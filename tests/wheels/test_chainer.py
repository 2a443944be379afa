"""Tests that plain pip installs the extra ``chainer`` from a folder with the wheels of a release.

It is installed into an empty environment without a compiler, on the Pythons that are here and with
every NumPy that each of them has. Run by ``./run test wheels_test``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from environments import PYTHONS, ROOT, TESTED, WHEELS, Installed

#: For each major version of NumPy, the versions of Python with a wheel of it: NumPy 1.26 has none
#: for 3.13.
NUMPYS = {"1": ("3.10", "3.11", "3.12"), "2": ("3.10", "3.11", "3.12", "3.13")}
OBJECTIVE = """
import json
import hyperflock
import hyperflock.chainer
import numpy as np
import chainer
import chainer.functions as F
import chainer.links as L


class Net(chainer.Chain):
    def __init__(self, channels):
        super().__init__()
        with self.init_scope():
            self.convolution = L.Convolution2D(1, channels, 3)
            self.norm = L.BatchNormalization(channels)
            self.linear = L.Linear(None, 10)

    def forward(self, x):
        return self.linear(F.max_pooling_2d(F.relu(self.norm(self.convolution(x))), 2))


def objective(trial):
    x, t = trial.data["digits"]["x"], trial.data["digits"]["t"]
    model = L.Classifier(Net(trial.params["channels"]))
    optimizer = chainer.optimizers.Adam(alpha=0.01).setup(model)
    for epoch in range(10):
        for i in range(0, len(x), 16):
            optimizer.update(model, x[i : i + 16], t[i : i + 16])
        trial.report(float(model.loss.array), epoch)
    return float(model.accuracy.array)


if __name__ == "__main__":
    draw = np.random.RandomState(0)
    t = (np.arange(64) % 10).astype("i")
    x = draw.rand(64, 1, 8, 8).astype("f") * 0.1
    x[np.arange(64), 0, t % 8, t // 8] += 1
    data = {"digits": {"x": x, "t": t}}
    # A dry run asks no server.
    client = hyperflock.Client("http://127.0.0.1:9", "none")
    dry = client.grid(objective, {"channels": [4]}, data=data, dry_run=True)
    local = hyperflock.run_local(objective, {"channels": 4}, data=data)
    print(json.dumps({
        "numpy": np.__version__,
        "chainer": chainer.__version__,
        "ends": [dry.state, local.state],
        "values": [dry.value, local.value],
        "learns": [run.points[-1][1] < run.points[0][1] for run in (dry, local)],
        "notes": [note for note in (*dry.notes, *local.notes) if "not installed" in note],
    }))
"""


def test_a_build_gives_the_same_bytes(tmp_path: Path) -> None:
    (built,) = WHEELS.glob("chainer-*.whl")
    downloads = tmp_path / "cache" / "downloads"
    downloads.mkdir(parents=True)
    shutil.copy(ROOT / "build/cache/downloads" / f"{built.name.split('-py3')[0]}.tar.gz", downloads)
    command = [sys.executable, ROOT / "deploy/chainer_wheel.py", "--out", tmp_path]
    subprocess.run([*command, "--cache", tmp_path / "cache"], check=True)
    assert (tmp_path / built.name).read_bytes() == built.read_bytes()
    with zipfile.ZipFile(built) as archive:
        names = archive.namelist()
        assert [name for name in names if name.endswith("/LICENSE")]
        assert not [name for name in names if name.endswith((".so", ".pyd", ".c", ".pyx"))]


@pytest.mark.parametrize("version", TESTED)
def test_chainer_by_plain_pip(version: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OBJECTIVE)
    here: Installed | None = None
    for major, pythons in NUMPYS.items():
        if version not in pythons:
            continue
        numpy = "numpy>=1.26,<2" if major == "1" else "numpy>=2"
        words = ("--find-links", WHEELS, "hyperflock[chainer]", numpy)
        if here is None:
            here = Installed(PYTHONS[version], tmp_path, *words)
        else:
            here.install(*words)
        done = here.run("python", "train.py")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told.pop("numpy").startswith(f"{major}.")
        assert told == {
            "chainer": "7.8.1",
            "ends": ["complete", "complete"],
            "values": [1.0, 1.0],
            "learns": [True, True],
            "notes": [],
        }, done.stdout
