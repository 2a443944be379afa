"""Compares captured training steps with plain ones: bits of losses, weights, averages, counters.

    PYTHONPATH=... python3 capture.py [--steps N]

The script is the same on CPython, in Node and in a browser. It prints one JSON object. For each
scenario, ``equal`` says whether all bits are equal, and ``captured`` whether steps were replayed at
the end. ``refused`` holds the reasons of steps that cannot be captured, and ``moved`` how much
counters grew over replays. ``test_capture.py`` runs the script.
"""

from __future__ import annotations

import json
import sys
import weakref
from collections.abc import Callable
from typing import Any

import arraycore
import numpy as np
from hyperflock_worker import compat

compat.install()
arraycore.install_cupy()

import chainer  # noqa: E402
import chainer.functions as F  # noqa: E402
import chainer.links as L  # noqa: E402
import cupy  # noqa: E402
import hyperflock  # noqa: E402

BATCH, WIDTH, KINDS = 4, 6, 3
# This weak reference is dead, so it raises an error at every access. The search for optimizers must
# survive it.
GONE = weakref.proxy(set())


class Network(chainer.Chain):
    """A perceptron with batch-norm and dropout."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(WIDTH, 8)
            self.norm = L.BatchNormalization(8)
            self.l2 = L.Linear(8, KINDS)

    def __call__(self, x: Any) -> Any:
        return self.l2(F.dropout(F.relu(self.norm(self.l1(x))), 0.5))


class Recurrent(chainer.Chain):
    """An LSTM that keeps its state from batch to batch."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.lstm = L.LSTM(WIDTH, 5)
            self.out = L.Linear(5, KINDS)

    def __call__(self, x: Any) -> Any:
        return self.out(self.lstm(x))


def batches(steps: int) -> list[tuple[Any, Any]]:
    stream = np.random.RandomState(1)
    return [
        (stream.rand(BATCH, WIDTH).astype("f"), stream.randint(0, KINDS, BATCH).astype("i"))
        for _ in range(steps)
    ]


def bits(model: Any, optimizer: Any) -> list[str]:
    """Return all that a step changes, as text."""
    arrays = {name: param.array for name, param in model.namedparams()}
    for name, param in model.namedparams():
        for key, value in (param.update_rule.state or {}).items():
            arrays[f"{name} {key}"] = value
    for name, link in model.namedlinks():
        for key in link._persistent:
            arrays[f"{name} {key}"] = getattr(link, key)
    told = [
        f"{name} {value.get().tobytes().hex() if hasattr(value, 'get') else value}"
        for name, value in sorted(arrays.items())
    ]
    counts = sorted(param.update_rule.t for param in model.params())
    return [*told, f"t {optimizer.t} {counts}"]


def number(value: Any) -> str:
    return float(value.array if isinstance(value, chainer.Variable) else value).hex()


def on_numpy() -> str:
    """Run an updater on NumPy; return why steps are not captured, and the number of updates."""
    model = L.Classifier(Network())
    optimizer = chainer.optimizers.SGD()
    optimizer.setup(model)
    data = [(x, t) for xs, ts in batches(2) for x, t in zip(xs, ts, strict=True)]
    updater = chainer.training.updaters.StandardUpdater(
        chainer.iterators.SerialIterator(data, BATCH), optimizer
    )
    with hyperflock.fast_step(updater) as step:
        for _ in range(5):
            updater.update()
        return f"{step.reason} {optimizer.t}"


def with_updater(fast: bool, steps: int) -> tuple[list[str], bool]:
    """Train with Chainer's own updater: Adam, dropout, a step size that changes at each step."""
    model = L.Classifier(Network())
    model.to_gpu()
    optimizer = chainer.optimizers.Adam(0.01)
    optimizer.setup(model)
    data = [(x, t) for xs, ts in batches(steps) for x, t in zip(xs, ts, strict=True)]
    iterator = chainer.iterators.SerialIterator(data, BATCH, shuffle=False)
    updater = chainer.training.updaters.StandardUpdater(iterator, optimizer, device=0)
    step = hyperflock.fast_step(updater) if fast else None
    reporter = chainer.Reporter()
    reporter.add_observer("main", model)
    told = []
    for count in range(steps):
        optimizer.alpha = 0.01 * 0.98**count
        with reporter.scope({}):
            updater.update()
            told += [number(reporter.observation[f"main/{name}"]) for name in ("loss", "accuracy")]
    end = [*told, *bits(model, optimizer), f"{updater.iteration} {updater.epoch}"]
    captured = step is not None and bool(step.is_captured)
    if step is not None:
        step.close()
    return end, captured


