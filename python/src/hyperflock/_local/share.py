"""Ways by which phones reach a server of this machine: a tunnel, or the local network.

    way = find_way(None)             # TunnelWay, LanWay, or None if this machine has none
    opened = way.open(port, folder)  # the origin for volunteers, and options of the server
    way.check()                      # again and again: what has changed
    way.close()

Phones compute only on HTTPS pages. A tunnel ends TLS elsewhere and forwards to loopback. In the
local network the server has a certificate of this machine's own authority, which each phone has to
trust once (authority.py, trust_page.py). Functions block and belong to one thread.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hyperflock._base.errors import HyperflockError
from hyperflock._local.addresses import local_addresses
from hyperflock._local.authority import Authority, Made, has_cryptography
from hyperflock._local.trust_page import TrustPage
from hyperflock._local.tunnel import Tunnel, find_tunnel
from hyperflock._transport.settings import AUTHORITY_FOLDER

NO_WAY = (
    "no way for phones is here: neither cloudflared nor ngrok is on PATH for a tunnel, and the "
    "package cryptography is not installed for a certificate in the local network "
    "(pip install 'hyperflock[share]')"
)

# A tunnel that ends within this many seconds of its restart is not restarted again.
_STEADY_S = 600.0
_LOOK_AT_ADDRESSES_S = 60.0
# Matches one part of a host name. Other names, such as those with an underscore, are not allowed in
# a certificate.
_HOST = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True)
class Opened:
    """What a server has to know about an open way for phones.

    Attributes
    ----------
    origin : str
        The server's origin as volunteers see it.
    options : list of str
        Options of the server's ``serve``.
    listens_at : str
        The host at which the server listens for volunteers.
    trust_url : str
        The page by which a phone trusts the certificate; empty if no phone needs it.
    fingerprint : str
        The SHA-256 of the authority's certificate; empty without an authority.
    authority : Path or None
        The authority's certificate, for volunteers on this machine.
    """

    origin: str
    options: list[str] = field(default_factory=list)
    listens_at: str = "127.0.0.1"
    trust_url: str = ""
    fingerprint: str = ""
    authority: Path | None = None


@dataclass(frozen=True)
class Change:
    """A change that `Way.check` has found.

    Attributes
    ----------
    text : str
        A sentence about the change.
    opened : Opened or None
        The new state of the way if the server has to start again because of it, otherwise None.
    reads_certificate : bool
        Whether the server has to read its certificate again.
    is_lost : bool
        Whether phones do not reach the server any more.
    """

    text: str
    opened: Opened | None = None
    reads_certificate: bool = False
    is_lost: bool = False


class Way(ABC):
    """A way by which phones reach the server: a tunnel or the local network."""

    @abstractmethod
    def open(self, port: int, folder: Path) -> Opened:
        """Let phones reach ``port``, on which no server listens yet. Files are written into
        ``folder``.

        Raises
        ------
        HyperflockError
            ``tunnel_failed``, ``cannot_share``, ``cannot_listen`` or ``cannot_write``.
        """

    @abstractmethod
    def check(self) -> Change | None:
        """Return what has changed since the last check; None if nothing has."""

    @abstractmethod
    def close(self) -> None:
        """Close the way; it may be closed already."""


def find_way(name: str | None) -> Way | None:
    """Return the named way. Without a name, return a tunnel if its program is installed, or else
    the local network.

    Parameters
    ----------
    name
        ``cloudflared``, ``ngrok``, ``lan``, or None for the first one that this machine has.

    Raises
    ------
    HyperflockError
        ``cannot_share``: this machine does not have the named one.
    """
    if name != "lan":
        if program := find_tunnel(name):
            return TunnelWay(lambda port, folder: Tunnel(program, port, folder))
        if name is not None:
            raise HyperflockError(f"{name} is not on PATH", code="cannot_share")
    if has_cryptography():
        return LanWay()
    if name is None:
        return None
    raise HyperflockError(
        "a certificate for the local network needs the package cryptography: "
        "pip install 'hyperflock[share]'",
        code="cannot_share",
    )


class TunnelWay(Way):
    """A tunnel. If it ends, it is restarted, unless it was restarted a short time before."""

    def __init__(
        self,
        make: Callable[[int, Path], Tunnel],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make = make
        self._clock = clock
        self._tunnel: Tunnel | None = None
        self._origin = ""
        self._restarted_at: float | None = None

    def open(self, port: int, folder: Path) -> Opened:
        """Start the tunnel."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._tunnel = self._make(port, folder)
        self._origin = self._tunnel.start()
        return Opened(self._origin, ["--public-url", self._origin])

    def check(self) -> Change | None:
        """Restart a tunnel that has ended, unless it ended soon after the last restart."""
        tunnel = self._tunnel
        if tunnel is None or (problem := tunnel.problem()) is None:
            return None
        tunnel.stop()
        ended = f"the tunnel of {tunnel.name} is closed ({problem})"
        now = self._clock()
        if self._restarted_at is not None and now - self._restarted_at < _STEADY_S:
            self._tunnel = None
            return Change(f"{ended}; phones do not reach the server any more", is_lost=True)
        self._restarted_at = now
        try:
            origin = tunnel.start()
        except HyperflockError as error:
            self._tunnel = None
            return Change(
                f"{ended}, and {error.message}; phones do not reach the server any more",
                is_lost=True,
            )
        if origin == self._origin:
            return Change(f"{ended}; it is open again at the same address")
        self._origin = origin
        opened = Opened(origin, ["--public-url", origin])
        return Change(f"{ended}; it is open again at a new address", opened)

    def close(self) -> None:
        """End the tunnel."""
        if self._tunnel is not None:
            self._tunnel.stop()
            self._tunnel = None


