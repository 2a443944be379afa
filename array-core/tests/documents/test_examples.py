"""Tests that the documents' Python examples run on the native bridge, and print what their comments
say.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ARRAY_CORE = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^ *print\(.*\)  # (\S+)$", re.MULTILINE)


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/capture.md",
        "docs/chainer.md",
        "docs/convolution.md",
        "docs/errors.md",
        "docs/fusion.md",
        "docs/indexing.md",
        "docs/jit.md",
        "docs/nn.md",
        "docs/random.md",
    ],
)
def test_examples_of(name: str, tmp_path: Path) -> None:
    blocks = BLOCK.findall((ARRAY_CORE / name).read_text())
    assert blocks, "a document without examples needs no test"
    code = "\n".join(blocks)
    file = tmp_path / "example.py"  # functions that are compiled need a file
    file.write_text(code)
    done = subprocess.run(
        [sys.executable, "-W", "error", file],
        env={**os.environ, "PYTHONPATH": str(ARRAY_CORE / "python")},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert (done.returncode, done.stderr) == (0, "")
    promised = PRINTED.findall(code)
    assert promised, "an example says what it prints"
    assert [line for line in done.stdout.splitlines() if line in promised] == promised
