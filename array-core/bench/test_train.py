"""Tests that the training bench's report counts a place (a host and a back end) as missed if it
fails or computes wrong losses.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "train"))

import collect_train

ROW = {"model": "resnet18", "batch": 16, "device": "nvidia", "when": "2026", "ms": 20.0,
       "per_s": 800.0, "losses": [2.0, 1.0], "busy": 0.5, "peak_bytes": 2**20}  # fmt: skip


def row(where: str, **more: Any) -> dict[str, Any]:
    return {**ROW, "where": where, **more}


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {figure["name"]: figure for figure in collect_train.figures(rows)}


def test_a_speed_has_its_goal_and_its_peer() -> None:
    rows = [row("chromium_webgpu", losses_apart=0.001), row("tfjs", per_s=200.0, errors=3)]
    made = by_name(rows)
    speed = made["train_chromium_webgpu_resnet18_16_per_s"]
    assert (speed["value"], speed["op"], speed["goal"]) == (800.0, ">=", 350)
    assert speed["peer"] == {"name": "TensorFlow.js", "value": 200.0}
    assert made["train_chromium_webgpu_resnet18_16_losses"]["value"] == 0.001
    assert made["train_tfjs_resnet18_16_errors"]["value"] == 3
    assert "goal" not in made["train_tfjs_resnet18_16_per_s"]


def test_a_software_device_has_no_goal() -> None:
    made = by_name([row("node_webgpu", device="google swiftshader")])
    assert "goal" not in made["train_node_webgpu_resnet18_16_per_s"]


def test_a_place_that_fails_is_missed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = (sys.executable, "-c", f"print({json.dumps(json.dumps(ROW))}); raise SystemExit(3)")
    monkeypatch.setattr(collect_train, "command", lambda *_: (line, None))
    monkeypatch.setattr(collect_train, "run", lambda *_: [{**ROW, "losses": [2.0, 1.5]}])
    rows = tmp_path / "rows.json"
    monkeypatch.setattr(sys, "argv", ["collect", "--where", "node_cpu", "--rows", str(rows)])
    assert collect_train.main() == 1
    assert "| resnet18 | 16 | arraycore, CPU (Node) | 20.00 | 800 |" in capsys.readouterr().out
    report = json.loads((tmp_path / "train.json").read_text())
    made = {figure["name"]: figure for figure in report["figures"]}
    assert made["train_node_cpu"]["error"] == "ended with 3"
    # The loss differs from NumPy's by a third, so the measured network computes wrongly.
    assert made["train_node_cpu_resnet18_16_losses"]["value"] > collect_train.LOSS_BAR


def test_what_is_measured_again_replaces_its_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.json"
    for ms in (20.0, 10.0):
        text = json.dumps(json.dumps({**ROW, "ms": ms}))
        line = (sys.executable, "-c", f"print({text})")
        monkeypatch.setattr(collect_train, "command", lambda *_, line=line: (line, None))
        options = ["--where", "node_cpu", "--models", "resnet18:16", "--keep", "--unjudged"]
        monkeypatch.setattr(sys, "argv", ["collect", *options, "--rows", str(rows)])
        assert collect_train.main() == 0
    assert [kept["ms"] for kept in json.loads(rows.read_text())] == [10.0]


def test_a_captured_speed_has_its_own_goal_and_the_plain_losses() -> None:
    where = "chromium_webgpu_captured"
    made = by_name([row(where, losses_apart=0.0, losses_unlike_plain=1, per_s=1_400.0)])
    assert made[f"train_{where}_resnet18_16_per_s"]["goal"] == 1_500
    assert made[f"train_{where}_resnet18_16_losses_unlike_plain"]["value"] == 1


def test_captured_losses_are_compared_with_the_plain_ones(monkeypatch: Any) -> None:
    rows = [row("chromium_webgpu", losses=[2.0, 1.0]),
            row("chromium_webgpu_captured", losses=[2.0, 1.5])]  # fmt: skip
    monkeypatch.setattr(collect_train, "run", lambda *_: [{**ROW, "losses": [2.0]}])
    collect_train.judge(rows, "7.8.1", None)
    assert [each["losses_apart"] for each in rows] == [0.0, 0.0]
    assert rows[1]["losses_unlike_plain"] == 1
