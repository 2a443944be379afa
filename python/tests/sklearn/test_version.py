"""Tests what is said about the installed scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError

import pytest
from hyperflock import SklearnMissingError
from hyperflock._bundle.source.runtime import PACKS
from hyperflock.sklearn import version as _version


def _installed(**versions: str) -> Callable[[str], str]:
    def version(name: str) -> str:
        try:
            return versions[name.replace("-", "_")]
        except KeyError:
            raise PackageNotFoundError(name) from None

    return version


@pytest.mark.parametrize(
    ("versions", "sentence"),
    [
        ({}, "scikit-learn is not installed"),
        ({"scikit_learn": "1.5.2"}, "this is scikit-learn 1.5.2"),
    ],
)
def test_without_a_supported_version(
    versions: dict[str, str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_version, "version", _installed(**versions))
    with pytest.raises(SklearnMissingError, match=sentence) as caught:
        _version.check_version()
    assert caught.value.code == "no_sklearn"
    assert isinstance(caught.value, ImportError)


def test_only_other_minor_versions_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    there = PACKS["scikit-learn"].version
    monkeypatch.setattr(_version, "version", _installed(scikit_learn=there, scipy="1.2.3"))
    assert _version.differences() == (
        f"scipy is 1.2.3 here and {PACKS['scipy'].version} in browsers",
    )
    monkeypatch.setattr(
        _version, "version", _installed(scikit_learn=f"{there}.post1", scipy=PACKS["scipy"].version)
    )
    assert _version.differences() == ()
