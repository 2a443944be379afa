"""Tests objectives that cannot be bundled: submitting them raises an error with an exact message,
before any request is made.

The tests provoke every code in `hyperflock._base.codes` for such objectives. The last test checks
that none is missing.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.machinery
import importlib.util
import multiprocessing
import queue
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import types
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fake_console import FakeConsole
from hyperflock import BundleError, Client
from hyperflock._base.codes import BUNDLE_CODES, cannot
from hyperflock._bundle.bundle import bundle_module, bundle_objective, bundle_script
from hyperflock._bundle.wheels import read_wheels
from patience import LIMIT_S
from travelling_helper import (
    Holder,
    class_of_a_function,
    setting_a_global,
    sharing_a_counter,
    using,
)

Refused = Callable[..., str]
RAISED: set[str] = set()
# The messages of errors with these codes need not name a line of a script.
NO_PLACE = {
    f"cannot_bundle_{kind}"
    for kind in (
        "coroutine",
        "extension",
        "function",
        "module",
        "script",
        "size",
        "source",
        "wheel",
    )
}


@pytest.fixture
def refused(client: Client, server: FakeConsole) -> Iterator[Refused]:
    """Yield a function that submits an objective and returns the refusal's sentence with its code.

    At the end, check that the server got no request.
    """

    def submit(objective: Any, **options: Any) -> str:
        with pytest.raises(BundleError) as caught:
            client.grid(objective, {"x": [1]}, **options)
        return _sentence(caught.value)

    yield submit
    assert server.requests == []


def _sentence(error: BundleError) -> str:
    """Return the error's message with its code, without the file and line at its beginning."""
    RAISED.add(error.code)
    assert "\n" not in error.message
    assert not error.message.removesuffix("data=...").endswith(".")
    if error.code in NO_PLACE and error.place is None:
        return str(error)
    assert re.fullmatch(r"(.+\.py|a cell), line [1-9]\d*", str(error.place)), error
    return str(error).removeprefix(f"{error.place}: ")


def _module(folder: Path, text: str, name: str = "refused") -> types.ModuleType:
    """Write a module and import it."""
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    sys.modules.pop("refused", None)


# ---- values that exist only in this process


def _begun() -> Iterator[int]:
    yield 1


async def _coroutine() -> None:
    await asyncio.sleep(0)


class _Tensor:
    """A stand-in for a tensor: the tested code checks only the module of its class."""


_Tensor.__module__ = "torch"


def _closed(coroutine: Any) -> Any:
    coroutine.close()
    return coroutine


