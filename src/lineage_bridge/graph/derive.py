"""Derived values, computed from scratch: what the store keeps up row by row, as one pure function of the relations.

`verify` compares the two; an answer as of an earlier time is this function of the rows as they were then.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from lineage_bridge.graph.book import PlainBook, identities, words
from lineage_bridge.graph.facts import LINEAGE_KEYS, NAMING_KEYS, Names
from lineage_bridge.graph.fold import Tables
from lineage_bridge.graph.growth import Growth, Saying, newest_content, of_declaration
from lineage_bridge.graph.identity import Spelling, symlinks
from lineage_bridge.graph.ids import NodeKind, node_id
from lineage_bridge.graph.relations import Origin, Row, Side
from lineage_bridge.graph.searching import SEARCHED, search_text
from lineage_bridge.graph.shapes import NO_SHAPE, Expansion, Shape, expand, make_shape
from lineage_bridge.graph.statements import OWN, Meaning, named_nodes, read_meaning
from lineage_bridge.graph.stitch import Sibling, one_side, stitch_id, stitched, stitched_shape
from lineage_bridge.graph.subjects import (
    Naming,
    Stated,
    carriers,
    declaring_keys,
    is_mark,
    is_snapshot,
    is_streaming,
    read_mark,
    run_shape,
    speaker,
)

Subject = tuple[bytes, int]
"""Who spoke, and of which job; of a dataset, when a design-time statement names no job."""
Derived = dict[str, set[Row]]
"""Derived table to its rows.

present        (subject, job, origin, shape, first, last,
                sprouted, reached, forming)                      what a run or statement amounts to now, and since when (growth.py)
spoken         (node, job)                                       the nodes that a job's statements ever named; the store may hold more
job_shape      (job, shape, day, first, last)                    over the subjects whose present shape it is
job_io         (job, dataset, side, origin)
flow           (source, target, job, origin, evidence)
hub            (hub, job, origin); hub_io (hub, side, dataset)
job_statement  (job, carrier, meaning, origin)
current_facet  (node, job, key, facet, rank, time, event)
search_text    (node, title, columns, owners, tags, description, sql)
symlink        (dataset, other, type)                            of current facets; symlink_said (dataset, facet): of all there ever were
respelt        (owner, namespace, name, rule, to_namespace, to_name)  steps of the rules from names that are there or that operators use
respaced       (owner, space, other, prefix, parts, rule)        links of the rules from such namespaces
identity       (node, head, namespace, name)                     not stored: the groups that all these make
sibling        (parent, side, first, subject, job, last, shape, reached)   runs that may be stitched (stitch.py)
stitch         (subject, job, reader, reader_job)
remark         (meaning, *statement, facet, description,
                target_run, source_run)
