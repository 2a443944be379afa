"""Replaces functions of Chainer that need addresses of a GPU's memory, if arraycore is ``cupy``.

Arrays of a browser's device have no addresses. Chainer needs them for batched LU by cuBLAS, for
``ndarray.base``, by which it recognises a view, and for the memory of an array in ``as_strided``.
With NumPy and with CuPy Chainer's own functions run.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from hyperflock_worker.compat._hooks import Patch

BOTH = ("7.8.1", "5.4.0")


def _is_arraycores(array: Any) -> bool:
    """Return whether an array is one of arraycore, so that arraycore is Chainer's ``cupy``."""
    arraycore = sys.modules.get("arraycore")
    return arraycore is not None and isinstance(array, arraycore.ndarray)


def _replace(owner: Any, name: str, by: Callable[..., Any], array_at: int = 0) -> None:
    """Replace a function by ``by`` for calls whose argument ``array_at`` is an array of arraycore,
    or a tuple that begins with one.
    """
    original = getattr(owner, name)

    @functools.wraps(original)
    def chosen(*args: Any) -> Any:
        given = args[array_at]
        first = given[0] if isinstance(given, tuple) and given else given
        return (by if _is_arraycores(first) else original)(*args)

    setattr(owner, name, chosen)


def inverses(module: ModuleType) -> None:
    """Replace cuBLAS's ``getrfBatched`` and ``getriBatched`` in ``F.inv`` and ``F.batch_inv``."""

    def _inv_gpu(b: Any) -> Any:
        return tuple(module.cuda.cupy.linalg.inv_ex(b))

    _replace(module, "_inv_gpu", _inv_gpu)


def determinants(module: ModuleType) -> None:
    """Replace cuBLAS in ``F.det`` and ``F.batch_det`` of Chainer 5.4.0; Chainer 7.8.1 uses
    ``cupy.linalg.det``.
    """

    def _det_gpu(b: Any) -> Any:
        cupy = module.cuda.cupy
        made = cupy.linalg.det(b)
        return made, (made == 0).astype("int32")

    _replace(module, "_det_gpu", _det_gpu)


def diagonals_without_base(module: ModuleType) -> None:
    """Replace a function of the gradients of ``F.einsum`` that checks ``view.base``.

    The function writes through a view. In arraycore, as in NumPy, ``einsum`` of one operand returns
    a view if it sums nothing.
    """
    original = module.DiagEinSum.forward

    @functools.wraps(original)
    def forward(self: Any, inputs: Any) -> Any:
        known = set(self.in_subs)
        is_plain = len(known.intersection(self.out_sub)) == len(self.out_sub)
        if is_plain or not _is_arraycores(inputs[0]):
            return original(self, inputs)
        cupy = module.cuda.cupy
        self.retain_inputs(tuple(range(len(inputs))))
        dtype = cupy.result_type(*(x.dtype for x in inputs))
        axes = sorted(set(self.out_sub))  # an ellipsis, written as @, comes first
        present = [label for label in axes if label in known]
        values = module._einsum(cupy, dtype, self.in_subs, "".join(present), *inputs)
        spread = [slice(None) if label in known else None for label in axes if label != "@"]
        result = cupy.zeros(self.out_shape, dtype)
        view = cupy.einsum(f"{self.out_sub}->{''.join(axes)}".replace("@", "..."), result)
        view[...] = values[(Ellipsis, *spread)]
        return (result,)

    module.DiagEinSum.forward = forward


def memory_of_strided_arrays(module: ModuleType) -> None:
    """Replace the address arithmetic of ``F.as_strided``.

    Offsets count from an array's own first element. In NumPy and CuPy they count from the start of
    the memory that the array is a view of. For arrays that are no views this is the same.
    """
    geometry = module.TensorGeometry.__init__

    @functools.wraps(geometry)
    def init(self: Any, array: Any) -> None:
        if not _is_arraycores(array):
            geometry(self, array)
            return
        self.shape, self.itemsize = array.shape, array.itemsize
        self.strides = tuple(stride // array.itemsize for stride in array.strides)
        self.storage_offset = -_reach(self.shape, self.strides)[0]

    def _stride_array(array: Any, shape: Any, strides: Any, storage_offset: int) -> Any:
        own = module.TensorGeometry(array)
        first, last = _reach(own.shape, own.strides)
        low, high = _reach(shape, strides)
        if storage_offset + low < 0:
            raise ValueError("Out of buffer: too small index was specified")
        if storage_offset + high > last - first:
            raise ValueError("Out of buffer: too large index was specified")
        tricks = module.cuda.cupy.lib.stride_tricks
        # `row` is a vector over the array's memory. It begins with the element that has the lowest
        # address.
        backward = tuple(axis for axis, stride in enumerate(own.strides) if stride < 0)
        lowest = module.cuda.cupy.flip(array, backward) if backward else array
        row = tricks.as_strided(lowest, (last - first + 1,), (own.itemsize,))
        steps = tuple(stride * own.itemsize for stride in strides)
        return tricks.as_strided(row[storage_offset:], shape, steps)

    module.TensorGeometry.__init__ = init
    _replace(module, "_stride_array", _stride_array)


def _reach(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Return the lowest and highest offset of an array's elements from its first element."""
    ends = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return sum(end for end in ends if end < 0), sum(end for end in ends if end > 0)


PATCHES = (
    Patch("chainer.functions.math.inv", inverses, BOTH),
    Patch("chainer.functions.math.det", determinants, ("5.4.0",)),
    Patch("chainer.functions.math.einsum", diagonals_without_base, BOTH),
    Patch("chainer.functions.array.as_strided", memory_of_strided_arrays, ("7.8.1",)),
)
