"""Tests Chainer's trainer on arraycore: updater, evaluator, snapshots, copies and pickles.

    PYTHONPATH=... python3 trainer.py FOLDER

Prints ``{"ok": true}`` if everything was right. ``test_training.py`` runs it.
"""

from __future__ import annotations

import copy
import json
import pickle
import sys
from pathlib import Path

import arraycore
import numpy as np
from hyperflock_worker import compat

compat.install()
arraycore.install_cupy()

import chainer  # noqa: E402
import chainer.functions as F  # noqa: E402
import chainer.links as L  # noqa: E402
import cupy  # noqa: E402
from chainer import training  # noqa: E402
from chainer.backends import cuda  # noqa: E402
from chainer.training import extensions  # noqa: E402


def main(folder: Path) -> None:
    assert cuda.available
    assert not cuda.cudnn_enabled
    stream = np.random.RandomState(0)
    images = stream.uniform(size=(64, 6)).astype("f")
    labels = (images.sum(axis=1) > 3).astype(np.int32)
    data = chainer.datasets.TupleDataset(images, labels)
    np.random.seed(0)
    model = L.Classifier(chainer.Sequential(L.Linear(6, 8), F.relu, L.Linear(8, 2)))
    model.to_gpu()
    optimizer = chainer.optimizers.Adam(0.05).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))
    updater = training.updaters.StandardUpdater(
        chainer.iterators.SerialIterator(data, 16), optimizer, device=0
    )
    trainer = training.Trainer(updater, (5, "epoch"), str(folder))
    test = chainer.iterators.SerialIterator(data, 16, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(test, model, device=0))
    trainer.extend(extensions.LogReport(), trigger=(1, "epoch"))
    trainer.extend(extensions.snapshot(filename="last"), trigger=(5, "epoch"))
    trainer.run()
    log = json.loads((folder / "log").read_text())
    assert log[-1]["validation/main/loss"] < log[0]["validation/main/loss"]

    # The snapshot holds the device's values, and loading it copies them back to the device.
    weight = model.predictor[0].W.array
    assert isinstance(weight, cupy.ndarray)
    kept = weight.get()
    other = copy.deepcopy(model)
    other.predictor[0].W.array[...] = 0
    np.testing.assert_array_equal(weight.get(), kept)
    chainer.serializers.load_npz(str(folder / "last"), other, path="updater/model:main/")
    assert isinstance(other.predictor[0].W.array, cupy.ndarray)
    np.testing.assert_array_equal(other.predictor[0].W.array.get(), kept)

    # An array keeps its values through a pickle, and through copies to the host and back.
    again = pickle.loads(pickle.dumps(model.predictor[0].W.array))
    np.testing.assert_array_equal(again.get(), kept)
    model.to_cpu()
    assert isinstance(model.predictor[0].W.array, np.ndarray)
    wanted = model.predictor(images).array
    model.to_gpu()
    got = model.predictor(cuda.to_gpu(images)).array
    np.testing.assert_allclose(got.get(), wanted, rtol=1e-5, atol=1e-6)
    print(json.dumps({"ok": True}))


main(Path(sys.argv[1]))