live           (node)                                             nodes that something still speaks of
"""

SCHEMA_RANK = {int(Side.SELF): 3, int(Side.OUTPUT): 2, int(Side.INPUT): 1}
_NAMING = NAMING_KEYS | {"parent"}
ENTITY_SIDES = frozenset({int(Side.INPUT), int(Side.OUTPUT), int(Side.SELF)})


def facet_rank(key: str, side: int) -> int:
    """The rank that comes before time among the facets of one key: only schemas have one, by who says them."""
    return SCHEMA_RANK[side] if key == "schema" else 0


def facet_owner(key: str, job: int) -> int:
    """The job a facet of a dataset belongs to besides the dataset: lineage does, anything else does not (0)."""
    return job if key in LINEAGE_KEYS else 0


def derive(tables: Tables, names: Names, *, stitch: bool = False) -> Derived:
    """All derived values of the relations; with `stitch`, those of stitch.py. Erased runs must have been taken out before."""
    return _Derivation(tables, names, stitch=stitch).run()


class Present(NamedTuple):
    """What a subject amounts to now, the days it spoke with first and last, and since when."""

    shape: Shape
    days: dict[int, tuple[int, int]]
    growth: Growth


class _Derivation:
    def __init__(self, tables: Tables, names: Names, *, stitch: bool) -> None:
        self.stitch = stitch
        self.presents: dict[Subject, Present] = {}
        self.tables, self.names = tables, names
        self.out: Derived = defaultdict(set)
        self.meanings: dict[bytes, Meaning] = {}
        self.meaning_of: dict[tuple[str, bytes], bytes | None] = {}
        self.contents: dict[bytes, dict[str, bytes]] = defaultdict(dict)
        self.shapes: dict[int, Shape] = {}
        self.job_shapes: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}
        self.there = {id_: Spelling(kind, namespace, name) for id_, kind, namespace, name in tables["node"]}
        self.streaming: set[Subject] = set()
        self.declared_io: dict[bytes, list[tuple[int, int, bytes]]] = defaultdict(list)

    def run(self) -> Derived:
        for (content, key), (facet,) in self.tables["content"].items():
            self.contents[content][key] = facet
        for content, *declared in self.tables["declared_io"]:
            self.declared_io[content].append((declared[0], declared[1], declared[2]))
        self.read_subjects()
        if self.stitch:
            self.read_stitches()
        self.read_jobs()
        self.read_facets()
        self.read_search_texts()
        self.read_symlinks()
        self.read_live()
        self.read_identity()
        return dict(self.out)

    def text(self, facet: bytes) -> bytes:
        return str(self.tables["facet"][(facet,)][1]).encode()

    def meaning(self, key: str, facet: bytes) -> bytes | None:
        """The id of a facet's meaning; remembers the meaning, and the names of the nodes it uses."""
        if (key, facet) not in self.meaning_of:
            if key == "jobType":
                self.meaning_of[key, facet] = read_mark(self.text(facet))
                return self.meaning_of[key, facet]
            meaning = read_meaning(key, self.text(facet), self.names)
            self.meaning_of[key, facet] = meaning.id if meaning else None
            if meaning:
                self.meanings[meaning.id] = meaning
                self.name(meaning.nodes)
        return self.meaning_of[key, facet]

    # subjects and their shapes

    def read_subjects(self) -> None:
        namings: dict[Subject, list[Naming]] = defaultdict(list)
        stated: dict[Subject, dict[tuple[int, bytes], tuple[int, int]]] = defaultdict(dict)
        days: dict[Subject, dict[int, tuple[int, int]]] = defaultdict(dict)
        sayings: dict[Subject, list[Saying]] = defaultdict(list)
        origins: dict[Subject, int] = {}
        said_by: dict[Subject, int] = {}
        for (run, job, dataset, side), span in self.tables["run_io"].items():
            namings[run, job].append(Naming(side, dataset, *span))
        for (subject, job, about, side, origin, content, day), (first, first_event, last, event) in self.tables["said"].items():
            if own := speaker(job, about, side):
                origins[subject, own] = origin
                said_by[subject, own] = job
                days[subject, own][day] = _widened(days[subject, own].get(day), first, last)
                if origin == Origin.DECLARED and self.speaks_of_flow(content, job):
                    sayings[subject, own].append(Saying(first, first_event, last, event, content))
            if origin == Origin.OBSERVED:
                for statement in self.statements(about, job, side, content):
                    stated[subject, job][statement] = _widened(stated[subject, job].get(statement), first, last)
        for (subject, job), origin in origins.items():
            key = subject, job
            self.speak(job, stated[key])
            if any(is_snapshot(meaning) for _, meaning in stated[key]):
                self.out["spoken"].update((row.dataset, job) for row in namings[key])
            shape, growth = run_shape(job, namings[key], [Stated(*what, *span) for what, span in stated[key].items()])
            if origin == Origin.DECLARED:
                shape, growth = self.newest_declared(job, said_by[key], sayings[key]), of_declaration(sayings[key])
            self.present(key, shape, days[key], growth)
            self.streaming.update({key} if any(is_streaming(meaning) for _, meaning in stated[key]) else ())

    def read_stitches(self) -> None:
        siblings = {key: sibling for key in self.presents if (sibling := self.sibling(key))}
        for (subject, job), sibling in siblings.items():
            now = self.presents[subject, job]
            self.out["sibling"].add((*sibling, now.shape.id, now.growth.reached))
        for writer, reader in stitched(siblings.values()):
            own, read = self.presents[writer[3:5]], self.presents[reader[3:5]]
            reached = max(own.growth.reached, read.growth.reached)
            self.out["stitch"].add((*writer[3:5], *reader[3:5]))
            self.present(
                (stitch_id(*writer[3:5]), writer.job), stitched_shape(read.shape, own.shape), own.days, Growth(reached, reached, None)
            )

    def sibling(self, key: Subject) -> Sibling | None:
        """What a run is to others of its parent, if it may be stitched."""
        now, parent = self.presents[key], self.tables["run"].get(key, (None,))[0]
        if parent is None or now.shape.origin != Origin.OBSERVED:
            return None
        sides = [side for side, _ in now.shape.members]
        counts = sides.count(Side.INPUT), sides.count(Side.OUTPUT), len(now.shape.statements)
        side = one_side(*counts, streaming=key in self.streaming)
        spans = now.days.values()
        return None if side is None else Sibling(parent, int(side), min(s[0] for s in spans), *key, max(s[1] for s in spans))

    def speak(self, job: int, statements: Iterable[tuple[int, bytes]]) -> None:
        for meaning in {meaning for _, meaning in statements if not is_mark(meaning)}:
            named = {end for statement in self.meanings[meaning].statements for end in (statement.source, statement.target)}
            self.out["spoken"].update((node, job) for node in named - {OWN})

    def newest_declared(self, own: int, job: int, sayings: list[Saying]) -> Shape:
        """What the newest content of a design-time statement says; what all of them named is remembered."""
        for content in {saying.content for saying in sayings}:
            shape = self.declared(own, job, content)
            self.speak(own, shape.statements)
            self.out["spoken"].update((dataset, own) for _, dataset in shape.members)
        return self.declared(own, job, newest_content(sayings) or b"")

    def statements(self, about: int, job: int, side: int, content: bytes) -> Iterator[tuple[int, bytes]]:
        for key, carried in carriers(about, job, side):
            facet = self.contents[content].get(key) if content in self.contents else None
            meaning = self.meaning(key, facet) if facet else None
            if meaning:
                yield carried, meaning

    def declared(self, own: int, job: int, content: bytes) -> Shape:
        """The shape of one content of a design-time statement of `own`: a job, or (then `job` is 0) a dataset."""
        statements = {(carried, meaning) for carried, meaning in self.statements(own, job, Side.SELF, content) if not is_mark(meaning)}
        for side, dataset, facets in self.declared_io.get(content, ()):
            statements.update(self.statements(dataset, job, side, facets))
        return make_shape(Origin.DECLARED, [row[:2] for row in self.declared_io.get(content, ())], statements)

    def speaks_of_flow(self, content: bytes, job: int) -> bool:
        """Whether a design-time content says anything of flow, be it that there is none any more."""
        facets = [(key, self.contents.get(content, {}).get(key)) for key in declaring_keys(job)]
        return content in self.declared_io or any(facet and (self.is_deleted(facet) or self.meaning(key, facet)) for key, facet in facets)

    def remarks(self, key: str, facet: bytes) -> Iterator[Row]:
        meaning = read_meaning(key, self.text(facet), self.names)
        return remarks(facet, meaning) if meaning else iter(())

    def is_deleted(self, facet: bytes) -> bool:
        return bool(self.tables["facet"][(facet,)][0])

    def present(self, key: tuple[bytes, int], shape: Shape, days: dict[int, tuple[int, int]], growth: Growth) -> None:
        first, last = min(d[0] for d in days.values()), max(d[1] for d in days.values())
        self.presents[key] = Present(shape, days, growth)
        self.out["present"].add((*key, shape.origin, shape.id, first, last, *growth))
        if shape.id != NO_SHAPE:
            self.shapes.setdefault(shape.id, shape)
            for day, span in days.items():
                spans = self.job_shapes.setdefault((key[1], shape.id), {})
                known = spans.get(day, span)
                spans[day] = min(known[0], span[0]), max(known[1], span[1])

    # jobs

    def read_jobs(self) -> None:
        for (job, shape_id), days in self.job_shapes.items():
            self.out["job_shape"].update((job, shape_id, day, *span) for day, span in days.items())
            shape = self.shapes[shape_id]
            self.out["job_io"].update((job, dataset, side, shape.origin) for side, dataset in shape.members)
            self.out["job_statement"].update((job, *statement, shape.origin) for statement in shape.statements)
            self.out["flow"].update(bind(expand(shape, self.meanings), job, shape.origin))
            for hub, hub_id in hubs(shape_id, expand(shape, self.meanings)):
                self.out["hub"].add((hub_id, job, shape.origin))
                self.out["hub_io"].update((hub_id, int(Side.INPUT), dataset) for dataset in hub.inputs)
                self.out["hub_io"].update((hub_id, int(Side.OUTPUT), dataset) for dataset in hub.outputs)

    # facets and names

    def read_facets(self) -> None:
        best: dict[tuple[int, int, str], tuple[int, int, bytes, bytes]] = {}
        for (_, job, about, side, _, content, _), (_, _, last, event) in self.tables["said"].items():
            if side not in ENTITY_SIDES:
                continue
            for key, facet in self.contents.get(content, {}).items():
                place = about, facet_owner(key, job), key
                candidate = facet_rank(key, side), last, event, facet
                best[place] = max(best.get(place, candidate), candidate)
        for (node, job, key), (rank, time, event, facet) in best.items():
            self.out["current_facet"].add((node, job, key, facet, rank, time, event))

    def read_search_texts(self) -> None:
        facets: dict[int, dict[str, bytes]] = defaultdict(dict)
        for node, job, key, facet, *_ in self.out["current_facet"]:
            if job == 0 and key in SEARCHED and not self.tables["facet"][(facet,)][0]:
                facets[node][key] = self.text(facet)
        for node, known in facets.items():
            text = search_text(self.there[node].namespace, self.there[node].name, known)
            if text:
                self.out["search_text"].add((node, *text))

    def name(self, nodes: Iterable[Row]) -> None:
        """Remember the names that a facet gives."""
        self.there.update((node[0], Spelling(*node[1:])) for node in nodes)

    def read_symlinks(self) -> None:
        for node, _, key, facet, *_ in self.out["current_facet"]:
            for namespace, name, type_ in symlinks(self.text(facet)) if key == "symlinks" else ():
                other = self.names.dataset(namespace, name)
                if other != node:
                    self.out["symlink"].add((node, other, type_))
        for _, _, about, side, _, content, _ in self.tables["said"]:
            facet = self.contents.get(content, {}).get("symlinks")
            if side in ENTITY_SIDES and facet:
                self.out["symlink_said"].add((about, facet))

    def read_identity(self) -> None:
        there = {id_: self.there[id_] for (id_,) in self.out["live"]}
        links = ((there[dataset], there[other], type_) for dataset, other, type_ in self.out["symlink"])
        book = PlainBook(there.values(), links, words(self.tables["alias"]))
        self.out["respelt"] = {(owner_id(self.names, s), *here, rule, *to) for s, here, to, rule in book.respelt}
        self.out["respaced"] = {(space, *link) for space, link in book.respaced}
        self.out["identity"] = set(identities(there, book))

    def read_live(self) -> None:
        live: set[Any] = {key[2] for key in self.tables["run_io"]} | {key[1] for key in self.tables["run"]}
        contents = set()
        for _, job, about, _, _, content, _ in self.tables["said"]:
            live |= {job, about}
            contents.add(content)
        for content, _, dataset, facets in list(self.tables["declared_io"]):
            if content in contents:
                live.add(dataset)
                contents.add(facets)
        facets = {(key, facet) for content in contents for key, facet in self.contents.get(content, {}).items() if key in _NAMING}
        for key, facet in facets:
            nodes = named_nodes(key, self.text(facet), self.names)
            self.name(nodes)
            live |= {node[0] for node in nodes}
        self.out["remark"] = {row for key, facet in facets if key in LINEAGE_KEYS for row in self.remarks(key, facet)}
        self.out["live"] = {(node,) for node in live if node not in (None, 0)}


def owner_id(names: Names, spelling: Spelling) -> int:
    """The id of a spelling, whether or not there is a node of it."""
    return node_id(names.key, NodeKind(spelling.kind), spelling.namespace, spelling.name)


def remarks(facet: bytes, meaning: Meaning) -> Iterator[Row]:
    """The rows of `remark` for one text."""
    for statement, *said in meaning.remarks:
        yield meaning.id, *statement, facet, *said


def _widened(span: tuple[int, int] | None, first: int, last: int) -> tuple[int, int]:
    return (min(span[0], first), max(span[1], last)) if span else (first, last)


def bind(expansion: Expansion, job: int, origin: int) -> Iterator[Row]:
    """The rows of `flow` for one job."""
    for source, target, evidence in expansion.flows:
        yield source if source != OWN else job, target if target != OWN else job, job, origin, evidence


def hubs(shape_id: int, expansion: Expansion) -> Iterable[tuple[Any, int]]:
    """The hubs of a shape, each with its id."""
    return [(hub, hub_id(shape_id, place)) for place, hub in enumerate(expansion.hubs)]


def hub_id(shape_id: int, place: int) -> int:
    """The id of a shape's n-th hub: the shape's own, or its neighbour."""
    return shape_id ^ place
