"""Tests that packs work in the runtime's Pyodide: a small use of each, in groups that load no other
packs than those that they need.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import gather_packs
import pytest
from places import LIMIT_S, ROOT, SCRIPTS

HERE = Path(__file__).resolve().parent

LEARN = r"""
import joblib, threadpoolctl
from scipy.optimize import brentq
from sklearn.datasets import load_iris
from sklearn.svm import SVC

x, y = load_iris(return_X_y=True)
said = {
    "joblib": joblib.Parallel(2)(joblib.delayed(abs)(-i) for i in [1, 2]),
    "threadpoolctl": type(threadpoolctl.threadpool_info()).__name__,
    "scipy": round(brentq(lambda x: x**2 - 2, 0, 2), 6),
    "scikit-learn": round(SVC().fit(x, y).score(x, y), 3),
}
"""
TABLE = r"""
import pandas, pytz
from dateutil import parser

frame = pandas.DataFrame({"k": list("aba"), "v": [1, 2, 3]})
said = {
    "python-dateutil": parser.parse("3 Mar 2026").month,
    "pytz": str(pytz.timezone("Asia/Tokyo")),
    "pandas": frame.groupby("k").v.sum().to_dict(),
}
"""
PLOT = r"""
import io

import contourpy, kiwisolver, matplotlib, pyparsing
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from fontTools.ttLib import TTFont
from packaging.version import Version
from PIL import Image

figure, (left, right) = plt.subplots(1, 2, layout="constrained")
left.plot([0, 1, 2], [0, 1, 4], label="$x^2$")
left.set_title("Größe")
left.legend()
right.contourf(np.outer(np.arange(5), np.arange(5)))
files = {}
for kind in ("png", "pdf", "svg"):
    file = io.BytesIO()
    figure.savefig(file, format=kind)
    files[kind] = file.getvalue()
plt.close(figure)
picture = Image.open(io.BytesIO(files["png"]))
x = kiwisolver.Variable("x")
solver = kiwisolver.Solver()
solver.addConstraint(x >= 3)
solver.updateVariables()
said = {
    "pillow": [*picture.size, picture.convert("L").getextrema()[0]],
    "cycler": len(cycler(a=[1, 2]) * cycler(b=[3, 4])),
    "contourpy": len(contourpy.contour_generator(z=[[0, 1], [1, 2]]).lines(1)),
    "fonttools": TTFont().sfntVersion,
    "kiwisolver": x.value(),
    "packaging": Version("1.10") > Version("1.9"),
    "pyparsing": pyparsing.Word("ab").parse_string("abba")[0],
    "matplotlib": [
        matplotlib.get_backend().lower(),
        files["pdf"][:4].decode(),
        b"</svg>" in files["svg"],
    ],
}
"""
ALGEBRA = r"""
import mpmath, sympy

x = sympy.Symbol("x")
mpmath.mp.dps = 30
said = {
    "mpmath": str(mpmath.pi)[:22],
    "sympy": str(sympy.integrate(x * sympy.exp(x), x)),
}
"""
WORDS = r"""
import regex

said = {"regex": regex.findall(r"\p{Lu}", "aÄbÉ")}
"""

# Packs that need all others of their group, with a program that uses each, and what it says.
GROUPS: dict[str, tuple[str, dict[str, Any]]] = {
    "scikit-learn": (
        LEARN,
        {
            "joblib": [1, 2],
            "threadpoolctl": "list",
            "scipy": 1.414214,
            "scikit-learn": 0.973,
        },
    ),
    "pandas": (TABLE, {"python-dateutil": 3, "pytz": "Asia/Tokyo", "pandas": {"a": 4, "b": 2}}),
    "matplotlib": (
        PLOT,
        {
            "pillow": [640, 480, 0],
            "cycler": 4,
            "contourpy": 1,
            "fonttools": "\x00\x01\x00\x00",
            "kiwisolver": 3.0,
            "packaging": True,
            "pyparsing": "abba",
            "matplotlib": ["agg", "%PDF", True],
        },
    ),
    "sympy": (ALGEBRA, {"mpmath": "3.14159265358979323846", "sympy": "(x - 1)*exp(x)"}),
    "regex": (WORDS, {"regex": ["Ä", "É"]}),
}


def test_each_pack_is_used() -> None:
    listed = gather_packs.load_packs(SCRIPTS / "packs.json")[1]
    used = {name for _, said in GROUPS.values() for name in said}
    assert used == {pack["name"] for pack in listed}


@pytest.mark.parametrize("name", GROUPS)
def test_packs_work_in_pyodide(runtime: Path, node: str, name: str) -> None:
    folder = os.environ.get("HYPERFLOCK_PACKS", ROOT / "build" / "packs")
    code, said = GROUPS[name]
    command = [node, str(HERE / "pyodide_packs.mjs"), str(runtime), str(folder), name, code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == said
