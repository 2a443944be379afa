"""Runs kernels natively, by the dialect's compiler and the reference interpreter (``probe.py``)."""

from __future__ import annotations

import numpy as np
import probe
from calls import Array, Call
from samples import UNWRITTEN


class ProbeEngine:
    def run(self, call: Call) -> list[Array]:
        types = [str(a.dtype) if isinstance(a, np.ndarray) else probe.SCALAR for a in call.ins]
        given = [str(a.dtype) for a in call.outs] or [probe.ABSENT] * len(call.outputs)
        probe.compile_kernel(call.kind, call.texts, types, given)
        letters = call.letters()
        shape = call.result_shape()
        outs = call.outs or [np.full(shape, UNWRITTEN, p.dtype(letters)) for p in call.outputs]
        # The probe takes a reduction's outputs without the reduced axes. If the call keeps these
        # axes (keepdims), it gets views without them.
        kept = call.kept()
        written = [array.reshape(kept) for array in outs] if call.kind == "reduction" else outs
        mask = sum(1 << axis for axis in call.reduced())
        probe.run_kernel(call.loop(), mask, call.scalars_cast() + written)
        return outs
