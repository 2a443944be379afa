"""Tests volunteers on this machine: their engines, their reports, and that no process remains after
the end.

The tests with the mark ``browser`` run the real server and runtime, in the real Node and Chromium.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hyperflock import Client, HyperflockError
from hyperflock._local import engines as _engines
from hyperflock._local.chromium import ChromiumVolunteer
from hyperflock._local.engines import Choice, Engine, find_engine
from hyperflock._local.parts import find_parts
from hyperflock._local.server import LocalServer
from hyperflock._local.volunteers import Volunteers
from objectives import objective
from patience import LIMIT_S, until
from served import trials_done, use_build

NODE = "#!/bin/sh\necho v{}\n"


def _program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Simulate a machine without a browser and without Node; return the only folder that is on
    ``PATH``.
    """
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_engines, "_NODE_WHEEL", "no_module_of_this_name")
    monkeypatch.setattr("hyperflock._execution.browser._MAC", ())
    return tmp_path


def test_browser_comes_before_node_unless_one_is_asked_for(bare: Path) -> None:
    node = _program(bare / "node", NODE.format("24.1.0"))
    assert find_engine("auto", bare) == Engine("node", str(node), "Node 24.1.0")
    browser = _program(bare / "chromium", "#!/bin/sh\n")
    assert find_engine("auto", bare) == Engine("chromium", str(browser), "chromium")
    assert find_engine("chromium", None).path == str(browser)
    assert find_engine("node", bare).path == str(node)


