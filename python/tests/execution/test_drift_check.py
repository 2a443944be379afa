"""Tests that a dry run reports the globals that differ after a fresh import, and those that it
cannot compare.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hyperflock import Client, DryRun
from hyperflock._bundle.bundle import bundle_objective
from hyperflock._bundle.own_modules import OwnModules
from hyperflock._execution.drift_check import compare
from hyperflock._execution.value_snapshot import snapshot
from imported import ImportedFiles
from patience import LIMIT_S

Tried = Callable[..., DryRun]


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ImportedFiles]:
    monkeypatch.syspath_prepend(str(tmp_path))
    files = ImportedFiles(tmp_path)
    yield files
    files.forget()


@pytest.fixture
def tried(client: Client) -> Tried:
    def dry_run(objective: Any) -> DryRun:
        run = client.grid(objective, {"x": [1]}, dry_run=True)
        assert isinstance(run, DryRun)
        assert run.error is None, run.error.traceback
        return run

    return dry_run


# For each name, the code that changes it in this process, and a part of the report about it.
CHANGES = {
    "ARGS": ("ARGS.epochs = 100", "'ARGS.epochs', which is 100 in this process, but missing where"),
    "CFG": ("CFG.rate = 0.5", "'CFG.rate', which is 0.5 in this process, but 0.1 where"),
    "Config": ("Config.epochs = 9", "'Config.epochs', which is 9 in this process, but 10 where"),
    "step": ("step.size = 2", "'step.size', which is 2 in this process, but 1 where"),
    "kept": ("kept.__defaults__[0].append(1)", "'kept(seen)', which is a list of 1 in this"),
    "P": ("P.x = 3", "'P.x', which is 3 in this process, but 1 where"),
    "MODES": ("MODES.append(Mode.slow)", "'MODES', which is a list of 2 in this process, but a"),
    "S": ("S.a = 2", "'S.a', which is 2 in this process, but 1 where"),
    "T": ("T['a'] = 2", "'T['a']', which is 2 in this process, but 1 where"),
    "LOSS": ("LOSS = two", "'LOSS', which is the function two in this process, but the function"),
    "WEIGHTS": ("WEIGHTS[1] = 1", "'WEIGHTS', which is an array of 3 float64 (SHA-256 "),
    "STAMPED": ("STAMPED['rate'] = 2", "'STAMPED['rate']', which is 2 in this process, but 1"),
    "ACT": ("ACT = math.cos", "'ACT', which is math.cos in this process, but math.sin where"),
    "EPOCHS": (
        "EPOCHS = 100",
        "'EPOCHS', which is 100 in this process, but 10 where a device imports 'fresh",
    ),
    "NUMBER": ("NUMBER = 5", "'NUMBER', which is 5 in this process, but 1 where a device imports"),
    "CODE": ("CODE = re.compile('b')", "which is re.compile('b') in this process, but re.comp"),
}
TEXT = """
import argparse, dataclasses, enum, functools, math, os, re, sys, time
import numpy as np

ARGS = argparse.Namespace()
class Config:
    epochs = 10
    def __init__(self):
        self.rate = 0.1
CFG = Config()
def step():
    return step.size
step.size = 1
def kept(seen=[]):
    return len(seen)
@dataclasses.dataclass
class Point:
    x: int = 1
P = Point()
Mode = enum.Enum("Mode", "fast slow")
MODES = [Mode.fast]
class Slots:
    __slots__ = ("a", "b")
S = Slots()
S.a = 1
class Table(dict):
    pass
