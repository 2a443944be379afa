"""Tests the structure of docker-compose.yml and of the Dockerfile, as far as operators rely on it.

The tests need no container engine. They compare the names in both files with what exists in the
tree and in the server.
"""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
DOCKERFILE = (ROOT / "deploy/server.Dockerfile").read_text()


@pytest.fixture(scope="module")
def service() -> dict[str, Any]:
    """Return the server's entry in the compose file."""
    compose: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert set(compose["services"]) == {"server"}
    assert set(compose["volumes"]) == {"state"}
    result: dict[str, Any] = compose["services"]["server"]
    return result


def test_insecure_goes_with_loopback_ports_only(service: dict[str, Any]) -> None:
    assert "--insecure" in service["command"]
    assert service["ports"], "no port is published"
    for port in service["ports"]:
        assert re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port), (
            f"{port} is reachable from other machines"
        )


def test_published_ports_are_those_the_server_binds(service: dict[str, Any]) -> None:
    bound = {
        re.search(r":(\d+)$", word)[1]  # type: ignore[index]
        for word in service["command"]
        if word.startswith(("--compute", "--console"))
    }
    published = {port.rsplit(":", 1)[1] for port in service["ports"]}
    assert bound == published


def test_container_cannot_write_but_its_state(service: dict[str, Any]) -> None:
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    state = next(w.split("=")[1] for w in service["command"] if w.startswith("--state="))
    assert [v.split(":")[1] for v in service["volumes"]] == [state]
    assert f"VOLUME {state}" in DOCKERFILE


def test_image_runs_as_an_ordinary_user() -> None:
    final = DOCKERFILE[DOCKERFILE.rindex("FROM ") :]
    users = re.findall(r"^USER (\S+)$", final, re.MULTILINE)
    assert users == ["10001"]
    assert final.index("USER") < final.index("ENTRYPOINT")


def test_copied_paths_are_what_the_build_makes() -> None:
    for path in re.findall(r"COPY --from=build /src/(\S+)", DOCKERFILE):
        assert path.startswith("build/"), path
    assert "./run build" in DOCKERFILE


def test_health_check_is_the_servers_own(service: dict[str, Any]) -> None:
    assert service["healthcheck"]["test"][:3] == ["CMD", "hyperflock-server", "healthcheck"]


def test_every_flag_is_one_the_server_knows(service: dict[str, Any]) -> None:
    binary = ROOT / "build/release/bin/hyperflock-server"
    known = subprocess.run([binary, "serve", "--help"], capture_output=True, text=True, check=True)
    for word in service["command"][1:]:
        flag = word.split("=")[0]
        assert re.search(rf"{flag}\b", known.stdout), f"the server has no {flag}"


def test_server_links_only_libraries_of_the_image() -> None:
    """Each shared library that is not in the base image belongs to a package that the image
    installs.
    """
    binary = ROOT / "build/release/bin/hyperflock-server"
    linked = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
    base = ("libc.so", "libm.so", "libgcc_s", "libstdc++", "ld-linux", "linux-vdso", "libz.so")
    packages = DOCKERFILE[DOCKERFILE.rindex("FROM ") :]
    prefixes = {
        "libssl": "libssl3",
        "libcrypto": "libssl3",
        "libspdlog": "libspdlog1.10",
        "libfmt": "libfmt9",
        "libprometheus-cpp-core": "libprometheus-cpp-core1.0",
    }
    for line in linked.splitlines():
        name = line.split()[0].rsplit("/", 1)[-1]
        if name.startswith(base):
            continue
        package = next((p for prefix, p in prefixes.items() if name.startswith(prefix)), None)
        assert package is not None, f"{name}: no package of the image has it"
        assert package in packages
