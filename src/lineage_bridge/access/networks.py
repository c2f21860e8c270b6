"""Networks of trusted proxies. Only connections from addresses in them may state something about clients in headers."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network


class Networks:
    """A set of addresses and networks, as written in the settings."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._networks = tuple(map(ip_network, texts))

    def __bool__(self) -> bool:
        return bool(self._networks)

    def __contains__(self, peer: str) -> bool:
        """Whether the address of a connection is in one of the networks. A text that is not an address is in none."""
        address = plain_address(peer)
        return address is not None and any(address in network for network in self._networks)


def plain_address(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address. An IPv4 address within IPv6 is returned as IPv4. None for any other text."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
