"""Lists one or more cases of every function in ``chainer.functions``, for both versions of Chainer.

A case is a function of Chainer's variables, and the functions that make its inputs from a random
stream. Integers and bools are passed as they are; gradients are with respect to the floats. The
inputs avoid points without a derivative. ``test_gradients.py`` compares the names with Chainer's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Stream = np.random.RandomState
Input = Callable[[Stream], Any]
Case = tuple[Callable[..., Any], tuple[Input, ...]]

#: Functions without a derivative: they choose, count or round.
NOT_DIFFERENTIABLE = {
    "accuracy", "argmax", "argmax_crf1d", "argmin", "binary_accuracy", "ceil",
    "classification_summary", "f1_score", "fix", "floor", "precision", "r2_score", "recall", "sign",
}  # fmt: skip
#: Functions whose numerical derivative is computed in float32, because they refuse float64, compute
#: in float32, always return float32 (``cast`` as it is called here, ``roi_pooling_2d``), or draw
#: noise in the data's dtype.
IN_FLOAT32 = {
    "batch_matmul", "bilinear", "cast", "gaussian", "group_normalization", "resize_images",
    "roi_average_align_2d", "roi_max_align_2d", "roi_pooling_2d",
}  # fmt: skip

#: Functions whose gradient is no part of Chainer's graph (also on NumPy), so they have no second
#: gradient.
ONCE = {"local_convolution_2d"}
#: Functions that draw different random numbers on NumPy and on arraycore.
RANDOM = {
    "dropout", "gaussian", "gumbel_softmax", "rrelu", "simplified_dropconnect", "zoneout",
}  # fmt: skip


# ---- inputs


def apart(*shape: int, low: float = -1.0, high: float = 1.0) -> Input:
    """Return an input: floats in [low, high) in random order, all different and none 0."""

    def made(stream: Stream) -> Any:
        count = int(np.prod(shape))
        places = (np.arange(count) + 0.3 + 0.4 * stream.uniform(size=count)) / max(count, 1)
        values = low + (high - low) * places
        if low < 0 < high:
            values = np.sign(values) * (0.03 + 0.97 * np.abs(values))
        return stream.permutation(values).reshape(shape)

    return made


def positive(*shape: int) -> Input:
    """Return an input: floats in [0.3, 1.7)."""
    return apart(*shape, low=0.3, high=1.7)


def between(low: float, high: float, *shape: int) -> Input:
    """Return an input: floats in [low, high)."""
    return apart(*shape, low=low, high=high)


def whole(below: int, *shape: int) -> Input:
    """Return an input: int32 numbers in [0, below)."""
    return lambda stream: stream.randint(0, below, shape).astype(np.int32)


def these(values: Any, dtype: str = "int32") -> Input:
    """Return an input: exactly the given values."""
    return lambda stream: np.array(values, dtype)


def definite(*shape: int) -> Input:
    """Return an input: matrices that are far from singular."""
    return lambda stream: stream.uniform(-0.4, 0.4, shape) + 2 * np.eye(shape[-1])


def boxes(count: int, side: int) -> Input:
    """Return an input: regions of an image as left, top, right and bottom, int32."""

    def made(stream: Stream) -> Any:
        begin = stream.randint(0, side // 2, (count, 2))
        return np.hstack((begin, begin + stream.randint(2, side // 2, (count, 2)))).astype("int32")

    return made


# ---- helpers of cases


def unary(name: str, made: Input = apart(3, 4), **options: Any) -> Case:  # noqa: B008
    """Return the case of a function of one array."""
    return lambda F, x: getattr(F, name)(x, **options), (made,)


def binary(name: str, *made: Input, **options: Any) -> Case:
    """Return the case of a function of several arrays."""
    return lambda F, *xs: getattr(F, name)(*xs, **options), made or (apart(3, 4), apart(3, 4))


def of_list(name: str, *made: Input, **options: Any) -> Case:
    """Return the case of a function of a list of arrays."""
    return lambda F, *xs: getattr(F, name)(list(xs), **options), made


def recurrent(name: str, gates: int, ways: int, has_cell: bool) -> Case:
    """Return the case of a recurrent layer over sequences of 3, 2 and 1 elements."""
    units, size, state = 3, 2, (ways, 3, 3)

    def run(F: Any, *xs: Any) -> Any:
        states, rest = xs[: 1 + has_cell], list(xs[1 + has_cell :])
        weights, biases = [], []
        for _ in range(ways):
            weights.append(rest[: 2 * gates])
            biases.append(rest[2 * gates : 4 * gates])
            rest = rest[4 * gates :]
        return getattr(F, name)(1, 0.0, *states, weights, biases, rest)

    one_way = (
        *(apart(units, size) for _ in range(gates)),
        *(apart(units, units) for _ in range(gates)),
        *(apart(units) for _ in range(2 * gates)),
    )
    states = tuple(apart(*state) for _ in range(1 + has_cell))
    return run, (*states, *(one_way * ways), apart(3, size), apart(2, size), apart(1, size))


def window(name: str, axes: int, transposed: bool = False) -> Case:
    """Return the case of a convolution, or of a transposed one, with strides and padding."""
    weights = (2, 3, *(3,) * axes)
    space = {1: (6,), 2: (5, 4), 3: (4, 3, 4)}[axes]
    return (
        lambda F, x, w, b: getattr(F, name)(x, w, b, stride=2, pad=1),
        (apart(2, 2 if transposed else 3, *space), apart(*weights), apart(3 if transposed else 2)),
    )


def pooling(name: str, *shape: int, **options: Any) -> Case:
    """Return the case of a pooling with overlapping windows."""
    return lambda F, x: getattr(F, name)(x, 3, stride=2, pad=1, **options), (apart(*shape),)


def regions(name: str, *options: Any) -> Case:
    """Return the case of a pooling over regions of images."""
    return (
        lambda F, x, rois, of: getattr(F, name)(
            x, rois.array.astype(x.dtype), of, 3, 0.6, *options
        ),
        (apart(2, 2, 8, 8), boxes(3, 8), whole(2, 3)),
    )


def _old_regions(F: Any, x: Any, rois: Any, of: Any) -> Any:
    xp = x.xp
    five = xp.concatenate((of.array[:, None], rois.array), axis=1).astype(x.dtype)
    return F.roi_pooling_2d(x, five, 3, 3, 0.6)


def _sampler(F: Any, x: Any, t: Any, w: Any) -> Any:
    xp = x.xp
    return F.negative_sampling(x, t, w, lambda shape: xp.full(shape, 2, "int32"), 3)


def _sparse(F: Any, data: Any, b: Any, row: Any, col: Any) -> Any:
    import chainer.utils

    matrix = chainer.utils.CooMatrix(data.array, row.array, col.array, (3, 4))
    matrix.data = data  # CooMatrix made a new variable
    return F.sparse_matmul(matrix, b)


def _upsampled(F: Any, x: Any) -> Any:
    y, indices = F.max_pooling_2d(x, 2, return_indices=True)
    return F.upsampling_2d(y, indices, 2, outsize=x.shape[2:])


UNARY = (
    "absolute", "arctan", "batch_l2_norm_squared", "cos", "cosh", "crelu", "cumprod", "cumsum",
    "elu", "erf", "erfc", "erfcx", "exp", "expm1", "flatten", "fliplr", "flipud",
    "hard_sigmoid", "identity", "leaky_relu", "log_ndtr", "log_softmax", "logsumexp", "max",
    "mean", "min", "ndtr", "normalize", "prod", "relu", "selu", "sigmoid", "sin", "sinh",
    "softmax", "softplus", "square", "sum", "tan", "tanh", "transpose",
)  # fmt: skip
OF_POSITIVE = ("digamma", "lgamma", "log", "log10", "log1p", "log2", "rsqrt", "sqrt")
CASES: dict[str, Case] = {
    **{name: unary(name) for name in UNARY},
    **{name: unary(name, positive(3, 4)) for name in OF_POSITIVE},
    **{name: unary(name, between(-0.9, 0.9, 3, 4)) for name in ("arccos", "arcsin", "arctanh")},
    "absolute_error": binary("absolute_error", apart(3, 4), between(2, 3, 3, 4)),
    "add": binary("add", apart(3, 4), apart(3, 4), apart(3, 4)),
    "arctan2": binary("arctan2", positive(3, 4), positive(3, 4)),
    "as_strided": unary("as_strided", apart(12), shape=(3, 4), strides=(2, 1), storage_offset=1),
    "average": (lambda F, x, w: F.average(x, 1, w), (apart(3, 4), positive(4))),
    "average_pooling_1d": pooling("average_pooling_1d", 2, 3, 6),
    "average_pooling_2d": pooling("average_pooling_2d", 2, 3, 6, 5),
    "average_pooling_3d": pooling("average_pooling_3d", 2, 2, 4, 5, 4),
    "average_pooling_nd": pooling("average_pooling_nd", 2, 3, 6, 5),
    "batch_det": unary("batch_det", definite(2, 3, 3)),
    "batch_inv": unary("batch_inv", definite(2, 3, 3)),
    "batch_matmul": binary("batch_matmul", apart(2, 3, 4), apart(2, 3, 5), transa=True),
    "batch_normalization": binary("batch_normalization", apart(5, 3), positive(3), apart(3)),
    "batch_renormalization": (
        lambda F, x, gamma, beta: F.batch_renormalization(
            x,
            gamma,
            beta,
            1.0,
            0.0,
            running_mean=x.xp.zeros_like(gamma.array),
            running_var=x.xp.ones_like(gamma.array),
        ),
        (apart(5, 3), positive(3), apart(3)),
    ),
    "bernoulli_nll": binary("bernoulli_nll", between(0.1, 0.9, 3, 4), apart(3, 4)),
    "bias": binary("bias", apart(3, 4, 2), apart(4, 2)),
    "bilinear": binary(
        "bilinear", apart(3, 2), apart(3, 4), apart(2, 4, 5), apart(2, 5), apart(4, 5), apart(5)
    ),
    "black_out": binary("black_out", apart(3, 4), whole(5, 3), apart(5, 4), whole(5, 3, 2)),
    "broadcast": binary("broadcast", apart(3, 1), apart(4)),
    "broadcast_to": unary("broadcast_to", apart(3, 1), shape=(2, 3, 4)),
    "cast": unary("cast", typ=np.float32),
    "cholesky": (
        lambda F, a: F.cholesky(F.matmul(a, a, transb=True)),
        (definite(3, 3),),
    ),
    "clip": unary("clip", x_min=-0.512, x_max=0.487),
    "clipped_relu": unary("clipped_relu", z=0.487),
    "concat": of_list("concat", apart(3, 2), apart(3, 4)),
    "connectionist_temporal_classification": (
        lambda F, a, b, c, t: F.connectionist_temporal_classification([a, b, c], t, 0),
        (apart(2, 4), apart(2, 4), apart(2, 4), these([[1, 2], [3, 1]])),
    ),
    "contrastive": binary("contrastive", apart(4, 3), apart(4, 3), these([0, 1, 1, 0]), margin=3),
    "convolution_1d": window("convolution_1d", 1),
    "convolution_2d": window("convolution_2d", 2),
    "convolution_3d": window("convolution_3d", 3),
    "convolution_nd": window("convolution_nd", 2),
    "copy": unary("copy", dst=0),
    "crf1d": (
        lambda F, cost, a, b, t, u: F.crf1d(cost, [a, b], [t, u]),
        (apart(3, 3), apart(2, 3), apart(2, 3), these([0, 2]), these([1, 1])),
    ),
    "cross_covariance": binary("cross_covariance", apart(4, 3), apart(4, 2)),
    "cumprod": unary("cumprod", axis=1),
    "cumsum": unary("cumsum", axis=1),
    "deconvolution_1d": window("deconvolution_1d", 1, transposed=True),
    "deconvolution_2d": window("deconvolution_2d", 2, transposed=True),
    "deconvolution_3d": window("deconvolution_3d", 3, transposed=True),
    "deconvolution_nd": window("deconvolution_nd", 2, transposed=True),
    "decorrelated_batch_normalization": unary(
        "decorrelated_batch_normalization", apart(8, 4), groups=2
    ),
    "decov": unary("decov", apart(4, 3)),
    "deformable_convolution_2d_sampler": (
        lambda F, x, offset, w, b: F.deformable_convolution_2d_sampler(x, offset, w, b, pad=1),
        (apart(1, 2, 4, 4), between(0.1, 0.4, 1, 18, 4, 4), apart(2, 2, 3, 3), apart(2)),
    ),
    "depth2space": unary("depth2space", apart(2, 8, 2, 3), r=2),
    "depthwise_convolution_2d": binary(
        "depthwise_convolution_2d", apart(2, 2, 4, 4), apart(3, 2, 3, 3), apart(6)
    ),
    "det": unary("det", definite(3, 3)),
    "diagonal": unary("diagonal", apart(4, 3, 2), offset=-1),
    "dilated_convolution_2d": binary(
        "dilated_convolution_2d", apart(2, 2, 6, 6), apart(3, 2, 3, 3), apart(3), dilate=2
    ),
    "discriminative_margin_based_clustering_loss": (
        # The default norm (L1) has a gradient where it is 0; the other norm (L2) has none.
        lambda F, e, t: F.discriminative_margin_based_clustering_loss(e, t.array, 0.1, 2.0, 3),
        (between(0.2, 2, 1, 3, 2, 3), these([[[3, 1, 2], [1, 2, 3]]])),
    ),
    "dropout": unary("dropout", apart(5, 4), ratio=0.4),
    "dstack": of_list("dstack", apart(3, 2), apart(3, 2)),
    "einsum": (
        lambda F, a, b: (F.einsum("ij,jk->ik", a, b), F.einsum("ii->i", b)),
        (apart(3, 4), apart(4, 4)),
    ),
    "embed_id": (lambda F, w, t: F.embed_id(t, w), (apart(5, 3), whole(5, 4))),
    "erfcinv": unary("erfcinv", between(0.1, 1.9, 3, 4)),
    "erfinv": unary("erfinv", between(-0.9, 0.9, 3, 4)),
    "expand_dims": unary("expand_dims", axis=1),
    "fft": (lambda F, re, im: F.fft((re, im)), (apart(2, 4), apart(2, 4))),
    "fixed_batch_normalization": binary(
        "fixed_batch_normalization", apart(5, 3), positive(3), apart(3), apart(3), positive(3)
    ),
    "fixed_batch_renormalization": binary(
        "fixed_batch_renormalization", apart(5, 3), positive(3), apart(3), apart(3), positive(3)
    ),
    # Chainer's gradients with respect to the mean and the projection are wrong. So both are
    # constants here.
    "fixed_decorrelated_batch_normalization": (
        lambda F, x: F.fixed_decorrelated_batch_normalization(
            x, x.xp.full((2, 2), 0.3, x.dtype), x.xp.ones((2, 2, 2), x.dtype), groups=2
        ),
        (apart(2, 4),),
    ),
    "flip": unary("flip", axis=1),
    "fmod": binary("fmod", between(1.1, 1.9, 3, 4), between(0.6, 0.9, 3, 4)),
    "forget": (lambda F, x, y: F.forget(lambda a, b: a * F.tanh(b), x, y), (apart(3), apart(3))),
    "gaussian": binary("gaussian"),
    "gaussian_kl_divergence": binary("gaussian_kl_divergence"),
    "gaussian_nll": binary("gaussian_nll", apart(3, 4), apart(3, 4), apart(3, 4)),
    "get_item": (lambda F, x: (F.get_item(x, (slice(None), 1)), x[[0, 2, 0]]), (apart(3, 4),)),
    "group_normalization": (
        lambda F, x, gamma, beta: F.group_normalization(x, 2, gamma, beta),
        (apart(2, 4, 3), positive(4), apart(4)),
    ),
    "gumbel_softmax": unary("gumbel_softmax", tau=0.8),
    "hinge": binary("hinge", between(-0.8, 0.8, 4, 3), whole(3, 4)),
    "hstack": of_list("hstack", apart(3, 2), apart(3, 4)),
    "huber_loss": (
        lambda F, x, t: F.huber_loss(x, t, 1.0),
        (apart(4, 3), these([[3, 0.4, -3], [0.5, 3, 3], [0.3, 0.2, -3], [3, 3, 3]], "float64")),
    ),
    "ifft": (lambda F, re, im: F.ifft((re, im)), (apart(2, 4), apart(2, 4))),
    "im2col": unary("im2col", apart(2, 2, 4, 4), ksize=3, stride=2, pad=1),
    "inv": unary("inv", definite(3, 3)),
    "layer_normalization": binary("layer_normalization", apart(4, 5), positive(5), apart(5)),
    "linear": binary("linear", apart(3, 4), apart(5, 4), apart(5)),
    "linear_interpolate": binary("linear_interpolate", apart(3, 4), apart(3, 4), apart(3, 4)),
    "local_convolution_2d": binary(
        "local_convolution_2d", apart(2, 2, 4, 4), apart(3, 2, 2, 2, 3, 3), apart(3, 2, 2)
    ),
    "local_response_normalization": unary("local_response_normalization", apart(2, 7, 3)),
    "lstm": binary("lstm", apart(3, 2), apart(3, 8)),
    "matmul": binary("matmul", apart(2, 3, 4), apart(2, 4, 5)),
    "max_pooling_1d": pooling("max_pooling_1d", 2, 3, 6),
    "max_pooling_2d": pooling("max_pooling_2d", 2, 3, 6, 5),
    "max_pooling_3d": pooling("max_pooling_3d", 2, 2, 4, 5, 4),
    "max_pooling_nd": pooling("max_pooling_nd", 2, 3, 6, 5),
    "maximum": binary("maximum", apart(3, 4), between(-0.95, 1.1, 3, 4)),
    "maxout": unary("maxout", apart(3, 6), pool_size=2),
    "mean_absolute_error": binary("mean_absolute_error", apart(3, 4), between(2, 3, 3, 4)),
    "mean_squared_error": binary("mean_squared_error"),
    "minimum": binary("minimum", apart(3, 4), between(-0.95, 1.1, 3, 4)),
    "moveaxis": unary("moveaxis", apart(3, 4, 2), source=0, destination=2),
    "n_step_bigru": recurrent("n_step_bigru", 3, 2, has_cell=False),
    "n_step_bilstm": recurrent("n_step_bilstm", 4, 2, has_cell=True),
    "n_step_birnn": recurrent("n_step_birnn", 1, 2, has_cell=False),
    "n_step_gru": recurrent("n_step_gru", 3, 1, has_cell=False),
    "n_step_lstm": recurrent("n_step_lstm", 4, 1, has_cell=True),
    "n_step_rnn": recurrent("n_step_rnn", 1, 1, has_cell=False),
    "ndtri": unary("ndtri", between(0.1, 0.9, 3, 4)),
    "negative_sampling": (_sampler, (apart(3, 4), whole(5, 3), apart(5, 4))),
    "pad": unary("pad", pad_width=((1, 0), (2, 1)), mode="constant"),
    "pad_sequence": of_list("pad_sequence", apart(3, 2), apart(1, 2), apart(2, 2)),
    "permutate": binary("permutate", apart(3, 4), these([2, 0, 1])),
    "polygamma": (lambda F, x, n: F.polygamma(n, x), (positive(3), these([1, 2, 0]))),
    "prelu": binary("prelu", apart(3, 4), apart(4)),
    "relu6": unary("relu6", between(-2, 8, 3, 4)),
    "repeat": unary("repeat", repeats=2, axis=1),
    "reshape": unary("reshape", shape=(2, 6)),
    "resize_images": unary("resize_images", apart(1, 2, 3, 4), output_shape=(5, 3)),
    "roi_average_align_2d": regions("roi_average_align_2d", 2),
    "roi_average_pooling_2d": regions("roi_average_pooling_2d"),
    "roi_max_align_2d": regions("roi_max_align_2d", 2),
    "roi_max_pooling_2d": regions("roi_max_pooling_2d"),
    "roi_pooling_2d": (_old_regions, (apart(2, 2, 8, 8), boxes(3, 8), whole(2, 3))),
    "rollaxis": unary("rollaxis", apart(3, 4, 2), axis=2),
    "rrelu": unary("rrelu"),
    "scale": binary("scale", apart(3, 4, 2), apart(4, 2)),
    "scatter_add": (
        lambda F, a, b: F.scatter_add(a, [0, 2, 0], b),
        (apart(3, 4), apart(3, 4)),
    ),
    "select_item": binary("select_item", apart(3, 4), whole(4, 3)),
    "separate": unary("separate", axis=1),
    "shift": unary("shift", apart(2, 9, 4, 4)),
    "sigmoid_cross_entropy": binary("sigmoid_cross_entropy", apart(3, 4), whole(2, 3, 4)),
    "simplified_dropconnect": binary(
        "simplified_dropconnect", apart(3, 4), apart(5, 4), apart(5), ratio=0.4
    ),
    "slstm": binary("slstm", apart(3, 2), apart(3, 2), apart(3, 8), apart(3, 8)),
    "softmax_cross_entropy": binary("softmax_cross_entropy", apart(4, 5), these([0, 4, -1, 2])),
    "space2depth": unary("space2depth", apart(2, 2, 4, 6), r=2),
    "sparse_matmul": (_sparse, (apart(4), apart(4, 2), these([0, 1, 2, 2]), these([3, 0, 1, 2]))),
    "spatial_pyramid_pooling_2d": unary(
        "spatial_pyramid_pooling_2d", apart(2, 2, 6, 5), pyramid_height=2, pooling="max"
    ),
    "spatial_transformer_grid": unary(
        "spatial_transformer_grid", apart(2, 2, 3), output_shape=(3, 4)
    ),
    "spatial_transformer_sampler": binary(
        "spatial_transformer_sampler", apart(2, 2, 4, 4), between(-0.9, 0.9, 2, 2, 3, 3)
    ),
    "split_axis": unary("split_axis", indices_or_sections=2, axis=1),
    "squared_difference": binary("squared_difference"),
    "squared_error": binary("squared_error"),
    "squeeze": unary("squeeze", apart(3, 1, 4)),
    "stack": of_list("stack", apart(3, 2), apart(3, 2), axis=1),
    "sum_to": unary("sum_to", apart(2, 3, 4), shape=(3, 1)),
    "swapaxes": unary("swapaxes", axis1=0, axis2=1),
    "swish": binary("swish", apart(3, 4), apart(4)),
    "tensordot": binary("tensordot", apart(3, 4), apart(4, 5), axes=1),
    "tile": unary("tile", reps=(2, 3)),
    "transpose_sequence": of_list("transpose_sequence", apart(3, 2), apart(2, 2), apart(1, 2)),
    "tree_lstm": binary("tree_lstm", apart(3, 2), apart(3, 2), apart(3, 10)),
    "triplet": binary("triplet", apart(4, 3), apart(4, 3), apart(4, 3), margin=5),
    "unpooling_1d": unary("unpooling_1d", apart(2, 2, 4), ksize=2),
    "unpooling_2d": unary("unpooling_2d", apart(2, 2, 3, 4), ksize=2),
    "unpooling_3d": unary("unpooling_3d", apart(1, 2, 2, 3, 2), ksize=2),
    "unpooling_nd": unary("unpooling_nd", apart(2, 2, 3, 4), ksize=2),
    "upsampling_2d": (_upsampled, (apart(2, 2, 4, 4),)),
    "vstack": of_list("vstack", apart(3, 2), apart(1, 2)),
    "where": (
        lambda F, x, y, c: F.where(c.array, x, y),
        (apart(4), apart(4), these([1, 0, 0, 1], "bool")),
    ),
    "zeta": (lambda F, q: F.zeta(3.0, q), (positive(3, 4),)),
    "zoneout": binary("zoneout", ratio=0.4),
}
