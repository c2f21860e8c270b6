"""Reads the plan of a job: its sources and sinks, and which source reaches which sink. Pure.

A plan has vertices; a vertex has a tree of chained operators, drawn with `:-` and `+-` in HTML text. Sources have the full name of their
table, most sinks only its last part, and no operator has its topic, path or address.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lineage_bridge.sql.names import Name

_LONGEST_NAME = 80
"""Flink cuts operator names in metrics to this length; for writers, before the last word (TaskMetricGroup)."""
_LAST_WORD = ": Writer"
_BRANCH = re.compile(r"((?:[:+ ][- ] )*)(.*)", re.DOTALL)
_NUMBER = re.compile(r"\[(\d+)\]:")
_SCAN = re.compile(r"TableSourceScan\(table=\[\[([^\]]*)")
_LOOKUP = re.compile(r"LookupJoin\(table=\[([^\]]*)")
_SOURCE = re.compile(r"Source: (?:\w*Source-(?P<path>[^\s\[\]]+\.[^\s\[\]]+\.[^\s\[\]]+)|(?P<table>.+)\[\d+\]|.*)")
_SINK = re.compile(r"(?<![A-Za-z])Sink\(table=\[([^\]]*)")
_WRITER = re.compile(r"(?:(?P<table>.+)\[\d+\]: Writer|(?!end:).*: Writer|Sink: .*|StreamingFileWriter)")
"""Names of operators that write. `end: Writer` follows the writer of files and writes nothing."""
_ASKED = ("*anonymous_collect", "Unregistered_Collect_Sink", "Collect table sink", "Select table sink")
"""Parts of the names of sinks that return rows to a client."""


class Operator(NamedTuple):
    """An operator of a plan that is a source or a sink."""

    vertex: str
    name: str
    table: Name

    @property
    def metrics(self) -> str:
        """The prefix of the ids of the operator's metrics."""
        kept = self.name.removesuffix(_LAST_WORD)
        last = self.name[len(kept) :]
        return re.sub(r"[ .:,]", "_", kept[: _LONGEST_NAME - len(last)] + last)


class Plan(NamedTuple):
    """The sources and sinks of a job. `pairs`: the position of a source and that of a sink that it reaches."""

    sources: tuple[Operator, ...] = ()
    sinks: tuple[Operator, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()


class _Line(NamedTuple):
    """An operator in the drawing of a vertex, with the positions of its predecessors there."""

    text: str
    before: tuple[int, ...]


def read_plan(plan: Mapping[str, Any], vertices: Iterable[Mapping[str, Any]]) -> Plan:
    """Parse the plan in `/jobs/{id}/plan`; `vertices` are those in `/jobs/{id}`, whose names the metrics use."""
    nodes = {str(node["id"]): node for node in plan.get("nodes") or ()}
    names = {str(vertex["id"]): str(vertex.get("name") or "") for vertex in vertices}
    sources: list[Operator] = []
    sinks: list[tuple[Operator, set[int]]] = []
    inside: dict[str, list[int]] = {}
    for vertex in _downstream(nodes):
        reaching = sorted({index for source in _inputs(nodes, vertex) for index in inside.get(source, ())})
        lines = list(_lines(str(nodes[vertex].get("description") or "")))
        found = _sources(vertex, lines, names.get(vertex, ""))
        indexes = {at: len(sources) + number for number, at in enumerate(found)}
        sources += found.values()
        inside[vertex] = [*reaching, *indexes.values()]
        for at, line in enumerate(lines):
            sink = _sink(vertex, line.text, names.get(vertex, ""))
            if sink is not None:
                sinks.append(
                    (
                        sink,
                        {indexes[earlier] for earlier in line.before if earlier in indexes}
                        | set(reaching if not _is_fed(lines, at) else ()),
                    )
                )
    pairs = sorted((source, index) for index, (_, reached_sources) in enumerate(sinks) for source in reached_sources)
    return Plan(tuple(sources), tuple(sink for sink, _ in sinks), tuple(pairs))


def _inputs(nodes: Mapping[str, Mapping[str, Any]], vertex: str) -> list[str]:
    return [str(entry["id"]) for entry in nodes[vertex].get("inputs") or () if str(entry["id"]) in nodes]


def _downstream(nodes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Sort the vertices so that each comes after those that send it records."""
    found: dict[str, None] = {}
    waiting = sorted(nodes, reverse=True)
    open_: set[str] = set()
    while waiting:
        vertex = waiting[-1]
        missing = [source for source in _inputs(nodes, vertex) if source not in found and source not in open_]
        if missing and vertex not in found:
            open_.add(vertex)
            waiting += missing
        else:
            found[waiting.pop()] = None
    return list(found)


def _lines(description: str) -> Iterator[_Line]:
    """Parse the operators of a vertex: a tree over several lines or, before Flink 1.15, a chain of arrows."""
    open_: list[int] = []
    at = 0
    for written in re.split(r"<br\s*/?>", description):
        match = _BRANCH.fullmatch(html.unescape(written))
        if match is None or not match[2].strip():
            continue
        open_ = open_[: len(match[1]) // 3]
        for text in match[2].split(" -> "):
            yield _Line(text.strip(), tuple(open_))
            open_.append(at)
            at += 1


def _sources(vertex: str, lines: Sequence[_Line], name: str) -> dict[int, Operator]:
    """Return the sources in a vertex by their positions. If a scan follows the reader of the same table, only the reader counts as a
    source.
    """
    found: dict[int, Operator] = {}
    for at, line in enumerate(lines):
        source = _source(vertex, line.text, name)
        if source is None or any(found[earlier].table == source.table for earlier in line.before if earlier in found):
            continue
        found[at] = source
    return found


def _source(vertex: str, text: str, name: str) -> Operator | None:
    scan, lookup = _SCAN.search(text), _LOOKUP.search(text)
    if scan:
        return Operator(vertex, _named(text, name), tuple(column.strip() for column in scan[1].split(","))[:3])
    if lookup:
        return Operator(vertex, "", _path(lookup[1]))
    source = _SOURCE.fullmatch(text)
    if source is None:
        return None
    if source["path"]:
        return Operator(vertex, text, _path(source["path"]))
    return Operator(vertex, text, (source["table"],) if source["table"] else ())


def _sink(vertex: str, text: str, name: str) -> Operator | None:
    if any(word in text for word in _ASKED):
        return None
    sink = _SINK.search(text)
    if sink:
        return Operator(vertex, _named(text, name), _path(sink[1]))
    writer = _WRITER.fullmatch(text)
    if writer is None:
        return None
    table = (writer["table"] or "").removeprefix("Sink: ")
    return Operator(vertex, text, (table,) if table else ())


def _is_fed(lines: Sequence[_Line], at: int) -> bool:
    """Whether the tree of an operator begins with a source in the same vertex, so that no records come from another vertex."""
    root = lines[at].before[0] if lines[at].before else at
    return lines[root].text.startswith("Source:") or bool(_SCAN.search(lines[root].text))


def _named(text: str, vertex_name: str) -> str:
    """Return the name of an operator as the vertex's name has it, found by the operator's number; if it is not there, the text itself."""
    number = _NUMBER.match(text)
    if number is None:
        return text
    match = re.search(rf"(?:^|-> \(*|, |\()((?:(?!-> |, ).)*\[{number[1]}\](?:: Writer)?)", vertex_name)
    return match[1] if match else ""


def _path(text: str) -> Name:
    """Split the name `catalog.database.table` into its parts."""
    return tuple(text.split(".", 2))
