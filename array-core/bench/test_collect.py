"""Tests that no figure of a benchmark is lost: a figure that is absent, wrong or late counts as
missed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

import collect
import figures
import report
from figures import Command, Figure


def command(code: str, *wanted: Figure, limit_s: int = 60) -> Command:
    return Command("made_up", (sys.executable, "-c", code), wanted, limit_s=limit_s)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run commands as ``./run bench array-core`` does; return the status and the report's rows."""

    def run(*commands: Command) -> tuple[int, dict[str, Any]]:
        monkeypatch.setattr(collect, "COMMANDS", commands)
        out = tmp_path / "array-core.json"
        status = collect.main(["--out", str(out)])
        return status, {row["name"]: row for row in json.loads(out.read_text())["figures"]}

    return run


FAST = figures.at_most("fast_us", 5, "us")
MANY = figures.at_least("many", 100)


def test_a_goal_reached_and_one_missed(measured: Any) -> None:
    printed = 'print("on the way"); print(\'{"fast_us": 4.5, "many": 99}\')'
    status, rows = measured(command(printed, FAST, MANY))
    assert status == 1
    assert rows["fast_us"]["value"] == 4.5
    assert [report.met(rows[name]) for name in ("fast_us", "many")] == [True, False]
    assert [collect.missed(rows[name]) for name in ("fast_us", "many")] == [False, True]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("print('{}')", "no number fast_us"),
        ("print('{\"fast_us\": null}')", "no number fast_us"),
        ("print('{\"fast_us\": NaN}')", "no number fast_us"),
        ("print('{\"fast_us\": true}')", "no number fast_us"),
        ('print(\'{"fast_us": {"p50": 1}}\')', "no number fast_us"),
        ("print('4.5')", "no JSON object"),
        ("", "no JSON object"),
        ("raise SystemExit('broken')", "ended with 1"),
        ("print('{\"fast_us\": 1}'); raise SystemExit(3)", "ended with 3"),
    ],
)
def test_a_command_that_says_nothing_good_misses(measured: Any, code: str, reason: str) -> None:
    status, rows = measured(command(code, FAST))
    assert status == 1
    assert reason in rows["fast_us"]["error"]
    assert report.met(rows["fast_us"]) is False


def test_a_command_that_takes_too_long_misses(measured: Any) -> None:
    status, rows = measured(command("import time; time.sleep(60)", FAST, limit_s=1))
    assert status == 1
    assert rows["fast_us"]["error"] == "took longer than 1 s"


def test_only_an_optional_figure_may_be_null(measured: Any) -> None:
    gpu = figures.at_least("gpu", 1_500, optional=True)
    status, rows = measured(command('print(\'{"gpu": null, "reason": "software"}\')', gpu))
    assert status == 0
    assert (rows["gpu"]["value"], rows["gpu"]["note"]) == (None, "software")
    assert report.met(rows["gpu"]) is None


def test_one_figure_is_measured_anew_and_the_others_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = str(tmp_path / "report.json")
    first = Command("first", (sys.executable, "-c", "print('{\"fast_us\": 1}')"), (FAST,))
    second = Command("second", (sys.executable, "-c", "print('{\"many\": 100}')"), (MANY,))
    monkeypatch.setattr(collect, "COMMANDS", (first, second))
    assert collect.main(["--out", out]) == 0
    slower = Command("first", (sys.executable, "-c", "print('{\"fast_us\": 9}')"), (FAST,))
    monkeypatch.setattr(collect, "COMMANDS", (slower, second))
    assert collect.main(["--out", out, "fast_us"]) == 1
    rows = json.loads(Path(out).read_text())["figures"]
    assert [(row["name"], row["value"]) for row in rows] == [("fast_us", 9), ("many", 100)]


def test_an_unknown_name_is_told() -> None:
    with pytest.raises(SystemExit, match="no figure 'nothing'"):
        collect.main(["nothing"])


def test_every_figure_has_a_name_of_its_own() -> None:
    rows = [figure for command in figures.COMMANDS for figure in command.figures]
    assert len({figure.name for figure in rows}) == len(rows)
    assert len({command.name for command in figures.COMMANDS}) == len(figures.COMMANDS)
    assert all(bool(figure.op) == (figure.goal is not None) for figure in rows)


def test_a_parity_run_makes_the_page_of_all_reports(measured: Any, tmp_path: Path) -> None:
    numbers = dict.fromkeys(
        ("parity_cases", "parity_failures", "parity_gpu_share", "parity_seconds"), 0
    )
    made = {"device": "cpu", "platform": "linux", "numpy": "2", "short": True, "cases": [],
               "figures": numbers}  # fmt: skip
    code = (
        "import json, pathlib; folder = pathlib.Path({folder!r}); folder.mkdir(exist_ok=True);"
        "(folder / '{name}.json').write_text(json.dumps({report!r})); print('{{}}')"
    )
    commands = [
        Command(f"parity_{name}", (sys.executable, "-c", code.format(
            folder=str(tmp_path / "parity"), name=name, report=made | {"backend": name})), ())
        for name in ("first", "second")
    ]  # fmt: skip
    status, rows = measured(*commands)
    assert (status, rows) == (0, {})
    page = (tmp_path / "parity" / "index.html").read_text()
    assert '"name":"first"' in page
    assert '"name":"second"' in page


def test_other_commands_make_no_parity_page(measured: Any, tmp_path: Path) -> None:
    measured(command("print('{\"many\": 100}')", MANY))
    assert not (tmp_path / "parity").exists()