def with_function(
    fast: bool,
    steps: int,
    model: Any,
    hook: Any = None,
    schedule: Callable[[Any, Any, int], None] | None = None,
) -> tuple[list[str], bool]:
    """Train with MomentumSGD in a function, as a user may write it."""
    model.to_gpu()
    optimizer = chainer.optimizers.MomentumSGD(0.1)
    optimizer.setup(model)
    if hook is not None:
        optimizer.add_hook(hook)

    def train(x: Any, t: Any) -> Any:
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()
        return loss

    step = hyperflock.fast_step(train) if fast else train
    told = []
    for count, (x, t) in enumerate(batches(steps)):
        if schedule is not None:
            schedule(model, optimizer, count)
        told.append(number(step(cupy.asarray(x), cupy.asarray(t))))
    return [*told, *bits(model, optimizer)], bool(getattr(step, "is_captured", False))


def drops(model: Any, optimizer: Any, count: int) -> None:
    if count % 10 == 9:
        optimizer.lr *= 0.5


def changes(model: Any, optimizer: Any, count: int) -> None:
    """Put weights into another array, and later change the mode of batch-norm and dropout."""
    if count == 8:
        model.l1.W.array = model.l1.W.array * 2
    chainer.global_config.train = count < 16


def resets(model: Any, optimizer: Any, count: int) -> None:
    """Begin a new sequence, which drops the state of earlier steps."""
    if count == 7:
        model.lstm.reset_state()


def reads_the_norm(optimizer: Any) -> None:
    norm = sum(float((param.grad**2).sum()) for param in optimizer.target.params()) ** 0.5
    for param in optimizer.target.params():
        param.grad *= min(1.0, 1.0 / norm)


reads_the_norm.name = "reads_the_norm"  # type: ignore[attr-defined]  # 5.4.0 wants one


def reports_a_number() -> str:
    """Report a number that Python increases at each step; return why the step is not captured."""
    counts = iter(range(100))
    step = hyperflock.fast_step(lambda x: (chainer.report({"count": next(counts)}), x + 1))
    with chainer.Reporter().scope({}):
        return refusal(lambda: [step(cupy.ones(3, "f")) for _ in range(4)])


def refusal(run: Callable[[], object]) -> str:
    try:
        run()
    except arraycore.capture.CaptureError as error:
        return f"{error.code}: {error}"
    return ""


def memory(steps: int) -> list[int]:
    """Return how much counters grew over replays."""
    model = L.Classifier(Network())
    model.to_gpu()
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)
    step = hyperflock.fast_step(lambda x, t: optimizer.update(model, x, t))
    x, t = (cupy.asarray(each) for each in batches(1)[0])
    for _ in range(6):
        step(x, t)
    before = arraycore.counters()
    for _ in range(steps):
        step(x, t)
    after = arraycore.counters()
    step.close()
    names = ("live_bytes", "device_bytes", "live_arrays", "bytes_up", "bytes_down", "cpu_ops")
    return [after[name] - before[name] for name in names]


def main(arguments: list[str]) -> None:
    steps = int(arguments[1]) if arguments[:1] == ["--steps"] else 100
    clip = chainer.optimizer_hooks.GradientClipping
    decay = chainer.optimizer_hooks.WeightDecay
    scenarios: dict[str, Callable[[bool], tuple[list[str], bool]]] = {
        "adam": lambda fast: with_updater(fast, steps),
        "drops": lambda fast: with_function(fast, 24, Network(), decay(1e-2), drops),
        "clips": lambda fast: with_function(fast, 8, Network(), clip(0.1)),
        "recurrent": lambda fast: with_function(fast, 14, Recurrent(), None, resets),
        "changes": lambda fast: with_function(fast, 24, Network(), None, changes),
    }
    made: dict[str, Any] = {}
    for name, run in scenarios.items():
        ends = []
        for fast in (False, True):
            np.random.seed(0)
            cupy.random.seed(5)
            ends.append(run(fast))
            chainer.global_config.train = True
        made[name] = {"equal": ends[0][0] == ends[1][0], "captured": ends[1][1]}
    made["refused"] = [
        refusal(lambda: with_function(True, 8, Network(), reads_the_norm)),
        reports_a_number(),
        on_numpy(),
    ]
    made["moved"] = memory(50 if steps < 100 else 1000)
    print(json.dumps(made))


main(sys.argv[1:])
