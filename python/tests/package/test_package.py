"""Tests the package itself: its import loads little, its names exist, its texts are safe."""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import hyperflock
import pytest
from hyperflock._base.text import clean, csv_cell
from hyperflock._old_names import MOVED
from hypothesis import given
from hypothesis import strategies as st
from patience import LIMIT_S

# Modules that must not be loaded before they are used. NumPy alone takes longer than the package.
HEAVY = [
    "numpy",
    "websockets",
    "urllib3",
    "msgspec",
    "typer",
    "rich",
    "tqdm",
    "asyncio",
    "ssl",
    "segno",
    "optuna",
]


def test_import_loads_nothing_heavy() -> None:
    """The test checks the loaded modules and not the time, which ./run bench python measures."""
    code = f"import sys, hyperflock; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=LIMIT_S
    ).stdout
    assert out.strip() == "[]"


def test_wheel_is_whole_and_imports_on_its_own(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=root, check=True, capture_output=True, timeout=LIMIT_S)
    (wheel,) = tmp_path.glob("hyperflock-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    sources = root / "src"
    assert {p.relative_to(sources).as_posix() for p in sources.rglob("*.py")} <= names
    assert {"hyperflock/py.typed", "hyperflock/_worker/hyperflock_worker/runner.py"} <= names
    assert not any("test" in name for name in names)
    # Python runs without site-packages, because the import must need nothing but the wheel.
    code = (
        f"import sys; sys.path.insert(0, {str(wheel)!r}); import hyperflock; "
        "from importlib.metadata import metadata; print(hyperflock.__file__); "
        "print(metadata('hyperflock')['Requires-Python'])"
    )
    out = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        check=True, capture_output=True, text=True, timeout=LIMIT_S,
    ).stdout.split()  # fmt: skip
    assert out == [f"{wheel}/hyperflock/__init__.py", ">=3.10"]


def test_every_public_name_is_there() -> None:
    assert sorted(hyperflock.__all__) == list(hyperflock.__all__)
    for name in hyperflock.__all__:
        assert getattr(hyperflock, name) is not None
    assert set(hyperflock.__all__) <= set(dir(hyperflock))
    with pytest.raises(AttributeError):
        _ = hyperflock.nothing_of_that_name


def test_pickles_that_name_a_module_of_version_0_1_load() -> None:
    """A pickle of version 0.1 names a public class by its old module; the class has moved since."""
    before = {new: old for old, new in MOVED.items()} | {"_trial.trial": "_trial"}
    loaded = set()
    for name, home in hyperflock._HOMES.items():
        value = getattr(hyperflock, name)
        if isinstance(value, type) and home in before:
            old = f"chyperflock.{before[home]}\n{name}\n.".encode()
            assert pickle.loads(old) is value
            loaded.add(f"{before[home]}.{name}")
    assert {
        "_errors.AuthError",
        "_results.TrialResult",
        "_trial.Trial",
        "_trial.TrialPruned",
    } <= loaded
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(b"chyperflock._nothing\nName\n.")
    with pytest.raises(AttributeError):
        pickle.loads(b"chyperflock._trial\nNothing\n.")


def test_every_error_is_of_the_family_and_says_when_it_is_raised() -> None:
    errors = [
        value
        for name in hyperflock.__all__
        if isinstance(value := getattr(hyperflock, name), type) and issubclass(value, Exception)
    ]
    assert len(errors) > 10
    for error in errors:
        assert error.__doc__
        assert error is hyperflock.TrialPruned or issubclass(error, hyperflock.HyperflockError)


@given(text=st.text())
def test_clean_text_has_no_control_characters(text: str) -> None:
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in clean(text))
    kept = clean(text, keep_lines=True)
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in kept)
    assert clean(clean(text)) == clean(text)
    assert csv_cell(text)[:1] not in {"=", "+", "-", "@"}


def test_clean_keeps_what_people_write() -> None:
    assert clean("Zoë 世界 😀 €5") == "Zoë 世界 😀 €5"
    assert clean("a\u202eb\u2066c\u200bd\x1b[31me\r") == "abcd[31me"
    assert clean("abcdef", limit=4) == "abc…"


@pytest.mark.parametrize("named", [[], ["3.99"]])
def test_python_versions_fails_where_there_is_no_python(tmp_path: Path, named: list[str]) -> None:
    found = subprocess.run(
        ["/bin/bash", Path(__file__).parents[1] / "support" / "versions.sh", "none.whl", *named],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1
    versions = named or ["3.10", "3.11", "3.12", "3.13", "3.14"]
    assert found.stdout.splitlines() == [f"Python {version}: not here" for version in versions]
    assert found.stderr.startswith("looked for pythonVERSION on PATH, ")
    assert f"{tmp_path}/.pyenv/versions/VERSION.*/bin/python" in found.stderr
