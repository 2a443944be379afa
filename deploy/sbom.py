"""Writes the software bill of materials of this tree's products: ``./run build``, ``./run sbom``.

    build/sbom.cdx.json     CycloneDX 1.6: what the server's program, the pages, the browser
                            runtime and the Python package carry or need

Versions come from what decides them: Debian's packages of this machine, ``server/sqlite/pin.json``,
``package-lock.json``, the runtime's manifest and ``python/requirements/dev.txt``. The same inputs
give the same bytes: there is no time, and the serial number is made of the content.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import tomllib

ROOT = Path(__file__).resolve().parent.parent

#: The libraries that are linked or compiled into the server: Debian's package and the licence.
CPP_LIBRARIES = {
    "boost": ("libboost1.81-dev", "BSL-1.0"),
    "cli11": ("libcli11-dev", "BSD-3-Clause"),
    "fmt": ("libfmt-dev", "MIT"),
    "glibc": ("libc6-dev", "LGPL-2.1-or-later"),
    "jemalloc": ("libjemalloc-dev", "BSD-2-Clause"),
    "libpq": ("libpq-dev", "PostgreSQL"),
    "libstdc++": ("libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "nlohmann-json": ("nlohmann-json3-dev", "MIT"),
    "openssl": ("libssl-dev", "Apache-2.0"),
    "prometheus-cpp": ("prometheus-cpp-dev", "MIT"),
    "spdlog": ("libspdlog-dev", "MIT"),
    "tomlplusplus": ("libtomlplusplus-dev", "MIT"),
}
#: The licences of the pieces of the runtime's manifest. `None`: it is this project's own.
PIECES = {
    "pyodide": "MPL-2.0",
    "numpy": "BSD-3-Clause",
    "chainer": "MIT",
    "six": "MIT",
    "packaging": "Apache-2.0 OR BSD-2-Clause",
    "colorlog": "MIT",
    "tqdm": "MPL-2.0 AND MIT",
    "optuna": "MIT",
    "worker": None,
    "arraycore": None,
}
#: What a wheel with a server needs of PyPI; the licences are as those projects state them.
PYTHON_LICENCES = {
    "msgspec": "BSD-3-Clause",
    "numpy": "BSD-3-Clause",
    "rich": "MIT",
    "segno": "BSD-3-Clause",
    "tqdm": "MPL-2.0 AND MIT",
    "typer": "MIT",
    "urllib3": "MIT",
    "websockets": "BSD-3-Clause",
}

Component = dict[str, Any]


class SbomError(Exception):
    """The bill cannot be written; the message says what is unknown."""


def component(
    name: str, version: str, licence: str, purl: str, part: str, sha256: str | None = None
) -> Component:
    """Return a library. ``part`` is the product that carries it."""
    found: Component = {
        "type": "library",
        "bom-ref": f"{part}/{purl}",
        "name": name,
        "version": version,
        "licenses": [{"expression": licence}],
        "purl": purl,
        "properties": [{"name": "hyperflock:part", "value": part}],
    }
    if sha256 is not None:
        found["hashes"] = [{"alg": "SHA-256", "content": sha256}]
    return found


def debian_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of these packages on this machine."""
    command = ["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *packages]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SbomError(f"the versions of Debian's packages are unknown: {error}") from None
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def of_server(root: Path) -> Iterator[Component]:
    """Return what the server's program carries or is linked with."""
    versions = debian_versions(package for package, _ in CPP_LIBRARIES.values())
    for name, (package, licence) in CPP_LIBRARIES.items():
        version = versions[package]
        purl = f"pkg:deb/debian/{quote(package)}@{quote(version, safe='.-~')}?distro=bookworm"
        yield component(name, version, licence, purl, "server")
    pin = json.loads((root / "server/sqlite/pin.json").read_text())
    source = next(path for path in pin["members"] if path.endswith(".c"))
    yield component(
        "sqlite",
        pin["version"],
        "blessing",
        f"pkg:generic/sqlite@{pin['version']}",
        "server",
        pin["members"][source],
    )


def of_pages(root: Path) -> Iterator[Component]:
    """Return the npm packages whose code the pages and the volunteer for Node have."""
    packages = json.loads((root / "package-lock.json").read_text())["packages"]
    waiting = ["web-client", "worker-runtime"]
    seen = set()
    while waiting:
        entry = packages[waiting.pop()]
        for name in entry.get("dependencies", {}):
            place = f"node_modules/{name}"
            if place in seen or packages[place].get("link"):
                continue
            seen.add(place)
            waiting.append(place)
    for place in sorted(seen):
        entry, name = packages[place], place.removeprefix("node_modules/")
        if "license" not in entry:
            raise SbomError(f"package-lock.json names no licence of {name}")
        purl = f"pkg:npm/{name.replace('@', '%40')}@{entry['version']}"
        yield component(name, entry["version"], entry["license"], purl, "pages")


def of_runtime(root: Path) -> Iterator[Component]:
    """Return what a volunteer's browser downloads to run trials."""
    manifest = json.loads((root / "worker-runtime/runtime/manifest.json").read_text())
    for piece in manifest["pieces"]:
        name = piece["name"].removesuffix(f"-{piece['version']}")
        if name not in PIECES:
            raise SbomError(f"deploy/sbom.py knows no licence of {name}, which the runtime has")
        licence = PIECES[name]
        if licence is None:
            continue
        kind = "npm" if name == "pyodide" else "pypi"
        purl = f"pkg:{kind}/{name}@{piece['version']}"
        yield component(name, piece["version"], licence, purl, "runtime", piece["sha256"])


def of_package(root: Path) -> Iterator[Component]:
    """Return what the Python package needs, in the versions that its tests use."""
    project = tomllib.loads((root / "python/pyproject.toml").read_text())["project"]
    locked = dict(
        re.findall(
            r"^([\w.-]+)==([^\s;]+)", (root / "python/requirements/dev.txt").read_text(), re.M
        )
    )
    for wanted in project["dependencies"]:
        name = re.split(r"[<>=!~ \[]", wanted)[0]
        if name not in PYTHON_LICENCES or name not in locked:
            raise SbomError(f"deploy/sbom.py knows no licence or version of {name}")
        purl = f"pkg:pypi/{name}@{locked[name]}"
        yield component(name, locked[name], PYTHON_LICENCES[name], purl, "package")


def bill(root: Path) -> dict[str, Any]:
    """Return the bill of materials of a tree."""
    version = re.search(
        r"^project\(hyperflock VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.M
    )
    if version is None:
        raise SbomError("CMakeLists.txt names no version")
    parts = [*of_server(root), *of_pages(root), *of_runtime(root), *of_package(root)]
    parts.sort(key=lambda one: str(one["bom-ref"]))
    product = {
        "type": "application",
        "bom-ref": "hyperflock",
        "name": "hyperflock",
        "version": version[1],
        "licenses": [{"expression": "MIT"}],
    }
    made: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": product},
        "components": parts,
        "dependencies": [{"ref": "hyperflock", "dependsOn": [one["bom-ref"] for one in parts]}],
    }
    content = json.dumps(made, sort_keys=True)
    return {"serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}", **made}


def main() -> int:
    """Write the bill and print how much it lists."""
    parser = argparse.ArgumentParser(description="Write the software bill of materials.")
    parser.add_argument("--out", type=Path, default=ROOT / "build/sbom.cdx.json")
    options = parser.parse_args()
    try:
        made = bill(ROOT)
    except SbomError as error:
        print(f"run: {error}", file=sys.stderr)
        return 1
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(made, indent=2, sort_keys=True) + "\n")
    print(f"{len(made['components'])} components: {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