OPEN_FILE = "an open file; send it by data=... or open it there [cannot_bundle_file]"
THREADS = "of this process's threads; make it inside of the objective [cannot_bundle_lock]"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (socket.socket, "a network connection; a browser has none [cannot_bundle_socket]"),
        (lambda: Path(__file__).open(), OPEN_FILE),  # noqa: SIM115
        (tempfile.NamedTemporaryFile, OPEN_FILE),
        (
            _begun,
            "a generator that is partly used up; make it a list [cannot_bundle_generator]",
        ),
        (
            lambda: iter([1, 2]),
            "a list_iterator that is partly used up; make it a list [cannot_bundle_generator]",
        ),
        (
            lambda: _closed(_coroutine()),
            "a coroutine that has begun; await it here [cannot_bundle_coroutine]",
        ),
        (threading.Thread, f"a Thread {THREADS}"),
        (threading.Lock, f"a lock {THREADS}"),
        (threading.Event, f"an Event {THREADS}"),
        (queue.Queue, f"a Queue {THREADS}"),
        (
            lambda: ProcessPoolExecutor(1),
            "a pool of processes; make it inside of the objective [cannot_bundle_process]",
        ),
        (
            multiprocessing.Process,
            "a process of this machine; a browser starts none [cannot_bundle_process]",
        ),
        (
            lambda: sqlite3.connect(":memory:"),
            "an object of the database library sqlite3; read the data here "
            "[cannot_bundle_database]",
        ),
        (
            _Tensor,
            "an object of PyTorch, which no browser has; make it a NumPy array [cannot_bundle_gpu]",
        ),
        (
            lambda: Client("http://127.0.0.1:1", "secret"),
            "a Client, which holds your token; leave it here [cannot_bundle_client]",
        ),
        (
            lambda: Path(__file__),
            f"the path '{__file__}' of this machine; send the file by data=... "
            "and take its path from trial.data [cannot_bundle_path]",
        ),
        (
            lambda: np.array([object()]),
            "an array of Python objects; give it a numeric dtype [cannot_bundle_value]",
        ),
        (
            lambda: pd.DataFrame({"x": ["a"]}),
            "a DataFrame of pandas; send it by data=... and take it from trial.data "
            "[cannot_bundle_value]",
        ),
        (
            lambda: pd.Index([1]),
            "an Index of pandas; make it a DataFrame of pandas, send it by data=... and take it "
            "from trial.data [cannot_bundle_value]",
        ),
        (
            lambda: memoryview(b"1"),
            "a memoryview, which cannot be copied [cannot_bundle_value]",
        ),
        (
            lambda: "a" * (17 << 20),
            "which is more than 16 MiB as text; make it a NumPy array, or send it by data=... "
            "[cannot_bundle_size]",
        ),
    ],
)
def test_what_lives_here_alone(make: Callable[[], Any], sentence: str, refused: Refused) -> None:
    value = make()
    try:
        assert refused(using(value)) == f"the objective uses 'value', {sentence}"
    finally:
        getattr(value, "close", lambda: None)()


def test_what_lives_here_alone_is_found_inside_of_others(refused: Refused) -> None:
    with socket.socket() as link:
        holder = Holder({"links": [link]})
        assert refused(using(holder)) == (
            "the objective uses 'value'.state['links'][0], a network connection; "
            "a browser has none [cannot_bundle_socket]"
        )


def test_global_of_a_file_that_lives_here_alone(refused: Refused, tmp_path: Path) -> None:
    module = _module(
        tmp_path,
        """
        import socket
        LINKS = {"one": socket.socket()}
        def step():
            return LINKS["one"]
        def objective(trial):
            return step() is None
        """,
    )
    assert refused(module.objective) == (
        "'step' uses 'LINKS'['one'], a network connection; "
        "a browser has none [cannot_bundle_socket]"
    )
    module.LINKS["one"].close()


def test_lock_of_a_file_is_made_again_by_its_import(tmp_path: Path) -> None:
    module = _module(
        tmp_path,
        """
        import itertools
        import threading
        LOCK, COUNT = threading.Lock(), itertools.count()
        def objective(trial):
            with LOCK:
                return next(COUNT)
        """,
    )
    assert bundle_objective(module.objective).files == ("refused.py",)


# ---- objectives that are not allowed


class _NotCallable:
    pass


async def _async(trial: Any) -> float:
    return 1.0


def _yields(trial: Any) -> Iterator[float]:
    yield 1.0


@pytest.mark.parametrize(
    ("objective", "sentence"),
    [
        (
            len,
            "the objective 'len' is no function written in Python; wrap it [cannot_bundle_builtin]",
        ),
        (
            dict,
            "the objective 'dict' is no function written in Python; wrap it "
            "[cannot_bundle_builtin]",
        ),
        (
            _NotCallable(),
            "the objective is of type _NotCallable; give a function [cannot_bundle_callable]",
        ),
        (
            _async,
            "the objective '_async' is 'async'; make it an ordinary function "
            "[cannot_bundle_coroutine]",
        ),
        (
            functools.partial(_async),
            "the objective '_async' is 'async'; make it an ordinary function "
            "[cannot_bundle_coroutine]",
        ),
        (
            _yields,
            "the objective '_yields' yields; return the value instead [cannot_bundle_generator]",
        ),
    ],
)
def test_what_an_objective_may_not_be(objective: Any, sentence: str, refused: Refused) -> None:
    assert refused(objective) == sentence


# ---- functions that only the researcher's machine has

