"""Lists the whole graph, dataset by dataset and job by job, and finds nodes by their node ids.

The graph is read in portions. Only one portion is in memory at a time, without its long facets.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.identity.node_ids import Name, NodeId, make_node_id, parse_node_id, with_whole_namespace
from lineage_bridge.graph.identity.steps import BRIDGE
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.model.graph import Edge, Node, Port
from lineage_bridge.model.inventory import InventoryEntry
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.dialect import NO_LIMIT
from lineage_bridge.store.history.moment import GraphMoment, graph_moment
from lineage_bridge.store.query.flows import Direction, RawPort
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.runs import Runs
from lineage_bridge.store.whole.facet_texts import current_facets

PORTION = 256
MOST_SPACES = 5_000
"""How many namespaces are searched for a node id without a namespace."""
_NODES = "SELECT id, kind FROM node WHERE kind IN ({}) AND {} ORDER BY namespace, name, kind"
_LISTED = """SELECT id FROM node WHERE kind = ? AND namespace GLOB ? AND name GLOB ? AND {}
ORDER BY namespace, name LIMIT ? OFFSET ?"""
_MATCHING = "SELECT id FROM node WHERE id IN ({}) AND namespace GLOB ? AND name GLOB ?"
_TIMES = "SELECT id, first, (SELECT last FROM run_shape p WHERE p.job = n.id ORDER BY last DESC LIMIT 1) FROM node n WHERE id IN ({})"
_NAMED = """SELECT i.dataset, i.side, s.origin, max(j.last) FROM shape_io i STRAIGHT_JOIN shape s ON s.shape = i.shape
STRAIGHT_JOIN job_shape j ON j.shape = i.shape WHERE i.dataset IN ({}) GROUP BY i.dataset, i.side, s.origin"""
_SPACES = """SELECT namespace FROM (WITH RECURSIVE space (namespace) AS (SELECT (SELECT min(namespace) FROM node)
UNION ALL SELECT (SELECT min(n.namespace) FROM node n WHERE n.namespace > space.namespace) FROM space WHERE space.namespace IS NOT NULL)
SELECT namespace FROM space WHERE namespace IS NOT NULL
UNION SELECT a_namespace FROM alias WHERE whole = 1 UNION SELECT b_namespace FROM alias WHERE whole = 1
UNION SELECT a_namespace FROM namespace_claim WHERE whole = 1 UNION SELECT b_namespace FROM namespace_claim WHERE whole = 1) known
WHERE namespace GLOB ? ORDER BY namespace LIMIT ?"""
_DIRECT = """SELECT f.source, f.target, f.job, f.origin, min(f.evidence) FROM flow f
JOIN node j ON j.id = f.job JOIN node s ON s.id = f.source JOIN node t ON t.id = f.target
WHERE j.kind = 1 OR (s.kind = 2 AND s.id <> j.id) OR (t.kind = 2 AND t.id <> j.id)
GROUP BY f.source, f.target, f.job, f.origin"""
_UNNAMED = """SELECT f.job, f.{end}, {side}, f.origin FROM flow f JOIN node j ON j.id = f.job AND j.kind = 2
JOIN node d ON d.id = f.{end} AND d.kind = 1
WHERE NOT EXISTS (SELECT 1 FROM job_io i WHERE i.job = f.job AND i.dataset = f.{end} AND i.side = {side})"""
_UNNAMED_PORTS = " UNION ".join(_UNNAMED.format(end=end, side=int(side)) for end, side in (("source", Side.INPUT), ("target", Side.OUTPUT)))
"""The ends of a job's flows that the job never named as its input or output."""
_NO_TIMES = 0, None
_WRITTEN_READ = Side.OUTPUT, Side.INPUT
_OBSERVED = """SELECT id FROM node n WHERE id IN ({}) AND CASE kind
WHEN 2 THEN EXISTS (SELECT 1 FROM run_shape p WHERE p.job = n.id AND p.origin = 1)
ELSE EXISTS (SELECT 1 FROM job_io i WHERE i.dataset = n.id) END"""
_UNOBSERVED = """SELECT id FROM node n WHERE {} AND CASE kind
WHEN 2 THEN NOT EXISTS (SELECT 1 FROM run_shape p WHERE p.job = n.id AND p.origin = 1)
WHEN 1 THEN NOT EXISTS (SELECT 1 FROM job_io i WHERE i.dataset = n.id) OR EXISTS (SELECT 1 FROM current_facet c
    JOIN facet f ON f.facet = c.facet WHERE c.node = n.id AND c.job = 0 AND c.key IN ('columnLineage', 'lineage') AND f.deleted = 0)
ELSE 1 = 0 END ORDER BY namespace, name, kind"""
_DECLARING = """SELECT c.node FROM current_facet c JOIN facet f ON f.facet = c.facet JOIN node n ON n.id = c.node AND n.kind = 1
WHERE c.node IN ({}) AND c.job = 0 AND c.key IN ('columnLineage', 'lineage') AND f.deleted = 0"""
_RENAMES = "SELECT DISTINCT previous FROM lifecycle WHERE change = 'RENAME'"


