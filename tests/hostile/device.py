"""Attacks on the graphics device, on the thread that owns it, and on the next trial's use of it."""

from __future__ import annotations

from typing import Any

from escape import EscapedError, each_refused, inner


def _used() -> Any:
    """Return the device in use. Each of these studies asks for WebGPU."""
    import hyperflock

    device = hyperflock.device().use()
    assert device.backend == "webgpu", device
    return device


def other_ways(trial: Any) -> float:
    """Try to reach the browser's graphics interfaces, or array-core's private objects."""
    import js

    _used()
    host = inner("_arraycore_host")
    gpu_thread = str(js.location.href).replace("python-thread", "gpu-thread")
    return each_refused(
        {
            "navigator": lambda: js.navigator.gpu,
            "inherited": lambda: js.Reflect.get(js.Object.getPrototypeOf(js.navigator), "gpu"),
            "interface": lambda: js.GPU,
            "adapter": lambda: js.GPUAdapter,
            "device": lambda: js.GPUDevice,
            "canvas": lambda: js.OffscreenCanvas.new(1, 1).getContext("webgpu"),
            "thread": lambda: js.Worker.new(gpu_thread),
            "memory": lambda: host.memory,
            "exports": lambda: host.exports,
            "attach": lambda: host.attach,
        }
    )


def previous_arrays(trial: Any) -> float:
    """Look in new buffers of the device for another trial's data."""
    xp = _used().xp

    def look(elements: int) -> Any:
        return float(abs(xp.empty(elements, "float32")).sum())

    return each_refused({f"{2**k} elements": lambda k=k: look(2**k) for k in (6, 12, 18, 20)})


def spoils_memory(trial: Any) -> float:
    """Find the memory that array-core shares with the gpu thread, and overwrite all of it."""
    import js
    from pyodide.ffi import create_proxy, to_js

    array = _used().xp.ones(1_000, "float32")
    real = js.Uint8Array
    caught: list[Any] = []

    def construct(target: Any, arguments: Any, new_target: Any) -> Any:
        if js.Object.prototype.toString.call(arguments[0]) == "[object SharedArrayBuffer]":
            caught.append(arguments[0])
        return js.Reflect.construct(target, arguments)

    handler = to_js({"construct": create_proxy(construct)}, dict_converter=js.Object.fromEntries)
    js.Uint8Array = js.Proxy.new(real, handler)
    try:
        array.get()
    finally:
        js.Uint8Array = real
    assert caught, "array-core's memory did not pass by"
    real.new(caught[0]).fill(255)
    return 0.0


def rings(trial: Any) -> float:
    """Open the device again and again."""
    import arraycore

    _used()
    for _ in range(200):
        arraycore.close()
        arraycore.open("webgpu")
    return 0.0


def device_memory(trial: Any) -> float:
    """Allocate ever more of the device's memory and keep it."""
    xp = _used().xp
    kept = []
    while True:
        kept.append(xp.empty(1 << 24, "float32"))


def broken_shader(trial: Any) -> float:
    """Give the device text that is no shader, and a shader that reads past its buffer.

    Memory past the buffer may belong to another trial and must not be returned. WebGPU returns 0 or
    something from the buffer itself.
    """
    import arraycore
    import cupy

    _used()

    def run(text: str) -> float:
        x = cupy.full(4, 7, "float32")
        cupy.RawKernel(text, "main")((1,), (x,))
        return float(x[0])

    past = """
    @group(0) @binding(0) var<storage, read_write> x: array<f32>;
    @compute @workgroup_size(1) fn main() { x[0] = x[123456789]; }
    """
    found = run(past)
    if found not in (0.0, 7.0):
        raise EscapedError(f"past the buffer stood {found}")
    try:
        run("no shader")
    except (arraycore.DeviceError, arraycore.CompileError):
        return 0.0
    raise EscapedError("text that is no shader ran")
