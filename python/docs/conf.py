"""How Sphinx builds these pages: ./run docs."""

from __future__ import annotations

import re
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

# Links to files that are no pages here, such as the server's documents and the examples.
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+([^)#]+)(?:#[^)]*)?\)")


def _name_outside(app: Any, page: str, source: list[str]) -> None:
    """Write such a link as its text with the file's path in the repository."""
    source[0] = _OUTSIDE.sub(lambda found: f"{found[1]} (`{found[2]}`)", source[0])


def setup(app: Any) -> None:
    """Take part in reading the pages."""
    app.connect("source-read", _name_outside)
