"""Computes all derived tables from scratch, as one pure function of the relations. The store updates the same tables row by row.

`verify` compares the two results. An answer as of an earlier time applies this function to the rows as they were at that time.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from lineage_bridge.graph.contents.catalog_facets import CatalogStatement, Newest, current_of_catalogs, is_of_catalogs, stating_catalog
from lineage_bridge.graph.contents.search_terms import SEARCHED, SEARCHED_OF_RUNS, search_text
from lineage_bridge.graph.facts.events import LINEAGE_KEYS, NAMING_KEYS, NO_RUN
from lineage_bridge.graph.facts.facet_texts import FacetTexts
from lineage_bridge.graph.facts.fold import Tables
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.run_shape import SHAPING_KEYS
from lineage_bridge.graph.flows.run_shapes import RunShapes
from lineage_bridge.graph.flows.shapes import Expansion, Shape, expand
from lineage_bridge.graph.identity.claims import CLAIMING, NamespaceClaim, read_claims
from lineage_bridge.graph.identity.grouping import StepsInMemory, names_in_groups, preferences, stated_aliases
from lineage_bridge.graph.identity.steps import Spelling, symlinks
from lineage_bridge.graph.ids import NodeKind, node_id
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.graph.statements.lineage_sets import OWN, named_nodes
from lineage_bridge.openlineage.facets.from_catalog import FROM_CATALOG

Derived = dict[str, set[Row]]
"""Rows by the name of the derived table.

Runs and design-time statements:
run_shape        (asserted_by, job, origin, shape, first, last,
                  first_shape_at, current_since, pending_until)     the current shape, and since when (shape_history.py)
run_shape_day    (asserted_by, job, day, shape, first, last)        the days on which it was asserted
run_lineage_set  (asserted_by, job, carrier, lineage_set, first)    the lineage that a run stated
mentioned_node   (node, job)                                        nodes that the job's lineage ever named; the store may have more
sibling          (parent, parent_job, side, first, asserted_by, job, last, shape, current_since)   runs that may be stitched (stitching.py)
stitch           (asserted_by, job, reader, reader_job)             a run that writes, and the run that reads the data it writes

Shapes, and the tables of jobs that are computed from them:
shape, shape_io, shape_lineage_set, shape_flow, hub_io              the current shapes of runs, and the flows they expand to
job_shape        (job, shape, day, first, last)                     over the runs whose current shape it is
job_io           (job, dataset, side, origin)
flow             (source, target, job, origin, evidence)
hub              (hub, job, origin)
job_lineage_set  (job, carrier, lineage_set, origin)

The contents of facets; each text is read once:
facet_lineage_set (facet, key, lineage_set, first), lineage_set, column_statement
annotation       (lineage_set, *statement, facet, description, target_run, source_run)
facet_node       (node, facet)                                      nodes that a facet names, except the node it belongs to

Nodes and names:
current_facet    (node, job, key, facet, rank, time, event)
search_text      (node, title, columns, owners, tags, description, sql)
job_symlinks     (dataset, job, declared_by, facet, time, event)   the newest symlinks facet of each job or declaration (`symlink_owner`)
symlink          (dataset, other, type)  from job_symlinks; symlink_evidence (dataset, facet): from all facets ever asserted
namespace_claim  (*claim, first)                from all facets ever asserted; namespace_claim_evidence (dataset, key, facet, first)
name_alias       (owner, namespace, name, rule, to_namespace, to_name)           aliases of names in use, by the naming rules
namespace_alias  (owner, namespace, other_namespace, prefix, parts, rule)        aliases of namespaces in use, by the naming rules

Not stored:
identity         (node, head, namespace, name)                      the groups of names of one dataset or job
live             (node, first)                                      the nodes that something still names, with the first mention
"""

SCHEMA_RANK = {int(Side.SELF): 3, int(Side.OUTPUT): 2, int(Side.INPUT): 1}
_NAMING = NAMING_KEYS | {"parent"}
OF_RUNS = -1
"""In `current_facet`, in place of the job's id: the row is the newest facet of any run of the job `node`."""
ENTITY_SIDES = frozenset({int(Side.INPUT), int(Side.OUTPUT), int(Side.SELF), int(Side.CATALOG)})