class Inventory:
    """Implements ports.InventoryReader over one connection. `open_reader` opens a reader in the same transaction, with its own cache."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, runs: Runs, open_reader: Callable[[Nodes], GraphReader]) -> None:
        self.connection, self.nodes, self.runs, self.open_reader = connection, nodes, runs, open_reader

    def heads(self, kinds: Sequence[NodeKind]) -> Iterator[tuple[GraphReader, list[Node]]]:
        """Every dataset and job of these kinds once, as the canonical node of its group, in portions sorted by name.

        Each portion comes with a reader that caches nothing of the other portions.
        """
        within = self.nodes.within
        rows = self.connection.scan(_NODES.format(marks(kinds), within.by_position("namespace")), [*map(int, kinds), *within.values])
        while some := [row[0] for row in rows.fetchmany(PORTION)]:
            nodes = Nodes(self.connection, within=within)
            nodes.load(some)
            found = nodes.canonical(some)
            yield self.open_reader(nodes), [nodes.by_id(found.get(id_, id_)) for id_ in some if self._is_listed(nodes, id_, found)]

    def listed(
        self, kind: NodeKind, namespace: str | None, name: str | None, offset: int
    ) -> Iterator[tuple[GraphReader, list[tuple[int, Node]], int]]:
        """The datasets or jobs with a name that matches globs, each once, under its canonical name; in portions, starting at an offset."""
        within, globs = self.nodes.within, (namespace or "*", name or "*")
        values = int(kind), *globs, *within.values, NO_LIMIT, offset
        rows = self.connection.scan(_LISTED.format(within.by_position("namespace")), values)
        while some := [row[0] for row in rows.fetchmany(PORTION)]:
            nodes = Nodes(self.connection, within=within)
            nodes.load(some)
            found = nodes.canonical(some)
            firsts = self._first_names(nodes, found, globs)
            heads = [(offset + at, nodes.by_id(found.get(id_, id_))) for at, id_ in enumerate(some) if firsts.get(id_, id_) == id_]
            offset += len(some)
            yield self.open_reader(nodes), heads, offset

    def _first_names(self, nodes: Nodes, grouped: Iterable[int], globs: tuple[str, str]) -> dict[int, int]:
        """The id of the first name that matches globs, for each of these nodes that has several names."""
        members = {id_: nodes.group(nodes.by_id(id_))[1] for id_ in grouped}
        every = sorted({member.id for names in members.values() for member in names})
        matching: set[int] = set()
        for some in chunks(every):
            matching.update(row[0] for row in self.connection.execute(_MATCHING.format(marks(some)), (*some, *globs)))
        ordered = {id_: sorted(names, key=lambda node: (node.namespace, node.name)) for id_, names in members.items()}
        holds = nodes.within.holds
        return {id_: next(n.id for n in names if n.id in matching and holds(n.namespace)) for id_, names in ordered.items()}

    def _is_listed(self, nodes: Nodes, id_: int, heads: Mapping[int, int]) -> bool:
        """Whether lists show a group under this name. Lists use the group's canonical name or, if it is outside the namespaces that lists
        are limited to, the group's first name within these namespaces.
        """
        head = heads.get(id_, id_)
        if head == id_ or nodes.within.holds(nodes.by_id(head).namespace):
            return head == id_
        return id_ == next(name.id for name in nodes.group(nodes.by_id(id_))[1] if nodes.within.holds(name.namespace))

    def canonical_nodes(self, nodes: Iterable[Node]) -> dict[int, Node]:
        """The canonical node of each of these nodes, by node id."""
        by_id = {node.id: node for node in nodes}
        found = self.nodes.canonical(by_id)
        self.nodes.load(found.values())
        return {id_: self.nodes.by_id(found[id_]) if id_ in found else node for id_, node in by_id.items()}

    def described(self, nodes: Iterable[Node]) -> dict[int, InventoryEntry]:
        """The inventory entry of the group of each of these nodes, by node id."""
        heads = self.canonical_nodes(nodes)
        found = {entry.node.id: entry for entry in self.entries(sorted(set(heads.values()), key=lambda node: node.id))}
        return {id_: found[head.id] for id_, head in heads.items()}

    def entries(self, heads: Sequence[Node]) -> list[InventoryEntry]:
        """The inventory entries of these canonical nodes."""
        members = self._members(heads)
        every = sorted({member.id for some in members.values() for member in some})
        facets = current_facets(self.connection, members)
        named: dict[int, list[tuple[int, int, int]]] = {}
        for dataset, *naming in self._rows(_NAMED, every):
            named.setdefault(dataset, []).append((naming[0], naming[1], naming[2]))
        times = {id_: (first, last) for id_, first, last in self._rows(_TIMES, every)}
        spelt = self.nodes.spelt(heads, BRIDGE)

        def entry(node: Node) -> InventoryEntry:
            names = [member.id for member in members[node.id]]
            naming = [row for name in names for row in named.get(name, ())]
            run = [last for name in names if (last := times.get(name, _NO_TIMES)[1])]
            written, read = (max((row[2] for row in naming if row[:2] == (side, Origin.OBSERVED)), default=None) for side in _WRITTEN_READ)
            return InventoryEntry(
                node,
                spelt[node.id],
                members[node.id],
                self._node_id_of(spelt[node.id], facets[node.id].get("jobType"), node.id),
                facets[node.id],
                min((times[name][0] for name in names if name in times), default=0),
                max((*run, *(row[2] for row in naming)), default=None),
                written,
                read,
            )

        return [entry(node) for node in heads]

    def facets_of(self, nodes: Iterable[Node], keys: Sequence[str]) -> dict[int, dict[str, str]]:
        """The facets with these keys of each of these nodes, by node id."""
        return self.nodes.facets_of(nodes, keys)

    def quiet(self) -> Iterator[tuple[GraphReader, list[Node]]]:
        """The jobs without an observed run, and the datasets that no job names or that declare their own lineage; in portions, like
        those of `heads`.
        """
        within = self.nodes.within
        rows = self.connection.scan(_UNOBSERVED.format(within.by_position("n.namespace")), within.values)
        while some := [row[0] for row in rows.fetchmany(PORTION)]:
            nodes = Nodes(self.connection, within=within)
            inventory = Inventory(self.connection, nodes, Runs(self.connection, nodes), self.open_reader)
            heads = inventory.canonical_nodes(inventory.nodes.by_id(id_) for id_ in some)
            members = inventory._members(sorted(set(heads.values()), key=lambda node: node.id))
            every = [member.id for names in members.values() for member in names]
            observed, declaring = ({row[0] for row in self._rows(sql, every)} for sql in (_OBSERVED, _DECLARING))
            found = []
            for id_, head in heads.items():
                names = [member.id for member in members[head.id]]
                listed = [member.id for member in members[head.id] if within.holds(member.namespace)]
                first = next(name for name in listed if name not in observed or name in declaring)
                if id_ == first and (observed.isdisjoint(names) or not declaring.isdisjoint(names)):
                    found.append(head)
            yield self.open_reader(nodes), found

    def ran(self, jobs: Sequence[Node]) -> list[Node]:
        """The jobs among these that have had a run."""
        members = self._members(jobs)
        observed = {row[0] for row in self._rows(_OBSERVED, [member.id for some in members.values() for member in some])}
        return [job for job in jobs if any(member.id in observed for member in members[job.id])]

    def _members(self, heads: Sequence[Node]) -> dict[int, tuple[Node, ...]]:
        joined = self.nodes.identities.joined(node.id for node in heads)
        ids = {id_: self.nodes.identities.members(group) for id_, group in joined.items()}
        self.nodes.load(id_ for some in ids.values() for id_ in some)
        return {node.id: tuple(map(self.nodes.by_id, ids[node.id])) if node.id in ids else (node,) for node in heads}

    def _node_id_of(self, named: Node, job_type: str | None, head: int) -> NodeId:
        short = make_node_id(named.kind, named.namespace, named.name, job_type)
        if short.sure or [node.id for node in self.by_node_id(short.id)] == [head]:
            return short
        return with_whole_namespace(short, named.namespace, named.name)

    def _rows(self, sql: str, ids: Iterable[int]) -> Iterator[Any]:
        for some in chunks(ids):
            yield from self.connection.execute(sql.format(marks(some)), some)

    # node ids

    def by_node_id(self, text: str) -> list[Node]:
        """The canonical nodes that a node id may denote: one if it is unambiguous, otherwise several."""
        parsed = parse_node_id(text)
        if parsed is None:
            return []
        for name in parsed.exact:
            if found := self._heads_of(parsed.kind, [name]):
                return found
        for tier in parsed.tiers:
            names = [(space, name) for glob, name in tier for (space,) in self.connection.execute(_SPACES, (glob, MOST_SPACES))]
            if found := self._heads_of(parsed.kind, names):
                return found
        return []

    def _heads_of(self, kind: NodeKind, names: Iterable[Name]) -> list[Node]:
        found = [node for name in names if (node := self.nodes.by_spelling(kind, *name))]
        heads = {self.nodes.group(node)[0] for node in found}
        return sorted(heads, key=lambda node: (node.namespace, node.name))

    # edges

    def ports(self, jobs: Iterable[Node], *, now_us: int) -> list[Port]:
        """The inputs and outputs of these jobs, under all their names, without those that have ended."""
        when = self._now(now_us)
        every = sorted(self.nodes.expand(job.id for job in jobs))
        return self._ports([row for job in every for side in (Side.INPUT, Side.OUTPUT) for row in when.flows.job_ports(job, side)], when)

    def unnamed_ports(self, *, now_us: int) -> list[Port]:
        """The ends of jobs' flows that the jobs never named as their inputs or outputs."""
        when, rows = self._now(now_us), []
        for row in self.connection.execute(_UNNAMED_PORTS):
            job, dataset, side, _ = row
            named = {port[1] for member in self.nodes.members(job) for port in when.flows.job_ports(member, Side(side))}
            if named.isdisjoint(self.nodes.members(dataset)):
                rows.append(row)
        return self._ports(rows, when)

    def _ports(self, rows: list[RawPort], when: GraphMoment) -> list[Port]:
        self.nodes.load({id_ for row in rows for id_ in row[:2]})
        alike = when.labels.alike({row[0] for row in rows})
        when.labels.endings.load({row[1] for row in rows})
        found = []
        for job, dataset, side, origin in rows:
            own = when.labels.endings.touches(dataset)
            label, last = (None if own else alike.get(job)) or when.labels.port(job, dataset, Side(side), origin)
            if label is not Label.ENDED:
                found.append(Port(self.nodes.by_id(job), self.nodes.by_id(dataset), Side(side), Origin(origin), label, last))
        return found

    def _now(self, now_us: int) -> GraphMoment:
        return graph_moment(self.connection, self.nodes, self.runs, now_us)

    def direct(self, *, now_us: int) -> Iterator[Edge]:
        """The flows between two nodes that are not an input or output of a job: declared by datasets, between jobs, or renames."""
        when = self._now(now_us)
        for source, target, job, origin, evidence, *_ in self._direct(when):
            is_rename = evidence == Evidence.RENAMED
            label, last = when.labels.renamed(source, target) if is_rename else when.labels.flow(source, target, job, origin)
            if label is not Label.ENDED:
                by_id = self.nodes.by_id
                yield Edge(by_id(source), by_id(target), by_id(job), Origin(origin), Evidence(evidence), label, last)

    def _direct(self, when: GraphMoment) -> Iterator[tuple[int, ...]]:
        yield from self.connection.execute(_DIRECT)
        renamed = [row[0] for row in self.connection.execute(_RENAMES)]
        yield from when.labels.endings.renamed(renamed, Direction.DOWN)
