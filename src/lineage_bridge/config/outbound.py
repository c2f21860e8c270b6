"""The rules about which addresses this process may connect to on behalf of users.

Addresses come from users, and from the answers of observed systems. The address of the open connection is checked, so a name that resolves
to another address at the second look-up cannot bypass the check (DNS rebinding).
"""

import socket
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final
from urllib.parse import unquote

from typing_extensions import Self

from lineage_bridge.errors import SourceError

_Address = IPv4Address | IPv6Address
_Network = IPv4Network | IPv6Network

_METADATA: Final = frozenset(
    map(
        ip_address,
        (
            "100.100.100.200",  # Alibaba Cloud
            "168.63.129.16",  # Azure: its agents' server
            "192.0.0.192",  # Oracle Cloud
            "fd00:ec2::254",  # Amazon EC2
            "fd20:ce::254",  # Google Cloud
        ),
    )
)
"""Metadata addresses of clouds, beside link-local ones: programs get the credentials of their machine there."""
_TRANSLATED: Final = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))
"""Networks of IPv6 addresses whose last four bytes are an IPv4 address (RFC 6052, RFC 8215, RFC 4291)."""
_DOTS: Final = str.maketrans("\u3002\uff0e\uff61", "...")
"""Characters that name resolution treats as dots (RFC 3490, 3.1)."""
_HINT: Final = "an operator can allow it in the setting `outbound_allow`"


@dataclass(frozen=True)
class Outbound:
    """Rules about addresses. By default, all addresses are allowed except link-local, unspecified and multicast ones and the metadata
    addresses of clouds.

    With `networks` or `hosts` (globs), only these are allowed. An address that is refused by default can only be allowed by a network.
    """

    networks: tuple[_Network, ...] = ()
    hosts: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the setting `outbound_allow`. Raises ValueError."""
        networks: list[_Network] = []
        hosts: list[str] = []
        for entry in filter(None, (part.strip() for part in text.split(","))):
            if "/" in entry or _literal(entry):
                networks.append(ip_network(entry.strip("[]")))
            else:
                hosts.append(entry.lower().rstrip("."))
        return cls(tuple(networks), tuple(hosts))

    def check(self, host: str, address: str) -> None:
        """Check an address at which a host is reached. Raises SourceError if it is not allowed."""
        found = _plain(ip_address(address.partition("%")[0]))
        if any(found in network for network in self.networks):
            return
        if found.is_link_local or found.is_unspecified or found.is_multicast or found in _METADATA:
            raise SourceError(f"{_named(host, address)} is a link-local or metadata address, which may not be called", _HINT)
        if (self.networks or self.hosts) and not any(fnmatchcase(host.lower().rstrip("."), pattern) for pattern in self.hosts):
            raise SourceError(f"{_named(host, address)} is not among the addresses that may be called", _HINT)

    def check_literal(self, host: str) -> None:
        """Check a host that is written as an address, in any of the forms that name resolution understands. Raises SourceError."""
        address = _literal(host)
        if address:
            self.check(host, address)

    def check_servers(self, servers: Iterable[tuple[str, int]]) -> None:
        """Resolve hosts and check all their addresses now, for client libraries whose connections cannot be checked. Raises SourceError."""
        for host, port in servers:
            try:
                found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except OSError:
                continue  # the client reports that the name is unknown
            for *_, address in found:
                self.check(host, str(address[0]))

    def trace(self, host: str) -> Callable[[str, Any], None]:
        """Make the httpx extension `trace` for a request to a host: it closes a connection to a refused address before anything is sent."""

        def checked(event: str, info: Any) -> None:  # noqa: ANN401  # httpcore's
            if event == "connection.connect_tcp.complete":
                stream = info["return_value"]
                try:
                    self.check(host, str(stream.get_extra_info("server_addr")[0]))
                except SourceError:
                    stream.close()
                    raise

        return checked


ANYWHERE: Final = Outbound()


def _plain(address: _Address) -> _Address:
    """The IPv4 address inside an IPv6 address if there is one, otherwise the address itself."""
    if isinstance(address, IPv6Address):
        if address.packed[-4:-2] != b"\0\0" and any(address in network for network in _TRANSLATED):
            return IPv4Address(address.packed[-4:])
        return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else address)
    return address


def _literal(host: str) -> str:
    """The IP address, if a host is written as one; empty if the host is a name, which has to be looked up."""
    bare = unicodedata.normalize("NFKC", unquote(host).translate(_DOTS)).strip("[]").rstrip(".")
    try:
        return str(ip_address(bare.partition("%")[0]))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(bare))  # 2852039166, 0xA9FEA9FE, 169.254.43518
    except OSError:
        return ""


def _named(host: str, address: str) -> str:
    return host if host.strip("[]") == address else f"{host} ({address})"
