"""The points of random and Sobol studies, the same as the server's, bit by bit.

    random_point({"rate": uniform(1e-4, 0.1, log=True)}, 17, seed=7)

A point is a function of the seed and the trial's number alone. As server/src/protocol/sampling.cc
does, this module adds, subtracts, multiplies and divides as IEEE 754 defines it, and uses neither
``math.log`` nor ``math.exp``, which differ between systems. It is pure; any thread may use it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hyperflock._base.param_values import from_wire
from hyperflock._model.sobol_table import SOBOL_DIMENSIONS
from hyperflock._model.space import dimensions_of, range_count
from hyperflock._transport.messages import MAX_DIMENSIONS, Dimension, StudyKind, ValueRange

# The number of binary digits of a coordinate, which is the precision of a double.
UNIT_BITS = 53

_MASK64 = 2**64 - 1
_GAMMA = 0x9E3779B97F4A7C15
# Each kind of draw has a key of its own, so that its numbers are independent of a trial's seed.
_RANDOM_KEY = 1
_SOBOL_KEY = 2
_UNIT = 2.0**-UNIT_BITS
# ln 2 in two parts. The first has trailing zeros, so its product with a small integer is exact.
_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")


def random_point(space: Mapping[str, Any], number: int, seed: int = 0) -> dict[str, Any]:
    """Return the parameters of trial ``number`` of `Client.random` with this space and seed.

    The coordinates are outputs of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
    number generators", 2014), numbered by trial and parameter.

    Raises
    ------
    InvalidSpaceError, EmptySpaceError
        The space is wrong.
    IndexError
        ``number`` is negative.
    """
    return _decoded_point("random", space, number, seed)


def sobol_point(space: Mapping[str, Any], number: int, seed: int = 0) -> dict[str, Any]:
    """Return the parameters of trial ``number`` of `Client.sobol` with this space and seed.

    The points are those of Sobol's sequence with the direction numbers of Joe and Kuo (2008),
    scrambled as Owen describes ("Randomly permuted (t,m,s)-nets and (t,s)-sequences", 1995). Errors
    are those of `random_point`.
    """
    return _decoded_point("sobol", space, number, seed)


def _decoded_point(
    kind: StudyKind, space: Mapping[str, Any], number: int, seed: int
) -> dict[str, Any]:
    dimensions = dimensions_of(space, kind)
    if number < 0:
        raise IndexError(f"there is no point with number {number}")
    drawn = sampled_point(kind, seed, dimensions, number)
    return {name: from_wire(value) for name, value in drawn.items()}


def sampled_point(
    kind: StudyKind, seed: int, dimensions: Sequence[Dimension], number: int
) -> dict[str, Any]:
    """Return the parameters of a trial of a checked space, in the form in which they are sent."""
    unit_of = sobol_unit if kind == "sobol" else random_unit
    point = {}
    for index, dimension in enumerate(dimensions):
        unit = unit_of(seed, number, index)
        if isinstance(dimension.range, ValueRange):
            point[dimension.name] = in_range(dimension.range, unit)
        else:
            values = dimension.values
            point[dimension.name] = values[_index(unit, len(values))]
    return point


def random_unit(seed: int, number: int, dimension: int) -> float:
    """Return coordinate ``dimension`` of random point ``number``, from 0 to less than 1."""
    key = _split_mix(seed, _RANDOM_KEY)
    return (_split_mix(key, number * MAX_DIMENSIONS + dimension) >> (64 - UNIT_BITS)) * _UNIT


def sobol_bits(number: int, dimension: int) -> int:
    """Return a coordinate of a point of Sobol's sequence as a whole number below 2^53.

    The points are in the order of the Gray code, as those of ``scipy.stats.qmc.Sobol``.
    """
    gray = number ^ (number >> 1)
    bits = 0
    for index in range(gray.bit_length()):
        if gray >> index & 1:
            bits ^= _directions(dimension)[index]
    return bits


def sobol_unit(seed: int, number: int, dimension: int) -> float:
    """Scramble the coordinate that `sobol_bits` returns by the seed; return it in [0, 1)."""
    bits = sobol_bits(number, dimension)
    key = _split_mix(_split_mix(seed, _SOBOL_KEY), dimension)
    # Each digit is flipped by a random bit that depends on the digits before it. `node` is those
    # earlier digits with a 1 in front, so each sequence of digits has its own number.
    node, scrambled = 1, 0
    for index in reversed(range(UNIT_BITS)):
        digit = bits >> index & 1
        scrambled = scrambled << 1 | (digit ^ _split_mix(key, node) >> 63)
        node = node << 1 | digit
    return scrambled * _UNIT


def in_range(numbers: ValueRange, unit: float) -> float | int:
    """Return the number at position ``unit`` of a checked range, where 0 <= unit < 1."""
    low, high = numbers.low, numbers.high
    step = numbers.step if isinstance(numbers.step, float) else 1.0
    count = range_count(numbers)
    if numbers.integer and numbers.log:
        # Each whole number gets the part of the logarithmic scale that rounds to it, as in Optuna.
        value = float(math.floor(_log_uniform(low - 0.5, high + 0.5, unit) + 0.5))
        return int(_between(low, high, value))
    if numbers.integer:
        return int(low) + _index(unit, count) * int(step)
    if numbers.log:
        return _between(low, high, _log_uniform(low, high, unit))
    if count:
        index = _index(unit, count)
        return high if index == count - 1 else _between(low, high, low + index * step)
    return _between(low, high, low + unit * (high - low))


def portable_log(x: float) -> float:
    """Return the natural logarithm of a positive number, with an error of a few units in the last
    place.
    """
    m, exponent = math.frexp(x)  # 0.5 <= m < 1
    if m < 0.7071067811865476:
        m = m * 2
        exponent -= 1
    # ln m = 2 artanh(s), as a series in z = s^2, which is at most 0.0295.
    s = (m - 1) / (m + 1)
    z = s * s
    total = 0.0
    for k in range(25, 0, -2):
        total = total * z + 1.0 / k
    return exponent * _LN2_HIGH + (2 * s * total + exponent * _LN2_LOW)


def portable_exp(x: float) -> float:
    """Return e to the power of ``x``, with an error of a few units in the last place."""
    k = math.floor(x / (_LN2_HIGH + _LN2_LOW) + 0.5)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW  # at most 0.35
    total = 1.0
    for i in range(17, 0, -1):
        total = 1 + total * r / i
    # The multiplication has two steps, because 2**k alone may be too large for a double.
    return math.ldexp(total, k - 1) * 2


def _log_uniform(low: float, high: float, unit: float) -> float:
    start = portable_log(low)
    return portable_exp(start + unit * (portable_log(high) - start))


def _between(low: float, high: float, value: float) -> float:
    return min(high, max(low, value))


def _index(unit: float, count: int) -> int:
    """Return the index that a unit coordinate chooses from ``count`` equal parts."""
    return min(int(unit * float(count)), count - 1)


def _split_mix(key: int, counter: int) -> int:
    """Return output ``counter`` of SplitMix64 with the state ``key``."""
    z = (key + _GAMMA * (counter + 1)) & _MASK64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
    return z ^ (z >> 31)


@cache
def _directions(dimension: int) -> tuple[int, ...]:
    """Return the direction number of each bit of the Gray code.

    The recurrence is that of Bratley and Fox, "Algorithm 659" (1988).
    """
    units = [1 << (UNIT_BITS - 1 - i) for i in range(UNIT_BITS)]
    if dimension == 0:
        return tuple(units)
    polynomial, initial = SOBOL_DIMENSIONS[dimension - 1]
    degree = polynomial.bit_length() - 1
    v = [m * unit for m, unit in zip(initial, units, strict=False)]
    for i in range(degree, UNIT_BITS):
        value = v[i - degree] ^ (v[i - degree] >> degree)
        for k in range(1, degree):
            if polynomial >> (degree - k) & 1:
                value ^= v[i - k]
        v.append(value)
    return tuple(v)
