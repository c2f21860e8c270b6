"""Keeps derived rows up to date, in the transaction that writes the facts: run shapes, flows, current facets, and aliases.

Minimums and maximums are merged into the stored values. All other values are recomputed for the keys that a batch changed, with the pure
functions of `graph`, until a budget of rows is used up; the remaining keys are queued. `graph.derive` computes the same values from all
facts.
"""

from collections.abc import Collection, Iterable, Mapping

from lineage_bridge.graph.facts.events import LINEAGE_KEYS, NAMING_KEYS
from lineage_bridge.graph.facts.facet_texts import annotation_rows
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import is_current
from lineage_bridge.graph.flows.run_shape import SHAPING_KEYS, carriers, flow_owner, is_mark, read_mark
from lineage_bridge.graph.identity.claims import CLAIMING
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import FACET_SET, Origin
from lineage_bridge.graph.statements.lineage_sets import named_nodes, read_lineage_set
from lineage_bridge.ports.graph_store import Budget
from lineage_bridge.store.chunks import batches
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.derive import derivation_statements as statements
from lineage_bridge.store.derive.current_facets import CurrentFacetWriter
from lineage_bridge.store.derive.run_shapes import RunShapeWriter
from lineage_bridge.store.derive.search_index import SearchTextWriter
from lineage_bridge.store.derive.spellings import AliasWriter
from lineage_bridge.store.derive.stitching import StitchWriter
from lineage_bridge.store.derive.symlinks import SymlinkWriter
from lineage_bridge.store.merging import merge_sql
from lineage_bridge.store.write.changes import ChangeRecorder

_READ = NAMING_KEYS | SHAPING_KEYS
Asserter = tuple[bytes, int]
FacetSets = dict[bytes, dict[str, bytes]]
_REMEMBERED = 500_000
_LAST_TIME = 2**63 - 1
_ROWS_A_TEXT = 8
"""The cost of updating the search text of one node, in rows of the budget."""


