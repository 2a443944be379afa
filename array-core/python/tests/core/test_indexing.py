"""Tests arrays, lists and bools as indices: NumPy's results, NumPy's errors, no round trips."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from operator import getitem
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore._runtime import session

Array = np.ndarray[Any, Any]
ALL = slice(None)
ON_DEVICE = session.bridge.device_text() != ""


def base(dtype: Any = "float32") -> Array:
    return np.arange(4 * 5 * 6).reshape(4, 5, 6).astype(dtype)


def brought(key: Any) -> Any:
    """Return a key in which arraycore's arrays replace NumPy's."""
    if isinstance(key, tuple):
        return tuple(brought(item) for item in key)
    return ac.array(key) if isinstance(key, np.ndarray) else key


FOUR, FIVE = np.array([True, False, True, True]), np.array([0, 1, 0, 1, 1], bool)
KEYS: list[Any] = [
    [0, 2], [], [[0], [3]], np.array([1, -1, 1]), np.array([[0, 2], [-4, 3]], np.int8),
    np.array([], np.int32), np.array([], bool), (ALL, np.array([], bool)), np.array(2),
    np.array([3, 0], np.uint64), [True, False, True, True],
    (ALL, [0, -1]), (..., [5, 0]), ([0, 1], [1, 2]), ([[0], [1]], [1, 2]), ([0, 1], ALL, [1, 2]),
    (ALL, [0, 1], [1, 2]), (0, ALL, [1, 2]), (ALL, 0, [1, 2]), (ALL, 0, ..., [1, 2]),
    (None, [0, 1]), ([0, 1], None, [1, 2]), (slice(None, None, -2), [1, 1], slice(1, 4)),
    FOUR, (FOUR, ALL, [0]), (ALL, FIVE), (FOUR, 0), (slice(0, 3), FIVE, None), (0, FIVE, [1, 2, 3]),
    np.arange(120).reshape(4, 5, 6) % 3 == 0, np.arange(20).reshape(4, 5) > 7,
    (..., np.arange(30).reshape(5, 6) % 2 == 0), np.zeros(4, bool), True, False, np.True_,
    (True, [0, 1]), (ALL, True, None), (np.array([1, 2]), np.array(True)), (np.array(1), ALL, 2),
    (np.uint8(1), [2, 3]), ([0, 1, 2], FIVE),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("bring", [False, True], ids=["host", "device"])
def test_a_key_reads_what_numpys_reads(key: Any, bring: bool) -> None:
    for source in (base(), base("int16").transpose(0, 2, 1).copy().transpose(0, 2, 1)):
        expected = source[key]
        made = ac.array(source)[brought(key) if bring else key]
        assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_array_equal(made.get(), expected)


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("bring", [False, True], ids=["host", "device"])
def test_a_key_writes_where_numpys_does(key: Any, bring: bool) -> None:
    picked = base()[key]
    rows = np.arange(picked.size).reshape(picked.shape) - 7
    values: list[Any] = [7, -2.5, rows, ac.array(rows), ac.array(rows.astype(np.float32))]
    values += [ac.array(np.arange(6)) if picked.shape[-1:] == (6,) else 3]
    for value in values:
        expected, written = base(), ac.array(base())
        expected[key] = value.get() if isinstance(value, ac.ndarray) else value
        written[brought(key) if bring else key] = value
        np.testing.assert_array_equal(written.get(), expected)
    expected, written = base(), ac.array(base())
    expected[key] += 2
    written[brought(key) if bring else key] += 2
    np.testing.assert_array_equal(written.get(), expected)


def random_key(rng: random.Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
    common = rng.choice([(3,), (2, 3), (1, 3), (), (3, 1)])
    items: list[Any] = []
    axis = 0
    while axis < len(shape):
        extent, r = shape[axis], rng.random()
        if r < 0.25:
            items.append(slice(rng.randint(-extent, extent), None, rng.choice([1, -1, 2])))
        elif r < 0.35:
            items.append(rng.randrange(-extent, extent))
        elif r < 0.45:
            items.append(None)
            continue
        elif r < 0.85:
            kept = rng.choice([common, common[-1:], ()])
            values = [rng.randrange(-extent, extent) for _ in range(int(np.prod(kept)))]
            items.append(np.array(values, rng.choice(["i1", "i2", "i4", "i8"])).reshape(kept))
        else:
            axes = rng.randint(1, min(2, len(shape) - axis))
            part = shape[axis : axis + axes]
            mask = [rng.random() < 0.5 for _ in range(int(np.prod(part)))]
            items.append(np.array(mask, bool).reshape(part))
            axis += axes - 1
        axis += 1
    return tuple(items)


def outcome(do: Callable[[], Any]) -> Any:
    try:
        return do()
    except (IndexError, ValueError, TypeError) as error:
        return error


def test_random_keys_read_and_write_as_numpys(share: int) -> None:
    rng = random.Random(7)
    compared = 0
    # A device compiles a kernel for almost every key, and a software device is slow at it. The
    # benchmark of view programs tests thousands of keys.
    keys = 300 if ac.device_info().name == "cpu" else 40 // share
    for _ in range(keys):
        shape = tuple(rng.randint(1, 4) for _ in range(rng.randint(1, 4)))
        source = np.arange(np.prod(shape)).reshape(shape).astype(rng.choice(["f4", "i1", "F"]))
        key = random_key(rng, shape)
        expected = outcome(partial(getitem, source, key))
        made = outcome(partial(getitem, ac.array(source), brought(key)))
        if isinstance(expected, Exception):
            assert (type(made), str(made)) == (type(expected), str(expected)), (shape, key)
            continue
        assert made.shape == expected.shape, (shape, key)
        np.testing.assert_array_equal(made.get(), expected)
        for value in (rng.randint(0, 9), -np.arange(expected.size).reshape(expected.shape)):
            right, written = source.copy(), ac.array(source)
            right[key] = value
            written[brought(key)] = ac.array(value) if isinstance(value, np.ndarray) else value
            np.testing.assert_array_equal(written.get(), right)
        compared += 1
    assert compared > keys // 2


ONES = np.ones
MISTAKES: list[Callable[[Any, Callable[[Any], Any]], Any]] = [
    lambda a, x: a[[9]],
    lambda a, x: a[:, [0, 9]],
    lambda a, x: a[..., [-7]],
    lambda a, x: a[[0, 1], [0, 1, 2]],
    lambda a, x: a[x([0, 1]), x([0, 1, 2])],
    lambda a, x: a[[0], [0], [0], [0]],
    lambda a, x: a[x([0]), x([0]), x([0]), x([0])],
    lambda a, x: a[[0], ..., ...],
    lambda a, x: a[..., ..., [0]],
    lambda a, x: a[9, [0]],
    lambda a, x: a[ONES(3, bool)],
    lambda a, x: a[x(ONES(3, bool))],
    lambda a, x: a[:, x(ONES((5, 5), bool))],
    lambda a, x: a[x(ONES((4, 5), bool)), [0, 1]],
    lambda a, x: a[x(ONES((4, 5, 6, 1), bool))],
    lambda a, x: a[[1.5]],
    lambda a, x: a[np.ones(2)],
    lambda a, x: a[x(np.ones(2))],
    lambda a, x: a[["x"]],
    lambda a, x: a[[None]],
    lambda a, x: a["x"],
    lambda a, x: a[1.0],
    lambda a, x: a.__setitem__([0, 1], x(np.zeros((3, 5, 6)))),
    lambda a, x: a.__setitem__(x(ONES(4, bool)), x(np.zeros((4, 4, 6)))),
    lambda a, x: a.__setitem__((ALL, ONES(5, bool)), x(np.zeros((3, 6)))),
    lambda a, x: a.__setitem__(x(ONES((4, 5, 6), bool)), x(np.zeros((2, 3)))),
    lambda a, x: a.__setitem__(ONES((4, 5, 6), bool), x(np.zeros(7))),
    lambda a, x: a.__setitem__([0, 9], 1),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_as_by_numpy(
    mistake: Callable[[Any, Callable[[Any], Any]], Any],
) -> None:
    with pytest.raises((IndexError, ValueError, TypeError)) as expected:
        mistake(base(), np.array)
    source = ac.array(base())
    with pytest.raises(expected.type) as raised:
        mistake(source, ac.array)
    assert str(raised.value) == str(expected.value)
    np.testing.assert_array_equal(source.get(), base())


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_indices_out_of_bounds_raise_on_the_cpu_and_wrap_on_a_device(dtype: str) -> None:
    a = ac.array(base())
    top = int(np.iinfo(dtype).max)
    values = [1, top, 5] if dtype[0] == "u" else [1, top, -7]
    indices = ac.array(np.array(values, dtype))
    if ON_DEVICE:
        wrapped = [value % 4 for value in values]
        np.testing.assert_array_equal(a[indices].get(), base()[wrapped])
        a[indices] = 0
        expected = base()
        expected[wrapped] = 0
        np.testing.assert_array_equal(a.get(), expected)
        return
    message = f"index {top} is out of bounds for axis 0 with size 4"
    with pytest.raises(IndexError, match=message) as info:
        a[indices]
    assert info.value.code == "index_out_of_bounds"  # type: ignore[attr-defined]
    with pytest.raises(IndexError, match=message):
        a[indices] = 0
    np.testing.assert_array_equal(a.get(), base())


@pytest.mark.parametrize("shape", [(1, 3, 0, 2, 1), (0, 1), (4, 0, 1), (3, 1)], ids=str)
@pytest.mark.parametrize("index", [[1, 0], [-2], np.array([0, 1], np.int8), 1, np.uint8(7)])
def test_indices_of_the_host_are_looked_at_where_there_are_no_elements(
    shape: tuple[int, ...], index: Any
) -> None:
    expected, a = np.zeros(shape, np.uint8), ac.zeros(shape, "uint8")
    for key in ((ALL, None, ..., index), (..., index)):
        messages = []
        for array in (expected, a):
            with pytest.raises(IndexError, match="out of bounds for axis") as info:
                array[key] += 67
            messages.append(str(info.value))
            with pytest.raises(IndexError, match="out of bounds for axis"):
                array[key] = 1
        assert messages[0] == messages[1]
    with pytest.raises(IndexError, match="out of bounds"):
        ac.add.at(a, (..., index), 1)


def test_of_several_values_for_an_element_the_last_stays() -> None:
    rng = np.random.default_rng(3)
    for dtype in ("int8", "uint16", "float16", "float32", "int64", "complex64", "float64"):
        indices = rng.integers(-50, 50, 3_000)
        values = rng.integers(0, 100, (3_000, 2)).astype(dtype)
        expected, written = np.zeros((50, 2), dtype), ac.zeros((50, 2), dtype)
        expected[indices] = values
        written[ac.array(indices)] = ac.array(values)
        np.testing.assert_array_equal(written.get(), expected)


def test_an_assignment_reads_all_before_it_writes() -> None:
    expected, written = np.arange(10), ac.arange(10)
    order = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    expected[order] = expected[1:9].copy()
    written[ac.array(order)] = written[1:9]
    np.testing.assert_array_equal(written.get(), expected)
    # The array of indices is itself overwritten.
    expected, written = np.arange(6)[::-1].copy(), ac.array(np.arange(6)[::-1].copy())
    expected[expected.copy()] = np.arange(6) * 10
    written[written] = ac.array(np.arange(6) * 10)
    np.testing.assert_array_equal(written.get(), expected)


def test_a_mask_that_is_written_through_itself() -> None:
    expected, written = np.array([True, False, True]), ac.array(np.array([True, False, True]))
    expected[expected.copy()] = False
    written[written] = False
    np.testing.assert_array_equal(written.get(), expected)


def test_a_broadcast_view_is_read_by_a_key_and_not_written() -> None:
    wide = ac.broadcast_to(ac.arange(3), (4, 3))
    np.testing.assert_array_equal(wide[[0, 3], 1:].get(), [[1, 2], [1, 2]])
    for key in ([0, 1], ac.array([True, False, True, False])):
        with pytest.raises(ValueError, match="read-only") as info:
            wide[key] = 1
        assert info.value.code == "read_only"  # type: ignore[attr-defined]


def test_bits_stay_bits() -> None:
    patterns = np.array([0x7F800001, 0xFFC12345, 0x00000001, 0x80000000], np.uint32)
    source = ac.array(patterns).view("float32")
    picked = source[ac.array([3, 2, 1, 0])]
    np.testing.assert_array_equal(picked.view("uint32").get(), patterns[::-1])
    target = ac.zeros(4, "float32")
    target[ac.array([0, 1, 2, 3])] = source
    target[ac.array([True, False, True, False])] = source[ac.array([0, 2])]
    expected = patterns.copy()
    expected[[0, 2]] = patterns[[0, 2]]
    np.testing.assert_array_equal(target.view("uint32").get(), expected)


def test_views_of_other_bytes_are_indexed_too() -> None:
    raw = np.arange(41, dtype=np.uint8)
    odd = ac.array(raw)[1:].view("uint32")
    np.testing.assert_array_equal(odd[ac.array([0, -1, 4])].get(), raw[1:].view("u4")[[0, -1, 4]])
    odd[ac.array([2, 2])] = 7
    expected = raw.copy()
    expected[1:].view("u4")[2] = 7
    np.testing.assert_array_equal(odd.get(), expected[1:].view("u4"))


def test_what_is_read_are_sizes_of_masks_alone() -> None:
    a = ac.array(base())
    indices = ac.array(np.array([0, 2, 2]))
    mask = ac.array(base()[0] > 7)
    rows = ac.ones((3, 5, 6), "float32")
    size = 4 if ON_DEVICE else 0

    def down(do: Callable[[], Any]) -> tuple[int, int]:
        before = ac.counters()
        do()
        after = ac.counters()
        return after["bytes_down"] - before["bytes_down"], after["cpu_ops"] - before["cpu_ops"]

    assert down(lambda: a[indices]) == (0, 0)
    assert down(lambda: a[indices, :, [0, 1, 2]]) == (0, 0)
    assert down(lambda: a.__setitem__(indices, rows)) == (0, 0)
    assert down(lambda: a.__setitem__(indices, 1)) == (0, 0)
    assert down(lambda: a.__setitem__((0, mask), 1)) == (0, 0)
    count = int((base()[0] > 7).sum())
    assert down(lambda: a.__setitem__((0, mask), ac.ones(count, "float32"))) == (0, 0)
    assert down(lambda: a[0, mask]) == (size, 0)
    assert down(lambda: a[:, (base()[0] > 7)]) == (0, 0)
    assert down(lambda: ac.nonzero(mask)) == (size, 0)
    assert down(lambda: ac.where(mask, 1, 2)) == (0, 0)
    assert down(lambda: ac.scatter_add(a, indices, rows)) == (0, 0)


def test_long_masks_count_every_block() -> None:
    rng = np.random.default_rng(0)
    for count in (63, 64, 65, 4_096, 70_001):
        for share in (0.0, 0.01, 0.5, 1.0):
            mask = rng.random(count) < share
            np.testing.assert_array_equal(ac.flatnonzero(ac.array(mask)).get(), mask.nonzero()[0])
            values = np.arange(mask.sum(), dtype=np.float32)
            expected, written = np.zeros(count, np.float32), ac.zeros(count, "float32")
            expected[mask] = values
            written[ac.array(mask)] = ac.array(values)
            np.testing.assert_array_equal(written.get(), expected)


def test_a_key_is_one_crossing() -> None:
    a, indices = ac.array(base()), ac.array([0, 1])
    a[indices]
    before = ac.counters()["crossings"]
    made = a[indices]
    a[indices] = made
    # The key needs the array's shape, which the array has cached, so no further call is made.
    assert ac.counters()["crossings"] - before == 2
