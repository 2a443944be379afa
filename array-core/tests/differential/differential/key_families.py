"""Functions of the comparison: borders, keys, linear algebra, polynomials, callables, types."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arguments import ALL, BOOLS, COMPLEX, FLOATS, INTEGERS, REAL, Draw
from .families import Builder, Call, family, unary, with_axis


def padded(g: Draw) -> Call:
    mode = g.one(
        [
            "constant",
            "edge",
            "reflect",
            "symmetric",
            "wrap",
            "linear_ramp",
            "maximum",
            "minimum",
            "mean",
            "median",
            "empty",
        ]
    )
    a = g.array(REAL if mode != "constant" else ALL, g.shape(1, 2), odd=0)
    options: dict[str, Any] = {}
    if mode == "constant":
        options = g.some(constant_values=[3, (1, 2), 2.5])
    elif mode == "linear_ramp":
        options = g.some(end_values=[3, (1, 2)])
    elif mode in ("reflect", "symmetric"):
        options = g.some(reflect_type=["odd", "even"])
    elif mode in ("maximum", "minimum", "mean", "median"):
        options = g.some(stat_length=[1, 2, (1, 3), None])
    width = g.one([1, (2, 1), 2, 0, [[1, 2]] * a.ndim, ((3, 0),) * a.ndim, np.array([1, 2])])
    if mode == "empty":
        width = 0
    if mode in ("reflect", "symmetric") and g.maybe(True):
        width = g.one([0, (0, 1), (2, 0)])
    return [a, width, mode], options


def by_function(g: Draw) -> Call:
    def filled(row: Any, widths: Any, axis: int, kwargs: Any) -> None:
        row[: widths[0]] = kwargs.get("fill", 7)
        if widths[1]:
            row[-widths[1] :] = axis

    return [g.array(REAL, g.shape(1, 2)), g.one([1, (2, 1)]), filled], g.some(fill=[3])


family("padding", pad=lambda g: padded(g) if g.maybe(True, share=0.9) else by_function(g))


def indexed(g: Draw) -> Call:
    a = g.array(shape=(4, 3))
    key = g.one(
        [
            0,
            -1,
            slice(1, 3),
            (slice(None), 1),
            [0, 2],
            ([0, 1], [1, 2]),
            np.array([True, False, True, True]),
            Ellipsis,
            None,
            (None, 2),
            np.array([[0], [3]]),
            (slice(None, None, -2), [0, 0]),
            9,
            np.int64(1),
            g.array(BOOLS, (4, 3)),
            (Ellipsis, np.array([2, 0])),
            [True, False, False, True],
            (),
            1.5,
        ]
    )
    return [a, key], {}


def assigned(g: Draw) -> Call:
    args, _ = indexed(g)
    return [*args, g.one([3, 2.5, 1j, g.number(), [1], g.array(shape=(1,)), np.float64(7)])], {}


#: NumPy's select() refuses Python's numbers next to narrower dtypes.
_WIDE = ("int64", "float64", "complex128")

family(
    "indexing",
    ndarray____getitem__=indexed,
    ndarray____setitem__=assigned,
    take=lambda g: (
        [g.array(shape=(4, 3)), g.one([1, [0, 2], np.array([[1], [0]]), -1, 7])],
        g.some(axis=[0, 1, None], mode=["wrap", "clip"]),
    ),
    take_along_axis=lambda g: (
        [g.array(shape=(3, 4)), np.array([[0, 2], [1, 1], [3, 0]])],
        g.some(axis=[1, -1]),
    ),
    compress=lambda g: ([[True, False, True], g.array(shape=(3, 4))], g.some(axis=[0, 1])),
    choose=lambda g: (
        [np.array([0, 1, 1]), [g.array(shape=(3,)), g.one([5, g.array(shape=(3,))])]],
        g.some(mode=["wrap"]),
    ),
    where=lambda g: (
        (lambda c: [c, g.one([g.like(c), 3, 2.5]), g.one([g.like(c), 1])])(
            g.array(BOOLS + INTEGERS)
        ),
        {},
    ),
    select=lambda g: (
        [
            [g.array(BOOLS, (3,)), g.array(BOOLS, (3,))],
            [g.array(_WIDE, shape=(3,)), g.one([g.array(_WIDE, shape=(3,)), 4])],
        ],
        g.some(default=[9]),
    ),
    extract=lambda g: ((lambda a: [g.array(BOOLS, a.shape), a])(g.array(least=1)), {}),
    nonzero=unary(),
    flatnonzero=unary(),
    argwhere=unary(),
    put=lambda g: (
        [g.array(shape=(3, 2)), g.one([0, [1, 4], np.array([-1])]), g.one([3, [1, 2]])],
        g.some(mode=["clip"]),
    ),
    putmask=lambda g: ([g.array(shape=(3, 2)), g.array(BOOLS, (3, 2)), g.one([3, [1, 2]])], {}),
    place=lambda g: ([g.array(shape=(3, 2)), g.array(BOOLS, (3, 2)), [1, 2]], {}),
    put_along_axis=lambda g: ([g.array(shape=(3, 2)), np.array([[0], [1], [0]]), 5], {"axis": 1}),
    copyto=lambda g: (
        [g.array(shape=(3, 2)), g.one([g.array(shape=(2,)), 3, 2.5])],
        g.some(casting=["unsafe"], where=[g.array(BOOLS, (3, 2))]),
    ),
    fill_diagonal=lambda g: (
        [g.array(shape=g.one([(3, 3), (4, 2)])), g.one([7, [1, 2]])],
        g.some(wrap=[True]),
    ),
    ix_=lambda g: ([[0, 2], np.array([1, 3])], {}),
    unravel_index=lambda g: ([g.one([5, np.array([0, 7]), [3]]), (3, 4)], g.some(order=["F"])),
    ravel_multi_index=lambda g: (
        [(np.array([0, 2]), np.array([1, 3])), (3, 4)],
        g.some(order=["F"], mode=["clip"]),
    ),
    tril_indices=lambda g: ([3], g.some(k=[1], m=[4])),
    triu_indices=lambda g: ([3], g.some(k=[1], m=[4])),
    diag_indices=lambda g: ([3], g.some(ndim=[3])),
    add__at=lambda g: (
        [g.array(INTEGERS + FLOATS, (4,), odd=0), g.one([0, [1, 1, 2], np.array([0, 3, 3])]), 2],
        {},
    ),
)

_SHAPES = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((2, 2, 3), (3, 4)),
    ((2, 2, 3), (2, 3, 1)),
    ((2, 3), (2, 3)),
    ((), (3,)),
]


def product(g: Draw) -> Call:
    first, second = g.one(_SHAPES)
    return [g.array(shape=first, odd=0), g.array(shape=second, odd=0)], {}


def square(kinds: Any = ("float32", "float64", "complex128", "int64")) -> Builder:
    def build(g: Draw) -> Call:
        side = g.integer(1, 4)
        stack = g.one([(), (2,)])
        made = g.array(kinds, (*stack, side, side), odd=0, span=3)
        return [(made + 9 * np.eye(side)).astype(made.dtype)], {}

    return build


family(
    "linalg",
    matmul=product,
    dot=product,
    inner=product,
    vdot=product,
    outer=product,
    kron=product,
    tensordot=lambda g: (product(g)[0], g.some(axes=[0, 1, ([0], [0])])),
    vecdot=product,
    matvec=product,
    vecmat=product,
    einsum=lambda g: (
        [
            g.one(["ij,jk->ik", "ij,jk", "ij,jk->k"]),
            g.array(shape=(2, 3), odd=0),
            g.array(shape=(3, 4), odd=0),
        ],
        g.some(dtype=["float64"], order=["F"], optimize=[False]),
    ),
    cross=lambda g: (
        [g.array(shape=(2, 3), odd=0), g.array(shape=g.one([(3,), (2, 3)]), odd=0)],
        {},
    ),
    linalg__norm=lambda g: (
        lambda a: (
            [a],
            g.some(
                ord=[1, 2, np.inf, -np.inf, 0, "fro", "nuc", 3],
                axis=[0, -1, (0, 1)],
                keepdims=[True],
            ),
        )
    )(g.array(least=1, most=2, odd=0)),
    linalg__vector_norm=lambda g: (
        [g.array(least=1, odd=0)],
        g.some(ord=[1, 2, 3, np.inf], axis=[0, -1], keepdims=[True]),
    ),
    linalg__matrix_power=lambda g: (square()(g)[0] + [g.integer(-2, 4)], {}),
    linalg__inv=square(),
    linalg__det=square(),
    linalg__slogdet=square(),
    linalg__eigvalsh=square(),
    linalg__matrix_rank=square(),
    linalg__cond=square(),
    linalg__svdvals=square(),
    linalg__pinv=square(),
    linalg__solve=lambda g: (
        (
            lambda a: [
                a,
                g.array(("float64", "float32"), a.shape[:-1] if a.ndim == 2 else a.shape, odd=0),
            ]
        )(square()(g)[0][0]),
        {},
    ),
    linalg__lstsq=lambda g: (
        [g.array(("float64",), (4, 2), odd=0), g.array(("float64",), (4,), odd=0)],
        {},
    ),
    linalg__cholesky=lambda g: ([np.eye(3) * g.integer(1, 4)], g.some(upper=[True])),
    linalg__multi_dot=lambda g: (
        [
            [
                g.array(FLOATS, (2, 3), odd=0),
                g.array(FLOATS, (3, 4), odd=0),
                g.array(FLOATS, (4,), odd=0),
            ]
        ],
        {},
    ),
)
_ROWS = {"n": [None, 2, 7], "axis": [0, -1], "norm": ["ortho", "forward", None]}
family(
    "fft",
    **{
        f"fft__{name}": lambda g: ([g.array(least=1, odd=0)], g.some(**_ROWS))
        for name in ("fft", "ifft", "irfft", "hfft")
    },
)
family(
    "fft",
    **{
        f"fft__{name}": lambda g: ([g.array(REAL, least=1, odd=0)], g.some(**_ROWS))
        for name in ("rfft", "ihfft")
    },
)
family(
    "fft",
    **{
        f"fft__{name}": lambda g: (
            [g.array(REAL, least=2, odd=0)],
            g.some(s=[(2, 3), None], axes=[(0, 1)], norm=["ortho"]),
        )
        for name in ("fft2", "fftn", "rfft2", "rfftn", "ifftn", "irfftn")
    },
)
family(
    "fft",
    fft__fftshift=with_axis(least=1),
    fft__ifftshift=with_axis(least=1),
    fft__fftfreq=lambda g: ([g.integer(1, 6)], g.some(d=[0.5])),
    fft__rfftfreq=lambda g: ([g.integer(1, 6)], g.some(d=[0.5])),
)


def coefficients(g: Draw, kinds: Any = ("int64", "float64", "float32", "complex128")) -> Any:
    return g.one([g.array(kinds, (g.integer(1, 4),), odd=0, span=4), [1, 2.5, 0], [0, 0, 3, 1]])


def two_polynomials(g: Draw) -> Call:
    return [coefficients(g), coefficients(g)], {}


family(
    "polynomials",
    polyval=lambda g: ([coefficients(g), g.one([2, 1.5, g.array(REAL, odd=0, span=3)])], {}),
    polyadd=two_polynomials,
    polysub=two_polynomials,
    polymul=two_polynomials,
    polydiv=two_polynomials,
    polyder=lambda g: ([coefficients(g)], g.some(m=[0, 1, 2])),
    polyint=lambda g: ([coefficients(g)], g.some(m=[0, 1, 2], k=[0, 3, [1, 2]])),
    roots=lambda g: ([coefficients(g, ("float64", "int64"))], {}),
    poly=lambda g: ([g.array(("float64",), (g.integer(0, 3),), odd=0)], {}),
    polyfit=lambda g: (
        [np.arange(6.0), g.array(("float64", "float32"), (6,), odd=0), g.integer(0, 3)],
        g.some(full=[True], cov=[True, "unscaled"], w=[np.arange(1.0, 7)], rcond=[1e-9]),
    ),
)


def total(row: Any) -> Any:
    return row.sum()


def doubled(row: Any) -> Any:
    return row * 2


def half_of(x: Any, y: Any = 2) -> Any:
    return (x + y) / 2


family(
    "functional",
    apply_along_axis=lambda g: (
        [g.one([total, doubled]), g.one([0, -1]), g.array(REAL, (2, 3), odd=0)],
        {},
    ),
    apply_over_axes=lambda g: ([np.sum, g.array(REAL, (2, 3), odd=0), g.one([0, [0, 1]])], {}),
    piecewise=lambda g: (
        (lambda x: [x, [x < 0, x >= 0], g.one([[-1, 1], [np.negative, np.square]])])(
            g.array(FLOATS, (5,), odd=0)
        ),
        {},
    ),
    fromfunction=lambda g: ([half_of, (3, 2)], g.some(dtype=["float32", int])),
)

_LOGIC_KINDS = COMPLEX + FLOATS + BOOLS
family(
    "types",
    result_type=lambda g: ([g.array(), g.one(["float32", 3, g.array()])], {}),
    can_cast=lambda g: ([g.one(ALL), g.one(ALL)], g.some(casting=["same_kind"])),
    min_scalar_type=lambda g: ([g.one([3, 300, -1, 2.5])], {}),
    common_type=lambda g: ([g.array(INTEGERS + FLOATS)], {}),
    ndim=unary(),
    shape=unary(),
    size=unary(),
    isfortran=unary(),
    array_repr=unary(_LOGIC_KINDS),
    array_str=unary(_LOGIC_KINDS),
)
