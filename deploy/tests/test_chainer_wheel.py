"""Tests how ``./run wheels`` chooses and copies Chainer's wheel; tests/wheels installs it."""

import sys
import zipfile
from pathlib import Path

import pytest

DEPLOY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(DEPLOY))
import chainer_wheel  # noqa: E402


def test_version_of_the_extra_is_one_that_browsers_run() -> None:
    version = chainer_wheel.version_of(DEPLOY.parent)
    pieces = chainer_wheel.load_manifest(chainer_wheel.RUNTIME / "manifest.json")
    (piece,) = [piece for piece in pieces if piece["name"] == f"chainer-{version}"]
    assert piece["file"] == f"chainer-{version}.tar.gz"


def test_extra_without_a_version_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "pyproject.toml").write_text('chainer = ["chainer>=7"]\n')
    with pytest.raises(chainer_wheel.GatherError, match="names no version of Chainer"):
        chainer_wheel.version_of(tmp_path)


def test_wheels_of_two_builds_are_the_same(tmp_path: Path) -> None:
    files = {"a/__init__.py": b"", "a-1.dist-info/RECORD": b"a/__init__.py,,\n", "b.py": b"b" * 99}
    copies = []
    for year in (2001, 2026):
        wheel = tmp_path / str(year) / "a-1-py3-none-any.whl"
        wheel.parent.mkdir()
        with zipfile.ZipFile(wheel, "w") as built:
            for name in sorted(files, reverse=year == 2026):
                built.writestr(zipfile.ZipInfo(name, (year, 2, 3, 4, 5, 6)), files[name])
        copies.append(chainer_wheel.copy_without_times(wheel, tmp_path / f"out-{year}"))
    assert copies[0].read_bytes() == copies[1].read_bytes()
    with zipfile.ZipFile(copies[0]) as archive:
        assert archive.namelist() == ["a/__init__.py", "b.py", "a-1.dist-info/RECORD"]
        assert {name: archive.read(name) for name in files} == files
