"""Tests a machine's certificate authority: which names its key can certify, which files it keeps,
and when it renews them.
"""

from __future__ import annotations

import datetime
import http.server
import ipaddress
import json
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from hyperflock import HyperflockError, ServerUnreachableError
from hyperflock._local.authority import Authority, Made
from hyperflock._local.share import LanWay, Opened
from hyperflock._local.trust_page import CERTIFICATE, TrustPage, page_html
from hyperflock._transport.background_loop import run
from hyperflock._transport.http import probe

MODULE = "hyperflock._local.authority"
NOW = datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.timezone.utc)
NAMES = ["laptop.local", "localhost"]
MINE = ["192.168.1.20", "127.0.0.1"]


def _leaf(made: Made) -> x509.Certificate:
    return x509.load_pem_x509_certificate(made.certificate.read_bytes())


def _shake_hands(made: Made, root: Path, host: str) -> None:
    """Connect by TLS to a server of ``host``, as a phone that trusts ``root`` would.

    Raises
    ------
    ssl.SSLCertVerificationError
        The phone refuses the certificate.
    """
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(made.certificate, made.key)
    phone = ssl.create_default_context(cafile=str(root))
    near, far = socket.socketpair()
    refused: list[BaseException] = []

    def serve() -> None:
        try:
            with serving.wrap_socket(far, server_side=True) as served:
                served.recv(1)
        except OSError as error:
            refused.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with phone.wrap_socket(near, server_hostname=host):
            pass
    finally:
        near.close()
        thread.join()


def test_phone_that_trusts_the_authority_trusts_the_server(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "authority")
    made = authority.certificate(MINE, NAMES)
    assert (made.is_new, made.is_new_root) == (True, True)
    for host in (*MINE, *NAMES):
        _shake_hands(made, authority.root, host)
    with pytest.raises(ssl.SSLCertVerificationError, match="not valid for"):
        _shake_hands(made, authority.root, "192.168.1.21")
    assert (tmp_path / "authority").stat().st_mode & 0o777 == 0o700
    for secret in (made.key, tmp_path / "authority" / "ca-key.pem"):
        assert secret.stat().st_mode & 0o777 == 0o600
    leaf = _leaf(made)
    assert leaf.not_valid_after_utc - leaf.not_valid_before_utc < datetime.timedelta(days=398)
    text = authority.fingerprint()
    der = ssl.PEM_cert_to_DER_cert(authority.root.read_text())
    assert text == x509.load_der_x509_certificate(der).fingerprint(hashes.SHA256()).hex(":").upper()


def test_this_package_trusts_the_authority_for_its_own_server_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERFLOCK_HOME", str(tmp_path))
    made = Authority(tmp_path / "authority").certificate(MINE, NAMES)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    port = server.server_port

    def answers(host: str) -> bool:
        try:
            return run(probe(f"https://{host}:{port}/nothing")).status == 404
        except ServerUnreachableError as error:
            return "certificate verify failed" not in error.message

    def ready(console: int, compute: int) -> None:
        told = {"console": f"https://127.0.0.1:{console}", "compute_port": compute}
        (tmp_path / "ready.json").write_text(json.dumps(told))

    try:
        assert not answers("127.0.0.1")  # no server runs here
        ready(console=port + 1, compute=port + 2)
        assert not answers("127.0.0.1")  # it is another server
        ready(console=port, compute=port + 2)
        assert answers("127.0.0.1")
        ready(console=port + 1, compute=port)
        assert [answers(host) for host in ("127.0.0.1", "localhost")] == [True, True]
        made.certificate.with_name("ca.pem").write_text("no certificate")
        assert not answers("127.0.0.1")
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


