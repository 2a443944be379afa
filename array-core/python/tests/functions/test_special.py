"""Tests the functions of scipy.special against values that SciPy 1.17 gave."""

from __future__ import annotations

import arraycore as ac
import numpy as np
import pytest

INF, NAN = float("inf"), float("nan")
#: The operands of each function, and its values.
VALUES: dict[str, tuple[list[float], ...]] = {
    "expit": (
        [-800, -3.5, 0, 2, 90],
        [0, 0.0293122307513563, 0.5, 0.880797077977882, 1],
    ),
    "logit": (
        [0, 0.2, 0.5, 0.55, 1],
        [-INF, -1.38629436111989, 0, 0.200670695462151, INF],
    ),
    "log_expit": (
        [-800, -3.5, 0, 2, 90],
        [-800, -3.52975041827262, -0.693147180559945, -0.126928011042972, -8.19401262399051e-40],
    ),
    "softplus": (
        [-800, -3.5, 0, 2, 90],
        [0, 0.0297504182726206, 0.693147180559945, 2.12692801104297, 90],
    ),
    "xlogy": (
        [0, 0, 2, 3, 1],
        [0, 5, 3, 0.5, 0],
        [0, 0, 2.19722457733622, -2.07944154167984, -INF],
    ),
    "xlog1py": (
        [0, 0, 2, 3, 1],
        [-1, 5, 3, 0.5, 1e-07],
        [0, 0, 2.77258872223978, 1.21639532432449, 9.99999950000003e-08],
    ),
    "entr": (
        [-1, 0, 0.5, 1, 3],
        [-INF, 0, 0.346573590279973, 0, -3.29583686600433],
    ),
    "rel_entr": (
        [0, 0, 2, 1, 1],
        [0, 1, 0.5, 0, -1],
        [0, 0, 2.77258872223978, INF, INF],
    ),
    "kl_div": (
        [0, 0, 2, 1, 1],
        [0, 1, 0.5, 0, -1],
        [0, 1, 1.27258872223978, INF, INF],
    ),
    "huber": (
        [1, 1, 2, -1, 0],
        [0.5, -3, 2, 1, 0],
        [0.125, 2.5, 2, INF, 0],
    ),
    "pseudo_huber": (
        [1, 1, 2, -1, 0],
        [0.5, -3, 2, 1, 3],
        [0.118033988749895, 2.16227766016838, 1.65685424949238, INF, 0],
    ),
    "exp10": (
        [-3, -0.5, 0, 1, 2],
        [0.001, 0.316227766016838, 1, 10, 100],
    ),
    "cosm1": (
        [0, 0.0001, 0.5, 3, -6],
        [0, -4.99999999583333e-09, -0.122417438109627, -1.98999249660045, -0.039829713349634],
    ),
    "boxcox": (
        [0.5, 1, 2, 4, 3],
        [0, 2, -1, 0.5, 1],
        [-0.693147180559945, 0, 0.5, 2, 2],
    ),
    "boxcox1p": (
        [-0.5, 1, 2, 1e-06, 3],
        [0, 2, -1, 0.5, 1],
        [-0.693147180559945, 1.5, 0.666666666666667, 9.99999750000125e-07, 3],
    ),
    "inv_boxcox": (
        [0.5, 1, 0.25, 4, 3],
        [0, 2, -1, 0.5, 1],
        [1.64872127070013, 1.73205080756888, 1.33333333333333, 9.0, 4],
    ),
    "inv_boxcox1p": (
        [-0.5, 1, 0.25, 1e-06, 3],
        [0, 2, -1, 0.5, 1],
        [-0.393469340287367, 0.732050807568877, 0.333333333333333, 1.00000025e-06, 3],
    ),
    "sindg": (
        [0, 30, 180, -90, 765],
        [0, 0.5, 0, -1, 0.707106781186548],
    ),
    "cosdg": (
        [0, 60, 90, -180, 765],
        [1, 0.5, 0, -1, 0.707106781186547],
    ),
    "tandg": (
        [0, 45, 135, -60, 720],
        [0, 1, -1, -1.73205080756888, 0],
    ),
    "cotdg": (
        [45, 90, 135, -60, 30],
        [1, 0, -1, -0.577350269189626, 1.73205080756888],
    ),
    "radian": (
        [10, 0, 90, 1, 5],
        [30, 0, 0, 2, 6],
        [0, 36, 0, 3, 7],
        [
            0.183259571459405,
            0.000174532925199433,
            1.5707963267949,
            0.018049613347708,
            0.0890457288093885,
        ],
    ),
    "gammainc": (
        [0.5, 1, 5, 50, 0],
        [0.5, 0, 9, 45, 1],
        [0.682689492137086, 0, 0.945036358504895, 0.24680203440017, 1],
    ),
    "gammaincc": (
        [0.5, 1, 5, 50, 0],
        [0.5, 0, 9, 45, 1],
        [0.317310507862911, 1, 0.054963641495105, 0.75319796559983, 0],
    ),
    "chdtr": (
        [1, 2, 5, 10, 3],
        [0.5, 0, 9, 12, 1],
        [0.520499877813047, 0, 0.890935842050227, 0.714943499683369, 0.198748043098799],
    ),
    "chdtrc": (
        [1, 2, 5, 10, 3],
        [0.5, 0, 9, 12, 1],
        [0.479500122186953, 1, 0.109064157949773, 0.285056500316631, 0.801251956901201],
    ),
    "gdtr": (
        [1, 2, 0.5, 1, 3],
        [0.5, 3, 9, 12, 1],
        [1, 2, 9, 3, 0],
        [0.842700792949715, 0.761896694446456, 0.0402573124820377, 7.13866289742066e-05, 0],
    ),
    "gdtrc": (
        [1, 2, 0.5, 1, 3],
        [0.5, 3, 9, 12, 1],
        [1, 2, 9, 3, 0],
        [0.157299207050281, 0.238103305553544, 0.959742687517962, 0.999928613371026, 1],
    ),
    "pdtr": (
        [0, 1, 5, 9, 2],
        [0.5, 3, 9, 2, 0],
        [0.606530659712633, 0.199148273471456, 0.115690520841058, 0.999953501924983, 1],
    ),
    "pdtrc": (
        [0, 1, 5, 9, 2],
        [0.5, 3, 9, 2, 1],
        [
            0.393469340287367,
            0.800851726528544,
            0.884309479158942,
            4.64980750172639e-05,
            0.0803013970713942,
        ],
    ),
    "betainc": (
        [0.5, 2, 5, 1, 3],
        [0.5, 3, 1, 9, 4],
        [0.25, 0.5, 0.9, 0.1, 1],
        [0.333333333333333, 0.6875, 0.59049, 0.612579511, 1],
    ),
    "betaincc": (
        [0.5, 2, 5, 1, 3],
        [0.5, 3, 1, 9, 4],
        [0.25, 0.5, 0.9, 0.1, 1],
        [0.666666666666667, 0.3125, 0.40951, 0.387420489, 0],
    ),
    "fdtr": (
        [1, 2, 5, 9, 3],
        [5, 3, 10, 9, 4],
        [0.25, 0.5, 3, 1, 2],
        [0.361701128359071, 0.350480947161671, 0.934442437906156, 0.5, 0.743612802471824],
    ),
    "fdtrc": (
        [1, 2, 5, 9, 3],
        [5, 3, 10, 9, 4],
        [0.25, 0.5, 3, 1, 2],
        [0.638298871640929, 0.649519052838329, 0.0655575620938441, 0.5, 0.256387197528176],
    ),
    "bdtr": (
        [0, 1, 5, 9, 10],
        [10, 10, 10, 10, 10],
        [0.25, 0.5, 0.5, 0.9, 0.3],
        [0.0563135147094727, 0.0107421875, 0.623046875, 0.6513215599, 1],
    ),
    "bdtrc": (
        [0, 1, 5, 9, 10],
        [10, 10, 10, 10, 10],
        [0.25, 0.5, 0.5, 0.9, 0.3],
        [0.943686485290527, 0.9892578125, 0.376953125, 0.3486784401, 0],
    ),
    "nbdtr": (
        [0, 1, 5, 9, 10],
        [3, 1, 7, 5, 10],
        [0.25, 0.5, 0.5, 0.9, 0.3],
        [0.015625, 0.75, 0.38720703125, 0.99999993159585, 0.0479618973313434],
    ),
    "nbdtrc": (
        [0, 1, 5, 9, 10],
        [3, 1, 7, 5, 10],
        [0.25, 0.5, 0.5, 0.9, 0.3],
        [0.984375, 0.25, 0.61279296875, 6.84041499999999e-08, 0.952038102668657],
    ),
    "gammasgn": (
        [2, -0.5, -1.5, 0.5, -2.5],
        [1, -1, 1, 1, -1],
    ),
    "rgamma": (
        [1, -2, 0.5, 5, -0.5],
        [1, 0, 0.564189583547756, 0.0416666666666667, -0.282094791773878],
    ),
    "exp1": (
        [0, 0.1, 1, 3, 30],
        [INF, 1.82292395841939, 0.219383934395521, 0.013048381094197, 3.02155201068881e-15],
    ),
    "expi": (
        [-3, 0, 0.1, 5, 50],
        [-0.013048381094197, -INF, -1.62281281396928, 40.1852753558032, 1.05856368971317e20],
    ),
    "expn": (
        [0, 1, 2, 3, 4],
        [0.5, 0.25, 1, 0, 5],
        [1.21306131942527, 1.04428263444374, 0.148495506775922, 0.5, 0.000782980845077425],
    ),
    "i0e": (
        [0, 1, -5, 29, 60],
        [1, 0.46575960759364, 0.183540812609328, 0.0744074682222256, 0.0516115491736098],
    ),
    "i1e": (
        [0, 1, -5, 29, 60],
        [0, 0.207910415349708, -0.163972266944542, 0.0731131179393884, 0.0511796301890287],
    ),
    "i1": (
        [0, 1, -5, 10, 60],
        [0, 0.565159103992485, -24.3356421424505, 2670.98830370126, 5.84475158839047e24],
    ),
    "ellipk": (
        [-2, 0, 0.5, 0.99, 1],
        [1.17142008414677, 1.5707963267949, 1.85407467730137, 3.69563736298987, INF],
    ),
    "ellipkm1": (
        [1e-06, 0.5, 1, 2, 0],
        [8.29405146361544, 1.85407467730137, 1.5707963267949, 1.31102877714606, INF],
    ),
    "log_ndtr": (
        [-30, -1.5, 0, 2, 8],
        [
            -454.321243956343,
            -2.70594440082389,
            -0.693147180559945,
            -0.0230129093289635,
            -6.22096057427174e-16,
        ],
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(VALUES))
def test_values_are_scipys(name: str, dtype: str) -> None:
    *operands, expected = (np.array(each, float) for each in VALUES[name])
    made = getattr(ac.special, name)(*(ac.array(each.astype(dtype)) for each in operands))
    assert made.dtype == dtype
    # float32 holds no number below about 1e-38, and a difference near 0 keeps fewer digits.
    rtol, atol = (4e-5, 2e-7) if dtype == "float32" else (1e-11, 1e-300)
    np.testing.assert_allclose(made.get(), expected, rtol, atol)


def test_operands_broadcast_and_integers_are_computed_in_float64() -> None:
    made = ac.special.xlogy(ac.array([[1], [2]]), ac.array([1, 2, 3]))
    np.testing.assert_allclose(made.get(), np.array([[1], [2]]) * np.log([1, 2, 3]), 1e-15)
    assert ac.special.expit(3).dtype == "float64"
    assert ac.special.expit(ac.zeros(2, "float16")).dtype == "float32"
    assert ac.special.huber(1.0, ac.zeros(2, "float32")).dtype == "float32"
    assert ac.special.huber(np.float64(1), ac.zeros(2, "float32")).dtype == "float64"
    out = ac.zeros(2, "float32")
    assert ac.special.expit(ac.zeros(2), out=out) is out
    assert out.tolist() == [0.5, 0.5]
    with pytest.raises(TypeError, match="takes 2 operands"):
        ac.special.xlogy(1.0)
    with pytest.raises(TypeError, match="real numbers"):
        ac.special.expit(ac.zeros(2, "complex64"))


def test_sums_of_exponentials() -> None:
    x = np.array([[1000.0, 1001, 999, -np.inf], [-3, 0, 2, 5], [-np.inf] * 4])
    shifted = np.array([[0.0, 1, -1, -np.inf], [-3, 0, 2, 5]])
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(shifted).sum(1)) + np.array([1000, 0])
    ours = ac.special.logsumexp(ac.array(x), axis=1)
    np.testing.assert_allclose(ours.get(), [*sums, -np.inf], 1e-12)
    assert ac.special.logsumexp(ac.array(x), 1, keepdims=True).shape == (3, 1)
    np.testing.assert_allclose(float(ac.special.logsumexp(ac.array(x))), sums[0], 1e-12)
    value, sign = ac.special.logsumexp(
        ac.array([0.0, 1, 2]), b=ac.array([1.0, 0, -1]), return_sign=True
    )
    np.testing.assert_allclose(float(value), np.log(np.exp(2) - 1), 1e-12)
    assert float(sign) == -1
    assert np.isnan(float(ac.special.logsumexp(ac.array([0.0, 1]), b=ac.array([1.0, -1]))))
    shares = ac.special.softmax(ac.array(x[:2]), axis=1).get()
    np.testing.assert_allclose(
        shares, np.exp(shifted) / np.exp(shifted).sum(1, keepdims=True), 1e-12
    )
    logs = ac.special.log_softmax(ac.array(x[:2].astype("float32")), axis=1)
    assert logs.dtype == "float32"
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(logs.get(), np.log(shares), 1e-4, 1e-5)


