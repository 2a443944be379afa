"""Tests what the command ``demo`` checks before it starts a server, and what it prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hyperflock._cli import command as _cli
from hyperflock._cli import demo as _demo
from hyperflock._local.engines import Engine
from hyperflock._local.parts import Parts
from hyperflock._local.server import LocalServer
from patience import LIMIT_S
from served import use_build


def test_a_script_that_is_not_there_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[str] = []
    parts = Parts(tmp_path, tmp_path, tmp_path)
    monkeypatch.setattr(_demo, "find_parts", lambda *_: parts)
    monkeypatch.setattr(_demo, "find_engine", lambda *_: Engine("node", "node", "Node"))
    monkeypatch.setattr(LocalServer, "start", lambda *_: started.append("server"))
    monkeypatch.chdir(tmp_path)
    assert _cli.run(["demo", "nothing.py"]) == 1
    assert not started
    assert capsys.readouterr().err == "error [demo_missing]: 'nothing.py' is no file\n"


def _demo_in_chromium(*words: str) -> str:
    """Return what ``./run demo`` prints."""
    done = subprocess.run(
        [sys.executable, "-m", "hyperflock", "demo", "--engine", "chromium", *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.browser
def test_two_browsers_search_the_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    use_build(monkeypatch)
    out = _demo_in_chromium("--channels", "4")
    assert re.search(r"^join page   http://127\.0\.0\.1:\d+/join#hfe_\S+$", out, re.M)
    (row,) = re.findall(r"^ +4-4-4 +(0\.\d+) +\d+\.\d +\d +d_\S+ \(chromium .+\)$", out, re.M)
    assert f"best: 4-4-4 with accuracy {row}" in out
    assert re.findall(r"^volunteer (\d)  has ended; ", out, re.M) in (["1", "2"], ["2", "1"])
    assert re.search(r"^demo        finished in \d+ s", out, re.M)


@pytest.mark.browser
def test_script_gets_its_arguments_and_the_servers_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_build(monkeypatch)
    script = tmp_path / "search.py"
    script.write_text(
        "import sys\n"
        "import hyperflock\n"
        "def objective(trial):\n"
        "    return trial.params['x'] + 0.5\n"
        "if __name__ == '__main__':\n"
        "    study = hyperflock.Client().grid(objective, {'x': [float(sys.argv[2])]})\n"
        "    print(sys.argv[1], [trial.value for trial in study])\n"
    )
    assert "--engine [3.5]" in _demo_in_chromium(str(script), "--engine", "3")
