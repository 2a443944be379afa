"""Compares kernels over a grid with NumPy, and with the same kernels in plain Python."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np
import pytest
from arraycore import cuda

RNG = np.random.default_rng(5)
IMAGE = RNG.integers(0, 100, (9, 13)).astype("float32")
NUMBERS = RNG.integers(-50, 50, 300).astype("int32")


@ac.jit
def added(x, y, out):
    i = ac.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def increment(an_array):  # of Numba's documentation
    tx = cuda.threadIdx.x
    ty = cuda.blockIdx.x
    bw = cuda.blockDim.x
    pos = tx + ty * bw
    if pos < an_array.size:
        an_array[pos] += 1


@cuda.jit
def increment_2d(an_array):  # of Numba's documentation
    x, y = cuda.grid(2)
    if x < an_array.shape[0] and y < an_array.shape[1]:
        an_array[x, y] += 1


@cuda.jit
def matmul(A, B, C):  # of Numba's documentation
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        tmp = 0.0
        for k in range(A.shape[1]):
            tmp += A[i, k] * B[k, j]
        C[i, j] = tmp


@cuda.jit
def max_example(result, values):  # of Numba's documentation
    tid = cuda.threadIdx.x
    bid = cuda.blockIdx.x
    bdim = cuda.blockDim.x
    i = (bid * bdim) + tid
    cuda.atomic.max(result, 0, values[i])


@ac.jit
def histogram(x, counts, low):
    for k in range(ac.grid(1), x.size, ac.gridsize(1)):
        ac.atomic.add(counts, (x[k] - low) // 10, 1)


@ac.jit
def heat(u, out):
    x, y = ac.grid(2)
    h, w = u.shape
    if x >= w or y >= h:
        return
    if x == 0 or y == 0 or x == w - 1 or y == h - 1:
        out[y, x] = u[y, x]
        return
    out[y, x] = 0.25 * (u[y, x - 1] + u[y, x + 1] + u[y - 1, x] + u[y + 1, x])


@ac.jit
def life(board, out):
    x, y = ac.grid(2)
    h, w = board.shape[0], board.shape[1]
    if x < w and y < h:
        n = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dx != 0 or dy != 0:
                    n += board[(y + dy) % h, (x + dx) % w]
        out[y, x] = n == 3 or (board[y, x] == 1 and n == 2)


@cuda.jit
def median_filter(x, out):
    i = cuda.grid(1)
    if i >= x.size - 4:
        return
    window = cuda.local.array(5, np.float32)
    for k in range(5):
        window[k] = x[i + k]
    for a in range(1, 5):
        b = a
        while b > 0 and window[b - 1] > window[b]:
            window[b - 1], window[b] = window[b], window[b - 1]
            b -= 1
    out[i] = window[2]


@ac.jit
def from_the_end(x, out, k):
    i = ac.grid(1)
    out[-1 - i] = x[-1] + x[-i] + x[k - 3]


@ac.jit
def positions(out):
    x, y, z = cuda.grid(3)
    i = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
    j = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
    k = cuda.blockDim.x * cuda.gridDim.y + len(out) + out.ndim
    out[z, y, x] = i + 1000 * j + 1_000_000 * k


@ac.jit
def updates(x, most, least, last, total):
    i = ac.grid(1)
    v = x[i]
    ac.atomic.max(most, v % 3, v)
    ac.atomic.min(least, v % 3, v)
    ac.atomic.sub(total, (0, v % 3), v)
    if v == 7:
        old = ac.atomic.exch(last, 0, v)
        last[1] = old
        was = ac.atomic.cas(last, 2, 5, v)
        last[3] = was


@ac.jit
def gradient(u, h, out):
    i = ac.grid(1)
    n = u.shape[0]
    if i < n:
        left = u[max(i - 1, 0)]
        right = u[min(i + 1, n - 1)]
        out[i] = (right - left) / (2 * h)


@ac.jit
def scaled(x, factor):
    return x * factor


@ac.jit
def running(x, out, factor):
    row = ac.grid(1)
    total = 0
    for k in range(x.shape[1]):
        total = total + scaled(x[row, k], factor)
        out[row, k] = total


def zeros(*shape: int, dtype: str = "float32") -> Any:
    return np.zeros(shape, dtype)


CASES: dict[str, tuple[Any, Any, Any, tuple[Any, ...]]] = {
    "added": (added, 3, 128, (IMAGE[0], IMAGE[1], zeros(13))),
    "added_mixed": (added, 1, 16, (NUMBERS[:13], IMAGE[1], zeros(13, dtype="float64"))),
    "increment": (increment, 2, 8, (IMAGE[2].copy(),)),
    "increment_2d": (increment_2d, (3, 2), (4, 8), (IMAGE.copy(),)),
    "matmul": (matmul, (3, 2), (4, 8), (IMAGE, IMAGE.T.copy(), zeros(9, 9))),
    "max_example": (max_example, 3, 100, (zeros(1, dtype="int32"), NUMBERS)),
    "histogram": (histogram, 2, 16, (NUMBERS, zeros(10, dtype="int32"), np.int32(-50))),
    "histogram_wide": (histogram, 2, 16, (NUMBERS, zeros(10, dtype="int64"), -50)),
    "heat": (heat, (4, 3), (4, 4), (IMAGE, zeros(9, 13))),
    "life": (life, (2, 2), (8, 8), ((IMAGE > 60).astype("int32"), zeros(9, 13, dtype="int32"))),
    "median_filter": (median_filter, 1, 16, (IMAGE[3], zeros(13))),
    "from_the_end": (from_the_end, 1, 10, (IMAGE[4], zeros(10), 2)),
    "positions": (positions, (2, 1, 2), (2, 3), (zeros(2, 3, 4, dtype="int32"),)),
    "updates": (
        updates, 3, 100,
        (np.abs(NUMBERS), zeros(3, dtype="int32"), np.full(3, 99, "int32"),
         np.array([0, 0, 5, 0], "int32"), zeros(1, 3, dtype="int32")),
    ),
    "gradient": (gradient, 1, 13, (IMAGE[5], 0.5, zeros(13))),
    "running": (running, 1, 9, (IMAGE, zeros(9, 13), 2)),
}  # fmt: skip


def run(case: str, monkeypatch: pytest.MonkeyPatch | None = None) -> list[Any]:
    """Return the arrays of a case after its kernel ran: compiled, or in plain Python."""
    kernel, blocks, threads, args = CASES[case]
    if monkeypatch is not None:
        monkeypatch.setenv("ARRAYCORE_JIT", "0")
    device = [ac.array(a) if isinstance(a, np.ndarray) else a for a in args]
    assert kernel[blocks, threads](*device) is None
    return [a.get() for a in device if isinstance(a, ac.ndarray)]


@pytest.mark.parametrize("case", CASES)
def test_equals_plain_python(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = run(case)
    inputs = [a for a in CASES[case][3] if isinstance(a, np.ndarray)]
    assert any((a != b).any() for a, b in zip(compiled, inputs, strict=True))
    if case == "updates":  # which thread comes last is not determined
        compiled[3] = compiled[3][[0, 2]]
    for ours, plain in zip(compiled, run(case, monkeypatch), strict=True):
        expected = plain[[0, 2]] if case == "updates" and plain.shape == (4,) else plain
        np.testing.assert_allclose(ours, expected, rtol=1e-6)


def test_known_results() -> None:
    np.testing.assert_allclose(run("matmul")[2], IMAGE @ IMAGE.T, rtol=1e-6)
    counts = np.histogram(NUMBERS, 10, (-50, 50))[0]
    np.testing.assert_array_equal(run("histogram")[1], counts)
    np.testing.assert_array_equal(run("histogram_wide")[1], counts)
    medians = [np.median(IMAGE[3][k : k + 5]) for k in range(9)]
    np.testing.assert_array_equal(run("median_filter")[1][:9], medians)
    np.testing.assert_array_equal(run("max_example")[0], [NUMBERS.max()])
    np.testing.assert_allclose(run("running")[1], 2 * IMAGE.cumsum(1), rtol=1e-6)


def test_views_are_read_and_written_through_their_strides() -> None:
    base = ac.zeros((6, 26), "float32")
    x = ac.array(IMAGE)
    matmul[(1, 2), (4, 8)](x[:4:2, ::-1], x.T, base[::3, 1:19:2])
    expected = np.zeros((6, 26), "float32")
    expected[::3, 1:19:2] = IMAGE[:4:2, ::-1] @ IMAGE.T
    np.testing.assert_allclose(base.get(), expected, rtol=1e-6)


@pytest.mark.parametrize("count", [0, 1, 13, 256])
def test_forall_runs_one_thread_for_each_element(count: int) -> None:
    x = ac.zeros(300, "int32")
    increment.forall(count)(x)
    np.testing.assert_array_equal(x.get(), np.arange(300) < count)


@pytest.mark.usefixtures("unfused")
def test_a_launch_is_one_dispatch() -> None:
    x, out = ac.array(IMAGE), ac.zeros((9, 13), "float32")
    before = ac.counters()
    heat[(4, 3), (4, 4)](x, out)
    after = ac.counters()
    assert after["dispatches"] - before["dispatches"] == 1
    assert after["cpu_ops"] == after["bytes_down"] == 0


def test_written_arrays_must_be_arraycores() -> None:
    x = ac.zeros(4, "float32")
    with pytest.raises(TypeError, match="writes to argument 3, which is a ndarray") as caught:
        added[1, 4](x, x, np.zeros(4, "float32"))
    assert caught.value.code == "jit_arguments"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"read-only|broadcast"):
        increment[1, 4](ac.broadcast_to(ac.zeros(1), (4,)))


@pytest.mark.parametrize(
    "launch", [(1.5, 2), (1, ()), ((1, 1, 1, 1), 1), (-1, 2), (2**20, 2**12), ("a", 1)]
)
def test_grids_that_do_not_exist_are_refused(launch: Any) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        added[launch]
    assert caught.value.code == "jit_grid"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="blocks, threads"):
        added[4]


def test_positions_exist_in_kernels_only() -> None:
    for call in (lambda: ac.grid(1), lambda: cuda.threadIdx.x, lambda: ac.gridsize(2)):
        with pytest.raises(RuntimeError, match=r"kernel\.forall") as caught:
            call()
        assert caught.value.code == "jit_call"  # type: ignore[attr-defined]


def test_plain_python_has_the_names_of_kernels() -> None:
    seen: list[Any] = []

    def noted(out):
        seen.append((ac.grid(2), ac.gridsize(2), cuda.blockDim.x, cuda.gridDim.z))
        out[ac.grid(1)] = cuda.threadIdx.x + cuda.local.array(3, np.int32)[1]

    out = ac.zeros(4, "int32")
    ac.jit(noted, debug=True)[2, 2](out)
    assert [place for place, *_ in seen] == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert seen[0][1:] == ((4, 1), 2, 1)
    np.testing.assert_array_equal(out.get(), [0, 1, 0, 1])


def test_numbas_arrays_are_made() -> None:
    x = cuda.to_device(np.arange(3, dtype="float32"))
    out = cuda.device_array_like(x)
    added[1, 3](x, x, out)
    cuda.synchronize()
    np.testing.assert_array_equal(out.get(), [0, 2, 4])
    assert cuda.device_array((2, 3), np.int8).dtype == np.int8


# ---- errors; the comment is the text at which the caret points


def writes_nothing(x):  # ^ def
    i = ac.grid(1)
    if x[i] > 0:
        return


def returns(x):
    x[0] = 1
    return x[0]  # ^ return


def whole(x):
    x[0] = 1 + x  # ^ x


def sliced(x):
    x[0:2] = 1  # ^ 0:2


def axes(x):
    x[0, 1] = 1  # ^ 0, 1


def float_index(x):
    x[0.5] = 1  # ^ 0.5


def rebound(x):
    x = 1  # ^ x
    x[0] = 1


def nested(x):
    x[0] = 1 + ac.atomic.add(x, 0, 1)  # ^ ac.atomic


def shared(x):
    tile = cuda.shared.array(4, np.float32)  # ^ cuda.shared
    x[0] = tile[0]


def barrier(x):
    cuda.syncthreads()  # ^ cuda.sync
    x[0] = 1


def long_local(x):
    tile = cuda.local.array(x.size, np.float32)  # ^ cuda.local
    x[0] = tile[0]


def variable_axis(x):
    x[0] = x.shape[int(x[1])]  # ^ int(x[1])


def one_name(x):
    i = ac.grid(2)  # ^ ac.grid
    x[i] = 1


def method(x):
    x[0] = x.sum()  # ^ x.sum


def passed(x):
    x[0] = scaled(x, 2)  # ^ x


WRONG: list[tuple[Callable[..., Any], str]] = [
    (writes_nothing, "jit_return"), (returns, "jit_return"), (whole, "jit_index"),
    (sliced, "jit_expression"), (axes, "jit_index"), (float_index, "jit_index"),
    (rebound, "jit_index"), (nested, "jit_expression"), (shared, "jit_call"),
    (barrier, "jit_call"), (long_local, "jit_call"), (variable_axis, "jit_index"),
    (one_name, "jit_call"), (method, "jit_call"), (passed, "jit_index"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "code"), WRONG, ids=lambda value: getattr(value, "__name__", "")
)
def test_an_error_shows_its_place(function: Callable[..., Any], code: str) -> None:
    with pytest.raises(ac.CompileError) as caught:
        ac.jit(function)[1, 4](ac.zeros(4, "float32"))
    lines = str(caught.value).splitlines()
    assert caught.value.code == code, lines  # type: ignore[attr-defined]
    assert lines[-1].startswith("Remedy: ")
    shown = lines[1][lines[2].index("^") :]
    wanted = next(line for line in inspect.getsource(function).splitlines() if "# ^ " in line)
    assert shown.startswith(wanted.partition("# ^ ")[2]), lines


def test_a_function_without_a_grid_has_no_position() -> None:
    @ac.vectorize
    def here(x):
        return x + ac.grid(1)

    with pytest.raises(ac.CompileError, match="has a position") as caught:
        here(ac.zeros(3))
    assert caught.value.code == "jit_call"  # type: ignore[attr-defined]
