"""Tests the structure of docker-compose.yml and of the Dockerfile, as far as operators rely on it.

The tests need no container engine. They compare the names in both files with what exists in the
tree and in the server. tests/compose runs the services.

What deploy/compose/postgres.yml adds is a part of ``SERVICES``, too.
"""

import ipaddress
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
DOCKERFILE = (ROOT / "deploy/image/server.Dockerfile").read_text()
ROOTFS = (ROOT / "deploy/image/rootfs.sh").read_text()
CADDYFILE = (ROOT / "deploy/compose/Caddyfile").read_text()
COMPOSE = (ROOT / "docker-compose.yml").read_text()
FILE: dict[str, Any] = yaml.safe_load(COMPOSE)
OVERLAY = (ROOT / "deploy/compose/postgres.yml").read_text()
POSTGRES: dict[str, Any] = yaml.safe_load(OVERLAY)
DATABASE = POSTGRES["services"]["database"]
SERVICES: dict[str, dict[str, Any]] = FILE["services"] | {"database": DATABASE}
BINARY = ROOT / "build/release/bin/hyperflock-server"
#: Services of the project that run only while a command does.
ONCE = {"backup", "sampler"}
#: Services that wait for no server.
FIRST = {"server", "database"}


def test_the_compose_file_is_valid() -> None:
    """The schema is that of Debian's docker-compose; it refuses keys that it does not have."""
    schema = json.loads((ROOT / "build/cache/compose_spec.json").read_text())
    validator = jsonschema.Draft7Validator(schema)
    for file in (FILE, POSTGRES):
        assert [error.message for error in validator.iter_errors(file)] == []
    assert not validator.is_valid(yaml.safe_load(COMPOSE.replace("restart:", "restarts:")))


def test_only_caddy_is_reachable_from_outside() -> None:
    assert {name for name, one in SERVICES.items() if "ports" in one} == {"caddy"}
    assert {name for name, one in SERVICES.items() if "outside" in one.get("networks", [])} == {
        "caddy"
    }
    assert FILE["networks"]["inside"]["internal"] is True


def test_what_has_no_tls_is_published_on_loopback_only() -> None:
    """Caddy does TLS at every port but these; the server does none."""
    environment = SERVICES["server"]["environment"]
    assert environment["HYPERFLOCK_INSECURE"] == "true"
    plain = set(re.findall(r"^http://\S*:(\d+)[, {]", CADDYFILE, re.MULTILINE))
    assert plain == {"8791", "8792", "8081", "8082"}
    for port in SERVICES["caddy"]["ports"]:
        inside = port.split("/")[0].rsplit(":", 1)[1]
        if inside in plain:
            assert port.startswith("127.0.0.1:"), f"{port} is reachable from other machines"
    # The console stays on this machine until the operator says otherwise.
    assert "${HYPERFLOCK_CONSOLE_BIND:-127.0.0.1}:8443:8443" in SERVICES["caddy"]["ports"]


def test_the_server_trusts_caddys_address_alone() -> None:
    trusted = SERVICES["server"]["environment"]["HYPERFLOCK_TRUSTED_PROXY"]
    assert trusted == SERVICES["caddy"]["networks"]["inside"]["ipv4_address"]
    (subnet,) = (one["subnet"] for one in FILE["networks"]["inside"]["ipam"]["config"])
    assert ipaddress.ip_address(trusted) in ipaddress.ip_network(subnet)


def test_join_links_name_the_host_that_phones_open() -> None:
    environment = SERVICES["server"]["environment"]
    assert environment["HYPERFLOCK_PUBLIC_URL"].startswith("https://${HYPERFLOCK_HOST:?")
    assert environment["HYPERFLOCK_CONSOLE_URL"] == "https://${HYPERFLOCK_HOST}:8443"
    assert {"https://{$HYPERFLOCK_HOST} {", "https://{$HYPERFLOCK_HOST}:8443 {"} <= set(
        CADDYFILE.splitlines()
    )


