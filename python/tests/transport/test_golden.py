"""Tests the golden files that all three languages read: messages, rejections, spaces, seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hyperflock._base.errors import HyperflockError
from hyperflock._base.param_values import params_text
from hyperflock._model import grid as _grid
from hyperflock._model import spec as _spec
from hyperflock._transport import frames
from hyperflock._transport import messages as _protocol

GOLDEN = Path(__file__).resolve().parents[3] / "tests" / "protocol" / "golden"


def _files(folder: str) -> list[Any]:
    paths = sorted((GOLDEN / folder).glob("*.json"))
    assert paths, f"no golden files in {folder}"
    return [pytest.param(json.loads(path.read_text("utf-8")), id=path.stem) for path in paths]


def _parse(direction: str, text: str) -> _protocol.ClientMessage | _protocol.ServerMessage:
    parse = frames.parse_client if direction == "client" else frames.parse_server
    return parse(text)


def _as_doubles(value: Any) -> Any:
    """Turn integers of 2^53 and more into floats: such numbers are always metrics (rule R4 of the
    protocol).
    """
    if isinstance(value, dict):
        return {key: _as_doubles(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_doubles(item) for item in value]
    if isinstance(value, int) and abs(value) >= 2**53:
        return float(value)
    return value


@pytest.mark.parametrize("golden", _files("valid"))
def test_valid_message_survives_a_round_trip(golden: dict[str, Any]) -> None:
    message = _parse(golden["direction"], json.dumps(golden["message"]))
    written = json.loads(frames.encode(message))
    assert written == _as_doubles(golden.get("normal", golden["message"]))


@pytest.mark.parametrize("golden", _files("invalid"))
def test_invalid_message_has_its_code_and_field(golden: dict[str, Any]) -> None:
    with pytest.raises(HyperflockError) as caught:
        _parse(golden["direction"], golden["text"])
    assert (caught.value.code, caught.value.field) == (golden["code"], golden.get("field"))


@pytest.mark.parametrize("golden", _files("study_spec/valid"))
def test_valid_spec_survives_a_round_trip(golden: dict[str, Any]) -> None:
    spec = _spec.parse_spec(json.dumps(golden["spec"]))
    again = json.loads(_spec.encode_spec(spec))
    assert again == golden.get("normal", golden["spec"])
    # Comparison with == would accept 1.0 for 1 (rule R5 of the protocol).
    normal = golden.get("normal", golden["spec"])
    assert repr(again["space"]) == repr(normal.get("space", []))


@pytest.mark.parametrize("golden", _files("study_spec/invalid"))
def test_invalid_spec_has_its_code_and_field(golden: dict[str, Any]) -> None:
    with pytest.raises(HyperflockError) as caught:
        _spec.parse_spec(golden["text"])
    assert (caught.value.code, caught.value.field) == (golden["code"], golden.get("field"))


@pytest.mark.parametrize("case", json.loads((GOLDEN / "grid.json").read_text("utf-8")))
def test_R30_grid_points_come_in_the_server_s_order(case: dict[str, Any]) -> None:
    space = {d["name"]: d["values"] for d in case["space"]}
    assert _grid.grid_size(space) == case["size"]
    points = list(_grid.suggest_grid(space))
    assert [params_text(point) for point in points] == case["points"]
    for number, (point, text) in enumerate(zip(points, case["points"], strict=True)):
        decoded = msgspec.json.decode(text)
        assert repr(point) == repr(decoded)
        assert repr(_grid.grid_point(space, number)) == repr(decoded)


@pytest.mark.parametrize("case", json.loads((GOLDEN / "samples.json").read_text("utf-8")))
def test_R60_drawn_points_are_the_server_s(case: dict[str, Any]) -> None:
    spec = json.loads((GOLDEN / "study_spec/valid/full.json").read_text("utf-8"))["spec"]
    spec |= {name: case[name] for name in ("kind", "seed", "space", "trials")}
    parsed = _spec.parse_spec(json.dumps(spec))
    assert len(case["points"]) > 5
    for number, text in case["points"].items():
        point = _grid.point_of(case["kind"], parsed.space, int(number), case["seed"])
        assert params_text(point) == text, number


def test_R32_seeds_are_the_server_s() -> None:
    cases = json.loads((GOLDEN / "seeds.json").read_text("utf-8"))
    assert len(cases) > 10
    for case in cases:
        assert _grid.trial_seed(case["study_seed"], case["number"]) == case["seed"], case
