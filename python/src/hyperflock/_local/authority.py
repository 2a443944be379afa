"""A certificate authority of this machine, with which phones of the same network trust its server.

    authority = Authority(data_folder() / "authority")
    made = authority.certificate(["192.168.1.20", "127.0.0.1"], ["laptop.local", "localhost"])
    made.certificate, made.key           # PEM files for the server
    authority.root, authority.fingerprint()

The authority's key stays in its folder, readable by its owner alone. Its certificate is valid for a
year and allows only the names of this machine and the addresses of its networks, so that whoever
steals the key cannot imitate other sites. A machine that comes into another network gets another
authority. The extra ``share`` brings the package ``cryptography``, which does the work.
Functions block; one process at a time uses a folder.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib.util
import ipaddress
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperflock._base.errors import HyperflockError
from hyperflock._transport.settings import AUTHORITY_FILE

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

_ROOT_KEY = "ca-key.pem"
_LEAF = "server.pem"
_LEAF_KEY = "server-key.pem"

_ROOT_DAYS = 365
# Phones refuse certificates that are valid for more than 825 days.
_LEAF_DAYS = 90
_RENEW_DAYS = 30
# A certificate is valid from one day before it is made, because phones' clocks may be slow.
_EARLIER = datetime.timedelta(days=1)
# The length in bits of a network's prefix, by version of the Internet Protocol. An authority is
# valid for the network of an address, because the machine may get another address there.
_PREFIX = {4: 24, 6: 64}

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Made:
    """A certificate for the server.

    Attributes
    ----------
    certificate, key : Path
        PEM files.
    is_new : bool
        Whether they were written by this call.
    is_new_root : bool
        Whether the authority is new too: phones have to trust it first.
    """

    certificate: Path
    key: Path
    is_new: bool
    is_new_root: bool


def has_cryptography() -> bool:
    """Return whether the package that makes certificates is installed."""
    return importlib.util.find_spec("cryptography") is not None


class Authority:
    """The authority of one folder.

    Parameters
    ----------
    folder
        The folder, which is created when it is first needed.
    now
        The time that counts as the present, for tests. None means the clock's time.
    """

    def __init__(self, folder: Path, now: datetime.datetime | None = None) -> None:
        self._folder = folder
        self._fixed_now = now

    @property
    def root(self) -> Path:
        """The authority's certificate, a PEM file."""
        return self._folder / AUTHORITY_FILE

    def fingerprint(self) -> str:
        """Return the SHA-256 of the authority's certificate, as phones show it."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes

        digest = x509.load_pem_x509_certificate(self.root.read_bytes()).fingerprint(hashes.SHA256())
        return digest.hex(":").upper()

    def certificate(self, addresses: Sequence[str], names: Sequence[str]) -> Made:
        """Return a certificate for addresses and host names; make or renew it if that is needed.

        Parameters
        ----------
        addresses
            The first one is the one that phones use. A new authority is made if the present one
            does not allow it.
        names
            Host names. An authority that allows a name allows every name below it. So a top-level
            domain such as ``dev`` must not be among them.

        The certificate leaves out names and further addresses that the authority does not allow.
        They may come and go, with virtual networks for example, and phones must not have to trust
        a new authority for them.

        Raises
        ------
        HyperflockError
            ``cannot_write``: the folder cannot hold the files.
        """
        ips = [ipaddress.ip_address(address) for address in addresses]
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            root = self._read_root(ips[0])
            is_new_root = root is None
            certificate, key = root or self._make_root(ips, names)
            networks, hosts = _allowed(certificate)
            ips = [ip for ip in ips if any(ip in network for network in networks)]
            names = [name for name in names if name in hosts]
            is_new = is_new_root or not self._is_good_leaf(certificate, ips, names)
            if is_new:
                self._make_leaf(certificate, key, ips, names)
        except OSError as error:
            raise HyperflockError(
                f"'{self._folder}' cannot hold the certificate: {error.strerror or error}",
                code="cannot_write",
            ) from None
        return Made(self._folder / _LEAF, self._folder / _LEAF_KEY, is_new, is_new_root)

    @property
    def _now(self) -> datetime.datetime:
        return self._fixed_now or datetime.datetime.now(datetime.timezone.utc)

    def _read_root(
        self, ip: _Address
    ) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None:
        """Return the authority. Return None if it is missing, ends soon or does not allow the
        address, or if it allows more or is valid for longer than one that this class makes.
        """
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            certificate = x509.load_pem_x509_certificate(self.root.read_bytes())
            key = load_pem_private_key((self._folder / _ROOT_KEY).read_bytes(), None)
        except (FileNotFoundError, ValueError):
            return None
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            return None
        if certificate.public_key() != key.public_key():
            return None
        end = certificate.not_valid_after_utc
        is_long = end - certificate.not_valid_before_utc > datetime.timedelta(days=_ROOT_DAYS)
        ends_soon = end - self._now <= datetime.timedelta(days=_RENEW_DAYS)
        networks, _ = _allowed(certificate)
        is_wide = any(network.prefixlen < _PREFIX[network.version] for network in networks)
        if is_long or ends_soon or is_wide or not any(ip in network for network in networks):
            return None
        return certificate, key

    def _make_root(
        self, ips: Sequence[_Address], names: Sequence[str]
    ) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        networks = dict.fromkeys(
            ipaddress.ip_network((ip, _PREFIX[ip.version]), strict=False) for ip in ips
        )
        permitted: list[x509.GeneralName] = [x509.IPAddress(network) for network in networks]
        permitted += [x509.DNSName(name) for name in dict.fromkeys(names)]
        host = next(iter(names), "this machine")
        subject = _name(f"Hyperflock on {host}"[:64])
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _EARLIER)
            .not_valid_after(self._now - _EARLIER + datetime.timedelta(days=_ROOT_DAYS))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(x509.NameConstraints(permitted, None), critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
            .sign(key, hashes.SHA256())
        )
        self._write_pair(_ROOT_KEY, key, AUTHORITY_FILE, [certificate])
        return certificate, key

    def _is_good_leaf(
        self, root: x509.Certificate, ips: Sequence[_Address], names: Sequence[str]
    ) -> bool:
        from cryptography import x509
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            leaf = x509.load_pem_x509_certificate((self._folder / _LEAF).read_bytes())
            key = load_pem_private_key((self._folder / _LEAF_KEY).read_bytes(), None)
            leaf.verify_directly_issued_by(root)
            named = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except (FileNotFoundError, ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
            return False
        left = leaf.not_valid_after_utc - self._now
        return (
            leaf.public_key() == key.public_key()
            and left > datetime.timedelta(days=_RENEW_DAYS)
            and set(ips) <= set(named.get_values_for_type(x509.IPAddress))
            and set(names) <= set(named.get_values_for_type(x509.DNSName))
        )

    def _make_leaf(
        self,
        root: x509.Certificate,
        root_key: ec.EllipticCurvePrivateKey,
        ips: Sequence[_Address],
        names: Sequence[str],
    ) -> None:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import ExtendedKeyUsageOID

        key = ec.generate_private_key(ec.SECP256R1())
        alternatives: list[x509.GeneralName] = [x509.IPAddress(ip) for ip in ips]
        alternatives += [x509.DNSName(name) for name in dict.fromkeys(names)]
        certificate = (
            x509.CertificateBuilder()
            .subject_name(_name("Hyperflock server"))
            .issuer_name(root.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _EARLIER)
            .not_valid_after(
                min(self._now + datetime.timedelta(days=_LEAF_DAYS), root.not_valid_after_utc)
            )
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()),
                critical=False,
            )
            .sign(root_key, hashes.SHA256())
        )
        self._write_pair(_LEAF_KEY, key, _LEAF, [certificate, root])

    def _write_pair(
        self,
        key_name: str,
        key: ec.EllipticCurvePrivateKey,
        name: str,
        certificates: Sequence[x509.Certificate],
    ) -> None:
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        public = b"".join(each.public_bytes(Encoding.PEM) for each in certificates)
        _write(self._folder / key_name, secret, 0o600)
        _write(self._folder / name, public, 0o644)


def _allowed(root: x509.Certificate) -> tuple[list[_Network], set[str]]:
    """Return the networks and the names that an authority allows."""
    from cryptography import x509

    constraints = root.extensions.get_extension_for_class(x509.NameConstraints).value
    given = constraints.permitted_subtrees or []
    networks = [ipaddress.ip_network(o.value) for o in given if isinstance(o, x509.IPAddress)]
    return networks, {one.value for one in given if isinstance(one, x509.DNSName)}


def _name(text: str) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a file whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # of mode 0600
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
