"""Runs Chainer's functions, links and optimizers on NumPy and on the stand-in ``cupy``
(``judge.py``).

Prints one JSON object: the kernels that were made; for each scenario "ok" or the error; and "ok" or
the error of each kernel's first call, repeated in every dtype and compared with a Python version
of its C++ (``samples.py``). It runs natively; ``run_kernels.py`` does the same on a device.

    PYTHONPATH=.../worker-runtime/python:CHAINER_WHEEL:SIX_WHEEL python3 hooked.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import stand_in
from judge import (
    RESULTS,
    Arrays,
    compare,
    function,
    ids,
    normal,
    rule,
    uniform,
    variable,
    with_link,
)
from samples import retype

# These are imported after judge, which installs what they need.
import chainer  # isort: skip
import chainer.functions as F  # isort: skip
import chainer.links as L  # isort: skip
import cupy  # isort: skip
from chainer.utils import walker_alias  # isort: skip


def activations() -> None:
    x, y = normal(3, 8), normal(3, 8, seed=9)
    function("relu", F.relu, x, double=True)
    function("clipped_relu", lambda x: F.clipped_relu(x, 0.5), x, double=True)
    function("elu", F.elu, x, double=True)
    function("hard_sigmoid", F.hard_sigmoid, x * 3, double=True)
    function("leaky_relu", F.leaky_relu, x, double=True)
    function("prelu", F.prelu, x, normal(8), double=True)
    function("sigmoid", F.sigmoid, x, double=True)
    function("softplus", lambda x: F.softplus(x, beta=2.0), x, double=True)
    function("swish", F.swish, x, uniform(8))
    function("tanh", F.tanh, x, double=True)
    function("lstm", F.lstm, normal(3, 4), normal(3, 16), double=True)
    function("slstm", F.slstm, normal(3, 4), normal(3, 4, seed=4), normal(3, 16), normal(3, 16),
             double=True)  # fmt: skip
    for n in (1, 2, 3):
        cells = [normal(3, 4, seed=n + k) for k in range(n)]
        function(f"tree_lstm {n}", F.tree_lstm, *cells, normal(3, 4 * (3 + n)))
    if "r" in F.rrelu.__code__.co_varnames:
        slope = uniform(3, 8)
        function("rrelu", lambda x: F.rrelu(x, r=x.xp.array(slope.astype(x.dtype))), x)
    function("maximum", F.maximum, x, y, double=True)
    function("minimum", F.minimum, x, y, double=True)


def arrays() -> None:
    x = normal(4, 6)
    function("select_item", F.select_item, x, ids(6, 4), double=True)
    order = np.array([2, 0, 3, 1], "i")
    for inverse in (False, True):
        function(f"permutate {inverse}", lambda x, o, i=inverse: F.permutate(x, o, inv=i), x, order)
    parts = [normal(n, 3, seed=n) for n in (4, 3, 3, 1)]
    function("transpose_sequence", lambda *xs: F.transpose_sequence(list(xs)), *parts)
    function("pad_sequence", lambda *xs: F.pad_sequence(list(xs), 5, -1.0), *parts)
    function("resize_images", lambda x: F.resize_images(x, (5, 7)), normal(2, 3, 4, 4),
             dtypes=("float32",))  # fmt: skip
    function("embed_id", lambda t, w: F.embed_id(t, w), ids(5, 2, 3), normal(5, 4),
             dtypes=("float32",))  # fmt: skip
    function("embed_id ignore", lambda t, w: F.embed_id(t, w, ignore_label=2), ids(5, 2, 3),
             normal(5, 4), dtypes=("float32",))  # fmt: skip
    function("shift", lambda x: F.shift(x, ksize=3), normal(2, 9, 4, 5))


def losses() -> None:
    x, t = normal(4, 6), ids(6, 4)
    for reduce in ("mean", "no"):
        function(f"softmax_cross_entropy {reduce}",
                 lambda x, t, r=reduce: F.softmax_cross_entropy(x, t, reduce=r), x, t)  # fmt: skip
        weight = uniform(6)
        function(f"softmax_cross_entropy weight {reduce}",
                 lambda x, t, r=reduce, weight=weight: F.softmax_cross_entropy(
                     x, t, class_weight=x.xp.array(weight.astype(x.dtype)), reduce=r),
                 x, t)  # fmt: skip
    function("softmax_cross_entropy ignore",
             lambda x, t: F.softmax_cross_entropy(x, t, ignore_label=int(t[0])), x, t)  # fmt: skip
    function("hinge", F.hinge, x, t)
    xs = [normal(3, 4, seed=k) for k in range(5)]
    function("ctc", lambda t, *xs: F.connectionist_temporal_classification(list(xs), t, 0),
             ids(3, 3, 2) + 1, *xs, dtypes=("float32",))  # fmt: skip
    tree = L.BinaryHierarchicalSoftmax.create_huffman_tree({k: k + 1 for k in range(6)})
    with_link("hierarchical_softmax", lambda: L.BinaryHierarchicalSoftmax(4, tree), normal(5, 4),
              ids(6, 5))  # fmt: skip

    def sampling(xp: Any) -> Arrays:
        samples = xp.array(ids(6, 5, 4))
        x = chainer.Variable(xp.array(normal(5, 3).astype("f")))
        w = chainer.Variable(xp.array(normal(6, 3).astype("f")))
        args = (x, xp.array(np.array([1, 4, 2, -1, 0], "i")), w, lambda shape: samples, 3)
        loss = F.negative_sampling(*args)
        loss.backward()
        return [loss.array, x.grad, w.grad]

    compare("negative_sampling", sampling, "float32")


def mathematics() -> None:
    x, y, p = normal(3, 5), normal(3, 5, seed=8), uniform(3, 5)
    for name in ("erf", "erfc", "erfcx", "ndtr", "log_ndtr", "sin", "cos", "arctan", "absolute"):
        if hasattr(F, name):
            function(name, getattr(F, name), x, double=name not in ("absolute",),
                     dtypes=("float32",))  # fmt: skip
    for name in ("erfinv", "erfcinv", "ndtri", "arcsin", "arccos"):
        function(name, getattr(F, name), p, dtypes=("float32",))
    function("arctan2", F.arctan2, x, y)
    function("abs", abs, x)
    function("div", lambda a, b: a / b, x, y + 3, double=True)
    function("pow", lambda a, b: a**b, p, y, double=True)
    function("pow const", lambda a: a**3.0, p, double=True)
    function("const pow", lambda a: 2.0**a, p, double=True)
    function("const div", lambda a: 2.0 / a, p, double=True)
    function("clip", lambda x: F.clip(x, -0.5, 0.5), x, double=True)
    function("batch_l2_norm_squared", F.batch_l2_norm_squared, x)
    function("linear_interpolate", F.linear_interpolate, p, x, y)
    function("gaussian", F.gaussian, x, y)
    function("dropout", F.dropout, x)
    function("batch_normalization", F.batch_normalization, x, uniform(5), normal(5), double=True,
             dtypes=("float32",))  # fmt: skip
    function("batch_normalization running", lambda x, g, b: F.batch_normalization(
        x, g, b, running_mean=x.xp.zeros(5, x.dtype), running_var=x.xp.ones(5, x.dtype)),
        x, uniform(5), normal(5), dtypes=("float32",))  # fmt: skip
    function("fixed_batch_normalization", F.fixed_batch_normalization, x, uniform(5), normal(5),
             normal(5), uniform(5), dtypes=("float32",))  # fmt: skip
    function("group_normalization", lambda x, g, b: F.group_normalization(x, 2, g, b),
             normal(2, 4, 3), uniform(4), normal(4), dtypes=("float32",))  # fmt: skip
    function("local_response_normalization", F.local_response_normalization, normal(2, 7, 3))
    mean, var = np.zeros(5), np.ones(5)
    function("batch_renormalization", lambda x, g, b: F.batch_renormalization(
        x, g, b, 1.1, 0.2, running_mean=x.xp.array(mean.astype(x.dtype)),
        running_var=x.xp.array(var.astype(x.dtype))), x, uniform(5), normal(5),
        dtypes=("float32",))  # fmt: skip

    def sparse_run(xp: Any, transa: bool) -> Arrays:
        dense = np.where(normal(4, 4) > 0.2, normal(4, 4, seed=3), 0).astype("f")
        b = chainer.Variable(xp.array(normal(4, 3).astype("f")))
        a = chainer.utils.to_coo(xp.array(dense), requires_grad=True)
        y = F.sparse_matmul(a, b, transa=transa)
        y.grad = xp.array(normal(*y.shape, seed=1).astype("f"))
        y.backward()
        return [y.array, a.data.grad, b.grad]

    for transa in (False, True):
        compare(f"sparse_matmul {transa}", lambda xp, t=transa: sparse_run(xp, t), "float32")


def last_larger_than_first() -> None:
    """Test the kernel of max pooling in two dimensions that Chainer 5.4.0 has. It never updates its
    maximum.

    So it picks the last element of each window that is larger than the first one, and NumPy's
    result is not the expected one.
    """
    x, ggx = normal(1, 2, 4, 4), normal(1, 2, 4, 4, seed=2)

    def run(xp: Any) -> Arrays:
        if xp is np:
            wanted = np.empty((1, 2, 2, 2), "f")
            for c, i, j in np.ndindex(2, 2, 2):
                window = x[0, c, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2].astype("f").ravel()
                larger = np.flatnonzero(window > window[0])
                at = larger[-1] if len(larger) else 0
                wanted[0, c, i, j] = ggx[0, c, 2 * i + at // 2, 2 * j + at % 2]
            return [wanted]
        v = variable(xp, x, "f")
        y = F.max_pooling_2d(v, 2)
        gy = variable(xp, np.ones(y.shape), "f")
        (gx,) = chainer.grad([y], [v], [gy], enable_double_backprop=True)
        (ggy,) = chainer.grad([gx], [gy], [variable(xp, ggx, "f")])
        return [ggy.array]

    compare("max_pooling_2d again", run, "float32")


def without_indexes() -> None:
    """Test the second gradient of max pooling without stored indexes, as after a forward by
    cuDNN.
    """
    changed: list[tuple[Any, Any]] = []
    pooled: list[Any] = []  # the input of the pooling under test

    def replace(cls: Any, forward: Callable[[Any, Any], Any]) -> None:
        changed.append((cls, cls.forward_gpu))
        cls.forward_gpu = forward

    for name in ("max_pooling_2d", "max_pooling_nd"):
        module = sys.modules.get(f"chainer.functions.pooling.{name}")
        if module is None:  # 7.8.1 has no code of its own for two dimensions
            continue
        for cls in [c for c in vars(module).values() if hasattr(c, "forward_gpu")]:
            again = getattr(cls, "_forward_gpu_compute_indexes_again", None)
            if again is not None:
                replace(cls, lambda self, gy, f=again: f(self, (pooled[-1], gy[0])))
            elif cls.__name__ in ("MaxPooling2D", "MaxPoolingND"):
                first = cls.forward_gpu

                def forward(self: Any, inputs: Any, first: Any = first) -> Any:
                    pooled.append(inputs[0])
                    return first(self, inputs)

                replace(cls, forward)
    for n in (1, 2, 3):
        x = normal(2, 3, *(5, 6, 4)[:n])
        function(f"max_pooling_nd again {n}", lambda x: F.max_pooling_nd(x, 3, 2, 1), x,
                 double=True)  # fmt: skip
    if "chainer.functions.pooling.max_pooling_2d" in sys.modules:
        last_larger_than_first()
    for cls, forward in changed:
        cls.forward_gpu = forward


def pooling() -> None:
    for n in (1, 2, 3):
        x = normal(2, 3, *(5, 6, 4)[:n])
        function(f"max_pooling_nd {n}", lambda x: F.max_pooling_nd(x, 3, 2, 1), x, double=True)
        function(f"average_pooling_nd {n}", lambda x: F.average_pooling_nd(x, 3, 2, 1), x,
                 double=True)  # fmt: skip
        w = normal(4, 3, *(2,) * n)
        function(f"convolution_nd {n}", lambda x, w: F.convolution_nd(x, w, pad=1), x, w,
                 dtypes=("float32",))  # fmt: skip
        d = normal(3, 4, *(2,) * n)
        function(f"deconvolution_nd {n}", lambda x, w: F.deconvolution_nd(x, w, stride=2), x, d,
                 dtypes=("float32",))  # fmt: skip
    without_indexes()
    x = normal(2, 3, 5, 6)
    function("max_pooling_2d", lambda x: F.max_pooling_2d(x, 3, 2, 1), x, double=True)
    function("average_pooling_2d", lambda x: F.average_pooling_2d(x, 3, 2, 1), x, double=True)
    function("convolution_2d", lambda x, w: F.convolution_2d(x, w, stride=2, pad=1, dilate=2), x,
             normal(4, 3, 2, 2), dtypes=("float32",))  # fmt: skip
    function("deconvolution_2d", lambda x, w: F.deconvolution_2d(x, w, stride=2), x,
             normal(3, 4, 3, 3), dtypes=("float32",))  # fmt: skip
    function("unpooling_2d", lambda x: F.unpooling_2d(x, 2), x)

    def upsampling(xp: Any) -> Arrays:
        x = chainer.Variable(xp.array(normal(2, 3, 4, 6).astype("f")))
        with chainer.using_config("use_cudnn", "never"):
            pooled, indexes = F.max_pooling_2d(x, 2, return_indices=True)
            y = F.upsampling_2d(pooled, indexes, ksize=2, outsize=(4, 6))
        y.grad = xp.array(normal(*y.shape, seed=1).astype("f"))
        y.backward()
        return [y.array, x.grad]

    compare("upsampling_2d", upsampling, "float32")
    # No coordinate of a box, multiplied by the scale, ends in .5: NumPy would round it to an even
    # number, and C away from zero.
    image = normal(2, 3, 8, 7)
    boxes = np.array([[0.3, 0.2, 6.1, 5.4], [1.0, 1.0, 7.0, 6.0], [2.2, 0.0, 5.0, 3.1]])
    of = np.array([0, 1, 0], "i")
    rois = np.hstack([of[:, None], np.round(boxes[:, [1, 0, 3, 2]])])
    function("roi_pooling_2d", lambda x: F.roi_pooling_2d(
        x, x.xp.array(rois.astype(x.dtype)), 3, 2, 0.8), image, dtypes=("float32",))  # fmt: skip
    for name in ("roi_average_pooling_2d", "roi_max_pooling_2d"):
        if hasattr(F, name):
            call = getattr(F, name)
            function(name, lambda x, r, i, c=call: c(x, r, i, (3, 2), 0.8), image, boxes, of,
                     dtypes=("float32",))  # fmt: skip
    for name in ("roi_average_align_2d", "roi_max_align_2d"):
        if hasattr(F, name):
            call = getattr(F, name)
            for ratio in (None, 2):
                function(f"{name} {ratio}",
                         lambda x, r, i, c=call, s=ratio: c(x, r, i, (3, 2), 0.9, s), image, boxes,
                         of, dtypes=("float32",))  # fmt: skip


def optimizers() -> None:
    from chainer import optimizer_hooks as hooks
    from chainer import optimizers as o

    rule("sgd", lambda: o.SGD(0.1), dtypes=("float32", "float16"))
    rule("momentum", o.MomentumSGD)
    rule("corrected momentum", o.CorrectedMomentumSGD)
    rule("nesterov", o.NesterovAG)
    rule("adagrad", o.AdaGrad)
    rule("adadelta", o.AdaDelta)
    rule("rmsprop", o.RMSprop)
    rule("rmsprop inside", lambda: o.RMSprop(eps_inside_sqrt=True))
    rule("rmsprop graves", o.RMSpropGraves)
    rule("smorms3", o.SMORMS3)
    rule("msvag", o.MSVAG)
    rule("adam", o.Adam, dtypes=("float32",))
    rule("amsgrad", lambda: o.Adam(amsgrad=True))
    if hasattr(o, "AdaBound"):
        rule("adabound", o.AdaBound)
        rule("amsbound", o.AMSBound)
    rule("lasso", o.SGD, lambda: hooks.Lasso(0.1))
    rule("weight decay", o.SGD, lambda: hooks.WeightDecay(0.1))
    rule("noise", o.SGD, lambda: hooks.GradientNoise(0.3))
    rule("lars", o.SGD, lambda: hooks.GradientLARS())


def others() -> None:
    from chainer import gradient_check

    def gradients(xp: Any) -> Arrays:
        x = xp.array(normal(2, 3).astype("d"))
        gy = xp.array(normal(2, 3, seed=2).astype("d"))
        return list(gradient_check.numerical_grad(lambda: (x * x,), (x,), (gy,), eps=1e-3))

    compare("numerical_grad", gradients, "float64")

    def smooth(xp: Any) -> Arrays:
        x = xp.array(normal(2, 3).astype("d"))
        gy = xp.array(normal(2, 3, seed=2).astype("d"))
        return list(gradient_check.numerical_grad(
            lambda: (x * x,), (x,), (gy,), eps=1e-3, detect_nondifferentiable=True))  # fmt: skip

    compare("numerical_grad smooth", smooth, "float64")

    def sampler(xp: Any) -> Arrays:
        alias = walker_alias.WalkerAlias([1, 2, 3, 4])
        if xp is cupy:
            alias.to_gpu()
        drawn = alias.sample((2000,))
        # NumPy and `cupy` draw different samples, so only the frequencies are compared.
        shares = xp.asarray([float((drawn == k).sum()) / 2000 for k in range(4)])
        return [xp.abs(shares - xp.asarray([0.1, 0.2, 0.3, 0.4])) < 0.05]

    compare("walker_alias", sampler, "float32")


def scenarios() -> None:
    chainer.config.use_cudnn = "never"
    for part in (activations, arrays, losses, mathematics, pooling, optimizers, others):
        part()


def main() -> None:
    from probe_engine import ProbeEngine

    engine = stand_in.STATE.engine = ProbeEngine()
    scenarios()
    again = retype(engine, stand_in.RECORDS)
    kernels = [
        {"file": r.file, "line": r.line, "kind": r.kind, "texts": r.texts, "calls": r.calls}
        for r in stand_in.RECORDS
    ]
    json.dump({"results": RESULTS, "kernels": kernels, "again": again}, sys.stdout)


if __name__ == "__main__":
    main()