def test_old_node_is_passed_over_for_the_one_of_the_extra(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = _program(bare / "node", NODE.format("18.19.0"))
    with pytest.raises(HyperflockError, match=f"'{old}' is too old or no Node"):
        find_engine("auto", bare)
    package = bare / "packages" / "node_of_pypi"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    new = _program(package / "bin" / "node", NODE.format("24.19.0"))
    monkeypatch.syspath_prepend(str(bare / "packages"))
    monkeypatch.setattr(_engines, "_NODE_WHEEL", "node_of_pypi")
    assert find_engine("auto", bare).path == str(new)
    monkeypatch.setenv("HYPERFLOCK_NODE", str(old))
    with pytest.raises(HyperflockError) as caught:
        find_engine("node", bare)
    assert caught.value.code == "no_volunteer_engine"


@pytest.mark.parametrize(
    ("choice", "has_volunteer", "named", "not_named"),
    [
        ("auto", True, ["install Chromium", "pip install hyperflock[local]"], []),
        ("node", True, ["pip install hyperflock[local]"], ["Chromium"]),
        ("chromium", True, ["install Chromium"], ["hyperflock[local]"]),
        ("auto", False, ["install Chromium", "./run build"], ["hyperflock[local]"]),
    ],
)
def test_machine_that_cannot_compute_names_the_remedies(
    choice: Choice, has_volunteer: bool, named: list[str], not_named: list[str], bare: Path
) -> None:
    with pytest.raises(HyperflockError, match="nothing on this machine can compute") as caught:
        find_engine(choice, bare if has_volunteer else None)
    assert caught.value.code == "no_volunteer_engine"
    assert all(word in caught.value.message for word in named)
    assert not any(word in caught.value.message for word in not_named)


def test_program_that_fails_or_says_nonsense_is_no_node(bare: Path) -> None:
    for text in ("#!/bin/sh\nexit 1\n", "#!/bin/sh\necho nonsense\n", "no program"):
        _program(bare / "node", text)
        with pytest.raises(HyperflockError, match="too old or no Node"):
            find_engine("node", bare)


SAYING = """#!/bin/sh
read start
echo "$start" > {folder}/start
echo "$*" > {folder}/arguments
env > {folder}/environment
cat {folder}/lines
{end}
"""


def _said(
    folder: Path, lines: list[str], end: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Volunteers, list[str]]:
    """Start a volunteer whose Node prints these lines."""
    (folder / "lines").write_text("".join(f"{line}\n" for line in lines))
    program = _program(folder / "node", SAYING.format(folder=folder, end=end))
    heard: list[str] = []
    volunteers = Volunteers(
        Engine("node", str(program), "Node 24"), folder / "volunteer", folder, heard.append
    )
    volunteers.start(1, "http://127.0.0.1:1", "the secret code")
    return volunteers, heard


def _line(phase: str, trial: int | None = None, trials: int = 0, code: str | None = None) -> str:
    told = {"phase": phase, "study": 7, "trial": trial, "trials": trials}
    return json.dumps({**told, "code": code, "message": "of a reason\x1b[2J"})


def test_changes_are_reported_once_each_and_the_end_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERFLOCK_TOKEN", "hfr_secret")
    lines = [
        _line("joining"),
        _line("waiting"),
        "no JSON",
        "[]",
        "{}",
        _line("loading", 3),
        _line("computing", 3),
        _line("computing", 3),
        _line("computing", 4, 1),
        _line("waiting", None, 2),
        _line("waiting", None, 2),
        _line("waiting", None, 3),
    ]
    volunteers, heard = _said(tmp_path, lines, "cat >/dev/null", monkeypatch)
    until("the last line", lambda: len(heard) == 7)
    was_running = volunteers.is_any_running
    volunteers.stop()
    assert was_running
    assert heard == [
        "volunteer 1  starts (Node 24)",
        "volunteer 1  waits for work; 0 trials done",
        "volunteer 1  loads trial 3 of study 7",
        "volunteer 1  computes trial 3 of study 7",
        "volunteer 1  computes trial 4 of study 7",
        "volunteer 1  waits for work; 2 trials done",
        # The third trial was so short that no line says that it is computed.
        "volunteer 1  waits for work; 3 trials done",
        "volunteer 1  has ended; 3 trials done",
    ]
    assert not volunteers.is_any_running
    assert json.loads((tmp_path / "start").read_text()) == {
        "origin": "http://127.0.0.1:1",
        "code": "the secret code",
    }
    # Neither other users of the machine nor trial code see a secret.
    assert "secret" not in (tmp_path / "arguments").read_text()
    assert "HYPERFLOCK" not in (tmp_path / "environment").read_text()


def test_volunteer_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [_line("failed", code="bad_code")]
    volunteers, heard = _said(tmp_path, lines, "exit 3", monkeypatch)
    until("the end", lambda: len(heard) == 2)
    assert heard == [
        "volunteer 1  failed: [bad_code] of a reason[2J",
        "volunteer 1  ended by itself with status 3; 0 trials done",
    ]
    volunteers.stop()


def test_volunteer_that_does_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperflock._local.volunteers._STOP_S", 0.0)
    volunteers, heard = _said(tmp_path, [_line("joining")], "exec tail -f /dev/null", monkeypatch)
    until("the first line", lambda: heard)
    volunteers.stop()
    assert heard[-1] == "volunteer 1  has ended; 0 trials done"


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalServer]:
    """Return a server with the built pages and runtime."""
    use_build(monkeypatch)
    monkeypatch.setenv("HYPERFLOCK_HOME", str(tmp_path / "home"))
    server = LocalServer(tmp_path / "home")
    server.start(
        find_parts(None, None, None), ["--compute", "127.0.0.1:0", "--console", "127.0.0.1:0"]
    )
    yield server
    server.stop()


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["node", "chromium"])
def test_volunteers_compute_a_study_and_end(kind: Choice, local: LocalServer) -> None:
    parts = find_parts(None, None, None)
    heard: list[str] = []
    running = local.running()
    assert running is not None
    code = str(local.credentials()["enrolment_code"])
    engine = find_engine(kind, parts.volunteer)
    with Volunteers(engine, parts.volunteer, local.folder, heard.append) as volunteers:
        volunteers.start(2, f"http://127.0.0.1:{running.port}", code)
        with Client() as client:
            study = client.grid(objective, {"x": [0.5, 1.0, 2.0, 3.0]})
            study.wait(timeout_s=LIMIT_S)
            trials = study.trials
            assert [trial.state for trial in trials] == ["complete"] * 4, heard
            engines = {str(trial.engine).partition(" ")[0] for trial in trials}
            assert engines == {"node" if kind == "node" else "chromium"}
            # A volunteer counts a trial when it hears that its result is stored.
            until("the counts", lambda: trials_done("\n".join(heard)) == 4)
            volunteers.stop()
            until("the end of the connections", lambda: not client.workers())
    ends = [line for line in heard if "has ended" in line]
    assert len(ends) == 2, heard
    assert trials_done("\n".join(ends)) == 4, heard


