"""Tests which waits the rule reports, and which it allows."""

from pathlib import Path

import house_rules
import pytest
from wait_rule import arguments_of, endless_waits

WITHOUT_TIME = "Atomics.wait without a time-out"
RENAMED = "Atomics.wait under another name"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Atomics.wait(words, 0, 0);", WITHOUT_TIME),
        ("Atomics.wait(words, at(1, 2), [3, 4][0]);", WITHOUT_TIME),
        ("Atomics.wait(\n  words,\n  0,\n  0,\n);", WITHOUT_TIME),
        ("Atomics.wait(words, 0, 0, undefined);", WITHOUT_TIME),
        ("Atomics.wait(words, 0, 0, Number.POSITIVE_INFINITY);", WITHOUT_TIME),
        ("const end = Atomics.waitAsync(words, 0, 0);", WITHOUT_TIME),
        ("Atomics?.wait?.(words, 0, 0);", WITHOUT_TIME),
        ('Atomics["wait"](words, 0, 0);', WITHOUT_TIME),
        ("`<script>Atomics.wait(words, 0, 0)</script>`", WITHOUT_TIME),
        ("const sleep = Atomics.wait;", RENAMED),
        ("const { load, wait: sleep } = Atomics;", RENAMED),
        ("const all = Atomics;", RENAMED),
    ],
)
def test_a_wait_that_may_never_end_is_found(text: str, reason: str) -> None:
    assert [found for _, found in endless_waits(text)] == [reason]


@pytest.mark.parametrize(
    "text",
    [
        "Atomics.wait(words, 0, 0, 50);",
        "Atomics.wait(words, at(1, 2), 0, Math.min(slice, left));",
        "Atomics.wait(\n  words,\n  0,\n  0,\n  SLICE_MS,\n);",
        "await Atomics.waitAsync(words, 0, 0, ms).value;",
        'typeof Atomics.waitAsync !== "function"',
        "// in place of Atomics.wait(words, 0, 0)",
        "/* Atomics.wait\n(words, 0, 0) */",
        "Atomics.store(words, 0, 1); Atomics.notify(words, 0);",
        'fetch("http://host"); Atomics.wait(words, 0, 0, 50);',
    ],
)
def test_a_wait_with_a_time_passes(text: str) -> None:
    assert list(endless_waits(text)) == []


def test_the_line_is_told() -> None:
    assert [line for line, _ in endless_waits("a();\n/* b\n */\nAtomics.wait(w, 0, 0);")] == [4]


def test_arguments_are_counted_by_brackets() -> None:
    assert arguments_of("f(a, g(b, c), [d, e])", 1) == ["a", "g(b, c)", "[d, e]"]
    assert arguments_of("f()", 1) == []


def test_the_rules_of_the_tree_apply_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "worker-runtime" / "wait.ts"
    source.parent.mkdir()
    source.write_text("// A wait.\nAtomics.wait(words, 0, 0);\n")
    monkeypatch.setattr(house_rules, "ROOT", tmp_path)
    found = house_rules.waits(["worker-runtime/wait.ts"])
    assert found == ["worker-runtime/wait.ts:2: Atomics.wait without a time-out"]


def test_the_tree_has_waits_and_the_rule_sees_them() -> None:
    text = (house_rules.ROOT / "worker-runtime/src/channel/caller.ts").read_text()
    assert "Atomics.wait(header, word, value, Math.min(SLICE_MS, left))" in text
    broken = text.replace(", Math.min(SLICE_MS, left))", ")")
    assert [reason for _, reason in endless_waits(broken)] == [WITHOUT_TIME]
