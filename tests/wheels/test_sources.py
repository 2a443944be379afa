"""Tests the source distribution, and a copy of ``python/`` alone, in an empty environment.

Both can be installed, and say in one sentence that they have no server and how to get one. Run by
``./run test wheels_test``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from environments import PYTHONS, ROOT, Installed

OBJECTIVE = """
import hyperflock

def objective(trial):
    return trial.params["x"] ** 2

if __name__ == "__main__":
    # A dry run asks no server.
    client = hyperflock.Client("http://127.0.0.1:9", "none")
    try:
        print(client.grid(objective, {"x": [3.0]}, dry_run=True).value)
    except hyperflock.HyperflockError as error:
        print(error)
"""


def source_distribution(folder: Path) -> Path:
    """Build the source distribution and return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder]
    subprocess.run(command, cwd=ROOT / "python", check=True)
    (made,) = folder.glob("*.tar.gz")
    return made


def copy_of_the_folder(folder: Path) -> Path:
    """Copy ``python/`` without what is around it, and return the copy."""
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    return Path(shutil.copytree(ROOT / "python", folder / "python", ignore=ignored))


@pytest.mark.parametrize(
    ("make", "dry_run"),
    [
        (source_distribution, "9.0"),
        (
            copy_of_the_folder,
            "the worker's Python packages are not in this installation; install a wheel of "
            "hyperflock [dry_run_unavailable]",
        ),
    ],
)
def test_sources_say_what_they_lack(make, dry_run: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    place = tmp_path / "sources"
    place.mkdir()
    here = Installed(next(iter(PYTHONS.values())), tmp_path, make(place))
    for words in (["up"], ["up", "--share"], ["demo"], ["doctor", "--no-browser"]):
        said = here.run("hyperflock", *words, PATH=str(tmp_path))
        assert said.returncode == 1, (words, said.stdout)
        assert said.stderr.startswith("error [server_not_found]: this installation has no server")
        assert said.stderr.count("\n") == 1, (words, said.stderr)
        assert "manylinux" in said.stderr
        assert "hyperflock up" not in said.stdout
    (tmp_path / "train.py").write_text(OBJECTIVE)
    assert here.run("python", "train.py").stdout.strip() == dry_run
