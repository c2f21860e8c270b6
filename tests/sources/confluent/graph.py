"""Folds observations into a store and reads the edges, for comparison with the expected ones."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from tests.confluent.expected_edges import Column, Edge, Name
from tests.corpora.aliases import operator
from tests.events import T0, records_of
from tests.store.reading import reader_of
from tests.store.writing import apply, opened, settle

from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.observer import Observation, Snapshot
from lineage_bridge.sources.runtime.poller import outbox_messages

Line = dict[str, Any]
SYSTEMS = {
    "ksqldb": "ksqldb",
    "flink": "flink",
    "consumer-group": "groups",
    "cluster-link": "links",
    "schema-link": "exporters",
    "tableflow": "tableflow",
    "producer": "producers",
}
"""Prefix of a job's name to the system that reports the job."""


def exported(*seen: Observation) -> list[bytes]:
    """The exported lines of the graph that observations make."""
    with opened() as writer:
        aliases = [body for observation in seen for path, body in outbox_messages(observation) if path.endswith("aliases")]
        apply(writer, [operator(_added(body), offset=90_000 + at) for at, body in enumerate(aliases)])
        apply(writer, records_of([encode(event) for observation in seen for event in observation.events]))
        settle(writer)
        return list(reader_of(writer).whole.lines(frozenset(), now_us=T0))


def _added(body: bytes) -> bytes:
    return json.dumps({"operation": "alias", **json.loads(body)}).encode()


class Graph:
    """The edges, datasets and jobs of exported lines, and the canonical names of datasets."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines: dict[str, list[Line]] = defaultdict(list)
        for line in map(json.loads, lines):
            self._lines[line["type"]].append(line)
        self._canonical = {_name(line["node"]): _name(line["canonical"]) for line in self._lines["alias"] if line["entity"] == "dataset"}
        self.edges = set(self._flows()) | set(self._columns())
        self.nodes = {(type_, *_name(line)) for type_ in ("dataset", "job") for line in self._lines[type_]}
        ends = {(edge.job, end) for edge in self.edges if edge.what == "flow" for end in (edge.source, edge.target)}
        self.edges |= {edge for edge in self._ports() if (edge.job, edge.source or edge.target) not in ends}

    def canonical_edge(self, edge: Edge) -> Edge:
        """An edge with canonical names."""
        source, target = ((*self.canonical_name(end[:2]), *end[2:]) if end else None for end in (edge.source, edge.target))
        return edge._replace(source=source, target=target)

    def canonical_name(self, dataset: Name) -> Name:
        """The canonical name of a dataset."""
        return self._canonical.get(dataset, dataset)

    def _flows(self) -> Iterator[Edge]:
        for line in self._lines["flow"]:
            if "dataset" in line["source"] and "dataset" in line["target"]:
                yield _edge("flow", _name(line["source"]["dataset"]), _name(line["target"]["dataset"]), line)

    def _columns(self) -> Iterator[Edge]:
        for line in self._lines["column_flow"]:
            source, target = line["source"], line["target"]
            if "field" in source and "field" in target:
                yield _edge("column", (*_name(source), source["field"]), (*_name(target), target["field"]), line)

    def _ports(self) -> Iterator[Edge]:
        for line in self._lines["input"]:
            yield _edge("reads", _name(line["dataset"]), None, line)
        for line in self._lines["output"]:
            yield _edge("writes", None, _name(line["dataset"]), line)


def _name(name: Line) -> Name:
    return name["namespace"], name["name"]


def _edge(what: str, source: Name | Column | None, target: Name | Column | None, line: Line) -> Edge:
    job = _name(line["job"])
    return Edge(system(job[1]), what, source, target, job)


def system(job: str) -> str:
    """The system that reports a job, by the job's name."""
    return SYSTEMS.get(job.partition("/")[0], "connect")


def differences(graph: Graph, expected: Iterable[Edge], systems: Iterable[str]) -> dict[str, list[str]]:
    """The `missing` and `extra` edges of some systems, as lines sorted by job."""
    expected_edges = {edge for edge in map(graph.canonical_edge, expected) if edge.system in set(systems)}
    found = {edge for edge in graph.edges if edge.system in set(systems)}
    named = {"missing": expected_edges - found, "extra": found - expected_edges}
    return {kind: [_describe(edge) for edge in sorted(edges, key=_by_job)] for kind, edges in named.items()}


def _by_job(edge: Edge) -> tuple[str, str]:
    return edge.system, str((edge.job, edge.what, edge.source, edge.target))


def _describe(edge: Edge) -> str:
    source, target = (" ".join(end) if end else "-" for end in (edge.source, edge.target))
    return f"{edge.system} {' '.join(edge.job)}: {edge.what} {source} -> {target}"


def with_started_runs_running(lines: list[bytes]) -> list[bytes]:
    """The lines, with the state START replaced by RUNNING."""
    return [line.replace(b'"state":"START"', b'"state":"RUNNING"') for line in lines]


def stored(snapshot: Snapshot) -> Any:
    """A snapshot as the poller stores it, without what every poll changes: when producers and tasks were last seen, and rotations."""
    return _steady(json.loads(json.dumps(snapshot)))


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _steady(inner) for key, inner in value.items() if key not in ("alive", "assigned_us", "turn")}
    return value
