"""Networks whose word counts: a connection from one of their addresses is the proxy's."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network


class Networks:
    """Addresses and networks, as the settings name them."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._networks = tuple(map(ip_network, texts))

    def __bool__(self) -> bool:
        return bool(self._networks)

    def __contains__(self, peer: str) -> bool:
        """Whether an address, as a connection has it, is in one of the networks. What is no address is in none."""
        address = plain_address(peer)
        return address is not None and any(address in network for network in self._networks)


def plain_address(text: str) -> IPv4Address | IPv6Address | None:
    """An address; one of IPv4 within IPv6 as the former. None for any other text."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
