"""``cupy.cuda``: one device and one stream, without CUDA.

There is no cuBLAS, cuDNN, NCCL or cuSPARSE. Code that checks whether they can be imported works
without them, and the few functions that Chainer refers to raise NotImplementedError.
"""

from __future__ import annotations

from arraycore._runtime.devices import Device, Event, Stream, get_current_stream, get_elapsed_time

from .._shared.pools import (
    MemoryPool,
    PinnedMemoryPool,
    set_allocator,
    set_pinned_memory_allocator,
)
from . import (
    compiler,
    cublas,
    device,
    driver,
    memory,
    memory_hook,
    nvtx,
    pinned_memory,
    runtime,
    stream,
)
from .device import get_device_id
from .memory import MemoryPointer, alloc
from .memory_hook import MemoryHook
from .pinned_memory import alloc_pinned_memory

__all__ = [
    "Device",
    "Event",
    "MemoryHook",
    "MemoryPointer",
    "MemoryPool",
    "PinnedMemoryPool",
    "Stream",
    "alloc",
    "alloc_pinned_memory",
    "compiler",
    "cublas",
    "device",
    "driver",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "is_available",
    "memory",
    "memory_hook",
    "nvtx",
    "nvtx_enabled",
    "pinned_memory",
    "runtime",
    "set_allocator",
    "set_pinned_memory_allocator",
    "stream",
]

#: False, as in CuPy without NVTX: no profiler could show NVTX's ranges here.
nvtx_enabled = False


def is_available() -> bool:
    """Return True: arrays can be computed, though without CUDA."""
    return True
