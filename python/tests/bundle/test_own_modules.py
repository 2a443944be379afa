"""Tests that the globals of imported files have on a device the same values and identities as in
the researcher's process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hyperflock import BundleError, Client, DryRun
from hyperflock._bundle.bundle import bundle_objective, bundle_script
from imported import ImportedFiles

Tried = Callable[..., float]


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ImportedFiles]:
    monkeypatch.syspath_prepend(str(tmp_path))
    files = ImportedFiles(tmp_path)
    yield files
    files.forget()


@pytest.fixture
def tried(client: Client) -> Tried:
    """Return a function that runs an objective from its bundle, checks that a call in this process
    gives the same value, and returns the value.

    The dry run comes first, so that the call in this process does not change the bundled values.
    """

    def dry_run(objective: Any) -> float:
        run = client.grid(objective, {"x": [1]}, dry_run=True)
        assert isinstance(run, DryRun)
        assert run.error is None, run.error.traceback
        assert run.differ == ()
        assert run.value == float(objective(None))
        return run.value

    return dry_run


@pytest.mark.parametrize(
    ("text", "change", "returned"),
    [
        ("RATE = 0.1", "RATE = 0.5", "RATE"),
        ("RATE: dict = {}", "RATE['a'] = 1", "RATE['a']"),
        ("", "RATE = 1", "RATE"),
        ("if __name__ == '__main__':\n    RATE = 1", "RATE = 2", "RATE"),
        ("import os\nN = int(os.environ.get('RATE', '1'))\ndef f(n=N): return n", "", "f()"),
        ("import os\nN = int(os.environ.get('RATE', '1'))\nclass C:\n    n = N", "", "C.n"),
        ("import os\nN = [int(os.environ.get('RATE', '1'))]\nN.append(2)", "", "sum(N)"),
        ("import os\nA, B = os.environ.get('RATE', '1'), 2", "", "int(A) + B"),
        ("class C:\n    class train:\n        rate = 1", "C.train.rate = 3", "C.train.rate"),
        ("class C:\n    def f(self): return 1\ndef g(self): return 2", "C.f = g", "C().f()"),
        ("N = 1\ndef f(n=N): return n", "N = 5", "f() + N"),
        ("N = int('3')\ndef f(n=N): return n", "N = 5", "f() + N"),
        ("def f(): return 1\ndef g(): return 2\nF = f", "F = g", "F()"),
        ("def f(): return f.n\nf.n = 1", "f.n = 2", "f()"),
        ("SEEN = set(range(3))", "SEEN.discard(0)", "len(SEEN)"),
        ("import numpy as np\nX = np.zeros(3)", "X += 2", "X.sum()"),
        ("from collections import deque\nQ = deque([1])", "Q.append(5)", "Q[-1]"),
        ("from collections import OrderedDict\nQ = OrderedDict(a=1)", "Q['b'] = 5", "Q['b']"),
        ("class C(dict): pass\nC1 = C(a=1)", "C1['b'] = 5; C1.c = 1", "C1['b'] + C1.c"),
    ],
)
def test_value_here_is_the_value_there(
    text: str,
    change: str,
    returned: str,
    imported: ImportedFiles,
    tried: Tried,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RATE", "7")
    module = imported(text, returned)
    exec(change, vars(module))
    tried(module.objective)


def test_object_that_two_files_share_stays_one(imported: ImportedFiles, tried: Tried) -> None:
    module = imported(
        "from config import cfg\nimport helper\ndef made():\n    def objective(trial):\n"
        "        cfg.rate += 1\n        return helper.rate() + cfg.epochs\n    return objective\n",
        "made()(trial)",
        config="import types\nclass Config:\n    rate = 1\ncfg = Config()\n",
        helper="from config import cfg\ndef rate():\n    return cfg.rate\n",
    )
    module.cfg.epochs = 100
    assert tried(module.objective) == 102.0
    assert tried(module.made()) == 103.0


def test_name_that_was_imported_before_a_change_keeps_its_value(
    imported: ImportedFiles, tried: Tried
) -> None:
    module = imported(
        "import config\nfrom config import RATE", "RATE + config.RATE", config="RATE = 1\n"
    )
    module.config.RATE = 10
    assert tried(module.objective) == 11.0
    config = module.config
    sys.modules.pop("fresh")
    again = imported(
        "import config\nfrom config import RATE", "RATE + config.RATE", config="RATE = 1\n"
    )
    assert (again.config, again.RATE) == (config, 10)
    assert tried(again.objective) == 20.0


def test_function_that_imports_inside_itself(imported: ImportedFiles, tried: Tried) -> None:
    module = imported(
        "def get():\n    from config import RATE\n    import config as c\n    return RATE + c.MORE",
        "get()",
        config="RATE = 1\nMORE = 1\n",
    )
    import config  # type: ignore[import-not-found]

    config.RATE, config.MORE = 5, 6
    assert tried(module.objective) == 11.0


def test_what_a_device_lacks_and_nothing_reaches_stays_behind(
    imported: ImportedFiles, tried: Tried, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.txt").write_text("more")
    module = imported(
        "from helper import scale, Net",
        "scale(1) + Net().run()",
        helper="""
            import numpy as np, pyarrow as pa
            import matplotlib.pyplot as plt
            from pathlib import Path
            plt.style.use("ggplot")
            FRAME = pa.table({"a": [1, 2]})
            X = FRAME["a"].to_numpy().astype(float)
            SUM = float(X.sum())
            MORE = Path("more.txt").read_text()

            def plot(frame: pa.Table) -> plt.Axes:
                return frame.plot()

            def scale(x, frame: "pa.Table | None" = None):
                return x * SUM + len(X)

            class Net:
                def run(self):
                    return 2
                def show(self):
                    plt.show()
            """,
    )
    assert tried(module.objective) == 7.0
    with pytest.raises(BundleError) as caught:
        bundle_script(tmp_path / "fresh.py", "objective")
    assert str(caught.value) == (
        "helper.py, line 2: the file imports 'pyarrow', which the browsers' runtime does not have, "
        "and 'scale' (helper.py, line 14) needs it; declare its wheel by wheels=[...], or import "
        "it only where this machine runs [cannot_bundle_package]"
    )


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("import argparse\nA = argparse.ArgumentParser().parse_args()", "calls parse_args(), and"),
        ("import sys\nA = sys.argv[1:]", "reads sys.argv, and a device has no arguments"),
        ("import os\nA = os.environ['HF_SET']", "reads the environment's variable HF_SET"),
        ("import os\nA = os.getenv('HF_SET', '')", "reads the environment's variable HF_SET"),
        ("import numpy as np\nA = np.loadtxt('fresh.py')", "uses the file 'fresh.py'"),
        ("import hyperflock\nA = hyperflock.Client()", "calls hyperflock.Client"),
    ],
)
def test_script_that_is_only_read_cannot_use_what_this_process_has(
    text: str, reads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_SET", "1")
    script = tmp_path / "fresh.py"
    script.write_text(f"{text}\ndef objective(trial):\n    return 1\n")
    bundle_script(script, "objective")
    script.write_text(f"{text}\ndef objective(trial):\n    return A\n")
    with pytest.raises(BundleError, match=r"fresh\.py, line 2: the file ") as caught:
        bundle_script(script, "objective")
    assert reads in str(caught.value)
    assert "and 'objective' (fresh.py, line 3) needs it; " in str(caught.value)


def test_what_cannot_be_written_is_made_again_with_a_warning(imported: ImportedFiles) -> None:
    module = imported(
        "import threading\nVIEW = memoryview(b'1')\nLOCK = threading.Lock()", "len((VIEW, LOCK))"
    )
    said = "each device makes 'VIEW' of 'fresh.py' again, as the file does"
    with pytest.warns(UserWarning, match=said) as caught:
        bundle = bundle_objective(module.objective)
    assert (len(caught), bundle.files) == (1, ("fresh.py",))


def test_large_array_of_a_file_travels_by_its_hash(imported: ImportedFiles, tried: Tried) -> None:
    module = imported("import numpy as np\nX = np.arange(1e5)\nY = X[::2]", "X.sum() + Y.sum()")
    module.X *= 2
    bundle = bundle_objective(module.objective)
    assert sorted(item.ref.bytes for item in bundle.attached) == [400_128, 800_128]
    assert np.isfinite(tried(module.objective))
