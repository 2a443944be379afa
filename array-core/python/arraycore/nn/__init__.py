"""Layers of neural networks, as kernels of the device or the CPU.

    import arraycore as ac
    y = ac.nn.conv(x, w, padding=1)  # x (N, C, H, W), w (O, C, 3, 3) -> y (N, O, H, W)
    y, mean, inv_std = ac.nn.batch_norm(y, gamma, beta)

Data are ``(N, C, *space)``, weights ``(O, C / groups, *window)``, with one to three axes of space.
Gradients are computed by functions of their own, which the caller has to call: there is no
automatic differentiation. The dtypes are float16 (summed in float32), float32 and float64.
"""

from ._convolution import conv, conv_data_gradient, conv_weight_gradient, dense
from ._losses import softmax_cross_entropy, softmax_cross_entropy_gradient
from ._normalization import batch_norm, batch_norm_gradient
from ._pooling import max_pool, max_pool_gradient, mean_pool, mean_pool_gradient

__all__ = [
    "batch_norm",
    "batch_norm_gradient",
    "conv",
    "conv_data_gradient",
    "conv_weight_gradient",
    "dense",
    "max_pool",
    "max_pool_gradient",
    "mean_pool",
    "mean_pool_gradient",
    "softmax_cross_entropy",
    "softmax_cross_entropy_gradient",
]