T = Table(a=1)
def one(): return 1
def two(): return 2
LOSS = one
WEIGHTS = np.zeros(3)
STAMPED = {"rate": 1, "of": (1, 2), "letters": list("ab")}
ACT = math.sin
EPOCHS = int(os.environ.get("EPOCHS", "10"))
NUMBER = int((*sys.argv, "1")[1])
CODE = re.compile("a")
"""


def _there(module: Any, names: Any) -> dict[str, dict[str, Any]]:
    """Return what a dry run would report about the globals in their present state."""
    values = {name: snapshot(vars(module)[name], {"fresh"}) for name in names}
    return {"fresh": json.loads(json.dumps(values))}


def test_values_that_differ(imported: ImportedFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["train.py", "1"])
    module = imported(TEXT, f"0 * len(({', '.join(CHANGES)},))")
    there = _there(module, ["objective", "Mode", "two", *CHANGES])
    for change, _ in CHANGES.values():
        exec(change, module.__dict__)
    reached = bundle_objective(module.objective).reached
    assert reached is not None
    found = compare(reached, there)
    for name, (_, shown) in CHANGES.items():
        assert [one for one in found.differ if f"'{name}" in one and shown in one], name
    assert (len(found.differ), found.not_compared) == (len(CHANGES), ())


def test_dry_run_shows_a_value_that_did_not_travel(
    imported: ImportedFiles, tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = imported("RATE = 0.1", "RATE")
    monkeypatch.setattr(OwnModules, "settle", lambda *arguments: None)
    module.RATE = 0.5
    run = tried(module.objective)
    (sentence,) = run.differ
    assert sentence == (
        "'objective' uses 'RATE', which is 0.5 in this process, but 0.1 where a device imports "
        "'fresh.py'"
    )
    assert f"differs: {sentence}" in str(run).splitlines()


def test_changed_values_travel(
    imported: ImportedFiles, tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPOCHS", "100")
    monkeypatch.setattr(sys, "argv", ["train.py", "5"])
    module = imported(TEXT, f"0 * len(({', '.join(CHANGES)},))")
    for change, _ in CHANGES.values():
        exec(change, module.__dict__)
    run = tried(module.objective)
    assert (run.differ, run.not_compared) == ((), ())


SAME = """
import collections, dataclasses, enum, functools, io, logging, pathlib, random, re, threading
import types, typing
import numpy as np
from helper import RATE, act

class Mode(enum.Enum):
    fast = 1

@dataclasses.dataclass
class Config:
    width: int = 3
    mode: Mode = Mode.fast
    names: list = dataclasses.field(default_factory=list)
    @functools.cached_property
    def area(self):
        return self.width

class Node:
    count = 0
    table = {"a": [1]}
    def __init__(self):
        self.me = self
        self.of = object()
    @property
    def size(self): return 1
    @classmethod
    def make(cls, *, deep=(1, 2)): return cls()

Point = collections.namedtuple("Point", "x y")
@functools.lru_cache
def cached(n): return n
def plain(a, b=2, *, c="x"): return a
def tell(value=[1]): return value
tell.note = {"a": 1}

VALUES = [
    Config(), Config, Mode, Mode.fast, Point, cached, plain, tell, np.float32(2), np.sin, lambda: 1,
    np.array([np.nan]), float("nan"), {1, 2, "a"}, pathlib.PurePosixPath("a"), range(3), b"a", 1j,
    collections.defaultdict(list, a=[1]), collections.deque([1]), 10**5000,
    collections.Counter("a"),
    types.SimpleNamespace(a=1), functools.partial(plain, 1), "\\ud800", list(range(10_000)), len,
]
VALUES.append(VALUES)
TABLE = {"a": 1, "b": 2, Mode.fast: 3, None: 4, (1, "a"): 5}
LOGGER = logging.getLogger("a")
NODE = Node()
NAME = __name__
COUNT = 1
def count():
    global COUNT
    COUNT = COUNT or 2
