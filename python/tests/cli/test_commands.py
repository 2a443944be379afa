"""Tests the commands for studies, devices and shells: their tables, their JSON, their help."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import hyperflock
import pytest
from device import Device
from fake_console import FakeConsole
from fakes.answers import json_answer, refusal
from hyperflock import Client, Deleted, Study
from hyperflock._cli import command as _cli
from hyperflock._transport.messages import Failure
from objectives import objective
from patience import LIMIT_S
from real_server import Server
from typer.testing import CliRunner

EVIL = "\x1b[2J\x1b]0;title\x07evil\u202e\x9b31m"
ESCAPES = ("\x1b", "\x07", "\x9b", "\u202e")
COMMANDS = sorted(
    command.name or command.callback.__name__
    for command in _cli.app.registered_commands
    if command.callback is not None
)


@pytest.fixture(autouse=True)
def _settings(server: FakeConsole, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", server.url)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", server.token)
    monkeypatch.setenv("COLUMNS", "200")


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that succeeds. Return what it printed."""
    code = _cli.run(list(arguments))
    out, err = capsys.readouterr()
    assert (code, err) == (0, ""), arguments
    assert not any(escape in out for escape in ESCAPES), arguments
    return out


@pytest.fixture
def study_id(client: Client, server: FakeConsole) -> str:
    study = client.grid(objective, {"x": [0.5, 1], "act": ["=1+1", "b"]}, name=f"digits {EVIL}")
    server.finish(study.id, 0, value=0.25)
    device = {"device": EVIL, "class": "phone", "engine": EVIL, "backend": "cpu"}
    error = {
        "cause": "user_error",
        "code": "objective_raised",
        "message": EVIL,
        "traceback": f"Traceback\n  File {EVIL}\nValueError: no",
    }
    run = {
        "attempt": 7,
        "kind": "primary",
        "state": "failed",
        "device": device,
        "values": [],
        "started_at": 1,
        "finished_at": 2,
        "run_ms": 1500,
        "load_ms": 0,
        "error": error,
    }
    server.finish(study.id, 3, "failed", device=device, error=error, attempts_list=[run])
    return str(study.id)


def test_show_tells_a_study_and_a_trial(capsys: pytest.CaptureFixture[str], study_id: str) -> None:
    lines = dict(line.split("  ", 1) for line in _run(capsys, "show", study_id).splitlines())
    told = {name: text.strip() for name, text in lines.items()}
    assert told["study"] == f"{study_id} 'digits [2J]0;titleevil31m'"
    assert told["trials"] == "2 of 4 done (1 complete, 0 pruned, 1 failed), 0 running"
    assert (told["best"], told["best point"]) == ("0.25, trial 0", "x=0.5 act==1+1")
    assert (told["space x"], told["runtime"]) == ("0.5, 1", "chainer-7.8.1")
    shown = json.loads(_run(capsys, "show", study_id, "--json"))
    assert (shown["id"], shown["runtime"], shown["failed"]) == (1, "chainer-7.8.1", 1)
    assert repr(shown["space"]) == "{'x': [0.5, 1], 'act': ['=1+1', 'b']}"
    trial = _run(capsys, "show", study_id, "3")
    assert "attempt 7 failed on [2J]0;titleevil31m (phone" in trial
    assert "\n  ValueError: no\n" in trial
    where_from = trial.partition("\n\n")[2]
    assert "computed by     attempt 7, [2J]0;titleevil31m phone" in where_from
    assert "seeds           0 of the study, " in where_from
    told = json.loads(_run(capsys, "show", study_id, "0", "--json"))
    assert (told["value"], told["points"]) == (0.25, [[0, 0.5]])
    assert told["provenance"]["entry"] == "objectives:objective"


