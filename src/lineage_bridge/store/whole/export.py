"""Writes the graph as sorted NDJSON: the form in which graphs are compared.

Each line is one object. Nodes have their canonical names, never internal ids; times are RFC 3339 in UTC with microseconds; absent values
are left out. The export contains everything that has not ended.
"""

from collections.abc import Callable, Iterator
from uuid import UUID

import msgspec

from lineage_bridge.graph.contents.schema_versions import schema_version
from lineage_bridge.graph.flows.derive import OF_RUNS
from lineage_bridge.graph.flows.labels import Label, best, freshness
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Evidence, Side
from lineage_bridge.graph.statements.lineage_sets import NO_SOURCE
from lineage_bridge.openlineage.facets import SchemaDatasetFacet, read_as
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.moment import graph_moment
from lineage_bridge.store.query.co_occurrence import CoOccurrence
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.runs import Runs
from lineage_bridge.store.whole.export_lines import Line, named, only_failed, origin_text, schema_field, transformation

TYPES = ("dataset", "job", "run", "input", "output", "flow", "hub", "column_flow", "schema", "facet", "alias", "control", "lifecycle")
"""The types of lines, in the order they are written."""

_COLUMN_FLOWS = """SELECT j.job, j.carrier, j.origin, s.target, s.target_field, s.source, s.source_field, s.type, s.subtype, s.masking
FROM job_lineage_set j JOIN column_statement s ON s.lineage_set = j.lineage_set WHERE s.type <> ? ORDER BY j.job"""
_SCHEMAS = """SELECT c.node, c.rank, c.time, c.event, c.facet, f.text FROM current_facet c JOIN facet f ON f.facet = c.facet
WHERE c.key = 'schema'"""
_RUNS = """SELECT run, job FROM run
UNION SELECT parent_run, parent_job FROM run c WHERE parent_run IS NOT NULL AND parent_sure = 1
AND NOT EXISTS (SELECT 1 FROM run r WHERE r.run = c.parent_run)
UNION SELECT root_run, root_job FROM run c WHERE root_run IS NOT NULL AND parent_sure = 1
AND NOT EXISTS (SELECT 1 FROM run r WHERE r.run = c.root_run)"""
"""Every run with the jobs of its events. A run that never sent an event has the jobs under which other runs name it."""
_ENCODER = msgspec.json.Encoder()


