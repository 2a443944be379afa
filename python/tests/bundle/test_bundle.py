"""Tests which files a bundle contains and why, and that equal sources give equal bytes."""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import subprocess
import sys
import textwrap
import threading
import time
import types
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from asked_objectives import curve_end
from hyperflock import BundleError
from hyperflock._bundle import bundle
from hyperflock._bundle.archive import LOCK_NAME, needs_of
from hyperflock._bundle.bundle import Bundle, bundle_module, bundle_objective, bundle_script
from hyperflock._bundle.source import closure
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import LIMIT_S


@pytest.fixture(autouse=True)
def _modules_of_the_test_only() -> Iterator[None]:
    before, path = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return folder


def _import(folder: Path, name: str) -> types.ModuleType:
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    return importlib.import_module(name)


def _contents(bundle: Bundle) -> dict[str, str]:
    """Return the sources in a bundle by their names. The lock file is left out."""
    with zipfile.ZipFile(io.BytesIO(bundle.content)) as archive:
        names = [name for name in archive.namelist() if name != LOCK_NAME]
        return {name: archive.read(name).decode() for name in names}


OBJECTIVE = "def objective(trial):\n    return 1.0\n"


def test_module_travels_with_what_it_imports_from_its_folder(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "train.py": """
                import json, helper
                def objective(trial):
                    from layers.conv import layer
                    return 1.0
            """,
            "helper.py": "import deeper\n",
            "deeper.py": "x = 1\n",
            "layers/__init__.py": "",
            "layers/conv.py": "layer = 1\n",
            "layers/data.txt": "not source",
            "layers/sub/more.py": "import unrelated_third_party\n",
            "layers/__pycache__/conv.cpython-311.pyc": "",
            "unused.py": "x = 2\n",
        },
    )
    bundle = bundle_objective(_import(tmp_path, "train").objective)
    assert bundle.entry == "train:objective"
    assert list(_contents(bundle)) == [
        "deeper.py",
        "helper.py",
        "layers/__init__.py",
        "layers/conv.py",
        "layers/sub/more.py",
        "train.py",
    ]
    assert bundle.files == tuple(_contents(bundle))


def test_module_of_a_package_travels_with_the_whole_package(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "pack/__init__.py": "",
            "pack/models/__init__.py": "",
            "pack/models/cnn.py": "from ..tools import t\nimport beside\n" + OBJECTIVE,
            "pack/tools.py": "t = 1\n",
            "pack/never_imported.py": "import not_in_the_runtime",
            "beside.py": "",
            "other.py": "",
        },
    )
    bundle = bundle_objective(_import(tmp_path, "pack.models.cnn").objective)
    assert bundle.entry == "pack.models.cnn:objective"
    assert set(_contents(bundle)) == {
        "beside.py",
        "pack/__init__.py",
        "pack/models/__init__.py",
        "pack/models/cnn.py",
        "pack/tools.py",
        "pack/never_imported.py",
    }


def _run_script(script: Path, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, *arguments, str(script)],
        check=True,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=script.parent,
    ).stdout


SUBMIT = """
    if __name__ == "__main__":
        from hyperflock._bundle.bundle import bundle_objective
        bundle = bundle_objective(objective)
        print(bundle.entry, *bundle.files)
"""


def test_script_leaves_what_its_objective_does_not_reach(tmp_path: Path) -> None:
    text = """
        import importlib
        import helper, unused
        plugin = importlib.import_module("plugin")
        def objective(trial):
            return helper.ONE + plugin.TWO
        """
    _write(tmp_path, {"plugin.py": "TWO = 2", "helper.py": "ONE = 1", "unused.py": ""})
    script = tmp_path / "my-train.py"
    script.write_text(textwrap.dedent(text) + textwrap.dedent(SUBMIT))
    assert _run_script(script).split() == [
        "hyperflock_main:objective",
        "helper.py",
        "hyperflock_main.py",
        "plugin.py",
    ]


def test_script_that_is_only_read_travels_under_its_stem(tmp_path: Path) -> None:
    _write(tmp_path, {"my-train.py": "import helper\n" + OBJECTIVE, "helper.py": ""})
    bundle = bundle_script(tmp_path / "my-train.py", "objective")
    assert (bundle.entry, bundle.files) == ("my_train:objective", ("helper.py", "my_train.py"))


def test_module_run_by_python_m_imports_relatively(tmp_path: Path) -> None:
    _write(tmp_path, {"pack/__init__.py": "", "pack/run.py": OBJECTIVE + textwrap.dedent(SUBMIT)})
    done = subprocess.run(
        [sys.executable, "-m", "pack.run"],
        check=True,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=tmp_path,
    )
    assert done.stdout.split() == [
        "pack.hyperflock_main:objective",
        "pack/__init__.py",
        "pack/hyperflock_main.py",
        "pack/run.py",
    ]


def test_script_is_bundled_without_being_run(tmp_path: Path) -> None:
    here_only = "def main():\n    import not_installed\n"
    _write(tmp_path, {"train.py": "import helper\n" + here_only + OBJECTIVE, "helper.py": ""})
    bundle = bundle_script(tmp_path / "train.py", "objective")
    assert (bundle.entry, bundle.files) == ("train:objective", ("helper.py", "train.py"))
    assert "train" not in sys.modules


