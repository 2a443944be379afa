"""Tests that a study's requirements on devices are found in its code, checked and sent.

This file also tests `device()` in a script.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import hyperflock
import pytest
from fake_console import FakeConsole
from hyperflock import Client, DeviceShare, HyperflockError, Placement
from hyperflock._bundle.bundle import Bundle, bundle_script
from hyperflock._client.placement import asks_for_device, requirements_of
from hyperflock._transport.messages import Requirements
from msgspec import UNSET
from objectives import objective

SPACE = {"x": [1.0]}


def bundle_of(folder: Path, text: str) -> Bundle:
    script = folder / "case.py"
    script.write_text(text)
    return bundle_script(script, "objective")


@pytest.mark.parametrize(
    "line",
    [
        "import hyperflock\n    hyperflock.device().use()",
        "import hyperflock as hf\n    hf.device( )",
        "from hyperflock import device\n    device('cpu')",
        "import cupy",
        "from cupyx import scatter_add",
        "import arraycore as ac",
    ],
)
def test_code_that_asks_for_a_device_is_found(tmp_path: Path, line: str) -> None:
    assert asks_for_device(bundle_of(tmp_path, f"def objective(trial):\n    {line}\n"))


@pytest.mark.parametrize(
    "line",
    [
        "return 1.0",
        "device = 'gpu'",
        "import hyperflock\n    raise hyperflock.TrialPruned",
        "import chainer\n    chainer.get_device('@numpy')",
    ],
)
def test_other_code_asks_for_none(tmp_path: Path, line: str) -> None:
    assert not asks_for_device(bundle_of(tmp_path, f"def objective(trial):\n    {line}\n"))


def test_a_plain_objective_asks_for_nothing(client: Client, server: FakeConsole) -> None:
    spec = server.specs[client.grid(objective, SPACE).id]
    assert (spec.runtime.backend, spec.requires) == (UNSET, UNSET)


def test_back_end_and_requirements_are_sent(client: Client, server: FakeConsole) -> None:
    study = client.grid(
        objective, SPACE, backend="webgpu", requires={"memory_mb": 4096, "f16": True}
    )
    spec = server.specs[study.id]
    assert spec.runtime.backend == "webgpu"
    assert spec.requires == Requirements(memory_mb=4096, f16=True)
    told = json.loads(study.export("json"))["study"]
    assert (told["backend"], told["requires"]) == ("webgpu", {"memory_mb": 4096, "f16": True})
    assert study.placement() == Placement(
        devices=2,
        matching=1,
        reasons={"no_webgpu": 1},
        share=DeviceShare(weight=100, weights=300, guaranteed=0, devices=1, ahead=2),
        waits="others_first",
    )


def test_a_server_without_shares_says_nothing_about_them(
    client: Client, server: FakeConsole
) -> None:
    server.placement = {"devices": 1, "matching": 1, "reasons": {}}
    placement = client.grid(objective, SPACE).placement()
    assert (placement.share, placement.waits) == (None, "")


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"backend": "cuda"}, "backend"),
        ({"requires": {"memory": 1}}, "requires.memory"),
        ({"requires": {"memory_mb": -1}}, "requires"),
        ({"requires": {"f16": "yes"}}, "requires"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_sent(
    client: Client, server: FakeConsole, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(HyperflockError) as caught:
        client.grid(objective, SPACE, **options)
    assert (caught.value.code, caught.value.field) == ("bad_field", field)
    assert not server.specs


def test_nothing_asked_is_nothing() -> None:
    assert requirements_of(None) is UNSET
    assert requirements_of({}) is UNSET


def test_device_here_without_the_library_is_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arraycore", None)
    monkeypatch.delitem(sys.modules, "chainer", raising=False)

    def trial(trial: object) -> float:
        device = hyperflock.device().use()
        assert (device.backend, device.reason, device.is_gpu) == ("numpy", "no_library", False)
        return float(device.xp.ones(3).sum())

    assert hyperflock.run_local(trial, {}).value == 3.0


def test_unknown_back_end_is_refused_here_too() -> None:
    with pytest.raises(ValueError, match="cuda"):
        hyperflock.device("cuda")  # type: ignore[arg-type]
