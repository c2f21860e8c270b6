"""Reads facts from a query's text and topology that the API does not report. Pure."""

import re
from collections.abc import Mapping
from typing import NamedTuple

_WINDOW = re.compile(r"\bWINDOW\s+(?:\w+\s+)?(?P<kind>TUMBLING|HOPPING|SESSION)\s*\((?P<inner>[^)]*)\)", re.IGNORECASE)
_PARTS = (
    ("size", re.compile(r"SIZE\s+(\d+\s+\w+)", re.IGNORECASE)),
    ("advance", re.compile(r"ADVANCE\s+BY\s+(\d+\s+\w+)", re.IGNORECASE)),
    ("gap", re.compile(r"^\s*(\d+\s+\w+)", re.IGNORECASE)),
    ("retention", re.compile(r"RETENTION\s+(\d+\s+\w+)", re.IGNORECASE)),
    ("grace", re.compile(r"GRACE\s+PERIOD\s+(\d+\s+\w+)", re.IGNORECASE)),
)
_SOURCE = re.compile(r"^\s*Source: .*\(topics: \[(?P<topics>[^\]]*)\]\)", re.MULTILINE)
_SINK = re.compile(r"^\s*Sink: .*\(topic: (?P<topic>[^)]+)\)", re.MULTILINE)
_STORES = re.compile(r"\(stores: \[(?P<stores>[^\]]*)\]\)")
_INTERNAL = "-repartition"


class QueryTopics(NamedTuple):
    """The topics in the topology of a query. `internal`: the query's own internal topics, by their full names, which begin with the name of
    its consumer group.
    """

    read: tuple[str, ...]
    written: tuple[str, ...]
    internal: tuple[str, ...]


def window_of(kind: str, text: str) -> Mapping[str, str]:
    """Return the window of a query: its type, and, if the text states them, size, advance, gap, retention and grace. Empty if there is
    none.
    """
    found = _WINDOW.search(text)
    if found is None:
        return {"type": kind} if kind else {}
    window = {"type": (kind or found["kind"]).upper()}
    for name, pattern in _PARTS:
        if clause := pattern.search(found["inner"]):
            window[name] = " ".join(clause[1].split())
    return window


def topics_of(topology: str, group: str) -> QueryTopics:
    """Return the topics that a Kafka Streams topology reads and writes."""
    read = {topic.strip() for found in _SOURCE.finditer(topology) for topic in found["topics"].split(",") if topic.strip()}
    written = {found["topic"].strip() for found in _SINK.finditer(topology)}
    stores = {store.strip() for found in _STORES.finditer(topology) for store in found["stores"].split(",") if store.strip()}
    between = {topic for topic in read | written if topic.endswith(_INTERNAL)}
    internal = {f"{group}-{name.removeprefix(group + '-')}" for name in between} | {f"{group}-{store}-changelog" for store in stores}
    return QueryTopics(tuple(sorted(read - between)), tuple(sorted(written - between)), tuple(sorted(internal)))