def test_bundle_runs_when_unpacked_alone(tmp_path: Path) -> None:
    _write(
        tmp_path / "there",
        {
            "train.py": "from pack import two\ndef objective(trial):\n    return two.value\n",
            "pack/__init__.py": "",
            "pack/two.py": "value = 2.0\n",
        },
    )
    bundle = bundle_script(tmp_path / "there" / "train.py", "objective")
    with zipfile.ZipFile(io.BytesIO(bundle.content)) as archive:
        archive.extractall(tmp_path / "here")
    sys.path.insert(0, str(tmp_path / "here"))
    module, _, function = bundle.entry.partition(":")
    assert getattr(importlib.import_module(module), function)(None) == 2.0


def test_library_module_travels_alone(tmp_path: Path) -> None:
    site = _write(
        tmp_path / "site-packages", {"lib_a.py": "import numpy\n" + OBJECTIVE, "lib_b.py": ""}
    )
    assert bundle_objective(_import(site, "lib_a").objective).files == ("lib_a.py",)


def test_this_package_and_the_standard_library_stay_at_home(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "train.py": "import hyperflock, json, numpy\n" + OBJECTIVE,
            "hyperflock/__init__.py": "",
            "json/readme.py": "# a folder of examples, not the module\n",
        },
    )
    assert bundle_script(tmp_path / "train.py", "objective").files == ("train.py",)


def test_module_by_name_is_found_without_running_it(tmp_path: Path) -> None:
    _write(tmp_path, {"found.py": "raise RuntimeError\n" + OBJECTIVE})
    sys.path.insert(0, str(tmp_path))
    importlib.invalidate_caches()
    assert bundle_module("found", "objective").entry == "found:objective"
    with pytest.raises(BundleError) as caught:
        bundle_module("not_there_at_all", "objective")
    assert caught.value.code == "cannot_bundle_module"


# ---- what cannot travel


def test_compiled_module_cannot_travel(tmp_path: Path) -> None:
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    _write(tmp_path, {"train.py": "import fast\n" + OBJECTIVE, f"fast{suffix}": ""})
    with pytest.raises(BundleError) as caught:
        bundle_script(tmp_path / "train.py", "objective")
    assert caught.value.code == "cannot_bundle_extension"
    assert f"fast{suffix}" in caught.value.message


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("x = 1\n", "cannot_bundle_function"),
        ("class A:\n    def objective(self): pass\n", "cannot_bundle_function"),
        ("async def objective(trial): pass\n", "cannot_bundle_coroutine"),
        ("def objective(trial):\n    yield 1\n", "cannot_bundle_generator"),
        ("def objective(trial:\n", "cannot_bundle_source"),
    ],
)
def test_script_is_checked_by_its_text(tmp_path: Path, source: str, code: str) -> None:
    _write(tmp_path, {"train.py": source})
    with pytest.raises(BundleError) as caught:
        bundle_script(tmp_path / "train.py", "objective")
    assert caught.value.code == code


_PRUNES = "def objective(trial):\n    raise optuna.TrialPruned\n"


@pytest.mark.parametrize(
    ("source", "needs"),
    [
        ("import optuna\n" + _PRUNES, True),
        ("from optuna.distributions import FloatDistribution\n" + OBJECTIVE, True),
        ("import tqdm\n" + OBJECTIVE, True),
        ("try:\n    import optuna\nexcept ImportError:\n    optuna = None\n" + _PRUNES, True),
        ("def objective(trial):\n    import optuna\n    raise optuna.TrialPruned\n", True),
        ("import other\n" + OBJECTIVE, True),
        (OBJECTIVE, False),
        # An import in code that a trial does not run does not count.
        (OBJECTIVE + "def main():\n    import optuna\n", False),
        (OBJECTIVE + "if __name__ == '__main__':\n    import optuna\n", False),
    ],
)
def test_bundle_says_whether_its_code_imports_optuna(
    tmp_path: Path, source: str, needs: bool
) -> None:
    _write(tmp_path, {"train.py": source, "other.py": "from optuna import TrialPruned\n"})
    bundle = bundle_script(tmp_path / "train.py", "objective")
    assert needs_of(bundle.content) == ({"optuna"} if needs else set())
    objective = _import(tmp_path, "train").objective
    assert bundle_objective(objective) == bundle
    # Trials of an Optuna study always get Optuna, so their bundle does not ask for it.
    assert not needs_of(bundle_objective(objective, asked=True).content)


@pytest.mark.parametrize(
    ("body", "needs"),
    [
        ("raise optuna.TrialPruned", True),
        ("from optuna import TrialPruned", True),
        ("import tqdm", True),
        ("return rate", False),
    ],
)
def test_function_that_is_written_down_says_whether_it_imports_optuna(
    tmp_path: Path, body: str, needs: bool
) -> None:
    source = f"""
        import optuna
        def made(rate):
            def objective(trial):
                {body}
            return objective
        """
    objective = _import(_write(tmp_path, {"train.py": source}), "train").made(0.5)
    assert needs_of(bundle_objective(objective).content) == ({"optuna"} if needs else set())
    assert not needs_of(bundle_objective(objective, asked=True).content)


