"""Tests the packs: their pinned list, and what was built of them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import gather_packs
import packing
import pytest
from fetching import GatherError, Tools
from hyperflock._bundle.source.runtime import PACKS, RUNTIME_PACKAGES
from places import SCRIPTS

LISTING = SCRIPTS / "packs.json"


def packs() -> list[dict[str, Any]]:
    return gather_packs.load_packs(LISTING)[1]


def test_the_package_knows_the_same_packs() -> None:
    listed = {
        pack["name"]: (pack["version"], tuple(pack["imports"]), tuple(pack["needs"]))
        for pack in packs()
    }
    known = {name: (p.version, p.imports, p.needs) for name, p in PACKS.items()}
    assert list(listed.items()) == list(known.items())


def test_packs_are_those_of_pyodides_lock_file(cache: Path) -> None:
    version, listed = gather_packs.load_packs(LISTING)
    lock_file = cache / f"pyodide-{version}" / "package" / "pyodide-lock.json"
    locked = json.loads(lock_file.read_text())["packages"]
    for pack in listed:
        entry = locked[pack["name"]]
        assert (pack["file"], pack["sha256"]) == (entry["file_name"], entry["sha256"])
        assert pack["imports"] == entry["imports"]
        # The runtime has NumPy and six already.
        assert set(pack["needs"]) == set(entry["depends"]) - RUNTIME_PACKAGES


@pytest.mark.parametrize(
    ("needs", "reason"),
    [({"a": ["b"], "b": ["a"]}, "a needs b"), ({"a": ["gone"]}, "a needs gone")],
    ids=["a circle", "a pack that is not there"],
)
def test_wrong_needs_are_refused(tmp_path: Path, needs: dict[str, list[str]], reason: str) -> None:
    listing = json.loads(LISTING.read_text())
    some = listing["packs"][0]
    listing["packs"] = [{**some, "name": name, "needs": of} for name, of in needs.items()]
    (tmp_path / "packs.json").write_text(json.dumps(listing))
    with pytest.raises(GatherError, match=f"{reason}, which does not come before it"):
        gather_packs.load_packs(tmp_path / "packs.json")


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 1}', '{"schema": 1, "packs": [{}]}'])
def test_what_is_no_list_of_packs_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "packs.json").write_text(text)
    command = ["--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "out")]
    assert gather_packs.main([*command, "--packs", str(tmp_path / "packs.json")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("packs: error: packs.json is no list of packs (")
    assert said.count("\n") == 1


def test_packs_of_another_pyodide_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GatherError, match=r"built for Pyodide 1\.0, and the runtime has 314"):
        gather_packs.gathered_core(SCRIPTS / "manifest.json", "1.0", tmp_path)


def test_packs_need_the_runtime_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "out")]
    assert gather_packs.main(command) == 1
    assert "the runtime is not gathered" in capsys.readouterr().err


def test_a_damaged_wheel_is_refused(tmp_path: Path, cache: Path) -> None:
    pack = packs()[0]
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / pack["file"]).write_bytes(b"other")
    core = next(path for path in (cache / "downloads").glob("pyodide-*.tgz"))
    (tmp_path / "downloads" / core.name).symlink_to(core)
    tools = Tools(python="false", node="false", cache=tmp_path, local=None)
    with pytest.raises(GatherError, match=f"{re.escape(pack['file'])} from the cache has sha256"):
        gather_packs.gather_packs(LISTING, SCRIPTS / "manifest.json", tmp_path / "out", tools, 9)


@pytest.fixture
def built() -> tuple[Path, dict[str, Any]]:
    folder = Path(os.environ.get("HYPERFLOCK_PACKS", SCRIPTS.parents[1] / "build" / "packs"))
    assert (folder / "packs.json").is_file(), "the packs are not built: ./run build"
    return folder, json.loads((folder / "packs.json").read_text())


def test_built_packs_are_intact_and_small(built: tuple[Path, dict[str, Any]]) -> None:
    folder, index = built
    assert list(index["packs"]) == [pack["name"] for pack in packs()]
    assert all(packing.is_intact(pack, folder) for pack in index["packs"].values())
    size = gather_packs.wire_bytes(index["packs"], ["scikit-learn"])
    assert size <= gather_packs.SKLEARN_BUDGET_BYTES
