"""Tests that a plain trainer saves and resumes by itself, with the result of an unbroken run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Snippet = Callable[..., Any]

# Trains with a shuffled iterator, dropout, batch normalisation, momentum and a schedule. `train`
# runs it as an attempt of a trial: `dies_at` is the iteration at which the tab is closed.
TRAINING = """
import contextlib, io, sys
import chainer.links as L
from chainer import iterators, training
from chainer.training import extensions, triggers
from recording_host import RecordingHost
import hyperflock
from hyperflock._trial import auto_checkpoint, random_state
from hyperflock_worker.compat import patches as _patches
_patches.on_train = auto_checkpoint.attach

class Gone(BaseException): pass

class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.one, self.norm, self.two = L.Linear(None, 8), L.BatchNormalization(8), L.Linear(2)
    def forward(self, x):
        return self.two(F.dropout(F.relu(self.norm(self.one(x))), 0.3))
    __call__ = forward

def prepared(trial, optimizer=None, stop=(3, "epoch")):
    x, t = np.random.rand(24, 3).astype("f"), (np.arange(24) % 2).astype("i")
    model = L.Classifier(Net())
    optimizer = (optimizer or chainer.optimizers.MomentumSGD(0.1)).setup(model)
    batches = iterators.SerialIterator(chainer.datasets.TupleDataset(x, t), 5)
    updater = training.updaters.StandardUpdater(batches, optimizer)
    trainer = training.Trainer(updater, stop, out=".")
    return trainer, model

def weights(model):
    return [[n, p.array.tolist()] for n, p in sorted(model.namedparams())]

def train(objective, saved=None, dies_at=None, interval_s=0.0):
    host = RecordingHost()
    trial = hyperflock.Trial({}, number=0, seed=1, data={}, checkpoint=saved, host=host)
    trial.auto_checkpoint(interval_s=interval_s)
    random_state.seed_everything(5)
    steps = []
    def die(trainer):
        if trainer.updater.iteration == dies_at: raise Gone
    def body():
        return objective(trial, die)
    out = io.StringIO()
    with auto_checkpoint.watching(trial), contextlib.redirect_stderr(out):
        try: value = body()
        except Gone: value = None
    return value, host, out.getvalue()
"""

PLAIN = """
def objective(trial, die):
    trainer, model = prepared(trial)
    trainer.extend(extensions.ExponentialShift("lr", 0.5), trigger=(1, "epoch"))
    trainer.extend(hyperflock.LogReport(trial, trigger=(1, "epoch")))
    def score(trainer):
        trial.report(trainer.observation["main/loss"], trainer.updater.iteration)
    trainer.extend(score, name="score")
    trainer.extend(die, name="die", priority=-400)
    trainer.run()
    return weights(model), float(np.random.rand())
"""


def test_an_interrupted_trainer_ends_with_the_result_of_an_unbroken_one(
    snippet: Snippet, version: str
) -> None:
    code = f"""
{TRAINING}
{PLAIN}
whole, host, said = train(objective)
assert said == "" and len(host.checkpoints) == len(host.points) == 15, said
for dies_at in (1, 4, 5, 8, 14):
    gone, first, _ = train(objective, dies_at=dies_at)
    assert gone is None and len(first.checkpoints) == dies_at
    kind, step, _ = first.checkpoints[-1]
    assert (kind, step) == ("npz", dies_at)
    again, second, said = train(objective, saved=first.checkpoints[-1])
    assert again == whole, dies_at
    assert first.points + second.points == host.points
    rows = [(s, v["main/loss"]) for s, v in first.rows + second.rows]
    assert rows == [(s, v["main/loss"]) for s, v in host.rows]
# An attempt may itself be a continuation that ends.
_, first, _ = train(objective, dies_at=3)
_, second, _ = train(objective, saved=first.checkpoints[-1], dies_at=9)
result = train(objective, saved=second.checkpoints[-1])[0] == whole
"""
    assert snippet(version, code) is True


@pytest.mark.parametrize(
    "optimizer", ["SGD(0.1)", "Adam()", "RMSprop()", "AdaGrad()", "AdaDelta()", "NesterovAG(0.1)"]
)
def test_each_optimizer_goes_on_with_its_state(snippet: Snippet, optimizer: str) -> None:
    code = f"""
{TRAINING}
def objective(trial, die):
    trainer, model = prepared(trial, chainer.optimizers.{optimizer})
    trainer.extend(die, name="die", priority=-400)
    trainer.run()
    return weights(model)