def test_generator_inside_the_objective_is_no_generator(tmp_path: Path) -> None:
    _write(
        tmp_path, {"train.py": "def objective(t):\n    def g():\n        yield 1\n    return 1\n"}
    )
    assert bundle_script(tmp_path / "train.py", "objective").entry == "train:objective"


def test_missing_script_says_so(tmp_path: Path) -> None:
    with pytest.raises(BundleError) as caught:
        bundle_script(tmp_path / "none.py", "objective")
    assert caught.value.code == "cannot_bundle_script"


def test_too_much_source_cannot_travel(tmp_path: Path) -> None:
    _write(tmp_path, {"train.py": OBJECTIVE + "#" * (17 << 20)})
    with pytest.raises(BundleError) as caught:
        bundle_script(tmp_path / "train.py", "objective")
    assert caught.value.code == "cannot_bundle_size"


def test_folder_of_data_is_not_searched_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperflock._bundle.source.closure.MAX_SCANNED", 3)
    _write(tmp_path, {"train.py": "import data\n" + OBJECTIVE} | {f"data/{n}": "" for n in "abcd"})
    with pytest.raises(BundleError) as caught:
        bundle_script(tmp_path / "train.py", "objective")
    assert caught.value.code == "cannot_bundle_size"


# ---- determinism

_names = st.sampled_from(["alpha", "beta", "gamma", "delta", "pack/__init__", "pack/sub/deep"])


@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(files=st.dictionaries(_names, st.integers(0, 999)), order=st.randoms(use_true_random=False))
def test_same_sources_give_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, int], order: Any
) -> None:
    imports = "".join(f"import {n.split('/')[0]}\n" for n in sorted(files))
    texts = {f"{name}.py": f"value = {number}\n" for name, number in files.items()}
    texts["train.py"] = imports + OBJECTIVE
    bundles = []
    for round_ in range(2):
        names = list(texts)
        order.shuffle(names)
        folder = tmp_path_factory.mktemp("same")
        _write(folder, {name: texts[name] for name in names})
        for name in names:
            os.utime(folder / name, (round_ * 1e9, round_ * 1e9))
        bundles.append(bundle_script(folder / "train.py", "objective"))
    assert bundles[0] == bundles[1]
    assert set(bundles[0].files) == set(texts)


def test_a_file_that_changes_between_two_bundles_is_read_again(tmp_path: Path) -> None:
    folder = _write(
        tmp_path,
        {
            "main.py": "import first\ndef run(p): return first.value + p",
            "first.py": "value = 1",
            "second.py": "value = 2",
        },
    )
    before = _contents(bundle_script(folder / "main.py", "run"))
    times = (folder / "first.py").stat()
    # The length and the time of the file stay the same.
    (folder / "first.py").write_text("value = 3")
    os.utime(folder / "first.py", ns=(times.st_atime_ns, times.st_mtime_ns))
    between = _contents(bundle_script(folder / "main.py", "run"))
    (folder / "first.py").write_text("import second\nvalue = second.value")
    after = _contents(bundle_script(folder / "main.py", "run"))
    assert [sorted(one) for one in (before, between, after)] == [
        ["first.py", "main.py"],
        ["first.py", "main.py"],
        ["first.py", "main.py", "second.py"],
    ]
    assert between["first.py"].strip() == "value = 3"


def test_files_that_stay_are_parsed_once_for_their_imports(tmp_path: Path) -> None:
    many = {f"part{n}.py": f"value = {n}\n" for n in range(5)}
    imports = "".join(f"import part{n}\n" for n in range(5))
    folder = _write(tmp_path, {**many, "main.py": f"{imports}def run(p): return part0.value"})
    closure._imported_units.cache_clear()
    for _ in range(3):
        closure.collect(closure.origin_of_script(folder / "main.py"))
    assert closure._imported_units.cache_info().misses == 6


def test_other_sources_give_another_hash(tmp_path: Path) -> None:
    first = bundle_script(_write(tmp_path / "a", {"t.py": OBJECTIVE}) / "t.py", "objective")
    second = bundle_script(_write(tmp_path / "b", {"t.py": OBJECTIVE + "#"}) / "t.py", "objective")
    assert first.sha256 != second.sha256
    assert first.source_sha256 != second.source_sha256


def test_several_threads_make_bundles_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    checked, inside = bundle._checked, threading.Lock()

    def slowly(objective: Callable[..., Any]) -> object:
        assert inside.acquire(blocking=False), "two bundles are made at once"
        time.sleep(0.01)
        inside.release()
        return checked(objective)

    monkeypatch.setattr(bundle, "_checked", slowly)
    with ThreadPoolExecutor(4) as pool:
        made = pool.map(lambda _: bundle_objective(curve_end), range(4))
    assert len({one.sha256 for one in made}) == 1
