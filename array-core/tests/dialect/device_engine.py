"""Runs kernels on arraycore: the memory of a call is uploaded, and the arguments are views of it.

Arrays that share memory in the call share one storage on the device, with the same strides.
Afterwards all memory is read back, so that a stray write is found too. Each call must be one launch
without help of the CPU, unless it has a dtype that no browser's GPU computes (float64).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import arraycore as ac
import numpy as np
from arraycore._runtime import session
from calls import Array, Call, Memory, Window

WIDE = ("float64", "complex128")


class Launched(AssertionError):
    """A call was not one launch on the device, or wrote to memory outside its outputs."""


def device_view(flat: Any, window: Window) -> Any:
    """Return the window as a view of ``flat``, by slices, reshapes and transposes.

    The axes are made from the longest stride to the shortest: each step splits the view's last
    axis. Windows whose steps overlap (as those of a sliding window) cannot be made in this way and
    are refused.
    """
    if 0 in window.shape:
        return flat[:0].reshape(window.shape)
    axes = [a for a, n in enumerate(window.shape) if n > 1 and window.strides[a]]
    axes.sort(key=lambda a: -abs(window.strides[a]))
    steps = [abs(window.strides[a]) for a in axes]
    extents = [window.shape[a] for a in axes]
    back = [a for a in axes if window.strides[a] < 0]
    first = window.offset + sum((window.shape[a] - 1) * window.strides[a] for a in back)
    length = steps[0] * extents[0] if axes else 1
    if first + length > flat.size:
        raise ValueError("the memory is not padded")
    view = flat[first : first + length]
    for k, (step, extent) in enumerate(zip(steps, extents, strict=True)):
        if step * extent > view.shape[-1]:
            raise ValueError(f"windows that overlap: {window}")
        view = view[..., : step * extent].reshape(*extents[: k + 1], step)
    view = view[..., 0]
    view = view[tuple(slice(None, None, -1 if a in back else 1) for a in axes)]
    order = sorted(range(len(axes)), key=lambda k: axes[k])
    view = view.transpose(*order) if axes else view
    shown = set(axes)
    view = view[tuple(slice(None) if a in shown else None for a in range(len(window.shape)))]
    return ac.broadcast_to(view, window.shape) if view.shape != window.shape else view


def padding(memory: Memory) -> list[int]:
    """Return how many elements to append to each flat array, so that device_view can slice it.

    device_view takes whole steps, so the slice for a window may end after the last element.
    """
    needed = [0] * len(memory.flats)
    for w in memory.windows:
        steps = [(abs(s), n) for s, n in zip(w.strides, w.shape, strict=True) if n > 1 and s]
        back = sum((n - 1) * s for s, n in zip(w.strides, w.shape, strict=True) if s < 0)
        step, extent = max(steps, default=(1, 1))
        end = w.offset + back + step * extent
        needed[w.owner] = max(needed[w.owner], end - memory.flats[w.owner].size)
    return needed


class DeviceEngine:
    def __init__(self) -> None:
        self.kernels: dict[str, Any] = {}
        self.launches = 0
        self.on_cpu = 0  # launches with a dtype that no GPU computes

    def _kernel(self, kind: str, texts: dict[str, str]) -> Any:
        key = json.dumps([kind, texts], sort_keys=True)
        if key not in self.kernels:
            if kind == "elementwise":
                self.kernels[key] = ac.ElementwiseKernel(**texts)
            else:
                given = dict(texts, reduce_type=texts["reduce_type"] or None)
                given["identity"] = texts["identity"] or None  # type: ignore[assignment]
                self.kernels[key] = ac.ReductionKernel(**given)
        return self.kernels[key]

    def run(self, call: Call) -> list[Array]:
        memory = Memory(call.arrays())
        before = [
            np.concatenate([flat, np.zeros(more, flat.dtype)])
            for flat, more in zip(memory.flats, padding(memory), strict=True)
        ]
        flats = [ac.array(flat) for flat in before]
        views = [device_view(flats[w.owner], w) for w in memory.windows]
        self._check_strides(views, memory)
        rest = iter(views)
        ins = [next(rest) if isinstance(v, np.ndarray) else v for v in call.ins]
        made = self._launch(call, ins, list(rest))
        written = {w.owner for w in memory.windows[len(views) - len(call.outs) :]}
        for owner, (flat, old) in enumerate(zip(flats, before, strict=True)):
            new = flat.get()
            size = memory.flats[owner].size
            if new[size:].any():
                raise Launched(f"{call.name} wrote behind the memory of an argument")
            if owner in written and call.outs:
                memory.flats[owner][...] = new[:size]
            elif new.tobytes() != old.tobytes():
                raise Launched(f"{call.name} wrote into an input")
        memory.finish()
        return list(call.outs) if call.outs else [array.get() for array in made]

    def _check_strides(self, views: Sequence[Any], memory: Memory) -> None:
        for view, w in zip(views, memory.windows, strict=True):
            wanted = [s * view.itemsize for s, n in zip(w.strides, w.shape, strict=True) if n > 1]
            got = [s for s, n in zip(view.strides, w.shape, strict=True) if n > 1]
            if 0 not in w.shape and (got != wanted or view.shape != w.shape):
                raise Launched(f"a view with strides {view.strides} shows {w}")

    def _launch(self, call: Call, ins: list[Any], outs: list[Any]) -> list[Any]:
        kernel = self._kernel(call.kind, call.texts)
        before = ac.counters()
        if call.kind == "elementwise":
            made = kernel(*ins, *outs, size=call.size)
        else:
            made = kernel(*ins, *outs, axis=call.axis, keepdims=call.keepdims)
        session.settle()
        after = ac.counters()
        results = list(made) if isinstance(made, tuple) else [made]
        spent = {name: after[name] - before[name] for name in after}
        arrays = [a for a in [*ins, *outs, *results] if isinstance(a, ac.ndarray)]
        wide = any(str(a.dtype) in WIDE for a in arrays)
        if spent["bytes_down"] or spent["sync_waits"]:
            raise Launched(f"{call.name} waited for the device")
        if not wide and spent["cpu_ops"]:
            raise Launched(f"{call.name} ran on the CPU")
        if not wide and spent["dispatches"] != 1:
            raise Launched(f"{call.name} took {spent['dispatches']} launches")
        self.launches += 1
        self.on_cpu += wide
        return results
