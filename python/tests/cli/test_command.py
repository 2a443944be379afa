"""Tests the command's output and exit codes, and that it escapes text from devices."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_console import FakeConsole
from hyperflock import Client, __version__
from hyperflock._cli import command as _cli
from hyperflock._transport.messages import Bounds
from objectives import objective
from patience import LIMIT_S
from typer.testing import CliRunner

EVIL = "\x1b[2J\x1b]0;title\x07evil\u202e\x9b31m"
SUBMIT = ("submit", "objectives", "--space", '{"x":[1]}')
ESCAPES = ("\x1b", "\x07", "\x9b", "\u202e")


@pytest.fixture(autouse=True)
def _settings(server: FakeConsole, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", server.url)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", server.token)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(
        "import chainer\ndef objective(trial):\n    return 1.0\ndef other(trial):\n    return 2.0\n"
    )
    return path


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = _cli.run(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_dry_run_prints_what_happened_and_submits_nothing(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text("def objective(trial):\n    print('here')\n    return 1 / trial.params['x']\n")
    good = ("submit", str(path), "--space", '{"x": [4]}', "--dry-run", "cpython")
    code, out, err = _run(capsys, *good)
    assert (code, err) == (0, "")
    shown = [line for line in out.splitlines()[1:] if not line.startswith("note: ")]
    assert shown == ["value 0.25", "output:", "here"]
    code, out, err = _run(
        capsys, "submit", str(path), "--space", '{"x": [0]}', "--dry-run", "cpython"
    )
    assert (code, err) == (1, "")
    assert "error [objective_raised]: ZeroDivisionError: division by zero" in out
    assert server.requests == []


def test_named_study_is_found_again(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text("def objective(trial):\n    return 1\n")
    command = ("submit", str(path), "--name", "digits", "--once", "--space")
    assert [_run(capsys, *command, '{"x": [1]}') for _ in range(2)] == [(0, "1\n", "")] * 2
    code, _, err = _run(capsys, *command, '{"x": [2]}')
    assert (code, err[:22]) == (1, "error [space_changed]:")
    assert _run(capsys, *command, '{"x": [1, 2]}') == (0, "1\n", "")  # it is extended
    assert len(server.specs) == 1


def test_submit_reads_a_script_without_running_it(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, script: Path, tmp_path: Path
) -> None:
    (tmp_path / "space.json").write_text('{"x": [1, 2.0], "act": ["relu", null]}')
    (tmp_path / "data.bin").write_bytes(b"123")
    code, out, err = _run(
        capsys,
        *("submit", f"{script}:other", "--space", str(tmp_path / "space.json")),
        *("--data", f"d={tmp_path / 'data.bin'}", "--direction", "maximize", "--seed", "3"),
    )
    assert (code, out, err) == (0, "1\n", "")
    spec = server.specs[1]
    assert (spec.entry, spec.name, spec.direction, spec.seed) == (
        "train:other",
        "other",
        "maximize",
        3,
    )
    assert [(d.name, d.filename, d.bytes) for d in spec.data] == [("d", "data.bin", 3)]
    assert repr(spec.space[0].values) == "[1, 2.0]"


@pytest.mark.parametrize(
    ("given", "bounds"),
    [
        (("0", "1"), Bounds(0.0, 1.0)),
        (("-inf", "-0.5"), Bounds(high=-0.5)),
        (("-1e3", "inf"), Bounds(low=-1000.0)),
    ],
)
def test_submit_states_the_range_of_values(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, given: tuple[str, str], bounds: Bounds
) -> None:
    command = ("submit", "objectives", "--space", '{"x": [1]}', "--value-range", *given)
    assert _run(capsys, *command)[0] == 0
    assert server.specs[1].value_range == [bounds]


def test_submit_takes_a_module_and_json_and_watches(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, client: Client
) -> None:
    client.grid(objective, {"x": [1]}, submit_key="k")
    server.finish(1, 0, value=0.5)
    code, out, err = _run(
        capsys, "submit", "objectives", "--space", '{"x": [1]}', "--submit-key", "k", "--watch"
    )
    assert code == 0
    assert out.splitlines()[-1] == "best: trial 0, value 0.5, x=1"
    assert "study 1, 1 trials" in err


def test_watch_prints_each_trial_and_the_best(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, client: Client
) -> None:
    study = client.grid(objective, {"x": [1.0, 2, 3]})
    server.finish(study.id, 0, value=0.25)
    server.finish(study.id, 2, value=0.125, attempts=3)
    error = {"cause": "user_error", "code": "objective_raised", "message": EVIL, "traceback": EVIL}
    device = {"device": "d_9", "class": "phone", "engine": EVIL, "backend": EVIL}
    server.finish(study.id, 1, "failed", error=error, device=device)
    code, out, _ = _run(capsys, "watch", str(study.id))
    assert code == 0
    assert [line.split()[:5] for line in out.splitlines()] == [
        ["number", "params", "value", "run", "s"],
        ["0", "x=1.0", "0.25", "0.9", "1"],
        ["2", "x=3", "0.125", "0.9", "3"],
        ["1", "x=2", "failed", "0.9", "1"],
        ["best:", "trial", "2,", "value", "0.125,"],
    ]
    assert "[objective_raised]" in out
    assert not any(escape in out for escape in ESCAPES)


def test_watch_of_a_study_without_a_result_is_exit_4(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, client: Client
) -> None:
    study = client.grid(objective, {"x": [1]})
    server.finish(study.id, 0, "pruned")
    assert _run(capsys, "watch", str(study.id))[0] == _cli.EXIT_NO_RESULT
    cancelled = client.grid(objective, {"x": [1, 2]})
    server.finish(cancelled.id, 0, value=1.0)
    server.cancel(cancelled.id)
    assert _run(capsys, "watch", str(cancelled.id))[0] == _cli.EXIT_NO_RESULT


def test_lists_hold_no_raw_text_of_devices(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, client: Client
) -> None:
    study = client.grid(objective, {"x": ["=1+1", "b"]}, name=f"[bold]{EVIL}")
    error = {"cause": "user_error", "code": "objective_raised", "message": EVIL, "traceback": EVIL}
    device = {"device": EVIL, "class": EVIL, "engine": f"=HYPERLINK({EVIL})", "backend": EVIL}
    server.finish(study.id, 0, value=0.5, device=device)
    server.finish(study.id, 1, "failed", device=device, error=error)
    outs = {}
    for arguments in (
        ("studies",),
        ("studies", "--json"),
        ("trials", "1"),
        ("trials", "1", "--json"),
        ("trials", "1", "--csv"),
        ("watch", "1"),
    ):
        code, outs[arguments], err = _run(capsys, *arguments)
        assert (code, err) == (0, "")
        assert not any(escape in outs[arguments] for escape in ESCAPES), arguments
    assert "[bold]" in outs["studies",]
    assert json.loads(outs["studies", "--json"])[0]["best"] == {
        "trial": 0,
        "value": 0.5,
        "params": {"x": "=1+1"},
    }
    shown = json.loads(outs["trials", "1", "--json"])
    assert [(t["number"], t["state"], t["value"]) for t in shown] == [
        (0, "complete", 0.5),
        (1, "failed", None),
    ]
    rows = list(csv.DictReader(io.StringIO(outs["trials", "1", "--csv"])))
    assert [row["value"] for row in rows] == ["0.5", ""]
    assert rows[0]["params_x"] == "'=1+1"
    assert rows[0]["engine"].startswith("'=HYPERLINK")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (["watch", "77"], 1, "unknown_study"),
        (["trials", "77"], 1, "unknown_study"),
        (["studies", "--token", "other"], 1, "unauthorized"),
        (["studies", "--url", "ftp://x"], 1, "bad_url"),
        (["submit", "none.py", "--space", "{}"], 1, "cannot_bundle_script"),
        (["submit", "objectives", "--space", "{"], 1, "bad_space"),
        (["submit", "objectives", "--space", '{"x":[1],"x":[2]}'], 1, "bad_space"),
        (["submit", "objectives", "--space", "no/file"], 1, "bad_space"),
        (["submit", "objectives", "--space", "{}"], 1, "empty_space"),
        (["submit", "objectives:nope", "--space", '{"x":[1]}'], 1, "cannot_bundle_function"),
        (["submit", "objectives", "--space", '{"x":[1]}', "--data", "x"], 2, "usage"),
        (["submit", "objectives", "--space", '{"x":[1]}', "--data", "x=nope"], 1, "data_not_found"),
        (["submit", "objectives"], 2, "usage"),
        ([*SUBMIT, "--value-range", "1", "0"], 1, "bad_field"),
        ([*SUBMIT, "--value-range", "nan", "0"], 1, "bad_field"),
        ([*SUBMIT, "--value-range", "inf", "inf"], 1, "bad_field"),
        ([*SUBMIT, "--value-range", "0"], 2, "usage"),
        (["trials", "1", "--csv", "--json"], 2, "usage"),
        (["watch", "x"], 1, "not_found"),
        (["dance"], 2, "usage"),
    ],
)
def test_errors_are_one_line_with_a_code(
    capsys: pytest.CaptureFixture[str],
    server: FakeConsole,
    arguments: list[str],
    exit_code: int,
    code: str,
) -> None:
    got, out, err = _run(capsys, *arguments)
    assert got == exit_code
    assert err.startswith(f"error [{code}]: ")
    assert err.count("\n") == 1
    assert out == ""


def test_server_that_is_away_is_exit_3(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperflock._transport.http._FIRST_BACK_OFF_S", 100.0)
    monkeypatch.setattr("hyperflock._transport.http._MAX_BACK_OFF_S", 100.0)
    code, _, err = _run(capsys, "studies", "--url", "http://127.0.0.1:1")
    assert code == _cli.EXIT_UNREACHABLE
    assert err.startswith("error [server_unreachable]: ")


def test_help_names_the_exit_codes_and_version_the_version() -> None:
    runner = CliRunner()
    assert "130 detached" in runner.invoke(_cli.app, ["--help"]).output.replace("\n", " ")
    assert runner.invoke(_cli.app, ["--version"]).output == f"hyperflock {__version__}\n"


def test_ctrl_c_on_a_terminal_detaches(server: FakeConsole, client: Client) -> None:
    study = client.grid(objective, {"x": [1, 2]})
    server.finish(study.id, 0, value=0.5)
    terminal, inside = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperflock", "watch", str(study.id)],
        stdin=subprocess.DEVNULL,
        stdout=inside,
        stderr=inside,
        env={**os.environ, "TERM": "dumb"},
    )
    os.close(inside)
    seen = b""
    deadline = time.monotonic() + LIMIT_S

    def more() -> bytes:
        """Return what the terminal shows next, or nothing at its end or at the deadline."""
        left_s = max(0.0, deadline - time.monotonic())
        if not select.select([terminal], [], [], left_s)[0]:
            return b""
        try:
            return os.read(terminal, 4096)
        except OSError:  # on Linux this means that the other side has closed
            return b""

    try:
        while b"0.5" not in seen and (chunk := more()):
            seen += chunk
        process.send_signal(signal.SIGINT)
        while chunk := more():
            seen += chunk
        assert process.wait(LIMIT_S) == _cli.EXIT_DETACHED, seen.decode()
    finally:
        process.kill()
        process.wait(LIMIT_S)
        os.close(terminal)
    assert f"hyperflock watch {study.id}".encode() in seen
    assert b"Traceback" not in seen
    assert study.state == "running"


def test_closed_pipe_ends_quietly(server: FakeConsole, client: Client) -> None:
    # The output is larger than a pipe's buffer, so the command still writes when its reader ends.
    study = client.grid(objective, {"x": [f"{n:0250d}" for n in range(500)]})
    for number in range(500):
        server.finish(study.id, number, value=1.0)
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperflock", "trials", str(study.id), "--csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert (process.wait(LIMIT_S), error) == (1, b"")


SWEEP = """\
program: train.py:other
name: swept
method: sobol
metric: {name: accuracy, goal: maximize}
run_cap: 8
parameters:
  rate: {distribution: log_uniform_values, min: 1e-4, max: 0.1}
  layers: {values: [[32, 64], [64]]}
