"""Finds state of a Chainer trainer that its snapshot does not contain.

    why = unsaved_state(trainer)     # "the extension 'watch' changes 'seen'", or None

A trainer's snapshot has the model, optimizers, iterators and the extensions that serialize
themselves. An extension that a researcher wrote may keep more, in its attributes or in variables
around it. A trial that continued without it would end with another result, so such a trainer is not
saved by itself. The code is only read, and never run. What a data set, an iterator or a function
does beyond this cannot be seen. Only the thread that runs the objective uses this module.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator, Set
from typing import Any

# Classes of these packages are known: their objects have no state, or serialize it.
_KNOWN = ("chainer", "hyperflock", "builtins")
# Classes of Chainer with state and without `serialize`, in at least one version.
_WITHOUT_SERIALIZE = (
    "EarlyStoppingTrigger",
    "BestValueTrigger",
    "MinValueTrigger",
    "MaxValueTrigger",
    "OnceTrigger",
)
_MUTATORS = frozenset(
    (
        *("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"),
        *("add", "update", "discard", "setdefault", "popitem"),
    )
)


def unsaved_state(trainer: Any) -> str | None:
    """Return why a snapshot of this trainer is not its whole state; None if it seems to be."""
    for name, part in _parts(trainer):
        why = _why(part)
        if why is not None:
            return f"{name} {why}"
    return None


def _parts(trainer: Any) -> Iterator[tuple[str, Any]]:
    updater = trainer.updater
    yield "the updater", updater
    for name, iterator in getattr(updater, "_iterators", {}).items():
        yield f"the iterator '{name}'", iterator
    yield "the stop trigger", trainer.stop_trigger
    for name, entry in trainer._extensions.items():
        yield f"the extension '{name}'", entry.extension
        yield f"the trigger of the extension '{name}'", entry.trigger


def _why(part: Any) -> str | None:
    if isinstance(part, types.MethodType):
        return _why(part.__self__) or _why(part.__func__)
    if isinstance(part, types.FunctionType):
        return _why_function(part)
    cls = type(part)
    if cls.__name__ in _WITHOUT_SERIALIZE and not hasattr(part, "serialize"):
        return f"is a {cls.__name__}, which is not saved in this version of Chainer"
    own = [base for base in cls.__mro__ if base.__module__.partition(".")[0] not in _KNOWN]
    if not own or any("serialize" in vars(base) for base in own):
        return None
    if hasattr(part, "next") and hasattr(part, "epoch_detail") and not _inherits_serialize(cls):
        return f"is a {cls.__name__}, which has no serialize()"
    held = {name for name, value in vars(part).items() if _is_container(value)}
    for base in own:
        for name, member in vars(base).items():
            if not isinstance(member, types.FunctionType) or name in ("__init__", "initialize"):
                continue
            why = _why_function(member, held)
            if why is not None:
                return why
    return None


def _inherits_serialize(cls: type) -> bool:
    """Return whether an iterator's class has a `serialize` that is not the empty one of Chainer."""
    found = getattr(cls, "serialize", None)
    return found is not None and found.__module__ != "chainer.dataset.iterator"


def _why_function(function: types.FunctionType, held: Set[str] = frozenset()) -> str | None:
    """Return what a function changes outside of itself. ``held`` are its object's containers."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=False))
    reached = set(held)
    for name in {*code.co_names, *code.co_freevars}:
        value = function.__globals__.get(name)
        if name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:  # the variable has no value yet
                continue
        if _is_container(value):
            reached.add(name)
    steps = list(dis.get_instructions(code))
    for index, step in enumerate(steps):
        if step.opname in ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL"):
            return f"sets '{step.argval}'"
        if step.opname == "STORE_DEREF" and step.argval in code.co_freevars:
            return f"sets '{step.argval}'"
        changed = _changed_by(steps, index, reached)
        if changed in reached:
            return f"changes '{changed}'"
    return None


def _changed_by(steps: list[dis.Instruction], index: int, reached: set[str]) -> object:
    """Return the name of the container that an instruction changes; None if it changes none, or one
    that has no name.
    """
    step = steps[index]
    if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and step.argval in _MUTATORS:
        return steps[index - 1].argval
    keys = {"STORE_SUBSCR": 1, "DELETE_SUBSCR": 1, "STORE_SLICE": 2}.get(step.opname)
    if keys is None:
        return None
    # The keys are above the container on the stack, so the instructions that push them are skipped.
    pushed = 0
    for before in reversed(steps[:index]):
        if pushed == keys:
            return before.argval
        if before.opname.startswith(("SWAP", "COPY", "ROT", "DUP")):
            # An assignment such as += loads the container before it reads the old value.
            found = [one.argval for one in steps[:index] if one.argval in reached]
            return found[-1] if found else None
        pushed += dis.stack_effect(before.opcode, before.arg, jump=False)
    return None


def _is_container(value: object) -> bool:
    return isinstance(value, list | dict | set | bytearray)
