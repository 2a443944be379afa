"""The images, which the tests of all compose files use."""

from __future__ import annotations

import pytest
from images import Images


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Images:
    """Return the images."""
    return Images(tmp_path_factory.mktemp("images"))
