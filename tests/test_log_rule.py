"""Tests what the rule finds about the events of the log."""

import house_rules
import pytest
from log_rule import log_problems

ROW = "| `came` | info | `who`, `how` | Somebody came. |\n"
CALL = 'telemetry::log(telemetry::LogLevel::info, "came", {{"who", name}, {"how", f("a, b)")}});'


def test_code_and_table_may_agree() -> None:
    assert log_problems({"a.cc": CALL}, ROW) == []
    # Several calls of one event add up.
    half = 'telemetry::log(LogLevel::info, "came", {{"who", "x"}});'
    assert log_problems({"a.cc": CALL, "b.cc": half}, ROW) == []


@pytest.mark.parametrize(
    ("code", "table", "reason"),
    [
        (CALL, "", "the event came is missing"),
        ("", ROW, "nothing logs came"),
        ("// " + CALL, ROW, "nothing logs came"),
        (CALL, ROW + ROW, "came stands twice"),
        (CALL, ROW.replace("`who`, ", ""), "has the fields how, who"),
        (CALL, ROW.replace("`who`", "`who`, `token`"), "the table says how, token, who"),
        (CALL, ROW.replace("info", "error"), "has the levels info"),
        (CALL.replace('"came"', "error.code"), ROW, "no literal level or event"),
        (CALL.replace('"came"', '"came" + code'), ROW, "no literal level or event"),
    ],
)
def test_a_difference_is_found(code: str, table: str, reason: str) -> None:
    assert any(reason in line for line in log_problems({"a.cc": code}, table))


def test_an_event_may_be_one_of_two_literals() -> None:
    code = 'telemetry::log(ok ? LogLevel::info : LogLevel::error, ok ? "came" : "went", {});'
    table = "| `came` | info | – | x |\n| `went` | error | – | y |\n"
    assert log_problems({"a.cc": code}, table) == []


def test_the_tree_agrees_with_its_table() -> None:
    assert house_rules.logged_events(house_rules.tracked()) == []
