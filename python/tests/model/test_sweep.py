"""Tests sweep files: what W&B's keys mean here, and which line an error names."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest
from hyperflock import HyperflockError, choice, integer, uniform
from hyperflock._model.sweep import Sweep, read_sweep

YAML = """\
program: train.py:fit
name: digits
method: random
metric:
  name: accuracy
  goal: maximize
run_cap: 20
parameters:
  rate: {distribution: log_uniform_values, min: 1e-5, max: 0.1}
  exponent: {distribution: log_uniform, min: -3, max: 0}
  drop: {min: 0.0, max: 0.5}
  half: {min: 0, max: 0.5}
  depth: {min: 1, max: 8}
  width: {distribution: int_uniform, min: 16, max: 64}
  layers:
    values: [[32, 64], [64]]
  act:
    values: [relu, 1, 1.0, 2e-3, null, true]
  epochs:
    value: 3
"""


def written(folder: Path, text: str, name: str = "sweep.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def sweep_of(folder: Path, parameters: str, more: str = "method: grid") -> Sweep:
    return read_sweep(written(folder, f"program: t.py\n{more}\nparameters:\n  x: {parameters}\n"))


def test_every_key_has_its_meaning(tmp_path: Path) -> None:
    sweep = read_sweep(written(tmp_path, YAML))
    assert (sweep.program, sweep.name, sweep.direction) == ("train.py:fit", "digits", "maximize")
    assert (sweep.method, sweep.trials) == ("random", 20)
    assert repr(sweep.space) == repr(
        {
            "rate": uniform(1e-5, 0.1, log=True),
            "exponent": uniform(math.exp(-3), 1.0, log=True),
            "drop": uniform(0.0, 0.5),
            "half": uniform(0, 0.5),
            "depth": integer(1, 8),
            "width": integer(16, 64),
            "layers": choice([[32, 64], [64]]),
            "act": choice(["relu", 1, 1.0, 2e-3, None, True]),
            "epochs": [3],
        }
    )


def test_json_has_the_same_meaning(tmp_path: Path) -> None:
    import yaml

    text = YAML.replace("1e-5", "1.0e-5").replace("2e-3", "2.0e-3")
    as_json = written(tmp_path, json.dumps(yaml.safe_load(text)), "sweep.json")
    assert repr(read_sweep(as_json)) == repr(read_sweep(written(tmp_path, YAML)))


def test_a_grid_lists_whole_numbers_and_ends_at_the_cap(tmp_path: Path) -> None:
    assert sweep_of(tmp_path, "{min: 2, max: 4}").space == {"x": [2, 3, 4]}
    capped = sweep_of(tmp_path, "{values: [1, 2, 3]}\n  y: {value: a}", "method: grid\nrun_cap: 2")
    assert capped.space == [{"x": 1, "y": "a"}, {"x": 2, "y": "a"}]
    assert sweep_of(tmp_path, "{values: [1]}", "method: grid\nrun_cap: 2").space == {"x": [1]}


def test_small_values_are_good_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    assert sweep_of(tmp_path, "{value: 1}").direction == "minimize"
    assert sweep_of(tmp_path, "{value: 1}", "method: grid\nmetric: {name: loss}").direction == (
        "minimize"
    )


GOOD = "program: t.py\nmethod: random\nrun_cap: 4\nparameters:\n  x: {min: 0, max: 1}\n"


@pytest.mark.parametrize(
    ("was", "becomes", "line", "key", "why"),
    [
        ("run_cap: 4", "run_cap: 4\ncolour: red", 4, "colour", "is unknown"),
        ("run_cap: 4", "run_cap: 4\nearly_terminate: {}", 4, "early_terminate", "a pruner"),
        ("run_cap: 4", "run_cap: 0", 3, "run_cap", "whole number"),
        ("run_cap: 4", "run_cap: 4\npriority: 101", 4, "priority", "from -100 to 100"),
        ("run_cap: 4", "run_cap: 4\npriority: high", 4, "priority", "whole number"),
        ("run_cap: 4", "run_cap: many", 3, "run_cap", "whole number"),
        ("run_cap: 4\n", "", 1, "run_cap", "is missing"),
        ("program: t.py\n", "", 1, "program", "is missing"),
        ("t.py", "[a]", 1, "program", "must be a text"),
        ("method: random\n", "", 1, "method", "is missing"),
        ("random", "bayes", 2, "method", "Optuna"),
        ("random", "hyperband", 2, "method", "grid, random, sobol"),
        ("random", "grid", 5, "parameters.x", "0"),
        ("run_cap: 4", "metric: {goal: up}\nrun_cap: 4", 3, "metric.goal", "minimize, maximize"),
        ("run_cap: 4", "metric: {target: 1}\nrun_cap: 4", 3, "metric.target", "all of its trials"),
        ("run_cap: 4", "metric: loss\nrun_cap: 4", 3, "metric", "a goal"),
        ("{min: 0, max: 1}", "{mni: 0, max: 1}", 5, "parameters.x.mni", "distribution, min, max"),
        ("{min: 0, max: 1}", "{min: 0}", 5, "parameters.x.max", "is missing"),
        ("{min: 0, max: 1}", "{min: 2, max: 1}", 5, "parameters.x.min", "greater than max"),
        ("{min: 0, max: 1}", "{min: a, max: 1}", 5, "parameters.x.min", "must be a number"),
        ("{min: 0, max: 1}", "{min: .nan, max: 1}", 5, "parameters.x.min", "finite"),
        ("{min: 0, max: 1}", "{}", 5, "parameters.x.min", "is missing"),
        ("{min: 0, max: 1}", "3", 5, "parameters.x", "needs value"),
        ("{min: 0, max: 1}", "{values: []}", 5, "parameters.x.values", "at least one"),
        ("{min: 0, max: 1}", "{values: 3}", 5, "parameters.x.values", "a list"),
        (
            "{min: 0, max: 1}",
            "{values: [1], probabilities: [1]}",
            5,
            "parameters.x.probabilities",
            "same probability",
        ),
        (
            "{min: 0, max: 1}",
            "{distribution: normal, mu: 0, sigma: 1}",
            5,
            "parameters.x.distribution",
            "one of constant, categorical",
        ),
        (
            "{min: 0, max: 1}",
            "{distribution: log_uniform_values, min: 0, max: 1}",
            5,
            "parameters.x.min",
            "greater than 0",
        ),
        (
            "{min: 0, max: 1}",
            "{distribution: log_uniform, min: 0, max: 1000}",
            5,
            "parameters.x",
            "exponents",
        ),
        (
            "{min: 0, max: 1}",
            "{distribution: int_uniform, min: 0.5, max: 1}",
            5,
            "parameters.x",
            "whole numbers",
        ),
        ("  x: {min: 0, max: 1}", "  {}", 4, "parameters", "at least one"),
        ("  x: {min: 0, max: 1}", "  x: {min: 0, max: 1}\n  x: 2", 6, "x", "twice"),
        ("{min: 0, max: 1}", "{min: 0, max: 1", 6, None, "is not YAML"),
        ("{min: 0, max: 1}", "&a [*a]", 5, None, "nested deeper"),
        ("{min: 0, max: 1}", "{value: 2026-01-01}", 5, None, "in quotes"),
        ("{min: 0, max: 1}", "{value: !!python/object:os.system x}", 5, None, "is not YAML"),
        ("{min: 0, max: 1}", "{1: 2}", 5, None, "not a text"),
    ],
)
def test_problem_has_its_line_and_key(
    was: str, becomes: str, line: int, key: str | None, why: str, tmp_path: Path
) -> None:
    text = GOOD.replace(was, becomes)
    if (was, becomes) == ("random", "grid"):
        text = text.replace("{min: 0, max: 1}", "{min: 0.0, max: 1}")
        why = "method grid needs values"
    with pytest.raises(HyperflockError) as caught:
        read_sweep(written(tmp_path, text))
    assert (caught.value.code, caught.value.field) == ("bad_sweep", key), caught.value
    assert caught.value.message.startswith(f"sweep.yaml:{line}: {key or ''}"), caught.value
    assert why in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('{\n "program": "t.py",\n "colour": 1}', 3, "colour is unknown"),
        ('{\n "method": "grid"\n "x": 1}', 3, "',' is missing"),
        ('{\n "a": 1,\n "a": 2}', 3, "twice"),
        ('{"a": }', 1, "a value is missing"),
        ('{"a": NaN, "b": nope}', 1, "a value is missing"),
        ('{"a": "x', 1, "Unterminated string"),
        ("{a: 1}", 1, "a text in quotes is missing"),
        ("{} 1", 1, "goes on"),
        ("[" * 40, 1, "nested deeper"),
        ("", 1, "a value is missing"),
        ("[1]", 1, "a list of keys and values"),
    ],
)
def test_problem_in_json_has_its_line(text: str, line: int, why: str, tmp_path: Path) -> None:
    with pytest.raises(HyperflockError) as caught:
        read_sweep(written(tmp_path, text, "sweep.json"))
    assert caught.value.code == "bad_sweep"
    assert caught.value.message.startswith(f"sweep.json:{line}: "), caught.value
    assert why in caught.value.message


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large.json").write_bytes(b" " * (1 << 20) + b"{}")
    for name, why in (
        ("none.yaml", "No such file"),
        ("bytes.yaml", "UTF-8"),
        ("large.json", "1 MiB"),
    ):
        with pytest.raises(HyperflockError, match=why) as caught:
            read_sweep(tmp_path / name)
        assert (caught.value.code, caught.value.message[: len(name)]) == ("bad_sweep", name)


def test_a_range_that_no_grid_could_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HyperflockError, match="more than 10000 values"):
        sweep_of(tmp_path, "{min: 0, max: 10000}")


def test_yaml_without_pyyaml_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(HyperflockError, match=r"pip install hyperflock\[yaml\]") as caught:
        read_sweep(written(tmp_path, GOOD))
    assert caught.value.code == "no_yaml"