"""
UNKNOWN = {
    "'LOGGER' of 'fresh.py' (of the type Logger)",
    "'NODE' of 'fresh.py' ('NODE.of' in it)",
    "'COUNT' of 'fresh.py' (the objective changes it)",
}


@pytest.mark.filterwarnings("ignore:each trial on a device")
def test_values_that_are_the_same_and_values_that_nobody_can_compare(
    imported: ImportedFiles, tried: Tried
) -> None:
    names = "VALUES, TABLE, LOGGER, NODE, NAME, Node, Point, RATE"
    module = imported(
        SAME,
        f"0 * len(({names}, tell(), plain(1), cached(1), act(1), count(), Config().area))",
        helper="RATE = 0.5\nOTHER = 1\ndef act(x, scale=-1.0):\n    return x * RATE\n",
    )
    module.TABLE = dict(reversed(module.TABLE.items()))
    assert module.VALUES[0].area == 3  # the object stores the value
    module.cached(1)
    run = tried(module.objective)
    assert run.differ == ()
    assert set(run.not_compared) == UNKNOWN
    assert f"not compared: {'; '.join(run.not_compared)}" in str(run).splitlines()


def test_globals_of_other_modules(imported: ImportedFiles, tried: Tried) -> None:
    module = imported(
        "import helper\nfrom helper import act\ndef made():\n    return lambda t: helper.depth()",
        "act() + helper.depth()",
        helper="SCALE = 2\nDEPTH = 1\ndef act():\n    return SCALE\ndef depth():\n    return DEPTH",
    )
    module.helper.SCALE = 5
    module.helper.DEPTH = 3
    assert tried(module.objective).value == 8.0
    assert tried(module.made()).value == 3.0


def test_registry_that_a_later_import_fills(imported: ImportedFiles, tried: Tried) -> None:
    module = imported(
        "import registry\ndef use():\n    import late\n    return registry.get('late')",
        "use()",
        registry="""
            KNOWN = dict()
            def register(function):
                KNOWN[function.__name__] = function
                return function
            def get(name):
                return KNOWN[name]()
            """,
        late="import registry\n@registry.register\ndef late():\n    return 1\n",
    )
    assert module.objective(None) == 1
    assert tried(module.objective).differ == ()


def test_script_below_its_guard(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import types\n"
        "CFG = types.SimpleNamespace(rate=1)\nNAME = __name__\n"
        "def objective(trial):\n    return CFG.rate + len(NAME)\n"
        "if __name__ == '__main__':\n"
        "    from hyperflock import Client\n"
        "    CFG.rate = 2\n"
        "    client = Client('http://127.0.0.1:9', 'token')\n"
        "    run = client.grid(objective, {'x': [1]}, dry_run=True)\n"
        "    print(run.value, run.differ)\n"
    )
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert ran.stdout == "10.0 ()\n", ran.stderr


def test_without_a_report_nothing_is_called_the_same(imported: ImportedFiles) -> None:
    """A browser reports no globals, so its run has no report."""
    reached = bundle_objective(imported("RATES = [0.1]", "RATES").objective).reached
    assert reached is not None
    found = compare(reached, {})
    assert found.differ == ()
    assert [one.partition(" (")[0] for one in found.not_compared] == [
        "'objective' of 'fresh.py'",
        "'RATES' of 'fresh.py'",
    ]


def test_snapshots() -> None:
    def same(one: Any, other: Any) -> bool:
        return bool(snapshot(one, ()) == json.loads(json.dumps(snapshot(other, ()))))

    assert same({"a": 1, "b": [2]}, {"b": [2], "a": 1})
    assert same(float("nan"), -float("nan"))
    assert snapshot([object(), 1], ()) == {"": "a list of 2", "[0]": None, "[1]": "1"}
    assert snapshot(np.array([object()]), ()) == {"": None}
    assert not same(list(range(100_000)), [*range(99_999), 0])
    assert not same("a" * 1000, "a" * 999 + "b")
    assert not same(0.0, -0.0)
    assert not same(1, True)
    assert not same(np.zeros(3), np.zeros(4))
    assert not same(np.zeros(3), np.zeros(3, np.float32))
    assert not same({"a": 1}, {"a": 1, "b": 1})
    assert not same({1: "a"}, {"1": "a"})
    assert not same(b"a", bytearray(b"a"))
    deep: list[Any] = []
    for _ in range(50):
        deep = [deep, deep]
    assert None in snapshot(deep, ()).values()