def facet_rank(key: str, side: int) -> int:
    """How facets with the same key are ranked before their times are compared.

    Only schemas have a rank: a dataset's own schema comes first, then an output's, then an input's. All other keys have rank 0. Facets that
    a catalog states are ranked after all others (see `catalog_facets`).
    """
    return SCHEMA_RANK.get(side, 0) if key == "schema" else 0


def facet_owner(key: str, job: int, side: int) -> int:
    """The owner under which a facet is kept separately: `job` for lineage facets, OF_RUNS for facets of a job's runs, 0 for all others."""
    if side == Side.RUN:
        return OF_RUNS
    return job if key in LINEAGE_KEYS else 0


def is_current(key: str, side: int) -> bool:
    """Whether facets with this key, asserted on this side (see `Side`), are kept as current facets. All facets of nodes are; of the facets
    of runs, only those that search covers.
    """
    return side in ENTITY_SIDES or (side == Side.RUN and key in SEARCHED_OF_RUNS)


def states_symlinks(job: int, node: int, side: int) -> bool:
    """Whether a facet that is asserted about `node` on this side (see `Side`) can state symlinks. Facets of datasets can, facets of the job
    itself cannot.
    """
    return side in ENTITY_SIDES and node != job


def symlink_owner(asserted_by: bytes, job: int, origin: int) -> tuple[int, bytes]:
    """The owner whose newest symlinks facet counts on its own: the runs of a job together, or one design-time statement."""
    return job, asserted_by if origin == Origin.DECLARED else NO_RUN


def derive(tables: Tables, names: Names, *, stitch: bool = False) -> Derived:
    """Compute all derived tables from the relations; with `stitch`, also the tables for stitched flows. The caller must have removed erased
    runs.
    """
    return _Derivation(tables, names, stitch=stitch).run()


class FirstSeen(dict[Any, int]):
    """The time at which each key was first mentioned, in UTC microseconds."""

    def note(self, key: object, first: int) -> None:
        """Record a mention of a key; the earliest time is kept."""
        earliest = self.get(key)
        if earliest is None or first < earliest:
            self[key] = first