def test_browser_is_asked_once_more_for_its_count_before_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hyperflock._local.chromium._FAREWELL_S", 0.0)
    shown = {"phase": "waiting", "work": "", "trials": 3, "problem": ""}
    asked: list[str] = []

    class Page(contextlib.AbstractContextManager[None]):
        exit_code = None

        def __exit__(self, *_: object) -> None: ...

        def ask(self, expression: str) -> str:
            asked.append(expression)
            return json.dumps(shown)

    heard: list[str] = []
    volunteer = ChromiumVolunteer(1, Engine("chromium", "chromium", "Chromium"), heard.append)
    volunteer.stop()
    volunteer._watch(Page())  # type: ignore[arg-type]
    assert heard == ["volunteer 1  has ended; 3 trials done"]
    assert ["stop" in expression for expression in asked] == [False, True]


HOSTILE = """
NAMES = ("process", "require", "fetch", "WebSocket", "Buffer", "global", "postMessage")
OBJECTS = '''
Object.getOwnPropertySymbols(globalThis).filter((s) => typeof globalThis[s] === "object")
'''
START = '''
globalThis.found = [];
for (const text of [
  "import('node:fs')",
  "import('data:text/javascript,1')",
  "import('./volunteer.js')",
  'new Function("return import(`node:child_process`)")()',
]) {
  eval(text).then(() => found.push("loaded " + text), () => found.push("refused"));
}
'''


def objective(trial):
    import js

    if trial.params["x"] == 0:
        print("names", {str(js.eval(f"typeof {name}")) for name in NAMES})
        print("symbols", js.eval(OBJECTS).length)
        js.eval(START)
    else:
        # Between two trials the promises were settled.
        print("imports", str(js.eval("found.join()")))
    return 1.0
"""


@pytest.mark.browser
def test_trial_in_node_reaches_nothing_of_node(local: LocalServer, tmp_path: Path) -> None:
    script = tmp_path / "hostile.py"
    script.write_text(HOSTILE)
    parts = find_parts(None, None, None)
    running = local.running()
    assert running is not None
    engine = find_engine("node", parts.volunteer)
    heard: list[str] = []
    with Volunteers(engine, parts.volunteer, local.folder, heard.append) as volunteers:
        code = str(local.credentials()["enrolment_code"])
        volunteers.start(1, f"http://127.0.0.1:{running.port}", code)
        done = subprocess.run(
            [sys.executable, "-m", "hyperflock", "submit", f"{script}:objective", "--space",
             '{"x": [0, 1]}', "--watch"],
            capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (done.stdout, done.stderr, heard)
        with Client() as client:
            printed = [line for n in (0, 1) for line in client.study(1).log(n)]
    text = "\n".join(map(str, printed))
    assert "names {'undefined'}" in text
    assert "symbols 0" in text
    assert "imports refused,refused,refused,refused" in text


ORPHANS = """
import sys, time
from pathlib import Path
from hyperflock._local.engines import find_engine
from hyperflock._local.parts import find_parts
from hyperflock._local.volunteers import Volunteers
folder = find_parts(None, None, None).volunteer
team = Volunteers(find_engine(sys.argv[1], folder), folder, Path(sys.argv[4]), print)
team.start(1, sys.argv[2], sys.argv[3])
print("pid", team.pids[0], flush=True)
while True:
    time.sleep(60)
"""


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["node", "chromium"])
def test_volunteer_ends_with_a_process_that_is_killed(
    kind: str, local: LocalServer, tmp_path: Path
) -> None:
    running = local.running()
    assert running is not None
    code = str(local.credentials()["enrolment_code"])
    arguments = [kind, f"http://127.0.0.1:{running.port}", code, str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANS, *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        pid = 0
        while not pid:
            line = process.stdout.readline()
            assert line, "it ended"
            pid = int(line.split()[1]) if line.startswith("pid ") else 0
        os.kill(pid, 0)
        process.send_signal(signal.SIGKILL)

    def is_gone() -> bool:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        return state == "Z"

    until("the end of the volunteer", is_gone)