NOT_IN_TRIAL = (
    "calls {}, which only the researcher's machine has; call it below "
    '`if __name__ == "__main__":`, outside of the objective [cannot_bundle_not_in_trial]'
)


def _bundle_of(folder: Path, text: str) -> None:
    path = folder / "asking.py"
    path.write_text(textwrap.dedent(text))
    bundle_script(path, "objective")


@pytest.mark.parametrize(
    ("text", "by", "called"),
    [
        (
            """
            import hyperflock
            def objective(trial):
                with trial:
                    return [hyperflock.Client().study(1).best_trial.value]
            """,
            "'objective'",
            "hyperflock.Client",
        ),
        (
            """
            def objective(trial):
                from hyperflock import run_local as run
                return run(len, {}).value
            """,
            "'objective'",
            "hyperflock.run_local",
        ),
        (
            """
            import hyperflock.optuna
            def best(study):
                return hyperflock.optuna.optimize(study, len)
            def objective(trial):
                for step in range(3):
                    return best(step)
            """,
            "'best'",
            "hyperflock.optuna.optimize",
        ),
        (
            """
            from hyperflock import Client
            def main():
                client = Client()
            main()
            def objective(trial):
                return 1.0
            """,
            "'main'",
            "hyperflock.Client",
        ),
    ],
)
def test_call_of_what_only_the_researcher_has(
    tmp_path: Path, text: str, by: str, called: str
) -> None:
    with pytest.raises(BundleError) as caught:
        _bundle_of(tmp_path, text)
    assert _sentence(caught.value) == f"{by} {NOT_IN_TRIAL.format(called)}"


@pytest.mark.parametrize(
    "body",
    [
        "if trial is None: hyperflock.Client()",
        "return 1.0 if trial else hyperflock.Client()",
        "return trial and hyperflock.Client()",
        "if trial: return 1.0\n    hyperflock.Client()",
        "return (lambda: hyperflock.Client()) and 1.0",
        "try: hyperflock.Client()\n    except hyperflock.NotInTrialError: return 1.0",
        "with contextlib.suppress(Exception): hyperflock.Client()",
        "return [hyperflock.Client() for _ in ()]",
        "hyperflock = trial; hyperflock.Client()",
        "hyperflock.device(); raise hyperflock.TrialPruned()",
        "def inner(): hyperflock.Client()",
    ],
)
def test_call_that_a_trial_may_never_make_is_allowed(tmp_path: Path, body: str) -> None:
    _bundle_of(
        tmp_path,
        f"import contextlib\nimport hyperflock\ndef objective(trial):\n    {body}\n"
        'if __name__ == "__main__":\n    hyperflock.Client()\n',
    )


# ---- modules, packages, files


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "import seaborn\ndef helper():\n    return seaborn.heatmap\n",
            "the file imports 'seaborn', which the browsers' runtime does not have, and 'helper' "
            "(refused.py, line 2) needs it; declare its wheel by wheels=[...], or import it only "
            "where this machine runs [cannot_bundle_package]",
        ),
        (
            "def helper():\n    from torch import nn\n",
            "'helper' imports 'torch', which the browsers' runtime does not have; "
            "declare its wheel by wheels=[...], or import it only where this machine runs "
            "[cannot_bundle_package]",
        ),
        (
            "import distutils\nhelper = distutils.version\ndef objective(trial): return helper",
            "the file imports 'distutils', which the browsers' runtime does not have, and "
            "'objective' (refused.py, line 3) needs it; declare its wheel by wheels=[...], or "
            "import it only where this machine runs [cannot_bundle_package]",
        ),
        (
            f"def helper():\n    return open({__file__!r})\n",
            f"'helper' uses the file '{__file__}' of this machine; "
            "send it by data=... and take its path from trial.data [cannot_bundle_path]",
        ),
        (
            "import numpy as np\ndef helper():\n    return np.load('refused.py')\n",
            "'helper' uses the file 'refused.py' of this machine; "
            "send it by data=... and take its path from trial.data [cannot_bundle_path]",
        ),
        (
            "import fast",
            "'fast{suffix}' is compiled for this machine and cannot run in a browser; "
            "import it outside of the objective's module [cannot_bundle_extension]",
        ),
        (
            "#" * (17 << 20),
            "the sources that 'refused' imports have 17,825,828 bytes, at most 16 MiB can travel; "
            "put the objective into a folder of its own [cannot_bundle_size]",
        ),
        (
            "def x(:",
            "'{path}' is not valid Python: invalid syntax (refused.py, line 1) "
            "[cannot_bundle_source]",
        ),
        (
            "async def objective(trial): pass",
            "the objective 'objective' is 'async'; "
            "make it an ordinary function [cannot_bundle_coroutine]",
        ),
    ],
)
def test_what_a_script_may_not_need(text: str, sentence: str, tmp_path: Path) -> None:
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    (tmp_path / f"fast{suffix}").touch()
    script = tmp_path / "refused.py"
    calls = "helper()" if "helper" in text else "1"
    tail = "" if "objective" in text else f"\ndef objective(trial):\n    return {calls}\n"
    script.write_text(text + tail)
    with pytest.raises(BundleError) as caught:
        bundle_script(script, "objective")
    assert _sentence(caught.value) == sentence.replace("{suffix}", suffix).replace(
        "{path}", str(script)
    )


