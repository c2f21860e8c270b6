"""Events whose secrets cost too much to find: the facets that do are left out and named, the rest of the event stays."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
from msgspec import Raw

from lineage_bridge.openlineage.facets.withheld import MOST_NAMES, WITHHELD, WithheldFacet
from lineage_bridge.openlineage.json_text import Spend
from lineage_bridge.openlineage.secret_rules.companions import may_be_named
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
    pieces = [_pieces(facets) for facets in maps]
    texts: dict[tuple[int, int], bytes | None] = {}
    suspicious: list[tuple[int, tuple[int, int], bytes]] = []
    for number, some in enumerate(pieces):
        for index, piece in enumerate(some):
            texts[number, index] = text = msgspec.json.encode(piece)
            if is_suspicious(text):
                suspicious.append((len(text), (number, index), text))
    for _, at, text in sorted(suspicious):
        texts[at] = attempt(text)
    for number, some in enumerate(pieces):
        yield Raw(_joined([(piece, texts[number, index]) for index, piece in enumerate(some)]))


def _pieces(facets: dict[str, Raw]) -> list[dict[str, Raw]]:
    """What is masked by itself: each facet; and together the members that are none, of which one may say that another is a secret."""
    pieces: list[dict[str, Raw]] = []
    others: dict[str, Raw] = {}
    for key, value in facets.items():
        if bytes(value).startswith(b"{") and not may_be_named(key):
            pieces.append({key: value})
        else:
            others[key] = value
    return [*pieces, others] if others else pieces


def _joined(pieces: list[tuple[dict[str, Raw], bytes | None]]) -> bytes:
    """The text of a facet map from its pieces, each with its masked text in braces; None if it is withheld."""
    members = [text.strip()[1:-1] for _, text in pieces if text is not None]
    names = [key for piece, text in pieces if text is None for key in piece]
    return b"{" + b",".join((*members, *((_marker(names),) if names else ()))) + b"}"


def _marker(names: list[str]) -> bytes:
    """The member that names what was withheld. A name that may be a secret itself is not shown."""
    shown = ["?" if len(name) > _LONGEST_NAME or is_suspicious(name.encode()) else name for name in names[:MOST_NAMES]]
    return msgspec.json.encode({WITHHELD: WithheldFacet(shown, len(names))})[1:-1]
