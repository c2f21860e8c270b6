"""Events whose secrets cost too much to find: the facets that do are left out and named, the rest of the event stays."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
from msgspec import Raw

from lineage_bridge.openlineage.facets.withheld import MOST_NAMES, WITHHELD, WithheldFacet
from lineage_bridge.openlineage.json_text import Spend
from lineage_bridge.openlineage.suspicion import is_suspicious

_LONGEST_NAME: Final = 200
_FACET_NS, _CARRIER_NS = 2_500, 4_000
"""What looking at a facet, and at what carries facets, cost at least."""
_MAPS: Final = ("facets", "inputFacets", "outputFacets")
_EMPTY: Final = Raw(b"{}")

Attempt = Callable[[bytes], bytes | None]
"""Bytes with their secrets masked; None if that costs too much."""
_Members = dict[str, Any]
_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
_ELEMENTS = msgspec.json.Decoder(list[Raw])


def withhold(raw: bytes, attempt: Attempt, spend: Spend) -> bytes | None:
    """An event without the facets whose secrets cost too much to find, and with all other secrets masked.

    Small facets are tried first. In their place is one called WITHHELD. None if what is not in facets costs too much, or `raw` is no event.
    """
    try:
        event, carriers = _opened(raw, spend)
        maps = [_facets(carrier.pop(member)) for carrier, member in carriers]
        for carrier, member in carriers:
            carrier[member] = _EMPTY
        rest = attempt(msgspec.json.encode(event))
        if rest is None:
            return None
        event, places = _opened(rest, spend)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if len(places) != len(carriers):
        return None
    spend(sum(map(len, maps)) * _FACET_NS)
    for (carrier, member), facets in zip(places, _masked(maps, attempt), strict=True):
        carrier[member] = facets
    return msgspec.json.encode(event)


def _opened(raw: bytes, spend: Spend) -> tuple[_Members, list[tuple[_Members, str]]]:
    """An event, with its members as text but for those that carry facets, and where its facets are. Raises msgspec.DecodeError."""
    event: _Members = dict(_MEMBERS.decode(raw))
    carriers: list[tuple[_Members, str]] = []
    for name in ("run", "job", "dataset", "inputs", "outputs"):
        text = bytes(event.get(name, b"null")).strip()
        if text.startswith(b"{"):
            event[name] = dict(_MEMBERS.decode(text))
            carriers += _maps_of(event[name])
        elif text.startswith(b"["):
            elements = _ELEMENTS.decode(text)
            spend(len(elements) * _CARRIER_NS)
            event[name] = [dict(_MEMBERS.decode(element)) if bytes(element).startswith(b"{") else element for element in elements]
            for element in event[name]:
                carriers += _maps_of(element) if isinstance(element, dict) else ()
    return event, carriers


def _maps_of(carrier: _Members) -> Iterator[tuple[_Members, str]]:
    for member in _MAPS:
        if bytes(carrier.get(member, b"")).startswith(b"{"):
            yield carrier, member


def _facets(value: Raw) -> dict[str, Raw]:
    return _MEMBERS.decode(value)


def _masked(maps: list[dict[str, Raw]], attempt: Attempt) -> Iterator[Raw]:
    """The texts of facet maps, each with its secrets masked and without what costs too much."""
    suspicious: list[tuple[int, int, str, bytes]] = []
    for number, facets in enumerate(maps):
        for key, value in facets.items():
            text = msgspec.json.encode({key: value})
            if is_suspicious(text):
                suspicious.append((len(text), number, key, text))
    kept: dict[tuple[int, str], bytes | None] = {}
    for _, number, key, text in sorted(suspicious):
        kept[number, key] = attempt(text)
    for number, facets in enumerate(maps):
        members = [kept.get((number, key), b"") for key in facets]
        yield Raw(_joined(facets, members))


def _joined(facets: dict[str, Raw], masked: list[bytes | None]) -> bytes:
    """The text of a facet map. `masked`: for each facet its text in braces; empty if it is as it was, None if it is withheld."""
    texts = [msgspec.json.encode({key: facets[key]}) if text == b"" else text for key, text in zip(facets, masked, strict=True)]
    members = [text.strip()[1:-1] for text in texts if text is not None]
    names = [key for key, text in zip(facets, masked, strict=True) if text is None]
    return b"{" + b",".join((*members, *((_marker(names),) if names else ()))) + b"}"


def _marker(names: list[str]) -> bytes:
    """The member that names what was withheld. A name that may be a secret itself is not shown."""
    shown = ["?" if len(name) > _LONGEST_NAME or is_suspicious(name.encode()) else name for name in names[:MOST_NAMES]]
    return msgspec.json.encode({WITHHELD: WithheldFacet(shown, len(names))})[1:-1]