def test_what_no_import_and_no_call_reaches_may_be_missing(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent(
            """
            from typing import TYPE_CHECKING
            if TYPE_CHECKING:
                import pandas
            try:
                import torch
            except ImportError:
                torch = None
            import sys
            if sys.version_info < (3, 11):
                import tomli
            else:
                import tomllib
            match sys.platform:
                case "win32":
                    import pywin32
            def load():
                import sklearn
                return open("train.py").read()
            def objective(trial):
                with open("written.txt", "w") as file:
                    file.write("1")
                return 1
            if __name__ == "__main__":
                import requests
            """
        )
    )
    assert bundle_script(script, "objective").files == ("train.py",)


def test_names_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("x = 1\n")
    for call, sentence in (
        (
            lambda: bundle_script(tmp_path / "none.py", "f"),
            f"'{tmp_path / 'none.py'}' is not a Python script [cannot_bundle_script]",
        ),
        (
            lambda: bundle_script(tmp_path / "train.py", "f"),
            "'train.py' has no function 'f' at its top [cannot_bundle_function]",
        ),
        (
            lambda: bundle_module("not_there_at_all", "f"),
            "there is no module 'not_there_at_all' [cannot_bundle_module]",
        ),
    ):
        with pytest.raises(BundleError) as caught:
            call()  # type: ignore[no-untyped-call, unused-ignore]
        assert _sentence(caught.value) == sentence


def test_function_without_a_source(refused: Refused) -> None:
    namespace: dict[str, Any] = {}
    exec("made = lambda trial: 1", namespace)
    assert refused(namespace["made"]) == (
        "the source of 'lambda at line 1' is not at hand; put it into a file or a cell "
        "[cannot_bundle_source]"
    )


# ---- state


def test_variable_that_two_functions_share_and_one_sets(refused: Refused) -> None:
    assert refused(sharing_a_counter()) == (
        "'count' is shared by several functions and set by one of them; keep it in an object "
        "[cannot_bundle_state]"
    )


def test_global_that_a_closure_of_a_file_sets(refused: Refused) -> None:
    assert refused(setting_a_global()) == (
        "'objective' sets the global 'COUNT' of 'travelling_helper.py', which would be another one "
        "there; keep it in an object [cannot_bundle_state]"
    )


def test_class_that_reads_a_variable_around_it(refused: Refused) -> None:
    assert refused(class_of_a_function(3)) == (
        "the class 'Sized' reads 'size' of the function around it while it is defined; "
        "read it in a method, or put the class at the top [cannot_bundle_source]"
    )


def test_object_of_a_package_that_is_not_there(refused: Refused) -> None:
    import rich.text

    assert refused(using(rich.text.Text("a"))) == (
        "the objective uses 'value', which needs 'rich', which the browsers' runtime does not "
        "have; declare its wheel by wheels=[...], or import it only where this machine runs "
        "[cannot_bundle_package]"
    )


