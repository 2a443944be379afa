"""Tests the wheel with a server, installed into an empty environment on the Pythons that are here.

No checkout is in reach: current folder, ``PYTHONPATH``, home and cache are a test's own.
Run by ``./run test wheels_test``, which builds the wheel into ``build/wheel``. pip fetches what the
package needs.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from environments import PYTHONS, TESTED, VERSIONS, Installed, wheel

MOST_BYTES = 45_000_000
PORTS = ("--compute", "127.0.0.1:0", "--console", "127.0.0.1:0")
STUDY = """
import hyperflock

def objective(trial):
    import numpy
    trial.report(trial.params["x"], 0)
    return float(numpy.square(trial.params["x"]))

if __name__ == "__main__":
    study = hyperflock.Client().grid(objective, {"x": [1.0, 2.0, 3.0]}, progress=False)
    print([(trial.number, trial.value) for trial in sorted(study, key=lambda t: t.number)])
    print({trial.device_class for trial in study.trials})
"""


def test_a_python_is_here() -> None:
    assert PYTHONS, f"none of {VERSIONS} is on PATH, in pyenv's or in uv's folder"


def test_wheel_is_small_and_the_pure_one_has_no_server() -> None:
    whole, pure = wheel("_x86_64"), wheel("-any")
    assert whole.stat().st_size <= MOST_BYTES
    packed = "hyperflock/_local/packed/"
    with zipfile.ZipFile(whole) as archive:
        names = {name for name in archive.namelist() if name.startswith(packed)}
        assert names == {packed + n for n in ("hyperflock-server", "parts.tar.xz", "parts.json")}
        mode = archive.getinfo(packed + "hyperflock-server").external_attr >> 16
        assert mode & 0o111
    with zipfile.ZipFile(pure) as archive:
        assert not any(name.startswith(packed) for name in archive.namelist())
        assert "hyperflock/_local/demo/digits_grid.py" in archive.namelist()


@pytest.mark.parametrize("version", TESTED)
def test_server_study_and_volunteer_without_a_checkout(version: str, tmp_path: Path) -> None:
    here = Installed(PYTHONS[version], tmp_path, wheel("_x86_64"))
    (tmp_path / "study.py").write_text(STUDY)
    up = here.run(
        "hyperflock", "up", "--volunteers", "1", "--engine", "node", "--detach", "--json", *PORTS
    )
    assert up.returncode == 0, up.stderr
    try:
        pid = json.loads(up.stdout)["pid"]
        program = Path(f"/proc/{pid}/exe").resolve()
        assert program.is_relative_to(tmp_path / "venv")
        study = here.run("python", "study.py")
        assert study.returncode == 0, (study.stderr, (tmp_path / ".local").exists())
        assert study.stdout.splitlines() == ["[(0, 1.0), (1, 4.0), (2, 9.0)]", "{'node'}"]
    finally:
        down = here.run("hyperflock", "down")
    assert (down.returncode, down.stdout) == (0, "the server has ended\n")
    cache = [path.name[:6] for path in (tmp_path / ".cache/hyperflock").iterdir()]
    assert cache == ["parts-"]


def test_demo_ends_with_a_best_candidate(tmp_path: Path) -> None:
    here = Installed(next(iter(PYTHONS.values())), tmp_path, wheel("_x86_64"))
    demo = here.run("hyperflock", "demo", "--engine", "node")
    assert demo.returncode == 0, (demo.stdout, demo.stderr)
    assert "best: " in demo.stdout
    assert demo.stdout.count("has ended; ") == 2
    assert "finished in" in demo.stdout
    # Each fault of an installation must give one sentence with a code.
    packed = next((tmp_path / "venv").glob("lib/*/site-packages/hyperflock/_local/packed"))
    blocked = here.run("hyperflock", "up", HYPERFLOCK_CACHE=str(packed / "parts.json"))
    assert (blocked.returncode, blocked.stderr[:21]) == (1, "error [cannot_write]:")
    (packed / "parts.tar.xz").write_bytes(b"damaged")
    damaged = here.run("hyperflock", "up", HYPERFLOCK_CACHE=str(tmp_path / "other"))
    assert (damaged.returncode, damaged.stderr[:22]) == (1, "error [parts_damaged]:")
    none = here.run("hyperflock", "demo", "--engine", "node", HYPERFLOCK_NODE="/bin/false")
    assert (none.returncode, none.stderr[:28]) == (1, "error [no_volunteer_engine]:")


def test_pure_wheel_says_what_it_lacks(tmp_path: Path) -> None:
    here = Installed(next(iter(PYTHONS.values())), tmp_path, wheel("-any"))
    for command in ("up", "demo"):
        told = here.run("hyperflock", command)
        assert (told.returncode, told.stdout) == (1, "")
        assert told.stderr.startswith("error [server_not_found]: this installation has no server")
        assert "manylinux" in told.stderr
        assert told.stderr.count("\n") == 1
