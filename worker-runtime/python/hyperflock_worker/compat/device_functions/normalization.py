"""Computes batch normalization in training, and its gradient, by two kernels each instead of nine.

Chainer 7.8.1 has an implementation object for arguments that cuDNN and iDeep do not support; its
two methods are replaced. Chainer 5.4.0 does everything in the function's ``forward``, which is
replaced for arrays of arraycore. Normalization with fixed statistics is not replaced: fusion
computes it by two kernels.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hyperflock_worker.compat._hooks import Patch
from hyperflock_worker.compat.device_functions._switch import nn, replace, takes


def _takes_all(x: Any, parameters: tuple[Any, ...], running: tuple[Any, ...]) -> bool:
    """Return whether device functions can take the arguments: none is empty, and the data, the
    parameters and the running statistics are arraycore arrays, each group of one float dtype.
    """
    return (
        takes(x)
        and takes(*parameters)
        and (running[0] is None or takes(*running))
        and x.size > 0
        and parameters[0].size > 0
    )


def implementation(module: ModuleType) -> None:
    """Patch the implementation that Chainer 7.8.1 uses for all devices."""
    general = module.GeneralBatchNormalizationImpl

    def forward(
        self: Any, axis: Any, gamma: Any, x: Any, x_layout: Any, xp: Any, expander: Any,
        beta: Any, eps: Any, decay: Any, running_mean: Any, running_var: Any,
    ) -> Any:  # fmt: skip
        # A subclass may compute its statistics in another way.
        if type(self) is not general or x_layout is not None:
            return None
        if not _takes_all(x, (gamma, beta), (running_mean, running_var)):
            return None
        y, mean, inv_std = nn().batch_norm(
            x, gamma, beta, axis=axis, eps=eps, decay=decay,
            running_mean=running_mean, running_var=running_var,
        )  # fmt: skip
        # The variance is not returned, because only iDeep's gradient uses it.
        return y, None, running_mean, running_var, mean, None, inv_std, None

    def backward(
        self: Any, axis: Any, gamma: Any, gy: Any, x: Any, x_layout: Any, xp: Any, expander: Any,
        mean: Any, inv_std: Any, eps: Any, var: Any, forward_data: Any,
    ) -> Any:  # fmt: skip
        if type(self) is not general or x_layout is not None:
            return None
        if not takes(x, gy) or not takes(gamma) or not takes(mean, inv_std):
            return None
        gx, ggamma, gbeta = nn().batch_norm_gradient(gy, x, gamma, mean, inv_std, axis=axis)
        return gx, None, ggamma, gbeta

    replace(general, "forward", forward)
    replace(general, "backward", backward)


def function(module: ModuleType) -> None:
    """Patch Chainer 5.4.0's function and its gradient."""

    def forward(self: Any, inputs: Any) -> Any:
        x, gamma, beta = inputs
        if not _takes_all(x, (gamma, beta), (self.running_mean, self.running_var)):
            return None
        axis = module._compute_axis(x.ndim, gamma.ndim, self.axis)
        if all(x.shape[i] == 1 for i in axis):
            return None  # Chainer warns
        self.retain_inputs((0, 1))
        if self.running_mean is None:
            self.running_mean = module.cuda.cupy.zeros_like(gamma)
            self.running_var = module.cuda.cupy.zeros_like(gamma)
        self.axis = axis
        self.key_axis = module._compute_key_axis(x.ndim, gamma.ndim, axis)
        self.expander = tuple(slice(None) if i in self.key_axis else None for i in range(x.ndim))
        self.mode = module._BNMode(x, gamma, self.key_axis)
        self.use_cudnn = self.use_ideep = False
        y, self.mean, self.inv_std = nn().batch_norm(
            x, gamma, beta, axis=axis, eps=self.eps, decay=self.decay,
            running_mean=self.running_mean, running_var=self.running_var,
        )  # fmt: skip
        return (y,)

    def gradient(self: Any, inputs: Any) -> Any:
        x, gamma, gy = inputs
        if not takes(x, gy) or not takes(gamma) or not takes(self.mean, self.inv_std):
            return None
        self.retain_inputs((0, 1, 2))
        gradients = nn().batch_norm_gradient(gy, x, gamma, self.mean, self.inv_std, axis=self.axis)
        self.retain_outputs((0, 1))
        return gradients

    replace(module.BatchNormalization, "forward", forward)
    replace(module.BatchNormalizationGrad, "forward", gradient)


_MODULE = "chainer.functions.normalization.batch_normalization"
PATCHES = (
    Patch(_MODULE, implementation, ("7.8.1",)),
    Patch(_MODULE, function, ("5.4.0",)),
)