def test_imported_file_that_would_submit_itself_again(tmp_path: Path) -> None:
    lines = (
        "from hyperflock._bundle.bundle import bundle_objective",
        "def objective(trial):",
        "    return 1",
        "def main():",
        "    print(bundle_objective(objective).entry)",
    )
    train = tmp_path / "train.py"
    train.write_text("\n".join([*lines, "main()", ""]))
    importing = tmp_path / "start.py"
    importing.write_text("import train\n")
    done = _python(importing)
    RAISED.add("cannot_bundle_unguarded")
    assert done.stderr.splitlines()[-1] == (
        "hyperflock.BundleError: train.py, line 6: 'train.py' submits its study wherever it is "
        "imported, in a browser too; put what submits below 'if __name__ == \"__main__\":' and "
        "start the file itself [cannot_bundle_unguarded]"
    )
    # If this script itself is started, devices do not import it as a module. So it may submit its
    # study at its top level.
    assert _python(train).stdout == "hyperflock_main:objective\n"


def _python(script: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


# ---- wheels


def _wheel(folder: Path, name: str, files: dict[str, str]) -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return path


def test_declared_wheel_is_there(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path, "tool-1.0-py3-none-any.whl", {"tool/__init__.py": "ONE = 1"})
    (tmp_path / "train.py").write_text("import tool\ndef objective(trial):\n    return tool.ONE\n")
    bundle = bundle_script(tmp_path / "train.py", "objective", read_wheels([wheel]))
    assert [item.ref.filename for item in bundle.attached] == ["tool-1.0-py3-none-any.whl"]


@pytest.mark.parametrize(
    ("name", "files", "sentence"),
    [
        (
            "tool-1.0-cp311-cp311-manylinux_2_17_x86_64.whl",
            {},
            "'tool-1.0-cp311-cp311-manylinux_2_17_x86_64.whl' is made for one kind of machine; "
            "only wheels named '...-py3-none-any.whl' run in a browser [cannot_bundle_wheel]",
        ),
        (
            "tool-1.0-py3-none-any.whl",
            {"tool/fast.so": ""},
            "'tool-1.0-py3-none-any.whl' holds 'tool/fast.so', compiled for one machine "
            "[cannot_bundle_wheel]",
        ),
        ("tool.whl", {}, "'tool.whl' is not named as a wheel is [cannot_bundle_wheel]"),
    ],
)
def test_wheel_that_cannot_travel(
    name: str, files: dict[str, str], sentence: str, refused: Refused, tmp_path: Path
) -> None:
    wheel = _wheel(tmp_path, name, files)
    assert refused(using(1), wheels=[wheel]) == sentence


def test_wheel_that_is_not_there(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "tool-1.0-py3-none-any.whl").write_text("no zip")
    assert refused(using(1), wheels=[tmp_path / "none.whl"]) == (
        f"there is no wheel '{tmp_path / 'none.whl'}' [cannot_bundle_wheel]"
    )
    assert refused(using(1), wheels=[tmp_path / "tool-1.0-py3-none-any.whl"]) == (
        "'tool-1.0-py3-none-any.whl' cannot be read: File is not a zip file [cannot_bundle_wheel]"
    )


# ---- the list


def test_each_code_is_documented_and_none_that_is_gone() -> None:
    docs = Path(__file__).resolve().parents[2] / "docs"
    page = (docs / "reference" / "errors.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `cannot_bundle_")]
    listed = dict(line.strip("| ").split(" | ", 1) for line in rows)
    assert listed == {f"`{code}`": when for code, when in BUNDLE_CODES.items()}
    with pytest.raises(KeyError):
        cannot("no_such_kind", "a sentence")


def test_each_code_was_raised_above(request: pytest.FixtureRequest) -> None:
    options = request.config
    if options.option.keyword or any("::" in argument for argument in options.args):
        pytest.skip("only a part of this file runs")
    assert set(BUNDLE_CODES) - RAISED == set()
