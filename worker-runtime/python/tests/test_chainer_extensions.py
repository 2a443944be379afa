"""Tests extensions of a trainer that log its observations and prune the trial, with Chainer
itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TRAINER = """
import io, warnings
import hyperflock
from chainer import iterators, training
from chainer.training import extensions
from recording_host import RecordingHost

def trainer_of(epochs=3):
    np.random.seed(0)
    model = chainer.links.Classifier(chainer.links.Linear(3, 2))
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    x, t = np.random.rand(12, 3).astype("f"), np.arange(12) % 2
    data = chainer.datasets.TupleDataset(x, t.astype("i"))
    batches = iterators.SerialIterator(data, 4, shuffle=False)
    updater = training.updaters.StandardUpdater(batches, optimizer)
    return training.Trainer(updater, (epochs, "epoch"), out="nowhere")

def trial_of(host=None, saved=None):
    host = host or RecordingHost()
    return hyperflock.Trial({}, number=0, seed=1, data={}, checkpoint=saved, host=host), host
"""


def test_the_values_of_chainers_log_report_arrive(
    snippet: Callable[..., Any], version: str
) -> None:
    code = (
        TRAINER
        + """
trial, host = trial_of()
trainer = trainer_of()
theirs = extensions.LogReport(log_name=None)
trainer.extend(theirs)
trainer.extend(hyperflock.LogReport(trial))
trainer.run()
names = ["main/accuracy", "main/loss"]
assert [step for step, _ in host.rows] == [entry["iteration"] for entry in theirs.log]
for (_, values), entry in zip(host.rows, theirs.log):
    assert {name: values[name] for name in names} == {name: entry[name] for name in names}
    assert values["elapsed_time"] > 0
import os
result = [[values["epoch"] for _, values in host.rows], sorted(host.rows[0][1]),
          os.path.exists("nowhere/log")]
"""
    )
    names = ["elapsed_time", "epoch", "main/accuracy", "main/loss"]
    assert snippet(version, code) == [[1.0, 2.0, 3.0], names, False]


def test_keys_a_trigger_and_a_postprocess_choose_what_is_logged(
    snippet: Callable[..., Any], version: str
) -> None:
    code = (
        TRAINER
        + """
trial, host = trial_of()
trainer = trainer_of(1)
def add(entry): entry["double"] = 2 * entry["main/loss"]; entry["note"] = "a text"
trainer.extend(hyperflock.LogReport(trial, ["main/loss"], (1, "iteration"), add))
trainer.run()
result = [len(host.rows), sorted(host.rows[0][1])]
"""
    )
    assert snippet(version, code) == [3, ["double", "elapsed_time", "epoch", "main/loss"]]


def test_a_continued_trainer_logs_what_comes_after_the_checkpoint(
    snippet: Callable[..., Any], version: str
) -> None:
    code = (
        TRAINER
        + """
class Gone(Exception): pass
def run(saved, dies_at):
    trial, host = trial_of(saved=saved)
    trainer = trainer_of(4)
    trainer.extend(hyperflock.LogReport(trial))
    trainer.extend(hyperflock.CheckpointExtension(trial, interval_s=0), trigger=(1, "epoch"))
    def watch(trainer):
        if trainer.updater.epoch == dies_at: raise Gone
    trainer.extend(watch, trigger=(1, "epoch"), name="watch", priority=-300)
    trial.resume(trainer)
    try: trainer.run()
    except Gone: pass
    return [step for step, _ in host.rows], host
whole, _ = run(None, None)
first, host = run(None, 2)
second, after = run(host.checkpoints[-1], None)
result = [whole, first, second, host.logged, after.logged]
"""
    )
    before = "import warnings; warnings.simplefilter('default')"
    whole, first, second, logged, after = snippet(version, code, before=before)
    assert whole == [3, 6, 9, 12]
    assert (first, second) == ([3, 6], [9, 12])
    assert (logged, after) == ([3, 6], [9, 12])


def test_a_pruner_stops_the_trainer(snippet: Callable[..., Any], version: str) -> None:
    code = (
        TRAINER
        + """
class Pruner(RecordingHost):
    def should_prune(self, step):
        return step >= 2
trial, host = trial_of(Pruner())
trainer = trainer_of()
trainer.extend(
    hyperflock.HyperflockPruningExtension(trial, "main/loss", pruner_trigger=(1, "epoch")))
try:
    trainer.run()
    result = "not pruned"
except hyperflock.TrialPruned as pruned:
    result = [str(pruned), [step for step, _ in host.points], trainer.updater.epoch]
"""
    )
    assert snippet(version, code) == ["Trial was pruned at epoch 2.", [1, 2], 2]


def test_pruning_waits_for_its_observation_and_needs_a_trigger_with_a_unit(
    snippet: Callable[..., Any], version: str
) -> None:
    code = (
        TRAINER
        + """
trial, host = trial_of()
trainer = trainer_of(1)
trainer.extend(hyperflock.HyperflockPruningExtension(trial, "absent", (1, "iteration")))
trainer.run()
try:
    hyperflock.HyperflockPruningExtension(trial, "main/loss", lambda trainer: True)
except TypeError as error:
    result = [host.points, str(error)]
"""
    )
    points, message = snippet(version, code)
    assert points == []
    assert "is an IntervalTrigger or a ManualScheduleTrigger, not a function" in message