whole = train(objective)[0]
saved = train(objective, dies_at=7)[1].checkpoints[-1]
result = train(objective, saved=saved)[0] == whole
"""
    assert snippet("7.8.1", code) is True


def test_saves_are_rare_and_follow_a_leaving_volunteer(snippet: Snippet) -> None:
    code = f"""
{TRAINING}
from hyperflock._trial.save_pace import SavePace
now = [0.0]
class Leaving(RecordingHost):
    def progress(self):
        super().progress()
        now[0] += 1.0     # an iteration
    def is_leaving(self): return self.steps == 200
    def save_checkpoint(self, *args, **kwargs):
        now[0] += 4.0     # a slow line
        return super().save_checkpoint(*args, **kwargs)
host = Leaving()
trial = hyperflock.Trial({{}}, number=0, seed=1, data={{}}, host=host)
trial._saves = SavePace(lambda: now[0])
np.random.seed(0)
trainer, model = prepared(trial, stop=(300, "iteration"))
with auto_checkpoint.watching(trial): trainer.run()
# 30 s after the start; then 80 s after each begin, as a save takes 4 s; and when it leaves.
result = len(host.checkpoints)
"""
    assert snippet("7.8.1", code) == 5


@pytest.mark.parametrize(
    "line",
    [
        "trial.auto_checkpoint(False)",
        "trial.resume()",
        "trial.checkpoint_due()",
        "trial.report(1.0, 0)",
        "trial.log({'a': 1})",
        "trainer.extend(hyperflock.CheckpointExtension(trial, interval_s=math.inf))",
    ],
)
def test_one_line_turns_it_off(snippet: Snippet, line: str) -> None:
    code = f"""
import math
{TRAINING}
def objective(trial, die):
    trainer, model = prepared(trial)
    {line}
    trainer.run()
_, host, said = train(objective)
result = [len(host.checkpoints), said]
"""
    assert snippet("7.8.1", code) == [0, ""]


def test_an_objective_that_saves_itself_later_is_left_alone(snippet: Snippet) -> None:
    code = f"""
{TRAINING}
def objective(trial, die):
    trainer, model = prepared(trial)
    def save(trainer):
        if trainer.updater.iteration == 3: trial.checkpoint({{"own": 1}})
    trainer.extend(save, name="save")
    trainer.run()
_, host, said = train(objective)
result = [[kind for kind, _, _ in host.checkpoints], said]
"""
    assert snippet("7.8.1", code) == [["npz", "npz", "tree"], ""]


STATEFUL = {
    "a list around a function": (
        "seen = []\n    def watch(trainer): seen.append(1)\n"
        "    trainer.extend(watch, name='watch')",
        "the extension 'watch' changes 'seen'",
    ),
    "a number around a function": (
        "best = 0\n    def watch(trainer):\n        nonlocal best\n        best += 1\n"
        "    trainer.extend(watch, name='watch')",
        "the extension 'watch' sets 'best'",
    ),
    "a hyperparameter": (
        "def watch(trainer): trainer.updater.get_optimizer('main').lr = 0.1\n"
        "    trainer.extend(watch, name='watch')",
        "the extension 'watch' sets 'lr'",
    ),
    "an attribute of an extension": (
        "class Best(training.Extension):\n        best = 0\n"
        "        def __call__(self, trainer): self.best += 1\n"
        "    trainer.extend(Best(), name='watch')",
        "the extension 'watch' sets 'best'",
    ),
    "a list of an extension": (
        "class Best(training.Extension):\n"
        "        def __init__(self): self.seen = []\n"
        "        def __call__(self, trainer): self.seen.append(1)\n"
        "    trainer.extend(Best(), name='watch')",
        "the extension 'watch' changes 'seen'",
    ),
    "a place in a list around a function": (
        "seen, key = [0], 0\n    def watch(trainer): seen[key + 0 * len('x')] += 1\n"
        "    trainer.extend(watch, name='watch')",
        "the extension 'watch' changes 'seen'",
    ),
    "a method": (
        "class Best:\n        best = 0\n"
        "        def look(self, trainer): self.best += 1\n"
        "    best = Best()\n    trainer.extend(lambda t: best.look(t), name='watch')",
        None,
    ),
    "early stopping": (
        "trainer.stop_trigger = triggers.EarlyStoppingTrigger(monitor='main/loss')",
        "the stop trigger is a EarlyStoppingTrigger, which is not saved",
    ),
    "an iterator": (
        "class Own(iterators.SerialIterator.__mro__[1]):\n"
        "        epoch, epoch_detail, is_new_epoch, previous_epoch_detail = 0, 0.0, False, 0.0\n"
        "        def __next__(self): return [(np.ones(3, 'f'), np.int32(1))] * 4\n"
        "        next = __next__\n"
        "    trainer.updater._iterators['main'] = Own()\n"
        "    trainer.stop_trigger = training.get_trigger((4, 'iteration'))",
        "the iterator 'main' is a Own, which has no serialize()",
    ),
    "an extension that cannot be saved": (
        "class Own(training.Extension):\n"
        "        def __call__(self, trainer): pass\n"
        "        def serialize(self, serializer): serializer('x', np.array([object()]))\n"
        "    trainer.extend(Own(), name='own')",
        "is an array of objects, which would be pickled",
    ),
    "an extension whose serialize fails": (
        "class Own(training.Extension):\n"
        "        def __call__(self, trainer): pass\n"
        "        def serialize(self, serializer): raise KeyError('no')\n"
        "    trainer.extend(Own(), name='own')",
        "its state cannot be saved (KeyError: 'no')",
    ),
    "too much": (
        "trainer.updater.get_optimizer('main').target.add_persistent("
        "'large', np.broadcast_to(np.float64(1), 2**24))",
        "may have at most 67108864",
    ),
}


@pytest.mark.parametrize("name", STATEFUL)
def test_what_cannot_be_saved_is_said_once_and_the_trial_goes_on(
    snippet: Snippet, name: str
) -> None:
    setup, said = STATEFUL[name]
    code = f"""
{TRAINING}
def objective(trial, die):
    trainer, model = prepared(trial)
    {setup}
    trainer.run()
    return trainer.updater.iteration
