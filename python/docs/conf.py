"""Configures Sphinx, by which ./run docs builds these pages."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import hyperflock

project = "Hyperflock"
author = "The Hyperflock authors"
version = release = hyperflock.__version__
html_title = f"Hyperflock {version}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_show_copyright = False
myst_heading_anchors = 3
# A name between single backticks in a docstring is code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

_DOCS = Path(__file__).parent
_REPOSITORY = _DOCS.parents[1]
_LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]+)(?:#[^)]*)?\)")


def _name_outside(app: Any, page: str, source: list[str]) -> None:
    """Replace each link to a file that is no page here, such as the server's documents and the
    examples, by its text and the file's path in the repository.
    """

    def named(found: re.Match[str]) -> str:
        target = Path(os.path.normpath((_DOCS / page).parent / found[2]))
        if target.is_relative_to(_DOCS):
            return found[0]
        return f"{found[1]} (`{target.relative_to(_REPOSITORY).as_posix()}`)"

    source[0] = _LINK.sub(named, source[0])


def setup(app: Any) -> None:
    """Let Sphinx call `_name_outside` for each page that it reads."""
    app.connect("source-read", _name_outside)
