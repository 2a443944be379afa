"""Tests what the check of layers finds in a small tree, and that it can read the project's own
files.
"""

from dataclasses import replace
from graphlib import TopologicalSorter
from pathlib import Path

import folder_arrows
import pytest

PART = folder_arrows.Part(
    root="src",
    layers="""
        base
        left right
        top
    """,
    arrows=folder_arrows.includes,
    suffixes=(".h", ".cc"),
)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a part's root. Each folder there has one header and imports only from lower layers."""
    monkeypatch.setattr(folder_arrows, "ROOT", tmp_path)
    for folder, below in {
        "base": (),
        "left": ("base",),
        "right": ("base",),
        "top": ("left", "right"),
    }.items():
        (tmp_path / "src" / folder).mkdir(parents=True)
        lines = ["#include <vector>", *(f'#include "{name}/{name}.h"' for name in below)]
        (tmp_path / "src" / folder / f"{folder}.h").write_text("\n".join(lines))
    return tmp_path / "src"


def test_arrows_that_point_down_are_allowed(tree: Path) -> None:
    assert folder_arrows.problems(PART) == []


def test_an_upward_arrow_is_named_with_the_cycle_that_it_closes(tree: Path) -> None:
    (tree / "base" / "base_test.cc").write_text('\n#include "top/top.h"\n')
    assert folder_arrows.problems(PART) == [
        "src/base/base_test.cc:2: base -> top points upwards"
        " and closes the cycle top -> left -> base -> top"
    ]


def test_an_arrow_inside_of_a_layer_is_named(tree: Path) -> None:
    (tree / "left" / "left.cc").write_text('#include "right/right.h"\n')
    assert folder_arrows.problems(PART) == [
        "src/left/left.cc:1: left -> right points upwards",
    ]


def test_folders_and_layers_are_the_same(tree: Path) -> None:
    (tree / "new").mkdir()
    (tree / "new" / "new.h").write_text("")
    part = replace(PART, layers=PART.layers + "\n gone")
    assert folder_arrows.problems(part) == ["src/new: in no layer", "src/gone: no such folder"]


@pytest.mark.parametrize("part", folder_arrows.PARTS, ids=lambda part: part.root)
def test_the_arrows_of_every_part_point_down(part: folder_arrows.Part) -> None:
    folders, graph = folder_arrows.graph_of(part)
    assert len(folders) > 5
    assert sum(map(len, graph.values())) >= len(folders), "arrows are read"
    assert folder_arrows.problems(part) == []


def test_imports_of_a_package_are_arrows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_arrows, "ROOT", tmp_path)
    files = {
        "__init__.py": "from pack.upper.use import name\nimport sys\n",
        "lower/__init__.py": "",
        "lower/low.py": "def f():\n    from ..upper import use\n",
        "upper/__init__.py": "from pack.upper.inside.deep import x\n",
        "upper/inside/__init__.py": "",
        "upper/inside/deep.py": "x = 1\n",
        "upper/use.py": "import os.path\nfrom pack.lower import low\nfrom . import inside\n",
    }
    for name, text in files.items():
        (tmp_path / "pack" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pack" / name).write_text(text)
    part = folder_arrows.Part(
        root="pack",
        layers="lower \n upper/inside \n upper \n .",
        arrows=folder_arrows.imports,
        suffixes=(".py",),
    )
    _, graph = folder_arrows.graph_of(part)
    found = {source: sorted(targets) for source, targets in graph.items()}
    assert found == {"lower": ["upper"], "upper": ["lower", "upper/inside"]}
    assert folder_arrows.problems(part) == [
        "pack/lower/low.py:2: lower -> upper points upwards"
        " and closes the cycle upper -> lower -> upper"
    ]


def test_imports_for_type_checkers_alone_are_no_arrows(tmp_path: Path) -> None:
    root = tmp_path / "pack"
    root.mkdir()
    (root / "low.py").write_text("")
    (root / "high.py").write_text(
        "if TYPE_CHECKING:\n    from . import low\nelse:\n    from .low import name\n"
    )
    arrows = list(folder_arrows.imports(root, root / "high.py"))
    assert [(arrow.line, arrow.target) for arrow in arrows] == [(4, "low.py")]


def test_the_files_of_arraycore_import_each_other_in_no_circle() -> None:
    root = folder_arrows.ROOT / "array-core/python/arraycore"
    below = {
        path.relative_to(root).as_posix(): {
            arrow.target for arrow in folder_arrows.imports(root, path)
        }
        for path in root.rglob("*.py")
    }
    assert sum(map(len, below.values())) > 200, "imports are read"
    TopologicalSorter(below).prepare()  # the error names the cycle if there is one
