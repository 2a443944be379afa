"""Tests objectives that are not plain functions of a file: each kind runs from its bundle alone."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import linecache
import math
import operator
import os
import re
import subprocess
import sys
import textwrap
import types
import zipfile
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from datetime import datetime, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest
from hyperflock import BundleError
from hyperflock._bundle.bundle import Bundle, bundle_objective, bundle_script
from hyperflock._bundle.capture import Capture
from hyperflock._execution.dry_run import DryRun, dry_run
from hyperflock._model.data import prepare
from hyperflock._transport import background_loop as _loop
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import LIMIT_S
from travelling_helper import Holder, first_of, holding, shared_and_cyclic, using

HERE = Path(__file__).parents[1] / "support"


def run(bundle: Bundle, data: dict[str, Any] | None = None, **params: Any) -> DryRun:
    trying = dry_run(
        bundle,
        prepare(data),
        params=params or {"x": 2.0},
        seed=1,
        runtime="chainer-7.8.1",
        time_limit_s=LIMIT_S,
        where="cpython",
    )
    return _loop.run(trying)


def text_of(bundle: Bundle, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(bundle.content)) as archive:
        return archive.read(name).decode()


def test_each_kind_of_objective_gives_the_same_value_from_its_bundle() -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "travelling.py")],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        cwd=HERE,
    )
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert len(values) == 21
    # The dry run calls a copy of the objective in another process, so it does not raise the count
    # of this process.
    assert values.pop("own count") == [1.0, 1.0]
    assert {name: there for name, (there, _) in values.items()} == {
        name: here for name, (_, here) in values.items()
    }


# ---- notebooks


class Notebook:
    """Runs cells as IPython does: in ``__main__``, with the text of each cell in `linecache`."""

    def __init__(self) -> None:
        self.module = types.ModuleType("__main__")

    def cell(self, text: str) -> None:
        text = textwrap.dedent(text)
        name = f"<ipython-input-{len(self.module.__dict__)}-{abs(hash(text)):x}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), self.module.__dict__)

    def __getitem__(self, name: str) -> Any:
        return vars(self.module)[name]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    made = Notebook()
    monkeypatch.setitem(sys.modules, "__main__", made.module)
    kept = dict(linecache.cache)
    yield made
    linecache.cache.clear()
    linecache.cache.update(kept)


def test_notebook_cell_travels_with_what_it_uses_and_nothing_else(notebook: Notebook) -> None:
    notebook.cell("import math\nimport numpy as np\nfrom pathlib import Path\nUNUSED = object()")
    notebook.cell("RATE = 0.5\nclass Unused:\n    pass")
    notebook.cell(
        """
        class Layer:
            def __init__(self, width):
                self.width = width
            def run(self, x):
                return scale(x) * self.width
        """
    )
    notebook.cell("def scale(x):\n    return x * RATE + math.pi")
    notebook.cell(
        """
        layers = [Layer(2), Layer(3)]
        def objective(trial):
            return sum(layer.run(trial.params["x"]) for layer in layers) + np.zeros(1)[0]
        """
    )
    bundle = bundle_objective(notebook["objective"])
    text = text_of(bundle, "hyperflock_main.py")
    assert (bundle.entry, bundle.files) == ("hyperflock_main:objective", ("hyperflock_main.py",))
    assert not [word for word in ("Unused", "UNUSED", "Path") if word in text]
    assert run(bundle).value == pytest.approx(5 * (1 + 3.141592653589793))


def test_redefined_cell_travels_as_it_is_now(notebook: Notebook) -> None:
    notebook.cell("def helper():\n    return 1")
    notebook.cell("def objective(trial):\n    return helper()")
    notebook.cell("def helper():\n    return 2")
    assert run(bundle_objective(notebook["objective"])).value == 2.0
    notebook.cell("RATE = 3\nhelper = lambda: RATE")
    assert run(bundle_objective(notebook["objective"])).value == 3.0


def test_notebook_uses_modules_of_its_folder(
    notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nb_tools.py").write_text("import nb_deeper\ndef f():\n    return nb_deeper.ONE\n")
    (tmp_path / "nb_deeper.py").write_text("ONE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    notebook.cell("import nb_tools\nfrom nb_tools import f as g")
    notebook.cell("def objective(trial):\n    import nb_deeper\n    return nb_tools.f() + g()")
    bundle = bundle_objective(notebook["objective"])
    assert bundle.files == ("hyperflock_main.py", "nb_deeper.py", "nb_tools.py")
    assert run(bundle).value == 2.0
    for name in ("nb_tools", "nb_deeper"):
        sys.modules.pop(name, None)


def test_notebook_that_asks_the_server_in_a_trial_is_refused(notebook: Notebook) -> None:
    notebook.cell("import hyperflock\ndef study():\n    return hyperflock.Client().study(1)")
    notebook.cell("def objective(trial):\n    return float(study().id)")
    with pytest.raises(
        BundleError, match=r"a cell, line 2: 'study' calls hyperflock\.Client"
    ) as caught:
        bundle_objective(notebook["objective"])
    assert caught.value.code == "cannot_bundle_not_in_trial"


def test_same_cells_give_the_same_bytes(notebook: Notebook) -> None:
    notebook.cell("KINDS = {'a', 'b', 'c', 'd'}\nW = {'x': [1.5], 'y': {2, 3}}")
    notebook.cell("def objective(trial):\n    return len(KINDS) + len(W)")
    assert bundle_objective(notebook["objective"]) == bundle_objective(notebook["objective"])


# ---- arrays and files


def test_modules_of_another_own_folder_travel_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib" / "own_lib").mkdir(parents=True)
    (tmp_path / "lib" / "own_lib" / "__init__.py").write_text("from .deeper import ONE\n")
    (tmp_path / "lib" / "own_lib" / "deeper.py").write_text("ONE = 1\n")
    (tmp_path / "train_own.py").write_text(
        "import own_lib\ndef objective(trial):\n    return own_lib.ONE\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    bundle = bundle_script(tmp_path / "train_own.py", "objective")
    assert bundle.files == ("own_lib/__init__.py", "own_lib/deeper.py", "train_own.py")
    assert run(bundle).value == 1.0


def test_small_array_travels_inside_and_a_large_one_beside_by_its_hash() -> None:
    small = bundle_objective(holding(np.arange(5)))
    assert [name for name in small.files if name.endswith(".npy")]
    assert small.attached == ()
    large = np.arange(700_000, dtype=np.float64)
    first = bundle_objective(holding(large))
    assert [item.ref.bytes for item in first.attached] == [large.nbytes + 128]
    assert len(first.content) < 20_000
    assert run(first).value == float(large.sum())
    # The code is different, but the array is the same and is not sent again.
    second = bundle_objective(first_of(large))
    assert first.sha256 != second.sha256
    assert first.attached[0].ref == second.attached[0].ref


def test_data_file_of_5_mb_travels_with_a_module_that_imports_relatively(tmp_path: Path) -> None:
    content = os.urandom(5_000_000)
    (tmp_path / "five.bin").write_bytes(content)
    files = {
        "__init__.py": "",
        "tools.py": """
            import hashlib

            def digest(path):
                with open(path, "rb") as file:
                    return int(hashlib.sha256(file.read()).hexdigest()[:12], 16)
        """,
        "train.py": """
            from .tools import digest

            def objective(trial):
                return digest(trial.data["five"])
        """,
    }
    (tmp_path / "pack").mkdir()
    for name, text in files.items():
        (tmp_path / "pack" / name).write_text(textwrap.dedent(text))
    sys.path.insert(0, str(tmp_path))
    try:
        import pack.train as train  # type: ignore[import-not-found]

        bundle = bundle_objective(train.objective)
    finally:
        sys.path.remove(str(tmp_path))
        for name in [n for n in sys.modules if n.split(".")[0] == "pack"]:
            del sys.modules[name]
    expected = float(int(hashlib.sha256(content).hexdigest()[:12], 16))
    assert run(bundle, {"five": tmp_path / "five.bin"}).value == expected


def test_shared_and_cyclic_values_stay_so() -> None:
    assert run(bundle_objective(shared_and_cyclic())).value == 3.0


# ---- values


def _again(value: Any, folder: Path | None = None) -> Any:
    """Return the value that an objective holds, after it was written as source and run again."""
    captured = Capture(wheels=frozenset()).take(made := using(value), made)
    module, _, name = captured.entry.partition(":")
    namespace: dict[str, Any] = {"__name__": module, "__file__": f"{folder}/{module}.py"}
    for file, content in captured.arrays.items():
        assert folder is not None
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes(content)
    exec(compile(captured.sources[f"{module}.py"], module, "exec"), namespace)
    return namespace[name](None)


_keys = st.none() | st.booleans() | st.integers() | st.text() | st.binary()
_atoms = _keys | st.floats(allow_nan=False) | st.complex_numbers(allow_nan=False)
_values = st.recursive(
    _atoms,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(_keys, inner, max_size=4)
        | st.sets(_keys, max_size=4)
        | st.frozensets(_keys, max_size=4)
        | inner.map(Holder)
    ),
    max_leaves=20,
)


def _plain(value: Any) -> Any:
    """Return a form of a value that differs for -0.0 and 0.0, and for 1 and True, but does not
    depend on the order of sets.
    """
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(_plain, value)]
    if isinstance(value, set | frozenset):
        return [type(value).__name__, *sorted(repr(_plain(item)) for item in value)]
    if isinstance(value, dict):
        return [(_plain(key), _plain(item)) for key, item in value.items()]
    return ["Holder", _plain(value.state)] if isinstance(value, Holder) else repr(value)


@settings(max_examples=300)
@given(value=_values)
def test_values_come_back_as_they_were(value: Any) -> None:
    assert _plain(_again(value)) == _plain(value)


@pytest.mark.parametrize(
    "value",
    [
        *(math.inf, -math.inf, 1e-320, range(3), slice(1, None), Fraction(1, 3), Decimal("0.10")),
        *(datetime(2026, 1, 2, tzinfo=timezone.utc), OrderedDict(a=1), deque([1, 2], maxlen=3)),
        *(
            np.float32(0.1),
            np.int64(-3),
            np.bool_(True),
            np.dtype("<f4"),
            np.datetime64("2026-01-02"),
        ),
        *(np.add, math.sqrt, len, str.upper, [1].__len__, re.compile("a+"), "a".join),
        *(functools.partial(max, 1), operator.itemgetter(1), types.SimpleNamespace(a=[1])),
        *(bytearray(b"12"), NotImplemented, ..., int, dict[str, int], PurePosixPath("a/b")),
    ],
    ids=repr,
)
def test_values_of_the_standard_library_and_numpy_come_back(value: Any) -> None:
    again = _again(value)
    assert type(again) is type(value)
    assert repr(again).partition(" at 0x")[0] == repr(value).partition(" at 0x")[0]


def test_defaultdict_and_array_like_values_keep_their_working(tmp_path: Path) -> None:
    counts = defaultdict(list, a=[1])
    again = _again(counts)
    assert again["new"] == []
    assert again["a"] == [1]
    masked = np.ma.masked_array([1.0, 2.0], mask=[True, False])
    assert repr(_again(masked, tmp_path)) == repr(masked)
    generator = np.random.default_rng(3)
    assert _again(generator, tmp_path).random() == np.random.default_rng(3).random()