def test_logs_show_each_failed_trial_or_the_one_that_is_named(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, study_id: str
) -> None:
    out = _run(capsys, "logs", study_id)
    assert out.splitlines()[0] == "trial 3 failed, x=1 act=b"
    assert "  [objective_raised] " in out
    assert "\n  Traceback\n" in out
    ran = "attempt 7 accepted on d_1 (phone, chromium 142, cpu), 0.9 s"
    shown = _run(capsys, "logs", study_id, "0").splitlines()
    assert shown == ["trial 0 complete, x=0.5 act==1+1", ran]
    (failed,) = json.loads(_run(capsys, "logs", study_id, "--json"))
    assert failed["attempt_list"][0]["error"]["code"] == "objective_raised"
    server.printed[int(study_id), 0] = ["epoch 1", f"loss {EVIL}"]
    lines = ["epoch 1", "loss [2J]0;titleevil31m"]
    assert _run(capsys, "logs", study_id, "0").splitlines()[1:] == [ran, *lines]
    assert _run(capsys, "logs", study_id, "0", "--follow").splitlines() == lines
    (told,) = json.loads(_run(capsys, "logs", study_id, "0", "--json"))
    assert told["lines"] == lines
    assert _cli.run(["logs", study_id, "--follow"]) == 2


def test_export_and_plot_write_what_python_writes(
    capsys: pytest.CaptureFixture[str], client: Client, study_id: str, tmp_path: Path
) -> None:
    study = client.study(int(study_id))
    for name in ("csv", "json", "jsonl"):
        file = tmp_path / f"t.{name}"
        assert _run(capsys, "export", study_id, "--format", name) == study.export(name)
        assert _run(capsys, "export", study_id, "--format", name, "-o", str(file)) == ""
        assert file.read_text() == study.export(name)
    assert _run(capsys, "export", study_id, "--json") == study.export("json")
    assert _run(capsys, "trials", study_id, "--csv") == study.export("csv")
    rows = list(csv.DictReader(io.StringIO(study.export("csv"))))
    assert [row["params_act"] for row in rows] == ["'=1+1", "b"]
    for kind in ("history", "parallel"):
        file = tmp_path / f"{kind}.svg"
        _run(capsys, "plot", study_id, "--kind", kind, "-o", str(file))
        assert file.read_text() == study.plot(kind).svg


def test_plot_of_another_format_and_trial_that_is_not_there_are_refused(
    capsys: pytest.CaptureFixture[str], study_id: str, tmp_path: Path, server: FakeConsole
) -> None:
    assert _cli.run(["plot", study_id, "-o", str(tmp_path / "x.png")]) == _cli.EXIT_REFUSED
    assert capsys.readouterr().err == (
        "error [bad_format]: 'x.png' would hold SVG; take a name that ends in .svg\n"
    )
    assert not list(tmp_path.iterdir())
    for name in ("x.SVG", "plain"):
        _run(capsys, "plot", study_id, "-o", str(tmp_path / name))
    files = tmp_path / "files"
    for more in ((), ("-o", str(files)), ("--json",)):
        assert _cli.run(["artifacts", study_id, "99", *more]) == _cli.EXIT_REFUSED
        out, err = capsys.readouterr()
        assert (out, err[:18]) == ("", "error [not_found]:")
    assert not files.exists()
    assert json.loads(_run(capsys, "artifacts", study_id, "0", "--json")) == []