def test_other_names_of_ufuncs() -> None:
    assert ac.special.round(ac.array([1.5])).tolist() == [2.0]


@pytest.mark.parametrize("name", ["gammainc", "gammaincc", "betainc", "betaincc"])
def test_outside_of_the_domain_is_nan(name: str) -> None:
    operands = [np.array([-1.0, 1, NAN]), np.array([1.0, -1, 1]), np.array([0.5, 0.5, 0.5])]
    count = getattr(ac.special, name).nin
    made = getattr(ac.special, name)(*map(ac.array, operands[:count])).get()
    assert np.isnan(made).all()


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("gammainc", (1e6, 1e6), 0.5001329807608725),
        ("gammaincc", (1e7, 1e7), 0.4999579477912763),
        ("betaincc", (50.0, 1e6, 1e-4), 1.1739022534890874e-08),
        ("fdtrc", (2.0, 4.0, 1e17), 4e-34),
        ("fdtrc", (3.0, 5.0, 2.0), 0.2326239180000786),
    ],
)
def test_large_parameters_and_tails(name: str, arguments: tuple[float, ...], value: float) -> None:
    found = getattr(ac.special, name)(*(ac.array(np.float64(each)) for each in arguments))
    np.testing.assert_allclose(found.get(), value, rtol=1e-9)


def test_a_sum_that_does_not_end_is_nan() -> None:
    assert np.isnan(ac.special.gammainc(ac.array(1e12), ac.array(1e12)).get())
