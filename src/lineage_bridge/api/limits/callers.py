"""The caller that limits apply to: a principal or, without one, the address that requests come from."""

from collections.abc import MutableMapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

from lineage_bridge.access.keys import INTERNAL
from lineage_bridge.model.access import ALL_SCOPES, Principal

_CALLER: Final = "lineage_bridge.caller"
_IPV6_HOST_BITS: Final = 64
"""IPv6 addresses that only differ in this many of their last bits count as one caller."""


@dataclass(frozen=True)
class Caller:
    """The caller that limits apply to. `is_unlimited`: it may use the whole capacity, because no other caller needs protection from it."""

    name: str
    is_unlimited: bool = False


THIS_MACHINE: Final = Caller("this machine", True)
"""Programs on this machine, if the server does not ask for API keys."""


def caller_of(principal: Principal, peer: str) -> Caller:
    """The caller for a principal and an address."""
    if principal.name:
        return Caller(f"principal {principal.name}", principal.name == INTERNAL)
    return THIS_MACHINE if principal.scopes == ALL_SCOPES else Caller(network_of(peer))


def network_of(peer: str) -> str:
    """The address that limits count for a peer. For IPv6, it is the /64 network."""
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return peer
    if not isinstance(address, IPv6Address):
        return peer
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return f"{IPv6Address(int(address) >> _IPV6_HOST_BITS << _IPV6_HOST_BITS)}/{128 - _IPV6_HOST_BITS}"


def caller_in(scope: MutableMapping[str, Any]) -> Caller:
    """The caller of a request, as `set_caller` stored it."""
    found: Caller = scope.get(_CALLER, THIS_MACHINE)
    return found


def set_caller(scope: MutableMapping[str, Any], caller: Caller) -> None:
    """Store the caller of a request."""
    scope[_CALLER] = caller
