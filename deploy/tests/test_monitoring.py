"""Compares the alert rules and the board with the metrics of a running server.

Also checks that the server's metrics follow Prometheus' rules for names and units, as its own tool
does.
"""

import json
import os
import re
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
MONITORING = ROOT / "deploy/monitoring"
#: What PromQL itself has, and the labels of the rules.
WORDS = {
    "and",
    "by",
    "sum",
    "without",
    "rate",
    "increase",
    "time",
    "avg_over_time",
    "histogram_quantile",
    "predict_linear",
    "up",
    "job",
    "le",
    "band",
    "status",
    "reason",
    "full",
    "xx",
    "hyperflock",
    "s",
    "h",
    "m",
}
UNITS = ("_seconds", "_bytes", "_total", "_info", "_timestamp_seconds")
#: Counts of things that have no unit.
COUNTS = [
    "_connections",
    "_connected",
    "_running",
    "_queued",
    "_attached",
    "_waiting",
    "_only",
    "_full",
    "_synchronous",
    "_transitions",
    "_tasks",
    "_configured",
    "_current",
    "_fds",
    "_away",
    "_held",
]


@pytest.fixture(scope="module")
def exposition(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a server and yield its metrics."""
    binary = os.environ.get("HYPERFLOCK_TEST_SERVER_BIN")
    if binary is None:
        pytest.skip("HYPERFLOCK_TEST_SERVER_BIN names no server")
    folder = tmp_path_factory.mktemp("monitoring")
    ready = folder / "ready.json"
    words = [binary, "serve", "--state", str(folder / "state"), "--ready-file", str(ready)]
    words += ["--compute", "127.0.0.1:0", "--console", "127.0.0.1:0", "--end-with-stdin"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        until = time.monotonic() + 60
        while not ready.exists() and server.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        port = json.loads(ready.read_text())["console_port"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            yield answer.read().decode()
        server.terminate()


def families(text: str) -> dict[str, str]:
    """Return the type of each metric."""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))


def names_in(expression: str) -> set[str]:
    """Return the metrics that an expression names, without the endings of histograms."""
    bare = re.sub(r'"[^"]*"', "", expression)
    names = set(re.findall(r"[a-z][a-z_]*", bare)) - WORDS
    return {re.sub(r"_bucket$", "", name) for name in names}


def rules() -> list[dict[str, Any]]:
    loaded = yaml.safe_load((MONITORING / "alerts.yml").read_text())
    return [rule for group in loaded["groups"] for rule in group["rules"]]


def board_expressions() -> list[str]:
    board = json.loads((MONITORING / "board.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def test_each_metric_of_the_rules_and_the_board_exists(exposition: str) -> None:
    known = set(families(exposition))
    expressions = [rule["expr"] for rule in rules()] + board_expressions()
    assert len(expressions) > 40
    for expression in expressions:
        assert names_in(expression) - known == set(), expression


def test_each_label_of_the_rules_has_this_value_on_the_server(exposition: str) -> None:
    for rule in rules():
        for name, label, value in re.findall(r'(\w+)\{(\w+)="(\w+)"', rule["expr"]):
            if label != "job":
                assert re.search(rf'^{name}\{{{label}="{value}"\}} ', exposition, re.MULTILINE)


def test_each_rule_says_what_to_do() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert set(rule["annotations"]) == {"summary", "what_to_do"}


def test_names_and_units_follow_the_rules_of_prometheus(exposition: str) -> None:
    kinds = families(exposition)
    assert len(kinds) > 40
    helps = dict(re.findall(r"^# HELP (\S+) (.+)$", exposition, re.MULTILINE))
    for name, kind in kinds.items():
        assert name.startswith(("hyperflock_", "process_")), name
        assert helps.get(name), name
        assert (kind == "counter") == name.endswith("_total"), name
        assert name.endswith(UNITS) or name.endswith(tuple(COUNTS)), name
        assert not re.search(r"_(ms|milliseconds|kb|mib|minutes|hours)(_|$)", name), name