class LanWay(Way):
    """The local network, with a certificate of this machine's own authority."""

    def __init__(
        self,
        addresses: Callable[[], list[str]] = local_addresses,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._addresses = addresses
        self._clock = clock
        self._port = 0
        self._authority = Authority(Path())
        self._page: TrustPage | None = None
        self._host = ""
        self._looked_at = 0.0

    def open(self, port: int, folder: Path) -> Opened:
        """Make the certificate and the page that explains how to trust it."""
        self._port = port
        self._authority = Authority(folder / AUTHORITY_FOLDER)
        made = self._make()
        self._looked_at = self._clock()
        return self._opened(made)

    def check(self) -> Change | None:
        """Renew the certificate if it ends soon or if this machine's address has changed."""
        now = self._clock()
        if now - self._looked_at < _LOOK_AT_ADDRESSES_S:
            return None
        self._looked_at = now
        if not _in_network(self._addresses()):
            return None  # it may come back, and then at the same address
        host = self._host
        made = self._make()
        if self._host != host or made.is_new_root:
            self._close_page()
            text = f"this machine's address is {self._host} now"
            if made.is_new_root:
                text += "; its authority is new, so phones have to trust it again"
            return Change(text, self._opened(made))
        return (
            Change("the certificate was renewed", reads_certificate=True) if made.is_new else None
        )

    def close(self) -> None:
        """Stop serving the page."""
        self._close_page()

    def _make(self) -> Made:
        found = _in_network(self._addresses())
        if not found:
            raise HyperflockError(
                "this machine has no address in a local network", code="cannot_share"
            )
        self._host = found[0]
        name = socket.gethostname().partition(".")[0].lower()
        names = [f"{name}.local"] if _HOST.fullmatch(name) else []
        return self._authority.certificate([*found, "127.0.0.1"], [*names, "localhost"])

    def _opened(self, made: Made) -> Opened:
        fingerprint = self._authority.fingerprint()
        self._page = TrustPage(self._host, self._port + 1, self._authority.root, fingerprint)
        shown = f"[{self._host}]" if ":" in self._host else self._host
        origin = f"https://{shown}:{self._port}"
        tls = ["--tls-cert", str(made.certificate), "--tls-key", str(made.key)]
        return Opened(
            origin,
            [*tls, "--public-url", origin],
            "[::]" if ":" in self._host else "0.0.0.0",
            self._page.url,
            fingerprint,
            self._authority.root,
        )

    def _close_page(self) -> None:
        if self._page is not None:
            self._page.close()
            self._page = None


def _in_network(addresses: list[str]) -> list[str]:
    """Return the addresses that other devices of the network may reach, the best first."""
    found = [ipaddress.ip_address(address) for address in addresses]
    reachable = [one for one in found if not one.is_loopback and not one.is_unspecified]
    # IPv4 addresses come first, because a phone can reach them more often than IPv6 addresses.
    return [str(one) for one in sorted(reachable, key=lambda a: (a.version, not a.is_private))]
