"""Whom a limit counts: a principal, or without one the address that requests come from."""

from collections.abc import MutableMapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

from lineage_bridge.access.keys import INTERNAL
from lineage_bridge.model.access import ALL_SCOPES, Principal

_CALLER: Final = "lineage_bridge.caller"
_IPV6_HOST_BITS: Final = 64
"""IPv6 addresses that only differ in this many last bits count as one caller."""


@dataclass(frozen=True)
class Caller:
    """Whom a limit counts. `is_unlimited`: it may take all there is, because nobody else is to be protected from it."""

    name: str
    is_unlimited: bool = False


THIS_MACHINE: Final = Caller("this machine", True)
"""Programs on this machine, if the server does not ask for API keys."""


def caller_of(principal: Principal, peer: str) -> Caller:
    """Who sends requests as this principal from this address."""
    if principal.name:
        return Caller(f"principal {principal.name}", principal.name == INTERNAL)
    return THIS_MACHINE if principal.scopes == ALL_SCOPES else Caller(network_of(peer))


def network_of(peer: str) -> str:
    """The address of a peer as limits count it: an IPv6 address with its neighbours."""
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
    """Who sent a request."""
    found: Caller = scope.get(_CALLER, THIS_MACHINE)
    return found


def set_caller(scope: MutableMapping[str, Any], caller: Caller) -> None:
    """Note who sent a request."""
    scope[_CALLER] = caller