def test_parquet_goes_to_standard_output_as_it_is(
    study_id: str, client: Client, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert _cli.run(["export", study_id, "--format", "parquet"]) == 0
    out, _ = capsysbinary.readouterr()
    assert out[:4] == out[-4:] == b"PAR1"
    assert out == client.study(study_id).export("parquet")


def test_cancel_and_retry_change_a_study(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, study_id: str
) -> None:
    assert _run(capsys, "retry", study_id) == f"study {study_id} is running, 1 of 4 trials done\n"
    assert _run(capsys, "pause", study_id) == f"study {study_id} is paused, 1 of 4 trials done\n"
    assert ["state", "paused"] in [
        line.split() for line in _run(capsys, "show", study_id).splitlines()
    ]
    assert json.loads(_run(capsys, "pause", study_id, "--json"))["paused"] is True
    assert _run(capsys, "resume", study_id).startswith(f"study {study_id} is running, ")
    assert json.loads(_run(capsys, "cancel", study_id, "--json"))["state"] == "cancelled"
    assert server.requests[-1] == f"POST /api/studies/{study_id}/cancel"


def test_delete_asks_and_takes_studies_that_are_over(
    capsys: pytest.CaptureFixture[str],
    client: Client,
    server: FakeConsole,
    study_id: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def told(*arguments: str) -> tuple[int, str, str]:
        code = _cli.run(["delete", *arguments])
        return code, *capsys.readouterr()

    other = str(client.grid(objective, {"x": [1]}).id)
    server.cancel(int(other))
    server.keep(int(other), 0, "a.txt", b"12345")
    code, out, err = told(other, study_id, "--yes")
    assert (code, out) == (_cli.EXIT_REFUSED, "")
    assert err.startswith(f"error [study_running]: study {study_id} 'digits ")
    assert f"hyperflock cancel {study_id}" in err
    assert not any(escape in err for escape in ESCAPES)
    server.cancel(int(study_id))
    assert told(study_id)[0] == _cli.EXIT_USAGE  # no terminal that could confirm

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    for answer, code in (("n", _cli.EXIT_REFUSED), ("y", 0)):
        monkeypatch.setattr("typer.confirm", lambda *_, a=answer, **__: a == "y")
        told_code, _, asked = told(study_id)
        assert told_code == code
        assert asked.startswith(f"study {study_id} 'digits ")
        assert (int(study_id) in server.specs) == (answer == "n")
    gone = json.loads(_run(capsys, "delete", other, other, "--yes", "--json"))
    assert [(one["study"], one["trials"], one["artifacts"]) for one in gone] == [(int(other), 0, 1)]
    assert gone[0]["bytes"] > 5
    assert told(other, "--yes")[2].startswith("error [unknown_study]: ")


def test_delete_tells_what_is_gone_before_one_is_refused(
    capsys: pytest.CaptureFixture[str],
    client: Client,
    server: FakeConsole,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = Study.delete

    def delete(study: Study) -> Deleted:
        if study.name == "reopened":  # since the command read the study
            raise hyperflock.ServerError("it is not over", code="study_running")
        gone = real(study)
        return Deleted(gone.study) if study.name == "unheard" else gone

    monkeypatch.setattr(Study, "delete", delete)
    for as_json in (False, True):
        names = ("first", "unheard", "reopened", "last")
        studies = [client.grid(objective, {"x": [1]}, name=name).cancel() for name in names]
        ids = [study.id for study in studies]
        code = _cli.run(["delete", *map(str, ids), "--yes", *["--json"] * as_json])
        out, err = capsys.readouterr()
        assert (code, err.startswith("error [study_running]: ")) == (_cli.EXIT_REFUSED, True)
        if as_json:
            assert [one["study"] for one in json.loads(out)] == ids[:2]
            assert json.loads(out)[1]["trials"] is None
        else:
            first, second = out.splitlines()
            assert first.startswith(f"study {ids[0]} is deleted: 0 trials, 0 files, ")
            assert second.startswith(f"study {ids[1]} is deleted; the connection broke")
        assert ids[3] in server.specs


def test_watch_and_submit_give_json_lines(
    capsys: pytest.CaptureFixture[str], client: Client, server: FakeConsole
) -> None:
    study = client.grid(objective, {"x": [1, 2]}, submit_key="k")
    server.finish(study.id, 0, value=0.5)
    server.finish(study.id, 1, value=0.25)
    lines = _run(capsys, "watch", str(study.id), "--json").splitlines()
    assert [json.loads(line)["value"] for line in lines] == [0.5, 0.25]
    command = ("submit", "objectives", "--space", '{"x": [1, 2]}', "--submit-key", "k", "--json")
    assert json.loads(_run(capsys, *command))["id"] == study.id
    assert _cli.run([*command, "--watch"]) == 0
    again = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [trial["number"] for trial in again] == [0, 1]
    tried = json.loads(_run(capsys, *command, "--dry-run", "cpython"))
    assert (tried["where"], tried["state"]) == ("cpython", "complete")


def test_runtime_is_the_study_s_and_an_unknown_one_is_refused(
    capsys: pytest.CaptureFixture[str], server: FakeConsole
) -> None:
    command = ("submit", "objectives", "--space", '{"x": [1]}')
    for runtime in ("chainer-5.4.0", "chainer-7.8.1"):
        number = _run(capsys, *command, "--runtime", runtime).strip()
        assert ["runtime", runtime] in [
            line.split() for line in _run(capsys, "show", number).splitlines()
        ]
        assert server.specs[int(number)].runtime.chainer == runtime.removeprefix("chainer-")
    sent = len(server.requests)
    for more in ((), ("--dry-run", "cpython")):
        assert _cli.run([*command, "--runtime", "chainer-6.0.0", *more]) == 1
        assert capsys.readouterr().err == (
            "error [unknown_runtime]: there is no runtime 'chainer-6.0.0'; "
            "take one of chainer-7.8.1, chainer-5.4.0 (runtime)\n"
        )
    assert len(server.requests) == sent


def test_devices_join_and_revoke(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = server._answer
    row = {"device": "d_1", "class": "phone", "engine": EVIL, "state": "computing", "study": 3}

    def answer(method: str, path: str, headers: Any, body: bytes) -> Any:
        match method, path:
            case "GET", "/api/workers":
                return json_answer(200, {"workers": [row]})
            case "POST", "/api/devices/d_1%2F/revoke":
                return json_answer(200, {"device": "d_1/", "revoked": True})
            case "POST", "/api/devices/d_2/revoke":
                return refusal(403, "forbidden", "Only an administrator revokes devices.")
        return real(method, path, headers, body)

    monkeypatch.setattr(server, "_answer", answer)
    out = _run(capsys, "devices").splitlines()
    assert out[1].split() == ["d_1", "phone", "[2J]0;titleevil31m", "computing", "3", "-"]
    assert json.loads(_run(capsys, "devices", "--json")) == [row]
    told = json.loads(_run(capsys, "status", "--json"))
    assert told["devices"] == {"connected": 1, "computing": 1}
    assert (told["console"], told["here"], told["pid"]) == (server.url, False, None)
    assert _run(capsys, "join") == "http://127.0.0.1:1/join#abc\n"
    assert json.loads(_run(capsys, "join", "--json")) == {"join_url": "http://127.0.0.1:1/join#abc"}
    assert _cli.run(["join", "--qr"]) == 0
    assert "█" in capsys.readouterr().out
    assert _run(capsys, "revoke", "d_1/") == "d_1/ is shut out\n"
    assert json.loads(_run(capsys, "revoke", "d_1/", "--json"))["revoked"] is True
    assert _cli.run(["revoke", "d_2"]) == 1
    assert capsys.readouterr().err.startswith("error [forbidden]: ")


def test_tokens_are_listed_rotated_and_ended(
    capsys: pytest.CaptureFixture[str], server: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = server._answer
    rows = [
        {"token": 3, "name": EVIL, "created_at": 1, "current": True, "expires_at": 86_400_000},
        {"token": 4, "name": "ada", "created_at": 1, "current": False, "revoked_at": 2},
    ]
    asked: list[Any] = []

    def answer(method: str, path: str, headers: Any, body: bytes) -> Any:
        match method, path:
            case "GET", "/api/tokens":
                return json_answer(200, {"tokens": rows})
            case "POST", "/api/tokens/rotate":
                asked.append(json.loads(body))
                return json_answer(201, {"id": 5, "token": "hfr_new", "old": {"token": 3}})
            case "POST", "/api/tokens/4/revoke":
                return json_answer(200, {"token": 4, "revoked": True})
        return real(method, path, headers, body)

    monkeypatch.setattr(server, "_answer", answer)
    first, second = (line.split() for line in _run(capsys, "tokens").splitlines()[1:])
    assert (first[:2], first[4:7]) == (["3", "[2J]0;titleevil31m"], ["in", "use,", "until"])
    assert (second[:2], second[-1]) == (["4", "ada"], "ended")
    assert json.loads(_run(capsys, "tokens", "--json")) == rows
    assert _cli.run(["tokens", "--rotate", "--grace-hours", "0.5"]) == 0
    out, err = capsys.readouterr()
    assert (out, asked) == ("hfr_new\n", [{"grace_s": 1800}])
    assert err == (
        "the old one came by --token or HYPERFLOCK_TOKEN: set the new one there; the old one "
        "opens for 0.5 h more\n"
    )
    assert _run(capsys, "tokens", "--revoke", "4") == "token 4 opens nothing any more\n"
    assert json.loads(_run(capsys, "tokens", "--revoke", "4", "--json"))["revoked"] is True
    assert _cli.run(["tokens", "--revoke", "9"]) == 1
    assert _cli.run(["tokens", "--revoke", "4", "--rotate"]) == 2


def test_rotated_token_is_told_though_its_file_cannot_be_written(
    capsys: pytest.CaptureFixture[str],
    server: FakeConsole,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    kept = {"researcher_token": server.token, "join_url": "x"}
    (tmp_path / "ready.json").write_text(json.dumps({"console": server.url}))
    (tmp_path / "credentials.json").write_text(json.dumps(kept))
    monkeypatch.setenv("HYPERFLOCK_HOME", str(tmp_path))
    monkeypatch.delenv("HYPERFLOCK_TOKEN")
    made = json_answer(201, {"id": 5, "token": "hfr_new", "old": {"token": 3}})
    monkeypatch.setattr(server, "_answer", lambda *_: made)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", full)
        assert _cli.run(["tokens", "--rotate"]) == _cli.EXIT_REFUSED
    out, err = capsys.readouterr()
    assert out == "hfr_new\n"
    assert err.startswith("error [cannot_write]: ")
    assert "No space left" in err
    # The new token's temporary file is gone, and the old credentials are intact.
    assert {path.name for path in tmp_path.iterdir()} == {"ready.json", "credentials.json"}
    assert json.loads((tmp_path / "credentials.json").read_text()) == kept


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_the_command_takes(command: str) -> None:
    shown = CliRunner().invoke(_cli.app, [command, "--help"]).output
    _, found, examples = shown.partition("Examples:\n")
    assert found, shown
    for example in examples.strip().splitlines():
        assert f"hyperflock {command}" in example
        # The command has each option that the example uses.
        words = example.partition(f"hyperflock {command}")[2].partition(" | ")[0]
        own = words.partition(" && ")[0].split()
        for option in (word for word in own if word.startswith("--")):
            assert option in shown.partition("Examples:")[0], (command, option)
    if command not in ("completion", "demo"):  # a demonstration has no answer for programs
        assert "--json" in shown, command


@pytest.mark.parametrize("arguments", [[], ["help"], ["help", "watch"]])
def test_no_command_and_help_print_the_help(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = _run(capsys, *arguments)
    assert shown == _run(capsys, *arguments[1:], "--help")
    assert shown.startswith("Usage: hyperflock ")


def test_command_without_its_arguments_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _run(capsys, "watch", "--help")
    assert _cli.run(["watch"]) == _cli.EXIT_USAGE
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"{shown}\nerror [usage]: Missing argument 'STUDY'.\n")
    assert _cli.run(["watch", "--nonsense"]) == _cli.EXIT_USAGE
    assert capsys.readouterr().err == "error [usage]: No such option: --nonsense\n"


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(_cli.app, [*([command] if command else []), "--help"]).output
    assert max(len(line) for line in shown.splitlines()) <= 80
    usage, *lines = shown.splitlines()
    assert not [line for line in lines if line.endswith("...")]
    for twice in ("[[", "......", "...}"):
        assert twice not in usage


def test_every_command_is_in_the_documentation_and_in_the_help() -> None:
    docs = Path(__file__).resolve().parents[2] / "docs"
    page = (docs / "reference" / "commands.md").read_text("utf-8")
    section = page.partition("## All commands")[2].partition("\n## ")[0]
    shown = CliRunner().invoke(_cli.app, ["--help"]).output
    assert len(COMMANDS) >= 17
    for command in COMMANDS:
        assert f"`{command}" in section or f"hyperflock {command}" in section, command
        assert f"\n  {command} " in shown, command


SHELL_TEST = """
eval "$({python} -m hyperflock completion bash)"
hyperflock() {{ {python} -m hyperflock "$@"; }}
COMP_WORDS=(hyperflock {words}); COMP_CWORD={at}
_hyperflock_completion hyperflock
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [("exp", {"export"}), ("export --f", {"--format"}), ("st", {"status", "studies"})],
)
def test_bash_completes_commands_and_options(
    words: str, expected: set[str], tmp_path: Path
) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    program = tmp_path / "hyperflock"
    program.write_text(f'#!{bash}\nexec "{sys.executable}" -m hyperflock "$@"\n')
    program.chmod(0o755)
    script = SHELL_TEST.format(python=sys.executable, words=words, at=len(words.split()))
    script = script.replace(f'hyperflock() {{ {sys.executable} -m hyperflock "$@"; }}\n', "")
    done = subprocess.run(
        [bash, "--norc", "-c", script],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.stderr, set(done.stdout.split())) == ("", expected)


@pytest.mark.parametrize(
    ("shell", "asked", "words"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "hyperflock exp"}, "#compdef hyperflock"),
        (
            "fish",
            {"_TYPER_COMPLETE_ARGS": "hyperflock exp", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
            "complete --command hyperflock",
        ),
    ],
)
def test_other_shells_get_a_script_and_what_it_asks_for(
    capsys: pytest.CaptureFixture[str], shell: str, asked: dict[str, str], words: str
) -> None:
    assert words in _run(capsys, "completion", shell)
    assert "_HYPERFLOCK_COMPLETE" not in os.environ
    done = subprocess.run(
        [sys.executable, "-m", "hyperflock"],
        env={**os.environ, **asked, "_HYPERFLOCK_COMPLETE": f"complete_{shell}"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert "export" in done.stdout
    assert "submit" not in done.stdout


@pytest.mark.server
def test_commands_against_the_real_server(
    real: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", real.console)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", real.credentials["admin_token"])
    study = _run(
        capsys, "submit", "objectives", "--space", '{"x": [1, 2]}', "--runtime", "chainer-5.4.0"
    ).strip()
    with real.device() as device:
        lease = device.ready()
        assert lease.runtime.chainer == "5.4.0"
        second = device.complete(lease, 0.5)
        assert second is not None
        failure = Failure("user_error", "objective_raised", "ValueError: no", "Traceback\nno")
        device.result(second, outcome="failed", error=failure)
        assert json.loads(_run(capsys, "devices", "--json"))[0]["device"] == device.device
        assert "[objective_raised] ValueError: no" in _run(capsys, "logs", study)
        rows = list(csv.DictReader(io.StringIO(_run(capsys, "export", study))))
        assert {row["state"] for row in rows} == {"complete", "failed"}
        assert "study 1 is running, 1 of 2" in _run(capsys, "retry", study)
        told = json.loads(_run(capsys, "status", "--json"))
        assert (told["role"], told["studies"]["running"]) == ("admin", 1)
        assert told["devices"]["connected"] == 1
        _run(capsys, "revoke", device.device)
    link = _run(capsys, "join").strip()
    with Device.join(real.compute, link.partition("#")[2]):
        assert json.loads(_run(capsys, "cancel", study, "--json"))["state"] == "cancelled"
