"""Computes the softmax cross entropy by two kernels and its gradient by one, instead of a dozen.

The mean over integer labels without class weights is replaced, if its scores are kept for the
gradient (``cache_score``). The logarithms of the softmax's sums are kept, not the softmax.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hyperflock_worker.compat._hooks import Patch
from hyperflock_worker.compat.device_functions._switch import array_type, nn, replace, takes


class Scores:
    """The values for the gradient, stored where Chainer keeps the softmax.

    Attributes
    ----------
    lse, coeff : arraycore.ndarray
        Two results of ``arraycore.nn.softmax_cross_entropy``.
    """

    def __init__(self, lse: Any, coeff: Any) -> None:
        self.lse, self.coeff = lse, coeff


def _is_taken(function: Any, x: Any, t: Any, module: ModuleType) -> bool:
    return bool(
        takes(x)
        and isinstance(t, array_type())
        and t.dtype.kind == "i"
        and t.ndim == x.ndim - 1
        and x.size > 0
        and function.class_weight is None
        and function.cache_score
        and function.reduce == "mean"
        and not module.chainer.is_debug()  # Chainer checks the labels
    )


def _forward(module: ModuleType) -> Any:
    def forward_gpu(self: Any, inputs: Any) -> Any:
        x, t = inputs
        if not _is_taken(self, x, t, module):
            return None
        if hasattr(module, "_SoftmaxCrossEntropyGrad_NoDoubleBackprop"):  # 7.8.1
            self.retain_inputs((0, 1))
        loss, lse, self._coeff = nn().softmax_cross_entropy(
            x, t, ignore_label=self.ignore_label, normalize=self.normalize
        )
        self.y = Scores(lse, self._coeff)
        return (loss,)

    return forward_gpu


def _gradient(function: Any, x: Any, t: Any, gloss: Any) -> Any:
    """Return the gradient, or None if ``_forward`` did not keep the scores."""
    scores = function.y
    if not isinstance(scores, Scores):
        return None
    return nn().softmax_cross_entropy_gradient(
        gloss, x, t, scores.lse, scores.coeff, ignore_label=function.ignore_label
    )


def function_node(module: ModuleType) -> None:
    """Patch Chainer 7.8.1, in which the gradient is a function of its own."""

    def forward_gpu(self: Any, inputs: Any) -> Any:
        gx = _gradient(self, *inputs)
        return None if gx is None else (gx,)

    replace(module.SoftmaxCrossEntropy, "forward_gpu", _forward(module))
    replace(module._SoftmaxCrossEntropyGrad_NoDoubleBackprop, "forward_gpu", forward_gpu)


def function(module: ModuleType) -> None:
    """Patch Chainer 5.4.0, in which the gradient is a method."""

    def backward_gpu(self: Any, inputs: Any, grad_outputs: Any) -> Any:
        gx = _gradient(self, *inputs, grad_outputs[0])
        return None if gx is None else (gx, None)

    replace(module.SoftmaxCrossEntropy, "forward_gpu", _forward(module))
    replace(module.SoftmaxCrossEntropy, "backward_gpu", backward_gpu)


_MODULE = "chainer.functions.loss.softmax_cross_entropy"
PATCHES = (
    Patch(_MODULE, function_node, ("7.8.1",)),
    Patch(_MODULE, function, ("5.4.0",)),
)
