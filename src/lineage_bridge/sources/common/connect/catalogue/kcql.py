"""Parses the statements of Lenses' connectors: `INSERT INTO target SELECT ... FROM source`, followed by options."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lineage_bridge.sources.common.connect.catalogue.objects import unquoted
from lineage_bridge.sources.common.connect.catalogue.view import ConnectorView
from lineage_bridge.sources.common.connect.lineage.connection import EvidenceKind, FoundObject
from lineage_bridge.sources.common.connect.transforms.patterns import listed

_KEYS = (".kcql", ".route.query", ".query.route")
"""The suffixes of settings with statements; the second is that of early versions."""
_MAPS = (".export.map", ".import.map")
"""The suffixes of settings in which the first versions paired sources with targets: `orders-topic:orders`."""
_MAPPINGS = ".export.mappings"
_MAPPING = re.compile(r"\{\s*([^\s:;{}]+)\s*:\s*([^\s:;{}]+)\s*[;}]")
"""An element of such a setting: `{orders:orders_table;qty->quantity}`."""
_STATEMENT = re.compile(
    r"(?:INSERT|UPSERT)\s+INTO\s+(?P<target>`[^`]+`|\S+)\s+SELECT\s.+?\sFROM\s+(?P<source>`[^`]+`|[^\s;]+)(?P<options>[^;]*)",
    re.IGNORECASE | re.DOTALL,
)
_CHOSEN = re.compile(r"\$|_(?:key|value|header|topic|partition)\b")
"""The prefix of a target that each record decides."""
_FROM_FIELD = re.compile(r"'[\w.]*target\.from\.field'\s*=\s*'?true", re.IGNORECASE)
_KIND = re.compile(r"(?:\bWITHTYPE\s+|'servicebus\.type'\s*=\s*')(TOPIC|QUEUE)\b", re.IGNORECASE)


class _Statement(NamedTuple):
    """A statement of KCQL, Lenses' query language. `target` is empty if each record decides where it goes."""

    target: str
    source: str
    kind: str


def kcql_source(view: ConnectorView, _candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the objects that a source reads, and the topics that it writes them to."""
    return [FoundObject(found.source, found.target, EvidenceKind.LISTED) for found in _statements(view)]


def kcql_sink(view: ConnectorView, topic: str, seen: str) -> list[FoundObject]:
    """Find the objects that a topic's records are written to."""
    chosen = [found for found in _statements(view) if found.source in (topic, seen, "*")]
    return [FoundObject(found.target or None, topic, EvidenceKind.LISTED) for found in chosen]


def kcql_queues_source(view: ConnectorView, _candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the queues and topics of a message broker that are read."""
    return [FoundObject(f"{found.kind}/{found.source}", found.target, EvidenceKind.LISTED) for found in _statements(view)]


def kcql_queues_sink(view: ConnectorView, topic: str, seen: str) -> list[FoundObject]:
    """Find the queues and topics of a message broker that a topic's records are written to."""
    chosen = [found for found in _statements(view) if found.source in (topic, seen, "*")]
    names = [f"{found.kind}/{found.target}" if found.target else None for found in chosen]
    return [FoundObject(name, topic, EvidenceKind.LISTED) for name in names]


def _statements(view: ConnectorView) -> Iterator[_Statement]:
    for pair in (pair for key, value in sorted(view.config.items()) if key.endswith(_MAPS) for pair in listed(value)):
        source, sign, target = pair.partition(":")
        if sign:
            yield _Statement(target.strip(), source.strip(), "queue")
    for text in (value for key, value in sorted(view.config.items()) if key.endswith(_MAPPINGS)):
        for source, target in _MAPPING.findall(text):
            yield _Statement(target, source, "queue")
    for text in (value for key, value in sorted(view.config.items()) if key.endswith(_KEYS)):
        for match in _STATEMENT.finditer(text):
            kind, target = _KIND.search(match["options"]), unquoted(match["target"])
            varies = _CHOSEN.match(target) or _FROM_FIELD.search(match["options"])
            yield _Statement("" if varies else target, unquoted(match["source"]), kind[1].lower() if kind else "queue")