class Derivation:
    """Updates derived rows over the writer's connection, inside its transaction. Call `forget` after a rollback."""

    def __init__(self, connection: StoreConnection, names: Names, changes: ChangeRecorder) -> None:
        self.connection, self.names, self.changes = connection, names, changes
        self.run_shapes = RunShapeWriter(connection, changes)
        self.spellings = AliasWriter(connection, names, changes)
        self.symlinks = SymlinkWriter(connection, names, changes)
        self.stitching = StitchWriter(connection, self.run_shapes)
        self.lineage_set_of: dict[tuple[bytes, str], bytes | None] = {}
        self.since: dict[tuple[bytes, str], int] = {}
        self.mentioned: set[tuple[int, bytes]] = set()
        self.stored: set[bytes] = set()
        self.search = SearchTextWriter(connection)
        self.facets = CurrentFacetWriter(connection, changes)
        for table in statements.STAGING:
            connection.execute(f"CREATE TEMP TABLE {table}")

    def forget(self) -> None:
        """Remove from the caches what the current transaction added. Call this after a rollback."""
        self.lineage_set_of.clear()
        self.since.clear()
        self.mentioned.clear()
        self.stored.clear()
        self.search.forget()
        self.spellings.forget()

    # nodes and texts

    def add_staged_nodes(self) -> None:
        """Add those staged nodes that the store lacks, or that a staged row mentions earlier than any stored row does."""
        self.add_nodes(
            self.connection.execute(
                "SELECT i.id, min(i.kind), min(i.namespace), min(i.name), min(i.first) FROM in_node i LEFT JOIN node n ON n.id = i.id "
                "WHERE n.id IS NULL OR i.first < n.first GROUP BY i.id"
            ).fetchall()
        )

    def add_nodes(self, rows: Iterable[Row]) -> None:
        """Add new nodes (id, kind, namespace, name, time of the first mention). For existing nodes, an earlier time of the first mention is
        stored.
        """
        earliest: dict[int, Row] = {}
        for row in rows:
            kept = earliest.setdefault(row[0], row)
            if row[4] < kept[4]:
                earliest[row[0]] = (*kept[:4], row[4])
        added: set[int] = set()
        for some in batches(list(earliest.values())):
            sql = f"INSERT INTO node VALUES {', '.join(['(?, ?, ?, ?, ?)'] * len(some))} ON CONFLICT DO NOTHING"
            added.update(row[0] for row in self.changes.run("node", sql, [value for row in some for value in row]))
        later = [(row[4], id_, row[4]) for id_, row in earliest.items() if id_ not in added]
        self.connection.executemany(statements.EARLIER, later)
        new = [earliest[id_] for id_ in sorted(added)]
        # Rows are added in the order of their ids: the full-text index writes its buffer whenever an id is lower than the one before.
        search = self.connection.dialect.full_text
        self.connection.executemany(
            search.add("node_search", ("namespace", "name")), [search.row("node_search", row[0], row[2:4]) for row in new]
        )
        for row in new:
            self.spellings.add(row[:4])

    def add_facet_sets(self, rows: list[Row]) -> None:
        """Store the facet sets that the store lacks. Facet sets that are known to be stored are skipped."""
        if len(self.stored) > _REMEMBERED:
            self.stored.clear()
        new = {row[:2]: row for row in rows if row[0] not in self.stored}
        self.connection.executemany(merge_sql(FACET_SET, "VALUES (?, ?, ?)"), new.values())
        self.stored.update(row[0] for row in new.values())

    def add_facets(self, rows: list[Row]) -> None:
        """Store those texts of facets that the store lacks."""
        if not rows:
            return
        texts = {row[0]: row for row in rows}
        self.connection.execute("DELETE FROM in_facet")
        self.connection.executemany("INSERT INTO in_facet VALUES (?)", ((facet,) for facet in texts))
        new = self.connection.execute("SELECT i.facet FROM in_facet i LEFT JOIN facet f ON f.facet = i.facet WHERE f.facet IS NULL")
        self.connection.executemany("INSERT INTO facet VALUES (?, ?, ?)", [texts[facet] for (facet,) in new.fetchall()])

    def text(self, facet: bytes) -> bytes:
        """The stored text of a facet."""
        return str(self.connection.execute("SELECT text FROM facet WHERE facet = ?", (facet,)).fetchone()[0]).encode()

    # what a batch changes

    def asserters_with_new_members(self) -> set[Asserter]:
        """The runs in the staged batch that name a dataset for the first time, or earlier than is stored. Call before the merge."""
        rows = self.connection.execute(
            "SELECT DISTINCT i.run, i.job FROM in_run_io i WHERE NOT EXISTS (SELECT 1 FROM run_io r WHERE r.run = i.run AND r.job = i.job "
            "AND r.dataset = i.dataset AND r.side = i.side AND r.first <= i.first)"
        )
        return {(run, job) for run, job in rows}

    def keep_up(self, rows: Mapping[str, list[Row]], touched: set[Asserter], budget: Budget) -> None:
        """Derive the rows that a merged batch changed. `touched` are the runs that `asserters_with_new_members` returned."""
        facet_sets: FacetSets = {}
        for facet_set, key, facet in rows.get("facet_set", []):
            facet_sets.setdefault(facet_set, {})[key] = facet
        assertions = rows.get("assertion", [])
        touched |= self._new_statements(assertions, facet_sets)
        touched |= {(row[0], own) for row in assertions if row[4] == Origin.DECLARED and (own := flow_owner(*row[1:4]))}
        self.run_shapes.stage(assertions)
        touched |= self.run_shapes.snapshots()
        self.run_shapes.merge_staged()
        self.current_facets(assertions, facet_sets)
        self.spellings.merge_aliases(rows.get("alias", []))
        batch_rows = sum(len(some) for some in rows.values())
        allowed = Budget(budget.rows + 4 * batch_rows)
        self.stitching.keep_up(self._shapes(sorted(touched), allowed), allowed)
        self.search.keep_up((budget.rows + batch_rows) // _ROWS_A_TEXT + 1)

    def settle(self, budget: Budget) -> None:
        """Derive the keys that earlier batches left in the queue."""
        self.run_shapes.clear_staged()
        self.stitching.keep_up(self._shapes([], budget), budget)
        self.search.keep_up(budget.rows // _ROWS_A_TEXT + 1)

    def _shapes(self, touched: list[Asserter], budget: Budget) -> list[Asserter]:
        """Recompute the shapes of queued asserters and of touched runs, within the budget; the rest stays queued. Returns the asserters
        whose shapes were recomputed.
        """
        left = self.connection.execute("SELECT asserted_by, job FROM derive_queue LIMIT 1000").fetchall()
        waiting = list(dict.fromkeys([*left, *touched]))
        done = self.run_shapes.reshape(waiting, budget, self.lineage_set_id)
        if left:
            self.connection.executemany("DELETE FROM derive_queue WHERE asserted_by = ? AND job = ?", waiting[:done])
        if done < len(waiting):
            self.connection.executemany("INSERT INTO derive_queue VALUES (?, ?) ON CONFLICT DO NOTHING", waiting[done:])
        return waiting[:done]

    # statements

    def _new_statements(self, assertions: list[Row], facet_sets: FacetSets) -> set[Asserter]:
        """Store new lineage assertions of runs. Returns those runs."""
        self._load_lineage_sets(_firsts(assertions, facet_sets))
        bearing = {facet_set: facets for facet_set, facets in facet_sets.items() if not SHAPING_KEYS.isdisjoint(facets)}
        if not bearing:
            return set()
        found: dict[tuple[bytes, int, int, bytes], int] = {}
        for asserter, job, node, side, origin, facet_set, _, first, *_ in assertions:
            for key, carrier in carriers(node, job, side) if facet_set in bearing and origin == Origin.OBSERVED and job else ():
                lineage_set = self.lineage_set_of[bearing[facet_set][key], key] if key in bearing[facet_set] else None
                if lineage_set:
                    row_key = asserter, job, carrier, lineage_set
                    found[row_key] = min(found.get(row_key, first), first)
        return self._merge_statements([(*row_key, first) for row_key, first in found.items()])

    def _merge_statements(self, found: list[Row]) -> set[Asserter]:
        self.connection.execute("DELETE FROM in_run_lineage_set")
        self.connection.executemany("INSERT INTO in_run_lineage_set VALUES (?, ?, ?, ?, ?)", found)
        new = self.connection.execute(
            "SELECT i.* FROM in_run_lineage_set i LEFT JOIN run_lineage_set s ON s.asserted_by = i.asserted_by AND s.job = i.job "
            "AND s.carrier = i.carrier AND s.lineage_set = i.lineage_set WHERE s.asserted_by IS NULL OR i.first < s.first"
        ).fetchall()
        self.connection.executemany(
            "INSERT INTO run_lineage_set VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (asserted_by, job, carrier, lineage_set) DO UPDATE SET first = excluded.first",
            new,
        )
        for job, lineage_set in sorted({(row[1], row[3]) for row in new if not is_mark(row[3])} - self.mentioned):
            self.run_shapes.mention_nodes(job, (), [lineage_set])
            self.mentioned.add((job, lineage_set))
        return {(row[0], row[1]) for row in new}

    def _load_lineage_sets(self, firsts: Mapping[tuple[bytes, str], int]) -> None:
        """Cache the lineage sets of facets, given by (facet, key) with the time of the first assertion. New facets are parsed and
        stored.
        """
        if len(self.lineage_set_of) + len(self.mentioned) > 200_000:
            self.forget()
        for (facet, key), first in sorted(firsts.items()):
            self._load_lineage_set(facet, key, first)
            if first < self.since[facet, key]:
                self._asserted_earlier(facet, key, first)

    def _load_lineage_set(self, facet: bytes, key: str, first: int) -> None:
        if (facet, key) not in self.lineage_set_of:
            row = self.connection.execute(
                "SELECT lineage_set, first FROM facet_lineage_set WHERE facet = ? AND key = ?", (facet, key)
            ).fetchone()
            self.lineage_set_of[facet, key], self.since[facet, key] = row or (self._store_lineage_set(facet, key, first), first)

    def _asserted_earlier(self, facet: bytes, key: str, first: int) -> None:
        """Record an earlier first assertion of a facet than was known. It is also an earlier mention of the nodes that the facet names."""
        self.since[facet, key] = first
        self.connection.execute("UPDATE facet_lineage_set SET first = ? WHERE facet = ? AND key = ?", (first, facet, key))
        self.add_nodes((*node, first) for node in (named_nodes(key, self.text(facet), self.names) if key in NAMING_KEYS else ()))

    def _store_lineage_set(self, facet: bytes, key: str, first: int) -> bytes | None:
        """Parse a facet that names nodes, and store these nodes. For a lineage facet, also store the lineage set, and return its id."""
        text = self.text(facet)
        if key == "jobType":
            mark = read_mark(text)
            self.connection.execute("INSERT INTO facet_lineage_set VALUES (?, ?, ?, ?)", (facet, key, mark, first))
            return mark
        nodes = named_nodes(key, text, self.names)
        self.add_nodes((*node, first) for node in nodes)
        self.connection.executemany("INSERT INTO facet_node VALUES (?, ?) ON CONFLICT DO NOTHING", [(node[0], facet) for node in nodes])
        lineage_set = read_lineage_set(key, text, self.names) if key in LINEAGE_KEYS else None
        self.connection.execute(
            "INSERT INTO facet_lineage_set VALUES (?, ?, ?, ?)", (facet, key, lineage_set.id if lineage_set else None, first)
        )
        if lineage_set is None:
            return None
        marks = ", ".join("?" * 12)
        self.connection.executemany(f"INSERT INTO annotation VALUES ({marks})", list(annotation_rows(facet, lineage_set)))
        if self.connection.execute(statements.ADD_LINEAGE_SET, (lineage_set.id, int(lineage_set.explicit))).rowcount:
            self.connection.executemany(
                statements.ADD_COLUMNS,
                [(lineage_set.id, *s) for s in lineage_set.statements],
            )
        return lineage_set.id

    def lineage_set_id(self, facet_set: bytes, key: str) -> bytes | None:
        """The id of the lineage set that the facet `key` in a stored facet set states; None if there is no valid lineage facet."""
        row = self.connection.execute("SELECT facet FROM facet_set WHERE facet_set = ? AND key = ?", (facet_set, key)).fetchone()
        if row is None:
            return None
        self._load_lineage_sets({(row[0], key): _LAST_TIME})
        return self.lineage_set_of[row[0], key]

    # current facets and identity

    def current_facets(self, assertions: Collection[Row], facet_sets: FacetSets) -> None:
        """Merge assertions into the current facets, and update those symlinks and namespace claims that change with them."""
        claiming: dict[tuple[int, str, bytes], int] = {}
        for _, _, node, side, _, facet_set, _, first, *_ in assertions:
            for key, facet in facet_sets.get(facet_set, {}).items():
                if key in CLAIMING and is_current(key, side):
                    claiming[node, key, facet] = min(claiming.get((node, key, facet), first), first)
        self.search.facets_changed(self.facets.merge(assertions, facet_sets))
        self.symlinks.keep_up(assertions, facet_sets)
        self.spellings.claims.see(claiming)


def _firsts(assertions: Iterable[Row], facet_sets: FacetSets) -> dict[tuple[bytes, str], int]:
    """The time of the first assertion in a batch for each facet that is parsed, by (facet, key)."""
    read = {facet_set: [(facets[key], key) for key in _READ & facets.keys()] for facet_set, facets in facet_sets.items()}
    firsts: dict[tuple[bytes, str], int] = {}
    for row in assertions:
        for row_key in read.get(row[5], ()):
            firsts[row_key] = min(firsts.get(row_key, row[7]), row[7])
    return firsts