"""


def test_sweep_file_submits_its_search(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, script: Path
) -> None:
    sweep = script.parent / "sweep.yaml"
    sweep.write_text(SWEEP)
    code, out, err = _run(capsys, "submit", str(sweep), "--seed", "3")
    assert (code, out, err) == (0, "1\n", "")
    spec = server.specs[1]
    assert (spec.name, spec.kind, spec.trials, spec.seed) == ("swept", "sobol", 8, 3)
    assert (spec.direction, spec.entry) == ("maximize", "train:other")
    assert [d.name for d in spec.space] == ["rate", "layers"]
    again = ("submit", str(sweep), "--seed", "3", "--once", "--json")
    assert json.loads(_run(capsys, *again)[1])["name"] == "swept"


def test_wrong_sweep_file_is_one_line_with_file_line_and_key(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, script: Path
) -> None:
    sweep = script.parent / "sweep.yaml"
    sweep.write_text(SWEEP.replace("run_cap", "runcap"))
    code, out, err = _run(capsys, "submit", str(sweep))
    assert (code, out) == (_cli.EXIT_REFUSED, "")
    assert err.startswith("error [bad_sweep]: sweep.yaml:5: runcap is unknown; the keys are ")
    assert err.count("\n") == 1
    for options in (("--space", "{}"), ("--direction", "minimize")):
        assert _run(capsys, "submit", str(sweep), *options)[0] == _cli.EXIT_USAGE
    assert _run(capsys, "submit", str(script))[0] == _cli.EXIT_USAGE
    assert not server.specs


def test_space_may_be_a_list_of_points(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, script: Path
) -> None:
    points = '[{"x": 1, "layers": [1, 2]}, {"x": 2, "layers": []}]'
    assert _run(capsys, "submit", str(script), "--space", points)[:2] == (0, "1\n")
    assert server.specs[1].kind == "points"
    differ = '[{"x": 1}, {"y": 2}]'
    code, _, err = _run(capsys, "submit", str(script), "--space", differ)
    assert (code, err[:18]) == (_cli.EXIT_REFUSED, "error [bad_field]:")


def test_commands_take_a_study_s_name(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, client: Client
) -> None:
    study = client.grid(objective, {"x": [1]}, name="digits")
    server.finish(study.id, 0, value=0.5)
    for arguments in (
        ("show", "digits"), ("show", "digits", "0"), ("trials", "digits"), ("watch", "digits"),
        ("export", "digits"), ("logs", "digits"), ("artifacts", "digits"), ("pause", "digits"),
        ("resume", "digits"), ("retry", "digits"), ("show", "name:digits"),
    ):  # fmt: skip
        code, _, err = _run(capsys, *arguments)
        assert code == 0, (arguments, err)
    client.grid(objective, {"x": [1]}, name="digits")
    code, _, err = _run(capsys, "show", "digits")
    assert (code, err) == (
        _cli.EXIT_REFUSED,
        "error [ambiguous_study]: 2 studies are called 'digits'; choose one by its id: 2, 1\n",
    )
    assert _run(capsys, "delete", "none", "--yes")[0] == _cli.EXIT_REFUSED