class Export:
    """Builds the lines of an export over one connection, with labels as of `now_us`."""

    def __init__(self, connection: StoreConnection, now_us: int) -> None:
        self.connection, self.now_us = connection, now_us
        self.nodes = Nodes(connection)
        self.runs = Runs(connection, self.nodes)
        now = graph_moment(connection, self.nodes, self.runs, now_us)
        self.labels, self.failed = now.labels, now.failed
        self.identities = {identity.node: identity for identity in self.nodes.identities.all()}
        self._states: dict[int, list[Label]] | None = None

    def lines(self, only: frozenset[str] = frozenset()) -> Iterator[bytes]:
        """The lines of the export, encoded and sorted within each type. `only` selects types; if it is empty, all are included."""
        makers: dict[str, Callable[[], Iterator[Line]]] = {
            "dataset": self.datasets,
            "job": self.jobs,
            "run": self.run_lines,
            "input": lambda: self.port_lines(Side.INPUT),
            "output": lambda: self.port_lines(Side.OUTPUT),
            "flow": self.flow_lines,
            "hub": self.hub_lines,
            "column_flow": self.column_flows,
            "schema": self.schemas,
            "facet": self.facet_lines,
            "alias": self.aliases,
            "control": self.control_lines,
            "lifecycle": self.lifecycle_lines,
        }
        for type_ in TYPES:
            if not only or type_ in only:
                yield from sorted({_ENCODER.encode({"type": type_, **line}) for line in makers[type_]()})

    def name(self, id_: int) -> Line:
        """The canonical name of a node, as lines contain it."""
        identity = self.identities.get(id_)
        node = self.nodes.by_id(id_)
        return named(identity.namespace, identity.name) if identity else named(node.namespace, node.name)

    def head(self, id_: int) -> int:
        """The node that stands for all names of a dataset or job."""
        identity = self.identities.get(id_)
        return identity.head if identity else id_

    def end(self, id_: int) -> Line:
        """One end of a flow, as the lines contain it."""
        kind = "job" if self.nodes.by_id(id_).kind == NodeKind.JOB else "dataset"
        return {kind: self.name(id_)}

    def worker(self, id_: int) -> Line:
        """The job of a flow, as the lines contain it; None if a dataset declared the flow itself."""
        return {"job": self.name(id_)} if self.nodes.by_id(id_).kind == NodeKind.JOB else {}

    # nodes

    def datasets(self) -> Iterator[Line]:
        """The lines about datasets, each with the best label of its edges."""
        states: dict[int, list[Label]] = {}
        for row in self.connection.scan("SELECT id FROM node WHERE kind = 1"):
            states.setdefault(self.head(row[0]), []).extend(self.labels_of(row[0]))
        for id_, labels in states.items():
            yield {**self.name(id_), "state": best(labels).value}

    def labels_of(self, dataset: int) -> list[Label]:
        """The labels of all assertions about a dataset: its ports, its flows and its own facets."""
        if self._states is None:
            self._states = {}
            for job, id_, side, origin in self.connection.execute("SELECT job, dataset, side, origin FROM job_io").fetchall():
                self._states.setdefault(id_, []).append(self.labels.port(job, id_, Side(side), origin)[0])
            for source, target, job, origin in self.connection.execute("SELECT DISTINCT source, target, job, origin FROM flow").fetchall():
                label = self.labels.flow(source, target, job, origin)[0]
                self._states.setdefault(source, []).append(label)
                self._states.setdefault(target, []).append(label)
        row = self.connection.execute("SELECT max(last) FROM assertion WHERE node = ? AND side = 2", (dataset,)).fetchone()
        own = [freshness(row[0], self.now_us)] if row[0] is not None else []
        return [*self._states.get(dataset, []), *own]

    def jobs(self) -> Iterator[Line]:
        """The lines about jobs."""
        for row in self.connection.scan("SELECT id FROM node WHERE kind = 2"):
            yield self.name(row[0])

    def run_lines(self) -> Iterator[Line]:
        """The lines about runs, one for each job under which a run was seen."""
        for run, job in self.connection.execute(_RUNS).fetchall():
            record = self.runs.record(run, job)
            line: Line = {"run_id": record.run_id, "job": self.name(job), "state": record.state}
            if record.started is not None:
                line["started_at"] = format_time(record.started)
            if record.ended is not None:
                line["ended_at"] = format_time(record.ended)
            if record.parent_run_id:
                line["parent"] = record.parent_run_id
            yield line

    # edges

    def port_lines(self, side: Side) -> Iterator[Line]:
        """The lines about inputs or outputs of jobs."""
        found: dict[tuple[int, int, int], tuple[list[Label], list[bool]]] = {}
        rows = self.connection.execute("SELECT job, dataset, side, origin FROM job_io WHERE side = ?", (int(side),)).fetchall()
        self.failed.load(row[0] for row in rows)
        for row in rows:
            job, dataset, _, origin = row
            labels, failed = found.setdefault((self.head(job), self.head(dataset), origin), ([], []))
            labels.append(self.labels.port(job, dataset, side, origin)[0])
            failed.append(self.failed.port(row))
        for (job, dataset, origin), (labels, failed) in found.items():
            if (state := best(labels).value) != Label.ENDED:
                line = {"job": self.name(job), "dataset": self.name(dataset), "origin": origin_text(origin), "state": state}
                yield {**line, **only_failed(failed)}

    def flow_lines(self) -> Iterator[Line]:
        """The lines about flows, each with its strongest evidence."""
        found: dict[tuple[int, int, int, int], tuple[int, list[Label], list[bool]]] = {}
        rows = self.connection.execute("SELECT source, target, job, origin, min(evidence) FROM flow GROUP BY source, target, job, origin")
        flows = list(self._stated(self._counted(rows.fetchall())))
        self.failed.load(row[2] for row in flows)
        for source, target, job, origin, evidence in flows:
            key = self.head(source), self.head(target), self.head(job), origin
            strongest, labels, failed = found.get(key, (evidence, [], []))
            labels.append(self.labels.flow(source, target, job, origin)[0])
            failed.append(self.failed.flow((source, target, job, origin, evidence, 0)))
            found[key] = min(strongest, evidence), labels, failed
        for (source, target, job, origin), (evidence, labels, failed) in found.items():
            if (state := best(labels).value) == Label.ENDED:
                continue
            yield {
                "source": self.end(source),
                **self.worker(job),
                "target": self.end(target),
                "origin": origin_text(origin),
                "evidence": Evidence(evidence).text,
                "state": state,
                **only_failed(failed),
            }

    def _counted(self, rows: list[tuple[int, int, int, int, int]]) -> list[tuple[int, int, int, int, int]]:
        """The flows among these that count: a flow by co-occurrence is left out if column lineage under other names contradicts it."""
        hidden = {edge[:5] for edge in CoOccurrence(self.connection, self.nodes).not_counting((*row, 0) for row in rows)}
        return [row for row in rows if row not in hidden]

    def _stated(self, rows: list[tuple[int, int, int, int, int]]) -> Iterator[tuple[int, int, int, int, int]]:
        """The flows among these that no explicit lineage hides. Left out are implicit flows to a target if another name of the job states
        the flows to this target explicitly.
        """
        explicit: dict[tuple[int, int], set[int]] = {}
        for _, target, job, _, evidence in rows:
            if evidence == Evidence.EXPLICIT:
                explicit.setdefault((self.head(target), self.head(job)), set()).add(job)
        for row in rows:
            _, target, job, _, evidence = row
            if evidence != Evidence.CO_OCCURRENCE or not explicit.get((self.head(target), self.head(job)), set()) - {job}:
                yield row

    def hub_lines(self) -> Iterator[Line]:
        """The lines about hubs, each with its two sides."""
        rows = self.connection.execute("SELECT hub, job, min(origin), max(origin) FROM hub GROUP BY hub, job").fetchall()
        self.failed.load(row[1] for row in rows)
        for hub, job, origin, last in rows:
            failed = origin == last and self.failed.flow((0, 0, job, origin, int(Evidence.CO_OCCURRENCE), hub))
            sides: dict[int, set[tuple[str, str]]] = {0: set(), 1: set()}
            for side, dataset in self.connection.execute("SELECT side, dataset FROM hub_io WHERE hub = ?", (hub,)):
                named = self.name(dataset)
                sides[side].add((named["namespace"], named["name"]))
            inputs, outputs = ([{"namespace": ns, "name": name} for ns, name in sorted(sides[side])] for side in (0, 1))
            yield {"job": self.name(job), "inputs": inputs, "outputs": outputs, **only_failed([failed])}

    def column_flows(self) -> Iterator[Line]:
        """The lines about column lineage: each source of each target, with all transformations stated."""
        found: dict[tuple[int, str, int, str, int, int], set[tuple[str, str, int]]] = {}
        for job, carrier, origin, target, target_field, source, source_field, *change in self.connection.scan(_COLUMN_FLOWS, (NO_SOURCE,)):
            if source_field or target_field:
                to, of = target or carrier, source or job
                key = self.head(of), source_field, self.head(to), target_field, self.head(job), origin
                found.setdefault(key, set()).add((change[0], change[1], change[2]))
        for (source, source_field, target, target_field, job, origin), changes in found.items():
            yield {
                "source": self.column(source, source_field),
                **self.worker(job),
                "target": self.column(target, target_field),
                "transformations": [transformation(*change) for change in sorted(changes)],
                "origin": origin_text(origin),
            }

    def column(self, id_: int, field: str) -> Line:
        """A column, as the lines contain it; if the field is empty, the whole dataset."""
        return {**self.name(id_), "field": field} if field else self.name(id_)

    # facets and names

    def schemas(self) -> Iterator[Line]:
        """The lines about schemas, each schema of a dataset once; `current` marks the one that counts."""
        found: dict[int, list[tuple[int, int, bytes, bytes, str]]] = {}
        for node, *row in self.connection.scan(_SCHEMAS):
            found.setdefault(self.head(node), []).append((row[0], row[1], row[2], row[3], row[4]))
        for dataset, rows in found.items():
            versions: set[str] = set()
            for number, (*_, text) in enumerate(sorted(rows, reverse=True)):
                facet = read_as(SchemaDatasetFacet, "dataset", "schema", text.encode())
                fields = (facet.fields or ()) if facet else ()
                version = schema_version(fields)
                if facet and version not in versions:
                    versions.add(version)
                    line = {"dataset": self.name(dataset), "version": version, "fields": [schema_field(f) for f in fields]}
                    yield {**line, "current": True} if number == 0 else line

    def facet_lines(self) -> Iterator[Line]:
        """The lines about current facets of nodes, by key and hash."""
        rows = self.connection.execute(
            "SELECT c.node, c.key, c.facet, n.kind FROM current_facet c JOIN facet f ON f.facet = c.facet "
            f"JOIN node n ON n.id = c.node WHERE f.deleted = 0 AND c.job <> {OF_RUNS}"
        )
        for node, key, digest, kind in rows.fetchall():
            yield {NodeKind(kind).name.lower(): self.name(node), "key": key, "hash": digest.hex()}

    def aliases(self) -> Iterator[Line]:
        """The lines about aliases: every name that is an alias of another one, and the kind of link between them."""
        for identity in self.identities.values():
            node = self.nodes.by_id(identity.node)
            if (node.namespace, node.name) != (identity.namespace, identity.name):
                line = {"entity": node.kind.name.lower(), "node": named(node.namespace, node.name), "canonical": self.name(identity.node)}
                yield from ({**line, "kind": kind} for kind in identity.kinds)

    # edges other than data flow

    def control_lines(self) -> Iterator[Line]:
        """The lines about job dependencies: the jobs and runs that runs wait for, and those that wait for them."""
        for run, job, direction, other, other_run, *rules in self.connection.execute(
            "SELECT run, job, direction, other_job, other_run, dependency, sequence, status FROM job_dependency"
        ).fetchall():
            line: Line = {"run_id": str(UUID(bytes=run)), "job": self.name(job), "direction": ("upstream", "downstream")[direction]}
            line["other"] = self.name(other)
            if other_run:
                line["other_run_id"] = str(UUID(bytes=other_run))
            stated = zip(("dependency_type", "sequence_trigger_rule", "status_trigger_rule"), rules, strict=True)
            yield {**line, **{key: rule for key, rule in stated if rule}}

    def lifecycle_lines(self) -> Iterator[Line]:
        """The lines about lifecycle changes of datasets, by job, each with the time of its first report."""
        for dataset, change, previous, job, first in self.connection.execute(
            "SELECT dataset, change, previous, job, min(first) FROM lifecycle GROUP BY dataset, change, previous, job"
        ).fetchall():
            line: Line = {"dataset": self.name(dataset), "change": change, "at": format_time(first)}
            if previous:
                line["previous"] = self.name(previous)
            yield {**line, "job": self.name(job)} if job else line
