"""Functions of the comparison that make arrays and change their shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arguments import ALL, COMPLEX, FLOATS, REAL, Draw
from .families import Builder, Call, binary, family, unary, with_axis

_NEW = {"dtype": ["float32", "int8", "complex128", None], "order": ["C", "F"]}


def of_shape(**options: Any) -> Builder:
    return lambda g: ([g.one([3, (), (2, 3), [1, 4], np.int64(2)])], g.some(**_NEW, **options))


def like_it(*values: Any) -> Builder:
    return lambda g: (
        [g.array(), *values],
        g.some(
            dtype=["float32", "int8", None],
            order=["C", "F", "K", "A"],
            shape=[(2, 3), 4],
            subok=[False],
        ),
    )


family(
    "creation",
    zeros=of_shape(),
    ones=of_shape(),
    full=lambda g: (
        [(2, 3), g.one([3, 2.5, 1j, True, [1, 2, 3], g.array(shape=(3,))])],
        g.some(**_NEW),
    ),
    zeros_like=like_it(),
    ones_like=like_it(),
    full_like=like_it(3),
    array=lambda g: (
        [g.one([[1, 2], [[1.5], [2]], 3, True, [], [1j, 2], [[True], [False]]])],
        g.some(dtype=["float32", None], ndmin=[0, 3], order=["C", "F", "K", None]),
    ),
    asarray=lambda g: (
        [g.one([[1, 2], 3.5, [[1], [2]], g.array()])],
        g.some(dtype=["float64"], order=["F", None]),
    ),
    ascontiguousarray=unary(),
    asfortranarray=unary(),
    arange=lambda g: (
        g.one([[5], [1, 7], [0, 1, 0.25], [5, 0, -1], [2.5], [0], [3, 1]]),
        g.some(dtype=["float32", "int16", "complex64"]),
    ),
    linspace=lambda g: (
        [g.one([0, 1.5, g.array(FLOATS, (2,), odd=0)]), g.one([5, g.array(FLOATS, (2,), odd=0)])],
        g.some(num=[0, 1, 5], endpoint=[False], dtype=["float32", "int32"], axis=[0, -1]),
    ),
    logspace=lambda g: (
        [0, g.one([2, 3.5])],
        g.some(num=[4], endpoint=[False], base=[2.0], dtype=["float32"]),
    ),
    geomspace=lambda g: (
        [1, g.one([2, 1000.0])],
        g.some(num=[4], endpoint=[False], dtype=["float32"]),
    ),
    eye=lambda g: ([3], g.some(M=[4, None], k=[-1, 1], **_NEW)),
    identity=lambda g: ([3], g.some(dtype=["int8"])),
    tri=lambda g: ([3], g.some(M=[4, None], k=[-1, 1], dtype=["int8"])),
    tril=lambda g: ([g.array(least=1)], g.some(k=[-1, 1, 0])),
    triu=lambda g: ([g.array(least=1)], g.some(k=[-1, 1, 0])),
    diag=lambda g: ([g.array(least=1, most=2)], g.some(k=[-1, 1])),
    diagflat=lambda g: ([g.array()], g.some(k=[-1, 1])),
    vander=lambda g: (
        [g.array(REAL, shape=(3,), odd=0, span=3)],
        g.some(N=[2, 4], increasing=[True]),
    ),
    meshgrid=lambda g: (
        [g.array(shape=(2,)), g.array(shape=(3,))],
        g.some(indexing=["ij", "xy"], sparse=[True]),
    ),
    indices=lambda g: ([(2, 3)], g.some(dtype=["float32"], sparse=[True])),
    bartlett=lambda g: ([g.integer(0, 5)], {}),
    blackman=lambda g: ([g.integer(0, 5)], {}),
    hamming=lambda g: ([g.integer(0, 5)], {}),
    hanning=lambda g: ([g.integer(0, 5)], {}),
    kaiser=lambda g: ([g.integer(0, 5), 2.5], {}),
    fromiter=lambda g: ([[1, 2, 3], g.one(["float32", "int8"])], g.some(count=[2])),
    copy=lambda g: ([g.array()], g.some(order=["C", "F", "K"])),
)


def shaped(g: Draw) -> Call:
    a = g.array()
    return [a, g.sizes(a.size)], g.some(order=["C", "F", "A"])


def listed(kinds: Any = ALL, least: int = 1, most: int = 3) -> Builder:
    """Build a list of arrays of one shape, or nearly so."""

    def build(g: Draw) -> Call:
        a = g.array(kinds, least=least, most=most)
        parts = [a] + [g.array(kinds, a.shape) for _ in range(g.integer(0, 2))]
        if g.maybe(True, share=0.05):
            parts.append(g.array(kinds, (*a.shape, 2)))
        return [g.one([parts, tuple(parts)])], {}

    return build


def joined(**options: Any) -> Builder:
    return lambda g: (lambda args: (args, g.some(axis=[0, -1, 1], **options)))(listed()(g)[0])


def cut(g: Draw) -> Call:
    return [g.array(shape=(4, 2, 4)), g.one([2, [1, 3], 3, np.array([2])])], {}


#: Dtypes whose numbers all hold: how floats beyond a dtype's range are cast is not NumPy's.
_SIGNED = ("bool", "int16", "int32", "int64", *FLOATS, *COMPLEX)

family(
    "manipulation",
    reshape=shaped,
    ravel=lambda g: ([g.array()], g.some(order=["C", "F", "A", "K"])),
    squeeze=lambda g: ([g.array(shape=(1, 3, 1))], g.some(axis=[0, 2, (0, 2), 1])),
    expand_dims=lambda g: ([g.array(), g.one([0, -1, (0, 1)])], {}),
    broadcast_to=lambda g: ([g.array(shape=g.one([(3,), (1,), (2, 1)])), (2, 3)], {}),
    broadcast_arrays=binary(),
    atleast_1d=unary(),
    atleast_2d=unary(),
    atleast_3d=unary(),
    transpose=lambda g: ([g.array(shape=(2, 3, 4))], g.some(axes=[(1, 0, 2), [2, 0, 1], None])),
    swapaxes=lambda g: ([g.array(shape=(2, 3, 4)), 0, g.one([-1, 1])], {}),
    moveaxis=lambda g: ([g.array(shape=(2, 3, 4)), g.one([0, [0, 1]]), g.one([-1, [2, 0]])], {}),
    rollaxis=lambda g: ([g.array(shape=(2, 3, 4)), g.one([1, 2, -1])], g.some(start=[0, 1, 3])),
    flip=with_axis(many=True),
    flipud=unary(),
    fliplr=unary(),
    rot90=lambda g: ([g.array(least=2)], g.some(k=[0, 1, 2, 3, -1])),
    roll=lambda g: ([g.array(), g.one([1, -2, 0])], g.some(axis=[0, None, -1])),
    diagonal=lambda g: ([g.array(least=2)], g.some(offset=[1, -1])),
    trace=lambda g: ([g.array(least=2)], g.some(offset=[1, -1], dtype=["float64"])),
    concatenate=joined(dtype=["float64", "complex128"], casting=["unsafe", "safe"]),
    stack=joined(),
    vstack=listed(least=0),
    hstack=listed(least=0),
    dstack=listed(least=0),
    column_stack=listed(most=2),
    block=lambda g: (
        [
            [
                [g.array(shape=(2, 2)), g.array(shape=(2, 1))],
                [g.array(shape=(1, 2)), g.array(shape=(1, 1))],
            ]
        ],
        {},
    ),
    append=lambda g: (
        [g.array(shape=(2, 3)), g.one([3, [[1, 2, 3]], g.array(shape=(1, 3))])],
        g.some(axis=[0, None]),
    ),
    split=cut,
    array_split=cut,
    vsplit=cut,
    hsplit=cut,
    dsplit=cut,
    unstack=lambda g: ([g.array()], {}),
    tile=lambda g: ([g.array(), g.one([2, (2, 1), (1, 2, 2), [0]])], {}),
    repeat=lambda g: (
        [g.array(shape=(3, 2)), g.one([2, [1, 2, 0], np.array([1, 0, 2]), [3]])],
        g.some(axis=[0, None, 1]),
    ),
    resize=lambda g: ([g.array(), g.one([(2, 3), 5, (0,)])], {}),
    delete=lambda g: (
        [g.array(shape=(4, 3)), g.one([0, -1, [0, 2], slice(None, 2), np.array([1])])],
        g.some(axis=[0, 1]),
    ),
    insert=lambda g: (
        [g.array(shape=(4, 3)), g.one([0, [1, 3], slice(0, 2)]), g.one([5, 2.5])],
        g.some(axis=[0, 1]),
    ),
    ndarray__reshape=shaped,
    ndarray__astype=lambda g: (
        [g.array(_SIGNED, odd=0), g.one(_SIGNED)],
        g.some(order=["F", "K"], copy=[False], casting=["safe", "same_kind"]),
    ),
    ndarray__flatten=lambda g: ([g.array()], g.some(order=["C", "F", "K"])),
    ndarray__item=lambda g: ([g.array(shape=(2, 3)), g.one([0, (1, 2), -1])], {}),
    ndarray__tolist=unary(),
    ndarray__view=lambda g: (
        [g.array(("float32", "int32"), shape=(4,)), g.one(["uint32", "int8"])],
        {},
    ),
    require=lambda g: ([g.array(), None, g.one(["C", "F", ["F", "A"]])], {}),
)
