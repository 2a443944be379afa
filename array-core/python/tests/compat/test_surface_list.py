"""Tests that each public name of NumPy is offered, refused with an alternative, or listed as not
applicable.

The lists are in ``docs/surface.md``. If only the package is mounted, the tests that read this
document are skipped.
"""

from __future__ import annotations

import re
from pathlib import Path

import arraycore as ac
import numpy as np
import pytest
from arraycore._compat import unsupported

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "surface.md"


def section(title: str) -> str:
    if not DOCUMENT.exists():
        pytest.skip("docs/surface.md is not mounted here")
    (found,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", DOCUMENT.read_text(), re.M | re.S)
    return str(found)


def public(of: object) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")}


def test_the_document_lists_what_is_refused() -> None:
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (.*) \|$", section("Refused"), re.M))
    of_arrays = {f"ndarray.{name}": instead for name, instead in unsupported.OF_ARRAYS.items()}
    assert rows == {**unsupported.NAMES, **of_arrays}


def test_every_name_of_numpys_is_in_one_list() -> None:
    offered = set(ac.__all__)
    elsewhere = set(re.findall(r"`(\w+)`", section("Not applicable")))
    missing = public(np) - offered - set(unsupported.NAMES) - elsewhere
    assert not missing, f"neither offered nor listed: {sorted(missing)}"
    assert not offered & set(unsupported.NAMES)
    assert not offered & elsewhere
    assert not elsewhere & set(unsupported.NAMES)


def test_every_attribute_of_numpys_arrays_is_there_or_refused() -> None:
    offered = public(ac.ndarray)
    assert not public(np.ndarray) - offered - set(unsupported.OF_ARRAYS)
    assert not offered & set(unsupported.OF_ARRAYS)


@pytest.mark.parametrize("module", ["linalg", "fft"])
def test_a_module_has_all_of_numpys(module: str) -> None:
    theirs = {name for name in public(getattr(np, module)) if name not in {"linalg", "test"}}
    assert theirs - set(getattr(ac, module).__all__) == set()


@pytest.mark.parametrize("name", sorted(unsupported.NAMES))
def test_a_refused_name_tells_what_to_take(name: str) -> None:
    with pytest.raises(NotImplementedError, match=re.escape(unsupported.NAMES[name])):
        getattr(ac, name)
    assert not hasattr(ac, name)


@pytest.mark.parametrize("name", sorted(unsupported.OF_ARRAYS))
def test_a_refused_attribute_tells_what_to_take(name: str) -> None:
    a = ac.zeros(3)
    with pytest.raises(NotImplementedError, match=re.escape(unsupported.OF_ARRAYS[name])):
        getattr(a, name)
    assert not hasattr(a, name)


def test_a_name_that_nobody_has_is_an_attribute_error() -> None:
    for of in (ac, ac.zeros(1)):
        with pytest.raises(AttributeError, match="no_such_name") as raised:
            of.no_such_name  # noqa: B018
        assert not isinstance(raised.value, NotImplementedError)
