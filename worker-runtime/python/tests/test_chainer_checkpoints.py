"""Tests that attempts and Chainer's objects resume from a checkpoint."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

from hyperflock_worker.runner import run_attempt
from recording_host import RecordingHost


def test_an_attempt_goes_on_where_another_stopped() -> None:
    local = RecordingHost()
    source = (
        "def objective(trial):\n"
        "    state = trial.resume() or {'epoch': 0, 'seen': []}\n"
        "    for epoch in range(state['epoch'], 4):\n"
        "        state['seen'].append(epoch)\n"
        "        trial.report(float(epoch), epoch)\n"
        "        trial.checkpoint({**state, 'epoch': epoch + 1})\n"
        "        if epoch == 1 and trial.params['stop']:\n"
        "            raise KeyboardInterrupt\n"
        "    return len(state['seen'])\n"
    )
    bundle = _bundle(source)
    spec = {"attempt": 1, "study": 1, "trial": 0, "entry": "study:objective", "seed": 1,
            "chainer": "7.8.1"}  # fmt: skip
    first = json.loads(
        run_attempt(json.dumps({**spec, "params": '{"stop": true}'}), bundle, {}, (), local)
    )
    assert first["error"]["message"] == "KeyboardInterrupt"
    resumed = [local.checkpoints[-1]]
    second = json.loads(
        run_attempt(json.dumps({**spec, "params": '{"stop": false}'}), bundle, {}, resumed, local)
    )
    assert second == {"outcome": "complete", "values": [4.0], "backend": "numpy"}
    assert [step for step, _ in local.points] == [0, 1, 2, 3]


def _bundle(source: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("study.py", source)
    return out.getvalue()


def test_chainer_objects_come_back_from_their_npz(
    snippet: Callable[..., Any], version: str
) -> None:
    code = """
import io
import chainer.links as L
from recording_host import RecordingHost
from hyperflock._trial.trial import Trial
host = RecordingHost()
def trial(saved=None):
    return Trial({}, number=0, seed=1, data={}, checkpoint=saved, host=host)
def network():
    return chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4), L.Linear(None, 2))
np.random.seed(0)
model, fresh = network(), network()
optimizer = chainer.optimizers.Adam().setup(model)
x = np.ones((2, 3), np.float32)
before = trial()
assert before.checkpoint(network()) is True   # one layer has no shape yet: None in its npz
model.cleargrads(); F.sum(model(x)).backward(); optimizer.update()
assert before.checkpoint(model)
kind, step, content = host.checkpoints[-1]
resumed = trial((kind, step, content))
assert kind == "npz" and resumed.resume(fresh)
with chainer.using_config("train", False):
    assert np.array_equal(fresh(x).array, model(x).array)
chainer.serializers.load_npz(io.BytesIO(content), network())   # it is Chainer's own format
np.random.seed(3)
assert before.checkpoint(optimizer)
unbroken = np.random.rand()
again = chainer.optimizers.Adam().setup(fresh)
held = trial(host.checkpoints[-1])
assert held.resume(again) and again.t == optimizer.t == 1
assert np.random.rand() == unbroken   # the generators go on
assert not before.resume(fresh)
result = sorted(resumed.resume())[:1]
"""
    assert len(snippet(version, code)) == 1


def test_what_an_object_of_chainers_writes_is_measured_before_it_is_copied(
    snippet: Callable[..., Any], version: str
) -> None:
    code = """
from hyperflock._base.errors import CheckpointError
from hyperflock._trial import checkpoints
class Link:
    def serialize(self, serializer):   # as a view a terabyte, eight bytes in memory
        serializer.target["w"] = np.broadcast_to(np.float64(1), 2**37)
try:
    checkpoints.encode(Link())
except CheckpointError as error:
    result = error.code
"""
    assert snippet(version, code) == "checkpoint_too_large"


def test_a_trainer_goes_on_at_another_device_as_if_it_had_not_stopped(
    snippet: Callable[..., Any], version: str
) -> None:
    code = """
import hyperflock
from chainer import iterators, training
from chainer.training import extensions
from recording_host import RecordingHost
class Gone(Exception): pass
def run(saved=None, dies_at=None, interval_s=0):
    np.random.seed(0)
    there = RecordingHost()
    model = chainer.links.Classifier(chainer.links.Linear(3, 2))
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    x, t = np.random.rand(12, 3).astype("f"), np.arange(12) % 2
    data = chainer.datasets.TupleDataset(x, t.astype("i"))
    batches = iterators.SerialIterator(data, 4, shuffle=False)
    updater = training.updaters.StandardUpdater(batches, optimizer)
    trainer = training.Trainer(updater, (4, "epoch"), out=".")
    trainer.extend(extensions.ExponentialShift("lr", 0.5), trigger=(1, "epoch"))
    ticks = iter(range(100))
    trial = hyperflock.Trial({}, number=0, seed=1, data={}, checkpoint=saved, host=there)
    trainer.extend(hyperflock.CheckpointExtension(
        trial, interval_s=interval_s, clock=lambda: next(ticks)))
    epochs = []
    def watch(trainer):
        epochs.append(trainer.updater.epoch)
        if trainer.updater.epoch == dies_at: raise Gone
    trainer.extend(watch, trigger=(1, "epoch"), name="watch")
    resumed = trial.resume(trainer)
    try: trainer.run()
    except Gone: pass
    weights = [p.array.tolist() for _, p in sorted(model.namedparams())]
    return weights, epochs, there.checkpoints, resumed
whole, _, saves, resumed = run()
assert len(saves) == 12 and not resumed   # one for each of 3 iterations in 4 epochs
_, epochs, saves, _ = run(dies_at=3)
assert epochs == [1, 2, 3] and len(saves) == 8
gone_on, epochs, _, resumed = run(saved=saves[-1])
in_an_epoch = run(saved=saves[-2])[0]
# The clock ticks at each look. A save looks twice, so it seems to take 1 s, and 20 s must pass.
late = run(interval_s=4)[2]
result = [epochs, resumed, gone_on == whole == in_an_epoch, len(late)]
"""
    before = "import warnings; warnings.simplefilter('default')"
    assert snippet(version, code, before=before) == [[3, 4], True, True, 1]
