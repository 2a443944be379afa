"""Globals that a device, which imports the file anew, would see otherwise than this process."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hyperflock import BundleError, Client, DryRun
from hyperflock._bundle.bundle import Bundle, bundle_objective
from hyperflock._bundle.checks import drift_check as _fresh
from hyperflock._bundle.checks.value_snapshot import describe, differences
from hyperflock._execution import dry_run as _dry_run
from patience import LIMIT_S

Imported = Callable[..., Any]


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Imported]:
    """Write files, and import the one of the objective."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(text: str, returned: str = "0", **others: str) -> Any:
        for name, other in others.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(other))
        objective = f"\ndef objective(trial):\n    return {returned}\n"
        (tmp_path / "fresh.py").write_text(textwrap.dedent(text) + objective)
        importlib.invalidate_caches()
        return importlib.import_module("fresh")

    yield write
    for name in set(sys.modules) - before:
        file = str(getattr(sys.modules[name], "__file__", None) or "")
        if file.startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give a list that grows by one with each process that is started."""
    started: list[int] = []
    start = _dry_run._start

    def counted(*arguments: Any, **options: Any) -> Any:
        started.append(1)
        return start(*arguments, **options)

    monkeypatch.setattr(_dry_run, "_start", counted)
    return started


def _warned(objective: Any, *, asked: bool = False) -> str:
    with pytest.warns(UserWarning, match="where a device imports") as caught:
        bundle_objective(objective, asked=asked)
    assert (len(caught), caught[0].filename) == (1, __file__)
    assert "\n" not in str(caught[0].message)
    return str(caught[0].message)


CONFIG = "class Config:\n    epochs = 10\n    def __init__(self):\n        self.rate = 0.1\n"


@pytest.mark.parametrize(
    ("text", "returned", "change", "shown"),
    [
        (
            "import argparse\nARGS = argparse.Namespace(epochs=1)",
            "ARGS.epochs",
            "ARGS.epochs = 100",
            "'ARGS', whose 'ARGS.epochs' is 100 by now, but 1 where a device imports 'fresh.py'",
        ),
        (
            "import argparse\nARGS = argparse.Namespace()",
            "ARGS.epochs",
            "ARGS.epochs = 100",
            "'ARGS', whose 'ARGS.epochs' is 100 by now, but missing where",
        ),
        (
            CONFIG + "CFG = Config()",
            "CFG.rate",
            "CFG.rate = 0.5",
            "'CFG', whose 'CFG.rate' is 0.5 by now, but 0.1 where",
        ),
        (
            CONFIG,
            "Config.epochs",
            "Config.epochs = 100",
            "'Config', whose 'Config.epochs' is 100 by now, but 10 where",
        ),
        (
            CONFIG + "CFG = Config()",
            "CFG.rate",
            "type(CFG).epochs = 100\nCFG.epochs = 10",
            "'CFG', whose 'CFG.epochs' is 10 by now, but missing where",
        ),
        (
            "def step():\n    return step.size\nstep.size = 1",
            "step()",
            "step.size = 2",
            "'step', whose 'step.size' is 2 by now, but 1 where",
        ),
        (
            "def step(seen=[]):\n    seen.append(1)\n    return len(seen)",
            "step()",
            "step()",
            "'step', whose 'step(seen)' is [1] by now, but [] where",
        ),
        (
            "import dataclasses\n@dataclasses.dataclass\nclass Point:\n    x: int = 1\nP = Point()",
            "P.x",
            "P.x = 3",
            "'P', whose 'P.x' is 3 by now, but 1 where",
        ),
        (
            "import enum\nMode = enum.Enum('Mode', 'fast slow')\nMODES = [Mode.fast]",
            "MODES",
            "MODES.append(Mode.slow)",
            "'MODES', which is a list of 2 by now, but a list of 1 where",
        ),
        (
            "class Slots:\n    __slots__ = ('a',)\nS = Slots()\nS.a = 1",
            "S.a",
            "S.a = 2",
            "'S', whose 'S.a' is 2 by now, but 1 where",
        ),
        (
            "class Table(dict):\n    pass\nT = Table(a=1)",
            "T['a']",
            "T['a'] = 2",
            "'T', whose 'T['a']' is 2 by now, but 1 where",
        ),
        (
            "def one(): return 1\ndef two(): return 2\nLOSS = one",
            "LOSS()",
            "LOSS = two",
            "'LOSS', which is the function two by now, but the function one where",
        ),
    ],
)
def test_what_was_changed_since(
    text: str, returned: str, change: str, shown: str, imported: Imported
) -> None:
    module = imported(text, returned)
    bundle_objective(module.objective)  # as the file has it
    exec(change, module.__dict__)
    sentence = _warned(module.objective)
    assert shown in sentence
    assert sentence.endswith(
        ", without this process's changes, environment and arguments; write the value into the "
        "file, send it by data=... or make it a parameter of the space"
    )


def test_expression_of_numbers_is_a_literal(imported: Imported, looks: list[int]) -> None:
    module = imported("BATCH = 2 * 32", "BATCH")
    bundle_objective(module.objective)
    module.BATCH = 256
    with pytest.raises(BundleError, match="'BATCH', which is 256 by now, but 64 in"):
        bundle_objective(module.objective)
    assert looks == []


@pytest.mark.parametrize(
    ("text", "changed", "shown"),
    [
        ("VALUE = int(os.environ.get('EPOCHS', '10'))", "EPOCHS", "is 100 by now, but 10 where"),
        ("VALUE = os.environ.get('HOME')", "HOME", "is '100' by now, but '/home/pyodide' where"),
        ("def _of(n=os.getenv('EPOCHS')):\n    return n\nVALUE = _of", "EPOCHS", "'VALUE(n)'"),
    ],
)
def test_environment(
    text: str, changed: str, shown: str, imported: Imported, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(changed, "100")
    assert shown in _warned(imported(f"import os\n{text}", "VALUE").objective)


def test_arguments(imported: Imported, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["train.py", "5"])
    module = imported("import sys\nEPOCHS = int((*sys.argv, '1')[1])", "EPOCHS")
    assert "is 5 by now, but 1 where" in _warned(module.objective)


def test_globals_of_other_modules(imported: Imported) -> None:
    module = imported(
        "import helper\nfrom helper import act",
        "act() + helper.depth()",
        helper="SCALE = 2\nDEPTH = 1\ndef act():\n    return SCALE\ndef depth():\n    return DEPTH",
    )
    bundle_objective(module.objective)
    module.helper.SCALE = 5
    sentence = _warned(module.objective)
    assert "'act' uses 'SCALE', which is 5 by now, but 2" in sentence
    assert "imports 'helper.py'" in sentence
    module.helper.SCALE = 2
    module.helper.DEPTH = 5
    assert "'depth' uses 'DEPTH'" in _warned(module.objective)


def test_globals_of_a_module_that_a_captured_objective_uses(imported: Imported) -> None:
    text = "import helper\nRATES = [n for n in 'a']\n"
    made = "def make():\n    return lambda trial: helper.act(RATES)\n"
    module = imported(text + made, helper="SCALE = 2\ndef act(rates):\n    return SCALE\n")
    bundle_objective(module.make())
    module.RATES.append("b")
    assert "'RATES', which is ['a', 'b'] by now, but ['a'] where" in _warned(module.make())
    module.RATES.pop()
    module.helper.SCALE = 5
    assert "'act' uses 'SCALE', which is 5 by now, but 2 where" in _warned(module.make())


def test_script_below_its_guard(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import types\n"
        "CFG = types.SimpleNamespace(rate=1)\n"
        "def objective(trial):\n    return CFG.rate\n"
        "if __name__ == '__main__':\n"
        "    from hyperflock._bundle.bundle import bundle_objective\n"
        "    print(bundle_objective(objective).entry)\n"
        "    CFG.rate = 2\n"
        "    bundle_objective(objective)\n"
    )
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert ran.stdout == "train:objective\n", ran.stderr
    assert (
        "'CFG', whose 'CFG.rate' is 2 by now, but 1 where a device imports 'train.py'" in ran.stderr
    )


SAME = """
import collections, dataclasses, enum, functools, io, logging, pathlib, random, re, threading
import types, typing
import numpy as np

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
        self.lock = threading.Lock()
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
    Config(), Node(), Node, Config, Mode, Mode.fast, Point, Point(1, 2), cached, plain, tell,
    np.arange(3.0), np.array([np.nan]), np.float32(2), np.array([object()]), re.compile("a+"),
    logging.getLogger(__name__), lambda: 1, logging, object(), float("nan"), {1, 2, "a"},
    pathlib.PurePosixPath("a"), range(3), collections.defaultdict(list, a=[1]), types,
    collections.deque([1]), b"a", 1j, 10**5000, types.SimpleNamespace(a=1), typing.Any,
    random.Random(3), io.StringIO("a"), collections.Counter("aab"), "\\ud800",
]
VALUES.append(VALUES)
TABLE = {"a": 1, "b": 2, Mode.fast: 3, None: 4}
LOCK = threading.Lock()
LOGGER = logging.getLogger("a")
PATTERN = re.compile("a")
FUNCTION = lambda: 3
CONFIG = Config()
MODE = Mode.fast
WEIGHTS = np.linspace(0, 1, 7)
PATH = pathlib.Path("not") / "there"
"""


def test_no_false_alarm(imported: Imported, looks: list[int]) -> None:
    names = "VALUES, TABLE, LOCK, LOGGER, PATTERN, FUNCTION, CONFIG, MODE, WEIGHTS, PATH, Node"
    module = imported(SAME, f"({names}, tell(), plain(1), cached(1), Config().area)")
    module.TABLE = dict(reversed(module.TABLE.items()))
    assert module.CONFIG.area == 3  # kept in the object
    module.cached(1)
    bundle_objective(module.objective)
    assert len(looks) == 1


def test_no_false_alarm_of_what_a_library_s_class_holds(imported: Imported) -> None:
    text = "import logging\nclass Net(logging.Handler):\n    pass\nNET = Net()\n"
    module = imported(text, "NET")
    module.NET.setLevel("ERROR")  # as a link's parameters are made by its first call
    bundle_objective(module.objective)


def test_common_objective_starts_no_process(imported: Imported, looks: list[int]) -> None:
    module = imported(
        """
        import dataclasses, enum, math
        import numpy as np
        from collections import namedtuple
        from math import pi
        from helper import RATE, act
        EPOCHS = 60 * 60
        NAMES = ["a", "b"]
        Point = namedtuple("Point", "x y")
        class Mode(enum.Enum):
            fast = 1
        @dataclasses.dataclass
        class Config:
            width: int = EPOCHS
            rate: float = 0.1
            def area(self, times=1, *, of=EPOCHS):
                return self.width
        def run(epochs=EPOCHS, names=("a",), table={}):
            return epochs
        """,
        "(run(), Config().area(), np.ones(3), pi, RATE, act(1), NAMES, Point(1, 2), Mode.fast)",
        helper="RATE = 0.5\ndef act(x, scale=-1.0):\n    return x * RATE\n",
    )
    bundle_objective(module.objective)
    assert looks == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import time\nSTART = time.time()", "START"),
        ("import random\nDRAWN = random.random()", "DRAWN"),
        ("import numpy as np\nDRAWN = float(np.random.rand())", "DRAWN"),
        ("import tempfile\nFOLDER = tempfile.mkdtemp()", "FOLDER"),
        ("import os\nPID = [os.getpid()]", "PID"),
        ("import os\nFOLDER = os.path.dirname(__file__)", "FOLDER"),
    ],
)
def test_what_each_import_makes_anew(
    text: str, name: str, imported: Imported, looks: list[int]
) -> None:
    module = imported(text, name)
    assert f"uses '{name}', wh" in _warned(module.objective)
    assert len(looks) == 1


def test_part_that_was_changed_beside_one_that_is_made_anew(imported: Imported) -> None:
    module = imported("import time\nCFG = {'rate': 1, 'at': time.time()}", "CFG")
    module.CFG["rate"] = 2
    assert "'CFG['rate']' is 2 by now, but 1" in _warned(module.objective)


def test_array_that_was_changed_is_warned_of(imported: Imported) -> None:
    module = imported("import numpy as np\nWEIGHTS = np.zeros(3)", "WEIGHTS")
    module.WEIGHTS[1] = 1
    assert "uses 'WEIGHTS', which" in _warned(module.objective)


def test_object_that_trials_fill_is_warned_of(imported: Imported) -> None:
    module = imported(
        """
        class Store:
            data = None
            def load(self):
                self.data = self.data or [1]
                self.more = 1
                return self.data
        STORE = Store()
        """,
        "STORE.load()",
    )
    bundle_objective(module.objective)
    module.objective(None)
    assert "uses 'STORE', whose 'STORE." in _warned(module.objective)


def test_registry_that_a_later_import_fills(imported: Imported) -> None:
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
    bundle_objective(module.objective)


@pytest.mark.parametrize(
    ("text", "returned"),
    [
        ("SCALE = 1\ndef more():\n    global SCALE\n    SCALE += 1\n    return SCALE", "more()"),
        ("import random\nSCALE = random.Random(3)", "SCALE.random()"),
        ("import numpy as np\nSCALE = np.random.default_rng(3)", "SCALE.random()"),
        ("import numpy as np\nSCALE = np.random.RandomState(3)", "SCALE.rand()"),
    ],
)
def test_what_goes_from_trial_to_trial_is_warned_of(
    text: str, returned: str, imported: Imported, looks: list[int]
) -> None:
    module = imported(text, returned)
    module.objective(None)
    with pytest.warns(UserWarning, match="each trial begins anew with 'SCALE' of") as caught:
        bundle_objective(module.objective)
    assert (len(caught), looks) == (1, [])


def test_cache_is_not_warned_of(imported: Imported, looks: list[int]) -> None:
    module = imported(
        "DATA = None\ndef load():\n    global DATA\n    DATA = DATA or [1]\n    return DATA",
        "load()",
    )
    module.objective(None)
    bundle_objective(module.objective)
    assert looks == []


@pytest.mark.parametrize("lost", ["os.environ['EPOCHS']", "os.stat(os.environ['HOME'] + '/a')"])
def test_bundle_that_cannot_be_imported_is_not_judged(
    lost: str, imported: Imported, looks: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EPOCHS", "100")
    module = imported(f"import os\n{lost}\nVALUE = [os.environ.get('EPOCHS')]", "VALUE")
    bundle_objective(module.objective)
    assert looks == [1]


def test_thread_that_an_import_begins_is_not_waited_for(
    imported: Imported, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPOCHS", "100")
    begins = "threading.Thread(target=lambda: EPOCHS or time.sleep(6000)).start()"
    module = imported(
        f"import os, threading, time\nEPOCHS = os.getenv('EPOCHS')\n{begins}", "EPOCHS"
    )
    began = time.monotonic()
    assert "is '100' by now, but None where" in _warned(module.objective)
    assert time.monotonic() - began < LIMIT_S


def test_names_of_a_script_s_module_are_the_same(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import warnings\nwarnings.simplefilter('error')\nNAME = __name__\n"
        "def objective(trial):\n    return NAME\n"
        "if __name__ == '__main__':\n"
        "    from hyperflock._bundle.bundle import bundle_objective\n"
        "    print(bundle_objective(objective).entry)\n"
    )
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert ran.stdout == "train:objective\n", ran.stderr


def test_limit_of_time(imported: Imported, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPOCHS", "100")
    monkeypatch.setattr(_fresh, "LIMIT_S", 1.0)
    module = imported(
        "import os, time\nEPOCHS = os.getenv('EPOCHS')\nif not EPOCHS:\n    time.sleep(6000)",
        "EPOCHS",
    )
    begun = time.monotonic()
    bundle_objective(module.objective)
    assert time.monotonic() - begun < LIMIT_S


def test_interrupt_ends_the_other_process(
    imported: Imported, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    start = _dry_run._start

    def interrupted(*arguments: Any, **options: Any) -> Any:
        made.append(start(*arguments, **options))
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        return made[0]

    monkeypatch.setenv("EPOCHS", "100")
    monkeypatch.setattr(_dry_run, "_start", interrupted)
    module = imported(
        "import os, time\nEPOCHS = os.getenv('EPOCHS')\nif not EPOCHS:\n    time.sleep(6000)",
        "EPOCHS",
    )
    with pytest.raises(KeyboardInterrupt):
        bundle_objective(module.objective)
    assert made[0].returncode is not None


def test_bundle_is_the_same_with_the_check(imported: Imported) -> None:
    module = imported("VALUES = [n for n in range(3)]", "VALUES")
    bundle: Bundle = bundle_objective(module.objective)
    assert bundle.files == ("fresh.py",)


def test_submit_looks_once_and_a_dry_run_too(
    client: Client, imported: Imported, looks: list[int]
) -> None:
    module = imported("VALUES = [n for n in range(3)]", "len(VALUES)")
    run = client.grid(module.objective, {"x": [1]}, dry_run=True)
    assert isinstance(run, DryRun)
    assert (run.value, len(looks)) == (3.0, 2)  # the second is the dry run itself


def test_objective_of_optuna(imported: Imported, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPOCHS", "5")
    text = "import os\nimport optuna\nEPOCHS = [os.getenv('EPOCHS'), optuna.__version__]"
    module = imported(text, "EPOCHS")
    assert "'EPOCHS[0]' is '5' by now, but None where" in _warned(module.objective, asked=True)


def test_descriptions() -> None:
    def same(one: Any, other: Any) -> bool:
        told = json.loads(json.dumps(describe(other, frozenset())))
        return not list(differences(describe(one, frozenset()), told))

    assert same({"a": 1, "b": [2]}, {"b": [2], "a": 1})
    assert same(float("nan"), -float("nan"))
    assert same(np.array([np.nan, 1]), np.array([-np.nan, 1]))
    assert same(object(), 3)  # unknown is like everything
    assert same([object(), 1], [object(), 1])
    assert same(list(range(100_000)), list(range(100_001)))  # too many to look into
    assert not same([object(), 1], [object(), 2])
    assert not same(0.0, -0.0)
    assert not same(1, True)
    assert not same(np.zeros(3), np.zeros(4))
    assert not same(np.zeros(3), np.zeros(3, np.float32))
    assert not same({"a": 1}, {"a": 1, "b": 1})
    assert not same(list(range(1000)), [*range(999), 0])
    assert not same({1: "a"}, {"1": "a"})
    deep: list[Any] = []
    for _ in range(50):
        deep = [deep, deep]
    assert same(deep, [*deep])


def test_no_warning_of_an_ordinary_objective(imported: Imported) -> None:
    with warnings.catch_warnings(record=True) as caught:
        bundle_objective(imported("RATE = 0.1", "RATE").objective)
    assert caught == []
