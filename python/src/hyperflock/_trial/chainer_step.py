"""Does the Python part of a captured Chainer step: everything except its kernel launches.

It counts the optimizers' steps, advances their schedules and reports values. ``arraycore.capture``
replays the launches.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import chainer
import numpy as np
from arraycore.capture import CaptureError, Host
from chainer import reporter

from hyperflock._trial.host import progress

_CONFIG = ("train", "enable_backprop", "dtype", "use_cudnn", "keep_graph_on_report")


def _rules(optimizer: Any) -> Iterator[Any]:
    target = getattr(optimizer, "target", None)
    for param in target.params() if target is not None else ():
        if param.update_rule is not None:
            yield param.update_rule


def _hooks(owner: Any) -> list[Any]:
    """Return the hooks of an optimizer or an update rule."""
    home = getattr(owner, "_hookable", owner)
    before = getattr(home, "_pre_update_hooks", None) or {}
    return [*before.values(), *(getattr(home, "_post_update_hooks", None) or {}).values()]


def _is_array(value: Any) -> bool:
    return isinstance(value, chainer.backends.cuda.ndarray)


def _numeric(attributes: dict[str, Any]) -> list[str]:
    return sorted(key for key, value in attributes.items() if isinstance(value, int | float))


def _copied(value: Any) -> Any:
    """Return a value that the next replay cannot overwrite: a copy of an array or variable."""
    if isinstance(value, chainer.Variable):
        return chainer.Variable(value.array.copy(), requires_grad=value.requires_grad)
    return value.copy() if _is_array(value) else value


class ChainerHost(Host):  # type: ignore[misc]
    """The Python side of a captured step: it updates optimizers, reports values, and checks that
    what a replay takes for constant has not changed.

    The optimizers that a step updates are found by their counters, so the caller does not have to
    name them.

    Parameters
    ----------
    optimizer : chainer.Optimizer, optional
        The optimizer whose model must be on the device.
    """

    def __init__(self, optimizer: Any = None) -> None:
        self._optimizer = optimizer
        self._seen: dict[int, Any] = {}  # optimizers, in the order in which they were first seen
        self._counts: dict[int, int] = {}
        # The optimizers and rules whose counters a step increases, and by how much.
        self._counting: list[tuple[Any, int]] = []
        self._given: list[tuple[dict[str, Any], str]] = []
        self._derived: list[Callable[[], float]] = []
        self._observed: dict[str, Any] = {}
        self._observed_before: dict[str, Any] = {}  # by the step before
        self._outer: dict[str, Any] | None = None
        self._params: list[tuple[Any, Any]] = []
        self._entries: list[tuple[dict[str, Any], str, Any]] = []
        # The ids of the links' attributes before the step. References to the attributes would keep
        # a computational graph alive.
        self._before: dict[int, dict[str, int]] = {}
        self._written: set[tuple[int, str]] = set()  # by the step, of links
        self._around: tuple[Any, ...] = ()

    def refusal(self) -> str | None:
        target = getattr(self._optimizer, "target", None)
        if target is None or not any(isinstance(p.array, np.ndarray) for p in target.params()):
            return None
        return "The model's arrays are NumPy's: call model.to_gpu() before."

    # ---- a recorded step

    def before(self) -> None:
        for each in gc.get_objects():
            # For a weak proxy, isinstance would ask the object behind it, which may be gone.
            if issubclass(type(each), chainer.Optimizer):
                self._seen.setdefault(id(each), each)
        self._counts = {id(each): each.t for each in self._all()}
        self._before = {
            id(link): {name: id(value) for name, value in vars(link).items()}
            for link in self._links()
        }
        listener = _listener()
        if listener is not None:
            self._outer = listener.observation
            self._observed_before, self._observed = self._observed, {}
            listener.observation = self._observed

    def _all(self) -> Iterator[Any]:
        for optimizer in self._seen.values():
            yield optimizer
            yield from _rules(optimizer)

    def _optimizers(self) -> list[Any]:
        return [each for each, _ in self._counting if isinstance(each, chainer.Optimizer)]

    def _links(self) -> Iterator[Any]:
        for optimizer in self._optimizers():
            yield from optimizer.target.links()

    def after(self) -> None:
        listener = _listener()
        if listener is not None and self._outer is not None:
            listener.observation = self._outer
        counted = [(each, each.t - self._counts.get(id(each), each.t)) for each in self._all()]
        self._counting = [(each, steps) for each, steps in counted if steps]
        self._seen = {id(each): each for each in self._optimizers()}
        self._written = {
            (id(link), name)
            for link in self._links()
            for name, value in vars(link).items()
            if self._before.get(id(link), {}).get(name) != id(value)
        }
        self._before = {}
        self._given, self._derived = [], []
        for each, _ in self._counting:
            self._follow(each)

    def recorded(self) -> None:
        self._report()

    def _follow(self, each: Any) -> None:
        """Record the numbers that an optimizer or one of its update rules passes to kernels."""
        own = vars(each.hyperparam) if hasattr(each, "hyperparam") else {}
        objects = [own, *(vars(hook) for hook in _hooks(each) if hasattr(hook, "__dict__"))]
        for attributes in objects:
            self._given += [(attributes, key) for key in _numeric(attributes)]
        if isinstance(each, chainer.Optimizer):
            self._derived.append(partial(_loss_scale, each))
            rules = [rule for rule, _ in self._counting if not isinstance(rule, chainer.Optimizer)]
            mine = {id(rule) for rule in _rules(each)}
            for rule in _representatives([rule for rule in rules if id(rule) in mine]):
                self._derive(rule)

    def _derive(self, rule: Any) -> None:
        hyperparam = rule.hyperparam
        for key in _numeric(hyperparam.get_dict()):
            self._derived.append(partial(_rest_of, hyperparam, key))
        # Adam's step size is alpha_t. Chainer 5.4.0 calls it lr; 7.8.1 warns if lr is used.
        name = "alpha_t" if hasattr(type(rule), "alpha_t") else "lr"
        if hasattr(type(rule), name):
            self._derived.append(lambda: getattr(rule, name))
        if hasattr(type(rule), "bounds") and hyperparam.adabound:
            self._derived += [lambda: rule.bounds[0], lambda: rule.bounds[1]]

    def numbers(self) -> tuple[float, ...]:
        return (
            *(attributes[key] for attributes, key in self._given),
            *(derived() for derived in self._derived),
        )

    # ---- replays

    def captured(self, carried: int) -> None:
        for name, value in self._observed.items():
            told = value.array if isinstance(value, chainer.Variable) else value
            if not _is_array(told) and self._observed_before.get(name) != told:
                raise CaptureError(
                    "capture_reports",
                    f"The step reports {name!r} as a number of Python's, which differs between its "
                    "two runs: report an array of the device.",
                )
        self._params, self._entries = [], []
        for link in self._links():
            # An attribute that a step writes and does not read is not compared later, because other
            # code, such as an evaluation, may change it between steps.
            ours = [n for n in vars(link) if carried or (id(link), n) not in self._written]
            self._entries += [(vars(link), name, vars(link)[name]) for name in ours]
        for optimizer in self._optimizers():
            for param in optimizer.target.params():
                self._params.append((param, param.array))
                state = (param.update_rule and param.update_rule.state) or {}
                self._entries += [(state, name, value) for name, value in state.items()]
        self._around = self._surroundings()

    def _surroundings(self) -> tuple[Any, ...]:
        config = chainer.config
        return (
            *(getattr(config, name, None) for name in _CONFIG),
            *(hook for each, _ in self._counting for hook in _hooks(each)),
            *(getattr(each, "enabled", True) for each, _ in self._counting),
        )

    def is_as_captured(self) -> bool:
        return (
            all(param.array is array for param, array in self._params)
            and all(attributes.get(name) is value for attributes, name, value in self._entries)
            and self._surroundings() == self._around
        )

    def advance(self, steps: int) -> None:
        for each, count in self._counting:
            each.t += steps * count

    def replayed(self) -> None:
        progress()
        self._report()

    def _report(self) -> None:
        listener = _listener()
        if listener is not None:
            listener.observation.update(
                {name: _copied(value) for name, value in self._observed.items()}
            )


def _loss_scale(optimizer: Any) -> float:
    return getattr(optimizer, "_loss_scale", None) or 1.0


def _rest_of(hyperparam: Any, key: str) -> float:
    return float(1 - getattr(hyperparam, key))


def _listener() -> Any:
    try:
        return reporter.get_current_reporter()
    except IndexError:  # nobody listens
        return None


def _representatives(rules: list[Any]) -> list[Any]:
    """Return one update rule of each group of rules that compute the same numbers.

    Rules of a group have the same class, count and hyper-parameters.
    """
    kinds: dict[tuple[Any, ...], Any] = {}
    for rule in rules:
        own = {key: value for key, value in vars(rule.hyperparam).items() if key != "_parent"}
        kinds.setdefault(
            (type(rule), rule.t, repr(sorted(own.items())), getattr(rule, "initial_alpha", None)),
            rule,
        )
    return list(kinds.values())
