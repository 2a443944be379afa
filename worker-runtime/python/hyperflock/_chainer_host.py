"""What a Chainer step does beside its launches: optimizers count, schedules go on, values are told.

arraycore replays the launches (``arraycore.capture``); this is the rest, on Python's side.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import chainer
from arraycore.capture import Host
from chainer import reporter

_CONFIG = ("train", "enable_backprop", "dtype", "use_cudnn", "keep_graph_on_report")


def _rules(optimizer: Any) -> Iterator[Any]:
    target = getattr(optimizer, "target", None)
    for param in target.params() if target is not None else ():
        if param.update_rule is not None:
            yield param.update_rule


def _hooks(owner: Any) -> list[Any]:
    """Return the hooks of an optimizer or a rule; 7.8.1 keeps them in an object of their own."""
    home = getattr(owner, "_hookable", owner)
    before = getattr(home, "_pre_update_hooks", None) or {}
    return [*before.values(), *(getattr(home, "_post_update_hooks", None) or {}).values()]


def _is_array(value: Any) -> bool:
    return isinstance(value, chainer.backends.cuda.ndarray)


def _numeric(attributes: dict[str, Any]) -> list[str]:
    return sorted(key for key, value in attributes.items() if isinstance(value, int | float))


def _copied(value: Any) -> Any:
    """Return a value that the next replay does not overwrite."""
    if isinstance(value, chainer.Variable):
        return chainer.Variable(value.array.copy(), requires_grad=value.requires_grad)
    return value.copy() if _is_array(value) else value


class ChainerHost(Host):
    """The optimizers of a step, what it reports, and what has to stay as it was captured.

    Which optimizers a step updates is seen by their counters, so nobody has to name them.
    """

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}  # optimizers, in the order in which they were first seen
        self._counts: dict[int, int] = {}
        self._counting: list[
            tuple[Any, int]
        ] = []  # optimizers and rules, and how far a step counts
        self._given: list[tuple[dict[str, Any], str]] = []
        self._derived: list[Callable[[], float]] = []
        self._observed: dict[str, Any] = {}
        self._outer: dict[str, Any] | None = None
        self._params: list[tuple[Any, Any]] = []
        self._entries: list[tuple[dict[str, Any], str, Any]] = []
        self._around: tuple[Any, ...] = ()

    # ---- a recorded step

    def before(self) -> None:
        if not self._seen:
            for each in gc.get_objects():
                if isinstance(each, chainer.Optimizer):
                    self._seen[id(each)] = each
        self._counts = {id(each): each.t for each in self._all()}
        listener = _listener()
        if listener is not None:
            self._outer, self._observed = listener.observation, {}
            listener.observation = self._observed

    def _all(self) -> Iterator[Any]:
        for optimizer in self._seen.values():
            yield optimizer
            yield from _rules(optimizer)

    def after(self) -> None:
        listener = _listener()
        if listener is not None and self._outer is not None:
            listener.observation = self._outer
        counted = [(each, each.t - self._counts.get(id(each), each.t)) for each in self._all()]
        self._counting = [(each, steps) for each, steps in counted if steps]
        self._given, self._derived = [], []
        for each, _ in self._counting:
            self._follow(each)

    def recorded(self) -> None:
        self._report()

    def _follow(self, each: Any) -> None:
        """Note the numbers that an optimizer or one of its rules hands to its launches."""
        own = vars(each.hyperparam) if hasattr(each, "hyperparam") else {}
        objects = [own, *(vars(hook) for hook in _hooks(each) if hasattr(hook, "__dict__"))]
        for attributes in objects:
            self._given += [(attributes, key) for key in _numeric(attributes)]
        if isinstance(each, chainer.Optimizer):
            self._derived += [(lambda each=each: getattr(each, "_loss_scale", None) or 1.0)]
            rules = [rule for rule, _ in self._counting if not isinstance(rule, chainer.Optimizer)]
            mine = {id(rule) for rule in _rules(each)}
            for rule in _representatives([rule for rule in rules if id(rule) in mine]):
                self._derive(rule)

    def _derive(self, rule: Any) -> None:
        hyperparam = rule.hyperparam
        for key in _numeric(hyperparam.get_dict()):
            self._derived.append(lambda key=key: 1 - getattr(hyperparam, key))
        # Adam's step size: 5.4.0 calls it lr, as 7.8.1 does with a warning.
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

    def captured(self) -> None:
        self._params, self._entries = [], []
        for optimizer, _ in self._counting:
            if not isinstance(optimizer, chainer.Optimizer):
                continue
            for link in optimizer.target.links():
                self._keep(vars(link), link._persistent)
            for param in optimizer.target.params():
                self._params.append((param, param.array))
                rule = param.update_rule
                if rule is not None and rule.state:
                    self._keep(rule.state, rule.state)
        self._around = self._surroundings()

    def _keep(self, attributes: dict[str, Any], names: Any) -> None:
        self._entries += [
            (attributes, name, attributes[name]) for name in names if _is_array(attributes[name])
        ]

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
        self._report()

    def _report(self) -> None:
        listener = _listener()
        if listener is not None:
            listener.observation.update(
                {name: _copied(value) for name, value in self._observed.items()}
            )


def _listener() -> Any:
    try:
        return reporter.get_current_reporter()
    except IndexError:  # nobody listens
        return None


def _representatives(rules: list[Any]) -> list[Any]:
    """Return one rule of those that derive the same numbers: by kind, count and own numbers."""
    kinds: dict[tuple[Any, ...], Any] = {}
    for rule in rules:
        own = {key: value for key, value in vars(rule.hyperparam).items() if key != "_parent"}
        kinds.setdefault(
            (type(rule), rule.t, repr(sorted(own.items())), getattr(rule, "initial_alpha", None)),
            rule,
        )
    return list(kinds.values())
