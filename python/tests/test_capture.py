"""What is no plain function of a file travels as text: each kind is run from its bundle alone."""

from __future__ import annotations

import hashlib
import io
import json
import linecache
import os
import subprocess
import sys
import textwrap
import types
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hyperflock._bundle import Bundle, bundle_objective, bundle_script
from hyperflock._data import prepare
from hyperflock._dry_run import DryRun, dry_run
from travelling_helper import first_of, holding, shared_and_cyclic

HERE = Path(__file__).parent


def run(bundle: Bundle, data: dict[str, Any] | None = None, **params: Any) -> DryRun:
    return dry_run(
        bundle,
        prepare(data),
        params=params or {"x": 2.0},
        seed=1,
        chainer="7.8.1",
        time_limit_s=60,
        where="cpython",
    )


def text_of(bundle: Bundle, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(bundle.content)) as archive:
        return archive.read(name).decode()


def test_each_kind_of_objective_gives_the_same_value_from_its_bundle() -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "travelling.py")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=HERE,
    )
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert len(values) == 19
    # The objective's own call there came first, so the one here counts from where it stood.
    assert values.pop("own count") == [1.0, 1.0]
    assert {name: there for name, (there, _) in values.items()} == {
        name: here for name, (_, here) in values.items()
    }


# ---- notebooks


class Notebook:
    """Cells as IPython runs them: in ``__main__``, each with its text kept by `linecache`."""

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
    # Other code, same array: what was sent once is not sent again.
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
