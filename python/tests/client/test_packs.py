"""Tests which packs a study's code needs, and what is said if the server lacks one."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from fake_console import FakeConsole
from hyperflock import Client, HyperflockError
from hyperflock._bundle.archive import LOCK_NAME, needs_of
from hyperflock._bundle.bundle import Bundle, bundle_script
from hyperflock._bundle.source.runtime import PACKS, with_needs
from hyperflock._client.packs import pack_refs
from hyperflock._transport.messages import PackRef
from msgspec import UNSET

SKLEARN = """
from sklearn.svm import SVC

def objective(trial):
    return SVC(C=trial.params["c"]).C
"""


def _bundle(folder: Path, source: str, **others: str) -> Bundle:
    for name, text in {"train": source, **others}.items():
        (folder / f"{name}.py").write_text(text)
    return bundle_script(folder / "train.py", "objective")


def _listed(*names: str) -> bytes:
    packs = {name: {"version": PACKS[name].version, "files": []} for name in names}
    return json.dumps({"pyodide": "314.0.3", "packs": packs}).encode()


INSIDE = """
def objective(trial):
    import pandas as pd, PIL.Image
    return 1.0
"""
OPTIONAL = """
def objective(trial):
    try:
        import scipy.special
    except ImportError:
        pass
    return 1.0
"""
UNREACHED = """
import sklearn

def objective(trial):
    return 1.0

def report():
    return sklearn.__version__
"""
BESIDE_OPTUNA = "import optuna\n" + SKLEARN.replace("return", "raise optuna.TrialPruned or")


@pytest.mark.parametrize(
    ("source", "needs"),
    [
        pytest.param(SKLEARN, {"scikit-learn"}, id="at the top"),
        pytest.param("import numpy\ndef objective(trial): return 1.0\n", set(), id="NumPy alone"),
        pytest.param(INSIDE, {"pandas", "pillow"}, id="inside"),
        # The package is loaded even if the code can do without it.
        pytest.param(OPTIONAL, {"scipy"}, id="optional"),
        pytest.param(BESIDE_OPTUNA, {"optuna", "scikit-learn"}, id="beside Optuna"),
        # Only what the objective reaches is loaded.
        pytest.param(UNREACHED, set(), id="not reached"),
    ],
)
def test_bundle_names_what_its_code_imports(tmp_path: Path, source: str, needs: set[str]) -> None:
    assert needs_of(_bundle(tmp_path, source).content) == needs


def test_another_file_counts_too(tmp_path: Path) -> None:
    source = "from helper import score\ndef objective(trial):\n    return score()\n"
    helper = "import scipy.stats\ndef score():\n    return float(scipy.stats.norm.cdf(0))\n"
    assert needs_of(_bundle(tmp_path, source, helper=helper).content) == {"scipy"}


def test_lock_has_the_versions_of_all_that_is_needed(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(_bundle(tmp_path, SKLEARN).content)) as archive:
        lock = json.loads(archive.read(LOCK_NAME))
    wanted = ["joblib", "threadpoolctl", "scipy", "scikit-learn"]
    assert lock["packs"] == {name: PACKS[name].version for name in wanted}


def test_spec_lists_packs_without_what_they_need(tmp_path: Path) -> None:
    source = INSIDE.replace("return 1.0", "import sklearn.svm, optuna\n    return 1.0")
    assert pack_refs(_bundle(tmp_path, source).content) == [
        PackRef(name, PACKS[name].version) for name in ("pandas", "pillow", "scikit-learn")
    ]


def test_needs_of_what_is_no_bundle() -> None:
    assert needs_of(b"") == needs_of(b"hyperflock needs optuna") == frozenset()


def test_every_need_is_a_pack() -> None:
    assert set(with_needs(PACKS)) == set(PACKS)
    assert with_needs(["pandas", "optuna"]) == ("python-dateutil", "pytz", "pandas")


def _objective(trial: Any) -> float:
    import scipy.special

    return float(scipy.special.erf(trial.params["x"]))


def test_a_server_that_lacks_a_pack_is_told_before_anything_is_sent(
    server: FakeConsole, client: Client
) -> None:
    for packs in (None, _listed("joblib")):
        server.packs = packs
        with pytest.raises(HyperflockError, match="the server has no scipy for browsers") as caught:
            client.grid(_objective, {"x": [0, 1]})
        assert caught.value.code == "missing_pack"
    assert not server.blobs
    server.packs = _listed("scipy")
    assert client.grid(_objective, {"x": [0, 1]}).id == 1
    assert client.packs() == {"scipy": PACKS["scipy"].version}
    assert server.specs[1].packs == [PackRef("scipy", PACKS["scipy"].version)]


def test_a_study_without_packs_asks_for_none(server: FakeConsole, client: Client) -> None:
    client.grid(lambda trial: trial.params["x"], {"x": [0, 1]})
    assert server.specs[1].packs is UNSET
    assert not [request for request in server.requests if "packs" in request]


def test_a_list_that_cannot_be_read_is_one_sentence(server: FakeConsole, client: Client) -> None:
    server.packs = b"[]"
    with pytest.raises(
        HyperflockError, match="the server's list of packs cannot be read"
    ) as caught:
        client.packs()
    assert caught.value.code == "runtime_damaged"