value, host, said = train(objective)
assert value > 0
result = [said, len(host.checkpoints)]
"""
    text, saves = snippet("7.8.1", code)
    if said is None:  # such state cannot be seen
        assert saves > 0
        return
    assert said in text
    assert text.count("[no_auto_checkpoint]") == 1
    assert saves == 0


def test_extensions_without_state_of_their_own_are_saved(snippet: Snippet) -> None:
    code = f"""
{TRAINING}
def objective(trial, die):
    trainer, model = prepared(trial)
    x, rates, history = np.ones((2, 3), "f"), {{"low": 0.1}}, [1, 2]
    def look(trainer):
        values = {{}}
        values["rate"] = rates["low"] + len(history)
        trial.set_user_attr("rate", values["rate"])
        model.predictor(x)
    trainer.extend(look, name="look")
    class Own(training.Extension):
        def __init__(self): self.count = 0
        def __call__(self, trainer): self.count += 1
        def serialize(self, serializer): self.count = int(serializer("count", self.count))
    own = Own()
    trainer.extend(own, name="own")
    data = [(np.ones(3, "f"), np.int32(1))]
    test = iterators.SerialIterator(data, 1, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(test, model))
    trainer.extend(extensions.LogReport(trigger=(1, "epoch")))
    trainer.extend(die, name="die", priority=-400)
    trainer.run()
    return weights(model), own.count
whole, host, said = train(objective)
saved = train(objective, dies_at=6)[1].checkpoints[-1]
result = [said, train(objective, saved=saved)[0] == whole, whole[1]]
"""
    assert snippet("7.8.1", code) == ["", True, 15]


def test_only_the_first_trainer_is_saved(snippet: Snippet) -> None:
    code = f"""
{TRAINING}
def objective(trial, die):
    trainer, first = prepared(trial)
    trainer.run()
    trainer, second = prepared(trial)
    trainer.extend(die, name="die", priority=-400)
    trainer.run()
    return weights(first), weights(second)
whole, host, _ = train(objective)
_, gone, _ = train(objective, dies_at=4)
again, later, _ = train(objective, saved=gone.checkpoints[-1])
result = [len(host.checkpoints), len(gone.checkpoints), len(later.checkpoints), again == whole]
"""
    assert snippet("7.8.1", code) == [15, 15, 0, True]


def test_a_checkpoint_that_does_not_fit_is_an_error_after_which_the_trial_begins_anew(
    snippet: Snippet,
) -> None:
    code = f"""
{TRAINING}
{PLAIN}
_, host, _ = train(objective, dies_at=4)
def other(trial, die):
    trainer, model = prepared(trial)
    model.predictor.two = None
    with model.predictor.init_scope(): model.predictor.three = L.Linear(2)
    trainer.run()
try: train(other, saved=host.checkpoints[-1])
except hyperflock.CheckpointError as error: result = [error.code]
# Bytes of a stranger that cannot be read are left alone.
kind, step, content = host.checkpoints[-1]
whole = train(objective)[0]
cut = content[: len(content) // 2]
result += [train(objective, saved=(kind, step, cut))[0] == whole]
# An objective that resumes itself gets nothing of a trainer that saved itself.
def own(trial, die):
    return trial.resume()
result += [train(own, saved=host.checkpoints[-1])[0]]
"""
    assert snippet("7.8.1", code) == ["checkpoint_malformed", True, None]