@pytest.mark.parametrize(
    ("addresses", "names", "host"),
    [
        (["8.8.8.8"], [], "8.8.8.8"),
        ([], ["bank.example.org"], "bank.example.org"),
        # Hosts of other private networks than the machine's own, such as another household's router
        # and printer.
        (["192.168.2.1"], [], "192.168.2.1"),
        (["10.0.0.1"], [], "10.0.0.1"),
        ([], ["printer.local"], "printer.local"),
        (["fd00::1"], [], "fd00::1"),
    ],
)
def test_stolen_key_vouches_for_no_other_site(
    addresses: list[str], names: list[str], host: str, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    authority.certificate(MINE, NAMES)
    root = x509.load_pem_x509_certificate(authority.root.read_bytes())
    key = load_pem_private_key((tmp_path / "ca-key.pem").read_bytes(), None)
    # This is what a thief of the key can do: make a certificate for another site without the checks
    # of `certificate`.
    authority._make_leaf(root, key, [ipaddress.ip_address(a) for a in addresses], names)  # type: ignore[arg-type]
    forged = Made(tmp_path / "server.pem", tmp_path / "server-key.pem", True, False)
    with pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree violation"):
        _shake_hands(forged, authority.root, host)


def test_certificate_is_kept_until_it_has_to_change(tmp_path: Path) -> None:
    made = Authority(tmp_path, NOW).certificate(MINE, NAMES)
    serial = _leaf(made).serial_number

    def asked(days: float, addresses: Sequence[str] = MINE, names: Sequence[str] = NAMES) -> Made:
        return Authority(tmp_path, NOW + datetime.timedelta(days=days)).certificate(
            addresses, names
        )

    assert asked(59) == Made(made.certificate, made.key, False, False)
    assert asked(59, MINE[:1], NAMES[:1]).is_new is False
    assert _leaf(made).serial_number == serial
    renewed = asked(61)
    assert (renewed.is_new, renewed.is_new_root) == (True, False)
    assert _leaf(made).serial_number != serial
    # The router gives the machine another address of the same network.
    moved = asked(62, ["192.168.1.77", "127.0.0.1"])
    assert (moved.is_new, moved.is_new_root) == (True, False)
    # The machine gets a virtual network and another name. Phones need neither, so the certificate
    # stays.
    more = asked(62, ["192.168.1.77", "172.17.0.1", "127.0.0.1"], ["desk.local", "localhost"])
    assert (more.is_new, more.is_new_root) == (False, False)
    # The machine is taken to another network.
    abroad = asked(63, ["10.1.2.3", "fd00::7:1", "127.0.0.1"])
    assert (abroad.is_new, abroad.is_new_root) == (True, True)
    assert asked(63, ["fd00::8:2"]).is_new_root is False
    assert asked(63, ["fd00:0:0:1::8"]).is_new_root
    assert asked(64).is_new_root
    # Certificates that the authority makes near its own end are valid only until that end.
    assert asked(64 + 333).is_new_root is False
    root = x509.load_pem_x509_certificate((tmp_path / "ca.pem").read_bytes())
    assert _leaf(made).not_valid_after_utc == root.not_valid_after_utc
    assert asked(64 + 335).is_new_root


def test_authority_allows_this_machine_alone_and_for_a_year(tmp_path: Path) -> None:
    authority = Authority(tmp_path, NOW)
    authority.certificate(["192.168.1.20", "192.168.1.21", "fd00::7:1", "127.0.0.1"], NAMES)
    root = x509.load_pem_x509_certificate(authority.root.read_bytes())
    assert root.not_valid_after_utc - root.not_valid_before_utc <= datetime.timedelta(days=365)
    found = root.extensions.get_extension_for_class(x509.NameConstraints)
    assert found.critical
    assert [str(one.value) for one in found.value.permitted_subtrees or []] == [
        *("192.168.1.0/24", "fd00::/64", "127.0.0.0/24", "laptop.local", "localhost")
    ]
    basic = root.extensions.get_extension_for_class(x509.BasicConstraints)
    assert (basic.critical, basic.value.path_length) == (True, 0)


@pytest.mark.parametrize("what", ["_ROOT_DAYS", "_PREFIX"])
def test_authority_that_allows_more_is_made_anew(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(f"{MODULE}.{what}", {"_ROOT_DAYS": 1_825, "_PREFIX": {4: 16, 6: 48}}[what])
        assert Authority(tmp_path).certificate(MINE, NAMES).is_new_root
        assert not Authority(tmp_path).certificate(MINE, NAMES).is_new_root
    assert Authority(tmp_path).certificate(MINE, NAMES).is_new_root


@pytest.mark.parametrize("name", ["ca.pem", "ca-key.pem", "server.pem", "server-key.pem"])
@pytest.mark.parametrize("content", [b"", b"-----BEGIN CERTIFICATE-----\nAAAA", None])
def test_damaged_files_are_made_again(name: str, content: bytes | None, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    made = authority.certificate(MINE, NAMES)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    again = authority.certificate(MINE, NAMES)
    assert (again.is_new, again.is_new_root) == (True, name.startswith("ca"))
    _shake_hands(made, authority.root, MINE[0])


def test_keys_of_two_folders_are_not_mixed(tmp_path: Path) -> None:
    one, two = Authority(tmp_path / "one"), Authority(tmp_path / "two")
    one.certificate(MINE, NAMES)
    two.certificate(MINE, NAMES)
    (tmp_path / "one" / "ca-key.pem").write_bytes((tmp_path / "two" / "ca-key.pem").read_bytes())
    assert one.certificate(MINE, NAMES).is_new_root
    (tmp_path / "one" / "server.pem").write_bytes((tmp_path / "two" / "server.pem").read_bytes())
    made = one.certificate(MINE, NAMES)
    assert (made.is_new, made.is_new_root) == (True, False)
    _shake_hands(made, one.root, MINE[0])


def test_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HyperflockError, match="cannot hold the certificate") as caught:
        Authority(tmp_path / "file" / "inside").certificate(MINE, NAMES)
    assert caught.value.code == "cannot_write"


@pytest.fixture
def page(tmp_path: Path) -> Iterator[tuple[TrustPage, Authority]]:
    authority = Authority(tmp_path)
    authority.certificate(MINE, NAMES)
    with TrustPage("127.0.0.1", 0, authority.root, authority.fingerprint()) as served:
        yield served, authority


def _answer(url: str, method: str = "GET") -> tuple[int, bytes, str]:
    asked = urllib.request.Request(url, method=method)
    try:
        with urllib.request.urlopen(asked) as answer:
            return answer.status, answer.read(), answer.headers["Content-Type"]
    except urllib.error.HTTPError as error:
        with error:
            return error.code, b"", ""


def test_page_has_the_certificate_and_its_fingerprint_and_nothing_else(
    page: tuple[TrustPage, Authority],
) -> None:
    served, authority = page
    status, body, kind = _answer(served.url)
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert body == page_html(authority.fingerprint())
    text = body.decode()
    shown = text.partition('class="print">')[2].partition("</p>")[0]
    shown = shown.replace("<span>", "").replace("</span>", "").replace(" ", ":")
    assert shown == authority.fingerprint()
    assert text.count('lang="ja"') == 2
    assert "{" not in text.partition("</style>")[2]
    assert CERTIFICATE in text
    status, body, kind = _answer(served.url.rstrip("/") + CERTIFICATE)
    assert (status, kind) == (200, "application/x-x509-ca-cert")
    assert body == ssl.PEM_cert_to_DER_cert(authority.root.read_text())
    assert _answer(served.url, "HEAD")[:2] == (200, b"")
    for path in ("ca-key.pem", "../ca-key.pem", "join", "api/project", "%2e%2e/ca-key.pem"):
        assert _answer(served.url + path)[0] == 404
    assert _answer(served.url, "POST")[0] == 501


def test_page_takes_another_port_if_its_own_is_taken(page: tuple[TrustPage, Authority]) -> None:
    served, authority = page
    port = int(served.url.rstrip("/").rpartition(":")[2])
    with TrustPage("127.0.0.1", port, authority.root, "AB") as other:
        assert other.url != served.url
        assert _answer(other.url)[0] == 200
    with pytest.raises(HyperflockError) as caught:
        TrustPage("192.0.2.1", port, authority.root, "AB")
    assert caught.value.code == "cannot_listen"


class _Machine:
    """A machine whose addresses and clock a test sets."""

    def __init__(self) -> None:
        self.addresses = ["127.0.0.1", "127.0.0.2"]
        self.now = 0.0
        self.way = LanWay(lambda: self.addresses, lambda: self.now)

    def open(self, folder: Path) -> Opened:
        return self.way.open(8780, folder)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Machine]:
    """Yield a machine for which 127.0.0.2 counts as an address of its network, because tests use
    only loopback.
    """
    monkeypatch.setattr(
        "hyperflock._local.share._in_network",
        lambda addresses: [a for a in addresses if a != "127.0.0.1"],
    )
    made = _Machine()
    yield made
    made.way.close()


def test_network_gets_a_server_with_a_certificate_and_a_page(
    machine: _Machine, tmp_path: Path
) -> None:
    opened = machine.open(tmp_path)
    assert opened.origin == "https://127.0.0.2:8780"
    assert opened.listens_at == "0.0.0.0"
    assert opened.options[-2:] == ["--public-url", opened.origin]
    assert opened.authority == tmp_path / "authority" / "ca.pem"
    made = Made(Path(opened.options[1]), Path(opened.options[3]), True, True)
    assert opened.authority is not None
    _shake_hands(made, opened.authority, "127.0.0.2")
    assert opened.trust_url.startswith("http://127.0.0.2:")
    assert _answer(opened.trust_url)[0] == 200
    assert machine.way.check() is None
    machine.now = 61.0
    assert machine.way.check() is None
    machine.way.close()
    with pytest.raises(OSError, match="refused"):
        _answer(opened.trust_url)


def test_certificate_that_ends_soon_is_renewed_while_the_server_runs(
    machine: _Machine, tmp_path: Path
) -> None:
    opened = machine.open(tmp_path)
    Path(opened.options[1]).unlink()
    machine.now = 30.0
    assert machine.way.check() is None  # not so often
    machine.now = 61.0
    change = machine.way.check()
    assert change is not None
    assert (change.reads_certificate, change.opened, change.is_lost) == (True, None, False)


def test_machine_that_moves_gets_a_new_address_and_keeps_its_authority(
    machine: _Machine, tmp_path: Path
) -> None:
    first = machine.open(tmp_path)
    machine.now, machine.addresses = 61.0, ["127.0.0.1"]
    assert machine.way.check() is None  # the network is away
    machine.now, machine.addresses = 122.0, ["127.0.0.1", "127.0.0.3"]
    change = machine.way.check()
    assert change is not None
    assert change.text == "this machine's address is 127.0.0.3 now"
    assert change.opened is not None
    assert change.opened.origin == "https://127.0.0.3:8780"
    assert change.opened.fingerprint == first.fingerprint
    assert _answer(change.opened.trust_url)[0] == 200


def test_machine_without_a_network_cannot_share(machine: _Machine, tmp_path: Path) -> None:
    machine.addresses = ["127.0.0.1"]
    with pytest.raises(HyperflockError, match="no address in a local network") as caught:
        machine.open(tmp_path)
    assert caught.value.code == "cannot_share"
