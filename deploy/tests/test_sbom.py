"""Tests the software bill of materials: valid, whole, and the same each time."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy"))
import sbom  # noqa: E402


@pytest.fixture(scope="module")
def bill() -> str:
    return json.dumps(sbom.bill(ROOT), sort_keys=True)


def named(bill: str, part: str) -> dict[str, str]:
    """Return the versions of a part's components by their names."""
    prefix = f"{part}/"
    listed = json.loads(bill)["components"]
    return {one["name"]: one["version"] for one in listed if one["bom-ref"].startswith(prefix)}


def test_it_is_valid_by_the_schema(bill: str) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill) is None
    broken = bill.replace('"application"', '"a program"')
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(broken) is not None


def test_the_same_tree_gives_the_same_bill(bill: str) -> None:
    assert json.dumps(sbom.bill(ROOT), sort_keys=True) == bill


def test_each_library_of_the_server_is_listed(bill: str) -> None:
    """Compare with what the CMake files look for, so that a new library cannot be forgotten."""
    listed = named(bill, "server")
    known = {
        "Boost": "boost",
        "CLI11": "cli11",
        "libjemalloc": "jemalloc",
        "OpenSSL": "openssl",
        "nlohmann_json": "nlohmann-json",
        "prometheus-cpp": "prometheus-cpp",
        "spdlog": "spdlog",
        "tomlplusplus": "tomlplusplus",
    }
    wanted = set()
    for file in (ROOT / "server").rglob("CMakeLists.txt"):
        wanted |= set(re.findall(r"find_package\(([\w+-]+)", file.read_text()))
        wanted |= set(
            re.findall(r"find_library\(\w+ NAMES (lib\w+?)(?:_pic)?\.a", file.read_text())
        )
    wanted -= {"GTest", "Python3", "benchmark", "Threads"}
    others = {"fmt", "glibc", "libpq", "libstdc++", "sqlite"}
    assert {known[name] for name in wanted} | others == set(listed)


def test_the_server_has_the_listed_sqlite(bill: str) -> None:
    program = ROOT / "build/release/bin/hyperflock-server"
    done = subprocess.run([program, "version"], capture_output=True, text=True, check=True)
    assert f"(SQLite {named(bill, 'server')['sqlite']})" in done.stdout


def test_pages_runtime_and_package_are_listed(bill: str) -> None:
    assert {"preact", "idb", "valibot", "qr"} <= set(named(bill, "pages"))
    assert {"pyodide", "numpy", "chainer", "optuna"} <= set(named(bill, "runtime"))
    assert {"msgspec", "websockets"} <= set(named(bill, "package"))
    assert not {"vite", "playwright-core"} & set(named(bill, "pages"))
