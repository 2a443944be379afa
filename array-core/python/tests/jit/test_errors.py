"""Tests that functions that cannot be compiled are refused with their file, line, a caret, a remedy
and a stable code.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-redefinition
from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arraycore as ac
import numpy as np
import pytest

TABLE = np.arange(4)
NAMES = ["a"]


@ac.jit
def endless(x):
    return endless(x) + 1


@ac.jit
def pair(x):
    return x, x


@ac.jit
def wrong_inside(x):
    return [x]  # ^ [x]


def undecorated(x):
    return x


# Each function has, in the wrong line, a comment with the text at which the caret points.


def while_else(x):
    while x > 0:
        x -= 1
    else:
        x = 2  # ^ x = 2
    return x


def attempt(x):
    try:  # ^ try
        return 1 / x
    except ZeroDivisionError:
        return 0


def raising(x):
    if x < 0:
        raise ValueError(x)  # ^ raise
    return x


def comprehension(x):
    return sum([x * k for k in range(3)])  # ^ sum


def over_list(x):
    total = 0
    for k in [1, 2, 3]:  # ^ [1
        total += k * x
    return total


def texts(x):
    return x + len("größe") + x.missing  # ^ "größe"


def unknown(x):
    return x + nowhere  # type: ignore[name-defined] # noqa: F821 # ^ nowhere


def an_array(x):
    return x + TABLE  # ^ TABLE


def another_function(x):
    return undecorated(x)  # ^ undecorated


def too_many(x):
    return math.sqrt(x, 2)  # type: ignore[call-arg] # ^ math.sqrt


def keywords(x):
    return math.isclose(x, 1, rel_tol=0.1)  # ^ math.isclose


def maybe_unbound(x):
    if x > 0:
        y = x
    return y  # ^ y


def unbound_after_loop(x):
    for k in range(int(x)):
        last = k
    return last  # ^ last


def no_return(x):  # noqa: RET503 # ^ def
    if x > 0:
        return x


def other_counts(x):
    if x > 0:
        return x, x
    return x  # ^ return


def recursive(x):
    return endless(x)


def two_results(x):
    return pair(x) * 2


def called(x):
    return wrong_inside(x)


def float_bits(x):
    return (x * 0.5) | 1  # ^ (x


def minus_bools(x):
    return (x > 0) - (x < 0)  # ^ (x > 0) -


def negative_power(x):
    return np.int32(2) ** -1 * x  # ^ np.int32(2)


def ordered_complex(x):
    return x * 1j < 2  # ^ x * 1j


def float_range(x):
    for _ in range(x * 0.5):  # ^ x * 0.5
        pass
    return x


def inner(x):
    def f(y):  # ^ def
        return y

    return f(x)


def division(x):
    return x + 1 // 0  # ^ 1 //


def member(x):
    return x in (1, 2)  # ^ (1, 2)


def wide(x):
    return np.int8(1) + 300 + x  # ^ np.int8(1)


def defaults(x, y=2):  # ^ 2
    return x + y


def starred(*x):  # ^ x
    return x


WRONG: list[tuple[Callable[..., Any], str, str]] = [
    (while_else, "jit_statement", "set a flag before 'break'"),
    (attempt, "jit_statement", "test the value by if"),
    (raising, "jit_statement", "NaN"),
    (comprehension, "jit_call", "docs/jit.md"),
    (over_list, "jit_statement", "for i in range(n)"),
    (texts, "jit_index", "as an argument"),
    (unknown, "jit_name", "pass it as an argument"),
    (an_array, "jit_name", "pass it as an argument"),
    (another_function, "jit_call", "decorate undecorated with @arraycore.jit"),
    (too_many, "jit_call", "docs/jit.md"),
    (keywords, "jit_call", "by position"),
    (maybe_unbound, "jit_unbound", "before the branch or the loop"),
    (unbound_after_loop, "jit_unbound", "before the branch or the loop"),
    (no_return, "jit_return", "return a value at its end"),
    (other_counts, "jit_return", "as many values everywhere"),
    (float_bits, "jit_type", "convert by int()"),
    (minus_bools, "jit_type", "a ^ b"),
    (negative_power, "jit_type", "float()"),
    (ordered_complex, "jit_type", "abs()"),
    (float_range, "jit_type", "int()"),
    (inner, "jit_statement", "@arraycore.jit"),
    (division, "jit_type", "defined"),
    (member, "jit_expression", "several names"),
    (wide, "jit_type", "wider dtype"),
    (defaults, "jit_statement", "pass every argument"),
    (starred, "jit_statement", "each parameter by name"),
]


def caret(text: str) -> tuple[str, str]:
    """Return the place that a message names, and the source from the caret on."""
    lines = text.splitlines()
    place = re.match(r"(.*:\d+): ", lines[0])
    assert place, lines[0]
    assert lines[2].strip() == "^"
    return place[1], lines[1][lines[2].index("^") :]


@pytest.mark.parametrize(
    ("function", "code", "remedy"), WRONG, ids=lambda v: getattr(v, "__name__", "")
)
def test_an_error_shows_place_and_remedy(
    function: Callable[..., Any], code: str, remedy: str
) -> None:
    x = ac.array(np.arange(4, dtype="int32"))
    args = (x,) * function.__code__.co_argcount
    with pytest.raises(ac.CompileError) as caught:
        ac.vectorize(function)(*args)
    text = str(caught.value)
    assert caught.value.code == code, text  # type: ignore[attr-defined]
    assert text.splitlines()[-1].startswith("Remedy: ")
    assert remedy in text.splitlines()[-1]
    assert f"in {function.__name__!r}: " in text
    at, shown = caret(text)
    source = Path(__file__).read_text().splitlines()
    line = int(at.rpartition(":")[2])
    assert line > function.__code__.co_firstlineno - 1
    wanted = source[line - 1].partition("# ^ ")[2]
    assert wanted, f"{at} is not the wrong line: {text}"
    assert shown.startswith(wanted), text


@pytest.mark.parametrize(
    ("function", "inside", "code"),
    [
        (recursive, "endless", "jit_recursion"),
        (two_results, "pair", "jit_return"),
        (called, "wrong_inside", "jit_expression"),
    ],
)
def test_an_error_in_a_called_function_names_that_function(
    function: Callable[..., Any], inside: str, code: str
) -> None:
    with pytest.raises(ac.CompileError, match=f"in {inside!r}: ") as caught:
        ac.vectorize(function)(ac.zeros(3, "float32"))
    assert caught.value.code == code  # type: ignore[attr-defined]
    caret(str(caught.value))


def test_a_function_without_a_text_is_refused() -> None:
    namespace: dict[str, Any] = {}
    exec("def made(x):\n    return x", namespace)
    for function in (namespace["made"], lambda x: x):
        with pytest.raises(
            ac.CompileError, match="Remedy: write the function with 'def'"
        ) as caught:
            ac.vectorize(function)(ac.zeros(3, "float32"))
        assert caught.value.code == "jit_source"  # type: ignore[attr-defined]


def test_wrong_arguments_are_refused() -> None:
    wrong: Any = 3
    signature: Any = "float32(float32)"
    same = ac.vectorize(undecorated)
    x = ac.zeros(3, "float32")
    for args, words in [
        ((), "takes 1 argument, not 0"),
        ((x, x), "takes 1 argument, not 2"),
        (({},), "argument 1 is a dict"),
        (("text",), "argument 1 is a str"),
    ]:
        with pytest.raises(TypeError, match=words) as caught:
            same(*args)
        assert caught.value.code == "jit_arguments"  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="fit 64 bits"):
        ac.vectorize(two)(x, 2**70)
    with pytest.raises(TypeError, match="Python function"):
        ac.vectorize(wrong)
    with pytest.raises(TypeError, match="leave the signature out"):
        ac.vectorize(signature)


def two(x, y):
    return x + y


def test_a_refused_function_can_be_called_again() -> None:
    function = ac.vectorize(negative_power)
    for _ in range(2):
        with pytest.raises(ac.CompileError):
            function(ac.zeros(3, "int32"))


def made_of(text: str, path: Path) -> Any:
    """Return the function ``f`` of a new module with this text."""
    path.write_text(text)
    namespace: dict[str, Any] = {"__name__": path.stem}
    exec(compile(text, str(path), "exec"), namespace)
    return namespace["f"]


def test_a_function_whose_file_has_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "changing.py"
    function = made_of("def f(x):\n    return x * 12.5\n", path)
    path.write_text("def f(x):\n    return x * 13.5\n")
    with pytest.raises(ac.CompileError, match="has changed") as caught:
        ac.vectorize(function)(ac.zeros(3))
    assert caught.value.code == "jit_source"  # type: ignore[attr-defined]


def test_what_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    for name, lines, code in [
        ("branches", [f"{' ' * (k + 1)}if x > {k}:" for k in range(95)], "jit_statement"),
        ("terms", ["    x = " + " + ".join(["x"] * 5_000)], "jit_expression"),
    ]:
        end = [" " * 96 + "x = 1"] if name == "branches" else []
        text = "\n".join(
            ["def f(x):", *lines, *end, f"{lines[0][:1] * (1 if end else 4)}return x\n"]
        )
        try:
            function = made_of(text, tmp_path / f"{name}.py")
        except (RecursionError, MemoryError, SyntaxError):  # this Python cannot parse it either
            continue
        with pytest.raises(ac.CompileError, match="nested too deeply") as caught:
            ac.vectorize(function)(ac.zeros(3))
        assert caught.value.code == code  # type: ignore[attr-defined]


def test_long_sums_are_compiled(tmp_path: Path) -> None:
    text = "def f(x):\n    return " + " + ".join(["x"] * 250) + "\n"
    function = ac.vectorize(made_of(text, tmp_path / "long.py"))
    np.testing.assert_array_equal(function(np.arange(3)).get(), [0, 250, 500])


def test_a_complex_number_is_not_stored_as_a_real_one() -> None:
    def complex_store(out):
        out[0] = 1j

    with pytest.raises(ac.CompileError, match=r"\.real") as caught:
        ac.jit(complex_store)[1, 1](ac.zeros(3))
    assert caught.value.code == "jit_type"  # type: ignore[attr-defined]


def test_numbers_that_an_integer_cannot_hold_are_converted_as_arrays_are() -> None:
    def stored(out):
        out[0] = math.nan
        out[1] = math.inf
        out[2] = -2.75

    out = ac.ones(3, "int16")
    ac.jit(stored)[1, 1](out)
    np.testing.assert_array_equal(out.get(), [0, 32767, -2])