def test_caddy_passes_to_the_addresses_where_the_server_listens() -> None:
    environment = SERVICES["server"]["environment"]
    listens = {environment[f"HYPERFLOCK_{name}"] for name in ("COMPUTE", "CONSOLE")}
    passed = set(re.findall(r"reverse_proxy server:(\d+)", CADDYFILE))
    assert {address.rsplit(":", 1)[1] for address in listens} == passed


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_may_little_and_uses_little(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert set(service.get("cap_add", [])) <= {"NET_BIND_SERVICE"}
    assert "no-new-privileges:true" in service["security_opt"]
    assert "mem_limit" in service
    assert "pids_limit" in service
    assert {"max-size", "max-file"} == set(service["logging"]["options"])
    if name not in ONCE:
        assert service["restart"] == "unless-stopped"
        assert "healthcheck" in service
        assert service["ulimits"]["nofile"] >= 65_536


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_starts_after_those_that_it_needs_are_healthy(name: str) -> None:
    for needed in SERVICES[name].get("depends_on", {}).values():
        assert needed["condition"] == "service_healthy"
    # All wait for the server, some of them because they wait for Caddy or for Prometheus.
    needed = SERVICES[name].get("depends_on", {})
    assert (name in FIRST) != bool({"server", "caddy", "prometheus"} & set(needed))


def test_a_backup_is_made_once_and_without_a_network() -> None:
    backup = SERVICES["backup"]
    assert backup["profiles"] == ["backup"]
    assert backup["network_mode"] == "none"
    assert backup["restart"] == "no"
    # The server writes it, so both have the folder at the same place.
    for service in ("server", "backup"):
        assert "${HYPERFLOCK_BACKUPS:-backups}:/backups" in SERVICES[service]["volumes"]
    assert "COPY --from=system --chown=10001:10001 /state /backups" in DOCKERFILE
    assert backup["image"] == SERVICES["server"]["image"]


def test_secrets_are_files_and_no_variable_is_one() -> None:
    assert all(set(secret) == {"file"} for secret in FILE["secrets"].values())
    sampler = SERVICES["sampler"]
    (secret,) = sampler["secrets"]
    assert sampler["environment"]["HYPERFLOCK_TOKEN_FILE"] == f"/run/secrets/{secret}"
    for service in SERVICES.values():
        for name in service.get("environment", {}):
            assert not re.search(r"TOKEN$|PASSWORD$|SECRET$|KEY$", name), name
    # The files that operators make in the checkout are neither committed nor sent to the engine.
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    made = {"sampler-token", "monitoring-token", "credentials.json", ".env"}
    assert {f"/{name}" for name in made} <= set(ignored)
    kept_out = (ROOT / ".dockerignore").read_text().splitlines()
    assert made <= set(kept_out)


def test_only_the_server_shares_a_network_with_its_database() -> None:
    assert DATABASE["networks"] == ["database"]
    assert POSTGRES["networks"] == {"database": {"internal": True}}
    assert POSTGRES["services"]["server"]["networks"] == ["database"]
    assert not any(
        "database" in one["networks"] for one in FILE["services"].values() if "networks" in one
    )
    # The server reads the password and cannot change it.
    (volume,) = POSTGRES["services"]["server"]["volumes"]
    name, folder, mode = volume.split(":")
    assert f"{name}:{folder}" in DATABASE["volumes"]
    assert mode == "ro"
    variables = POSTGRES["services"]["server"]["environment"]
    assert variables["HYPERFLOCK_DATABASE_PASSWORD_FILE"].startswith(f"{folder}/")


def test_the_start_of_the_database_runs_the_version_of_its_image() -> None:
    dockerfile = (ROOT / "deploy/image/postgres.Dockerfile").read_text()
    script = (ROOT / "deploy/image/postgres.sh").read_text()
    (version,) = re.findall(r"^version=(\d+)$", script, re.MULTILINE)
    assert set(re.findall(r"postgresql[-/](\d+)", dockerfile)) == {version}


def test_prometheus_asks_the_server_as_its_rules_name_it() -> None:
    """Debian's promtool reads the file and the rules where the compose file mounts them."""
    config = ROOT / "deploy/compose/prometheus.yml"
    mounts = [one.split(":") for one in SERVICES["prometheus"]["volumes"]]
    places = {target: ROOT / source for source, target, *_ in mounts if source.startswith(".")}
    loaded = yaml.safe_load(config.read_text())
    (rules,) = loaded["rule_files"]
    assert places[rules] == ROOT / "deploy/monitoring/alerts.yml"
    (job,) = loaded["scrape_configs"]
    (secret,) = SERVICES["prometheus"]["secrets"]
    assert job["job_name"] == "hyperflock"
    assert job["authorization"]["credentials_file"] == f"/run/secrets/{secret}"
    console = SERVICES["server"]["environment"]["HYPERFLOCK_CONSOLE"].rsplit(":", 1)[1]
    assert job["static_configs"] == [{"targets": [f"server:{console}"]}]
    promtool = ROOT / "build/cache/debian/promtool"
    for words in (["check", "config", "--syntax-only", config], ["check", "rules", places[rules]]):
        done = subprocess.run([promtool, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_grafana_finds_prometheus_and_the_board() -> None:
    grafana = SERVICES["grafana"]
    places = {one.split(":")[1]: ROOT / one.split(":")[0] for one in grafana["volumes"]}
    read = {target: yaml.safe_load(path.read_text()) for target, path in places.items()}
    provisioned = "/etc/grafana/provisioning"
    (source,) = read[f"{provisioned}/datasources/hyperflock.yml"]["datasources"]
    assert source["url"] == "http://prometheus:9090"
    assert source["isDefault"]
    (provider,) = read[f"{provisioned}/dashboards/hyperflock.yml"]["providers"]
    board = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert board.startswith(f"{provider['options']['path']}/")
    assert places[board] == ROOT / "deploy/monitoring/board.json"
    # Each panel asks the source that the board's variable names, and the only one is the default.
    (variable,) = read[board]["templating"]["list"]
    assert variable["query"] == source["type"]
    for panel in read[board]["panels"]:
        assert panel["datasource"] == {"type": source["type"], "uid": f"${{{variable['name']}}}"}
    assert grafana["environment"]["GF_AUTH_BASIC_ENABLED"] == "false"
    assert "ports" not in grafana


def test_every_image_of_others_is_named_by_its_digest() -> None:
    version = SERVICES["server"]["image"].split(":")[1]
    for service in SERVICES.values():
        if service["image"].startswith("hyperflock-"):
            assert service["image"].endswith(f":{version}")
        else:
            assert re.search(r":[^:@]+@sha256:[0-9a-f]{64}$", service["image"])
    bases = {
        base
        for file in (ROOT / "deploy/image").glob("*.Dockerfile")
        for base in re.findall(r"^ARG BASE=(\S+)$", file.read_text(), re.MULTILINE)
    }
    (base,) = bases
    assert re.search(r"@sha256:[0-9a-f]{64}$", base)


def test_every_volume_is_declared_and_every_mounted_file_is_there() -> None:
    volumes = [volume for one in SERVICES.values() for volume in one.get("volumes", [])]
    # A name that the operator may replace by a folder counts as the default.
    used = {re.sub(r"\$\{\w+:-(.*?)\}", r"\1", volume).split(":")[0] for volume in volumes}
    declared = {*FILE["volumes"], *POSTGRES["volumes"]}
    assert {name for name in used if not name.startswith(".")} == declared
    for path in used - declared:
        assert (ROOT / path).is_file(), path


def test_the_state_is_a_volume_of_the_servers_user() -> None:
    (state,) = re.findall(r"HYPERFLOCK_STATE=(\S+)", DOCKERFILE)
    assert f"state:{state}" in SERVICES["server"]["volumes"]
    assert f"VOLUME {state}" in DOCKERFILE
    assert f"COPY --from=system --chown=10001:10001 /state {state}" in DOCKERFILE


def test_image_runs_as_an_ordinary_user() -> None:
    final = DOCKERFILE[DOCKERFILE.rindex("FROM ") :]
    users = re.findall(r"^USER (\S+)$", final, re.MULTILINE)
    assert users == ["10001"]
    assert final.index("USER") < final.index("ENTRYPOINT")
    assert final.startswith("FROM scratch")


def test_copied_paths_are_what_the_build_makes() -> None:
    for path in re.findall(r"COPY --from=build /src/(\S+)", DOCKERFILE):
        assert path.startswith("build/"), path
    assert "./run build" in DOCKERFILE


def test_health_check_is_the_servers_own() -> None:
    health = SERVICES["server"]["healthcheck"]["test"]
    assert health[:3] == ["CMD", "hyperflock-server", "healthcheck"]


def test_every_variable_is_a_setting_that_the_server_knows() -> None:
    shown = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, check=True)
    variables = re.findall(r"HYPERFLOCK_[A-Z]+", DOCKERFILE)
    added = POSTGRES["services"]["server"]["environment"]
    for variable in {*SERVICES["server"]["environment"], *added, *variables}:
        flag = "--" + variable.removeprefix("HYPERFLOCK_").lower().replace("_", "-")
        assert re.search(rf"{flag}\b", shown.stdout), f"the server has no {flag}"


def test_the_example_names_every_variable_of_the_operator() -> None:
    example = (ROOT / ".env.example").read_text()
    asked = set(re.findall(r"(?<!\$)\$\{(\w+)", COMPOSE + OVERLAY))
    assert asked == set(re.findall(r"^#?(HYPERFLOCK_\w+)=", example, re.MULTILINE))
    # As the example is, only the name is set.
    assert re.findall(r"^(\w+)=", example, re.MULTILINE) == ["HYPERFLOCK_HOST"]


def test_server_links_only_libraries_of_the_image() -> None:
    """Each shared library belongs to a package that the image has."""
    linked = subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=True).stdout
    found = re.search(r"^packages=\((.*?)\)$", ROOTFS, re.MULTILINE | re.DOTALL)
    assert found is not None
    packages = found[1].split()
    prefixes = {
        "libc.so": "libc6",
        "libm.so": "libc6",
        "ld-linux": "libc6",
        "libgcc_s": "libgcc-s1",
        "libstdc++": "libstdc++6",
        "libz.so": "zlib1g",
        "libpq": "libpq5",
        "libcom_err": "libcom-err2",
        "libffi": "libffi8",
        "libgmp": "libgmp10",
        "libgnutls": "libgnutls30",
        "libgssapi_krb5": "libgssapi-krb5-2",
        "libhogweed": "libhogweed6",
        "libidn2": "libidn2-0",
        "libk5crypto": "libk5crypto3",
        "libkeyutils": "libkeyutils1",
        "libkrb5.so": "libkrb5-3",
        "libkrb5support": "libkrb5support0",
        "liblber": "libldap-2.5-0",
        "libldap": "libldap-2.5-0",
        "libnettle": "libnettle8",
        "libp11-kit": "libp11-kit0",
        "libresolv": "libc6",
        "libsasl2": "libsasl2-2",
        "libtasn1": "libtasn1-6",
        "libunistring": "libunistring2",
        "libssl": "libssl3",
        "libcrypto": "libssl3",
        "libspdlog": "libspdlog1.10",
        "libfmt": "libfmt9",
        "libprometheus-cpp-core": "libprometheus-cpp-core1.0",
    }
    for line in linked.splitlines():
        name = line.split()[0].rsplit("/", 1)[-1]
        if name.startswith("linux-vdso"):
            continue
        package = next((p for prefix, p in prefixes.items() if name.startswith(prefix)), None)
        assert package is not None, f"{name}: no package of the image has it"
        assert package in packages
