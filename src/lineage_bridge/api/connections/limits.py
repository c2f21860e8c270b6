"""Limits of connections: how many there may be, and how large and slow requests may be."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final

MOST_HEADERS: Final = 128
"""The maximum number of headers of a request."""


@dataclass(frozen=True)
class ConnectionLimits:
    """The limits of a server's connections.

    `connections` may be open at once, and `per_address` of them from one address, unless that is in `shared`: the networks of proxies,
    through which many clients come. A request line and headers have at most `head_bytes`, and `head_s` seconds from the connection or
    their first byte on; a body has `body_s` seconds, and one more for each `body_rate` bytes of it. A client that reads nothing of an
    answer for `read_s` seconds is disconnected.
    """

    connections: int = 512
    per_address: int = 256
    head_bytes: int = 1 << 16
    head_s: float = 10.0
    body_s: float = 60.0
    body_rate: int = 1024
    read_s: float = 30.0
    shared: tuple[IPv4Network | IPv6Network, ...] = ()

    @staticmethod
    def networks(texts: Iterable[str]) -> "tuple[IPv4Network | IPv6Network, ...]":
        """Parse networks into the form of the member `shared`."""
        return tuple(map(ip_network, texts))

    def is_shared(self, peer: str) -> bool:
        """Whether many clients come from this address, because it is a proxy's."""
        try:
            address = ip_address(peer.partition("%")[0])
        except ValueError:
            return False
        plain = getattr(address, "ipv4_mapped", None) or address
        return any(plain in network for network in self.shared)
