"""Tests the device that ``hyperflock.device()`` returns, depending on what the worker offers."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from hyperflock._trial import devices
from hyperflock._trial.devices import Offer

BOTH = ("webgpu", "cpu")
NO_GPU = {"webgpu": "no_adapter"}
OLD = Offer(backends=("webgl2", "cpu"), reasons=NO_GPU)
NO_WEBGL2 = {"webgl2": "has_webgpu"}


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_state", devices._State())


@pytest.mark.parametrize(
    ("wanted", "offer", "backend", "reason"),
    [
        ("auto", Offer(backends=BOTH), "webgpu", ""),
        ("auto", Offer(backends=BOTH, software=True), "cpu", "software_adapter"),
        ("webgpu", Offer(backends=BOTH, software=True), "webgpu", ""),
        ("auto", Offer(backends=("cpu",), reasons=NO_GPU), "cpu", "no_adapter"),
        ("webgpu", Offer(backends=("cpu",), reasons=NO_GPU), "cpu", "no_adapter"),
        ("auto", OLD, "webgl2", "no_adapter"),
        ("auto", replace(OLD, software=True), "cpu", "software_adapter"),
        ("webgpu", OLD, "webgl2", "no_adapter"),
        ("webgpu", replace(OLD, software=True), "cpu", "software_adapter"),
        ("webgl2", replace(OLD, software=True), "webgl2", ""),
        ("webgl2", Offer(backends=BOTH, reasons=NO_WEBGL2), "cpu", "has_webgpu"),
        ("cpu", OLD, "cpu", ""),
        ("cpu", Offer(backends=BOTH), "cpu", ""),
        ("cpu", Offer(reasons={"cpu": "memory_refused"}), "numpy", "memory_refused"),
        (
            "auto",
            Offer(reasons={"webgpu": "a", "cpu": "memory_refused"}),
            "numpy",
            "memory_refused",
        ),
    ],
)
def test_best_back_end(wanted: devices.Backend, offer: Offer, backend: str, reason: str) -> None:
    devices._state.offer = offer
    device = devices.device(wanted)
    assert (device.backend, device.reason, device.is_gpu) == (
        backend,
        reason,
        backend in {"webgpu", "webgl2"},
    )


def test_study_wish_is_the_default() -> None:
    devices._state.offer = Offer("cpu", BOTH)
    assert devices.device().backend == "cpu"
    assert devices.device("webgpu").backend == "webgpu"


def test_unknown_back_end_is_refused() -> None:
    with pytest.raises(ValueError, match="There is no back end 'cuda'"):
        devices.device("cuda")  # type: ignore[arg-type]


def test_browser_without_request_computes_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    devices.prepare(None, 1)
    device = devices.device().use()
    assert (device.backend, device.reason, device.chainer_device) == ("numpy", "not_requested", -1)
    assert device.xp.__name__ == "numpy"
    assert device.send("as it is") == "as it is"
    assert devices.finish() == "numpy"