class _Derivation:
    def __init__(self, tables: Tables, names: Names, *, stitch: bool) -> None:
        self.tables, self.names, self.stitch = tables, names, stitch
        self.out: Derived = defaultdict(set)
        self.texts = FacetTexts(tables, names)

    def run(self) -> Derived:
        self.read_jobs(RunShapes(self.tables, self.texts, self.out, stitch=self.stitch))
        self.read_facets()
        self.read_search_texts()
        self.read_symlinks()
        self.read_claims()
        self.read_mentioned()
        self.read_identity()
        return dict(self.out)

    # jobs

    def read_jobs(self, run_shapes: RunShapes) -> None:
        for shape in run_shapes.shapes.values():
            self.read_shape(shape, expand(shape, self.texts.lineage_sets))
        for (job, shape_id), days in run_shapes.job_shapes.items():
            self.out["job_shape"].update((job, shape_id, day, *period) for day, period in days.items())
            shape = run_shapes.shapes[shape_id]
            self.out["job_io"].update((job, dataset, side, shape.origin) for side, dataset in shape.members)
            self.out["job_lineage_set"].update((job, *statement, shape.origin) for statement in shape.lineage_sets)
            self.out["flow"].update(bind_to_job(expand(shape, self.texts.lineage_sets), job, shape.origin))
            for hub, hub_id in hubs_with_ids(shape_id, expand(shape, self.texts.lineage_sets)):
                self.out["hub"].add((hub_id, job, shape.origin))
                self.out["hub_io"].update((hub_id, int(Side.INPUT), dataset) for dataset in hub.inputs)
                self.out["hub_io"].update((hub_id, int(Side.OUTPUT), dataset) for dataset in hub.outputs)

    def read_shape(self, shape: Shape, expansion: Expansion) -> None:
        sides = [side for side, _ in shape.members]
        counts = sides.count(Side.INPUT), sides.count(Side.OUTPUT), len(expansion.hubs)
        self.out["shape"].add((shape.id, shape.origin, *counts))
        self.out["shape_io"].update((shape.id, *member) for member in shape.members)
        self.out["shape_lineage_set"].update((shape.id, *statement) for statement in shape.lineage_sets)
        self.out["shape_flow"].update((shape.id, *flow) for flow in expansion.flows)

    # facets and names

    def read_facets(self) -> None:
        best: dict[tuple[int, int, str], Newest] = {}
        of_catalogs: dict[tuple[int, int, str], list[CatalogStatement]] = defaultdict(list)
        for (asserted_by, job, node, side, _, facet_set, _), (_, _, last, event) in self.tables["assertion"].items():
            facets = self.texts.facets(facet_set)
            for key, facet in facets.items():
                if not is_current(key, side):
                    continue
                if is_of_catalogs(key, side):
                    catalog = stating_catalog(asserted_by, self.texts.text(facets[FROM_CATALOG]))
                    stated = CatalogStatement(last, event, facet, self.texts.is_deleted(facet), asserted_by, catalog)
                    of_catalogs[node, 0, key].append(stated)
                    continue
                facet_key = node, facet_owner(key, job, side), key
                candidate = facet_rank(key, side), last, event, facet
                best[facet_key] = max(best.get(facet_key, candidate), candidate)
        for facet_key, statements in of_catalogs.items():
            if found := current_of_catalogs(statements):
                best[facet_key] = max(best.get(facet_key, found), found)
        for (node, job, key), (rank, time, event, facet) in best.items():
            self.out["current_facet"].add((node, job, key, facet, rank, time, event))

    def read_search_texts(self) -> None:
        facets: dict[int, dict[str, bytes]] = defaultdict(dict)
        for node, job, key, facet, *_ in self.out["current_facet"]:
            if job in (0, OF_RUNS) and key in SEARCHED and not self.texts.is_deleted(facet):
                facets[node][key] = self.texts.text(facet)
        for node, texts in facets.items():
            text = search_text(self.texts.names_by_id[node].namespace, self.texts.names_by_id[node].name, texts)
            if text:
                self.out["search_text"].add((node, *text))

    def read_symlinks(self) -> None:
        newest: dict[tuple[int, int, bytes], tuple[int, bytes, bytes]] = {}
        for (asserted_by, job, node, side, origin, facet_set, _), (_, _, last, event) in self.tables["assertion"].items():
            facet = self.texts.facets(facet_set).get("symlinks")
            if facet and states_symlinks(job, node, side):
                self.out["symlink_evidence"].add((node, facet))
                key = node, *symlink_owner(asserted_by, job, origin)
                newest[key] = max(newest.get(key, (last, event, facet)), (last, event, facet))
        for key, (last, event, facet) in newest.items():
            self.out["job_symlinks"].add((*key, facet, last, event))
            named = ((self.names.dataset(namespace, name), type_) for namespace, name, type_ in symlinks(self.texts.text(facet)))
            self.out["symlink"].update((key[0], other, type_) for other, type_ in named if other != key[0])

    def read_claims(self) -> None:
        mentions: dict[tuple[int, str, bytes], int] = {}
        for (_, _, node, side, _, facet_set, _), (first, *_) in self.tables["assertion"].items():
            for key, facet in self.texts.facets(facet_set).items() if side in ENTITY_SIDES else ():
                if key in CLAIMING and self.texts.names_by_id[node].kind == NodeKind.DATASET:
                    mentions[node, key, facet] = min(mentions.get((node, key, facet), first), first)
        firsts: dict[NamespaceClaim, int] = {}
        for (node, key, facet), first in mentions.items():
            _, *name = self.texts.names_by_id[node]
            made = read_claims(*name, key, self.texts.text(facet))
            if made:
                self.out["namespace_claim_evidence"].add((node, key, facet, first))
            firsts.update({claim: min(firsts.get(claim, first), first) for claim in made})
        self.out["namespace_claim"] = {(*claim, first) for claim, first in firsts.items()}

    def read_identity(self) -> None:
        live = {id_: self.texts.names_by_id[id_] for id_, _ in self.out["live"]}
        links = ((live[dataset], live[other], type_) for dataset, other, type_ in self.out["symlink"])
        claims, aliases = [NamespaceClaim(*row[:-1]) for row in self.out["namespace_claim"]], self.tables["alias"]
        steps = StepsInMemory(live.values(), links, stated_aliases(aliases), claims, preferences(aliases))
        self.out["name_alias"] = {(owner_id(self.names, s), *here, rule, *to) for s, here, to, rule in steps.name_aliases}
        self.out["namespace_alias"] = {(space, *link) for space, link in steps.namespace_aliases}
        self.out["identity"] = set(names_in_groups(live, steps))

    def read_mentioned(self) -> None:
        live, facet_sets, facets = FirstSeen(), FirstSeen(), FirstSeen()
        for (_, _, dataset, _, _), (first, _) in self.tables["run_io"].items():
            live.note(dataset, first)
        for (_, job, node, _, _, facet_set, _), (first, *_) in self.tables["assertion"].items():
            live.note(job, first)
            live.note(node, first)
            facet_sets.note(facet_set, first)
        for facet_set, _, dataset, dataset_facets in self.tables["declared_io"]:
            if facet_set in facet_sets:
                live.note(dataset, facet_sets[facet_set])
                facet_sets.note(dataset_facets, facet_sets[facet_set])
        for facet_set, first in facet_sets.items():
            for found in self.texts.facets(facet_set).items():
                facets.note(found, first)
        for (key, facet), first in facets.items():
            if key in _NAMING:
                nodes = named_nodes(key, self.texts.text(facet), self.names)
                self.texts.remember_names(nodes)
                self.out["facet_node"].update((node[0], facet) for node in nodes if key in NAMING_KEYS)
                for node in nodes:
                    live.note(node[0], first)
        self.read_lineage_sets(facets)
        self.out["annotation"] = {row for key, facet in facets if key in LINEAGE_KEYS for row in self.texts.annotations(key, facet)}
        self.out["live"] = {(node, first) for node, first in live.items() if node}

    def read_lineage_sets(self, facets: FirstSeen) -> None:
        """Add the lineage sets and column statements of those facets that name nodes or determine shapes."""
        for (key, facet), first in facets.items():
            if key in NAMING_KEYS | SHAPING_KEYS:
                lineage_set = self.texts.lineage_set(key, facet) if key in SHAPING_KEYS else None
                self.out["facet_lineage_set"].add((facet, key, lineage_set, first))
                if lineage_set in self.texts.lineage_sets:
                    content = self.texts.lineage_sets[lineage_set]
                    self.out["lineage_set"].add((lineage_set, int(content.explicit)))
                    self.out["column_statement"].update((lineage_set, *statement) for statement in content.statements)


def owner_id(names: Names, spelling: Spelling) -> int:
    """The node id for a name, whether or not such a node exists."""
    return node_id(names.key, NodeKind(spelling.kind), spelling.namespace, spelling.name)


def bind_to_job(expansion: Expansion, job: int, origin: int) -> Iterator[Row]:
    """The rows of `flow` for one job: the flows of `expansion`, with the job's id in place of OWN."""
    for source, target, evidence in expansion.flows:
        yield source if source != OWN else job, target if target != OWN else job, job, origin, evidence


def hubs_with_ids(shape_id: int, expansion: Expansion) -> Iterable[tuple[Any, int]]:
    """The hubs of a shape, each with the id under which it is stored."""
    return [(hub, hub_id(shape_id, number)) for number, hub in enumerate(expansion.hubs)]


def hub_id(shape_id: int, number: int) -> int:
    """The id under which hub number `number` (0 or 1) of a shape is stored: the shape's id XOR that number."""
    return shape_id ^ number
