"""Lists the addresses at which volunteers may reach a server, and who can compute at each of them.

    for reach in reaches("http", 8780, bound="0.0.0.0", public_url=None): ...

Browsers offer shared memory, WebGPU and the wake lock only to HTTPS pages and to pages of their own
machine. At a plain HTTP address a phone sees the page but cannot compute. This module reads this
machine's addresses and sends nothing. Any thread may use this module.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# Addresses that are reserved for documentation (RFC 5737, RFC 3849). Nothing is sent to them; only
# the route to them is looked up.
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


@dataclass(frozen=True)
class Reach:
    """An address at which volunteers may reach the server.

    Attributes
    ----------
    origin : str
        The address, such as ``http://192.168.1.20:8780``.
    who : str
        Who can reach it, as text for people.
    phones : bool
        Whether a phone can reach it and compute there.
    note : str
        What phones need there, or why they cannot use it, as text for people; may be empty.
    """

    origin: str
    who: str
    phones: bool
    note: str


def reaches(
    scheme: str,
    port: int,
    *,
    bound: str,
    public_url: str | None,
    addresses: Iterable[str] | None = None,
) -> list[Reach]:
    """Return the addresses at which volunteers may reach a server, the best for phones first.

    Parameters
    ----------
    scheme, port
        ``http`` or ``https``, and the server's port for volunteers.
    bound
        The address that the server listens on, such as ``0.0.0.0``.
    public_url
        The origin that volunteers use, if it is not an address of this machine.
    addresses
        This machine's addresses; None means to look them up.
    """
    found = []
    if public_url:
        secure = public_url.startswith("https:")
        note = "" if secure else "phones need HTTPS"
        found.append(Reach(public_url.rstrip("/"), "whoever reaches that name", secure, note))
    listening = ipaddress.ip_address(bound)
    if listening.is_unspecified:
        mine = [ipaddress.ip_address(a) for a in (addresses or local_addresses())]
        listed = [a for a in mine if a.version == 4 or listening.version == 6]
    else:
        listed = [listening]
    for address in sorted(listed, key=lambda a: (a.is_loopback, a.version, str(a))):
        host = f"[{address}]" if address.version == 6 else str(address)
        found.append(_reach(f"{scheme}://{host}:{port}", address, scheme == "https"))
    return found


def local_addresses() -> list[str]:
    """Return this machine's addresses: those of its outgoing routes, then those of its host name.

    The latter may include virtual networks, such as those of containers, that no phone reaches.
    """
    found = []
    for family, target in _ELSEWHERE:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as route:
            route.connect((target, 9))  # a datagram socket looks up the route and sends nothing
            found.append(str(route.getsockname()[0]))
    named = {"127.0.0.1"}
    with contextlib.suppress(OSError):
        named |= {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    plain = dict.fromkeys(each.partition("%")[0] for each in [*found, *sorted(named)])
    return [address for address in plain if not _link_local(address)]


def _link_local(address: str) -> bool:
    return ipaddress.ip_address(address).is_link_local


def _reach(origin: str, address: _Address, secure: bool) -> Reach:
    if address.is_loopback:
        return Reach(origin, "this machine only", False, "phones do not reach it")
    who = "devices in the same network" if address.is_private else "everyone"
    note = "its certificate has to be for this address" if secure else "phones need HTTPS"
    return Reach(origin, who, secure, note)
