"""The tables of the graph store: one per relation, made from the law, and those of the derived values.

Edge tables are indexed in both directions. SQLite's tables of composite keys have no row id: the key is the table.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, Table, Text, and_
from sqlalchemy.types import TypeEngine

from lineage_bridge.graph.contents.search_terms import FIELDS
from lineage_bridge.graph.relations import NODE, RELATIONS, Law, Relation, Type

METADATA = MetaData()

_TYPES: dict[Type, TypeEngine[Any]] = {Type.INT: BigInteger(), Type.TEXT: Text(), Type.BYTES: LargeBinary()}
_INT, _TEXT, _BYTES = Type.INT, Type.TEXT, Type.BYTES


def _relation_table(relation: Relation) -> Table:
    columns = [
        Column(c.name, _TYPES[c.type], primary_key=c.law is Law.KEY, nullable=c.optional, autoincrement=False) for c in relation.columns
    ]
    return Table(relation.name, METADATA, *columns, sqlite_with_rowid=False)


def _table(
    name: str,
    key: dict[str, Type],
    values: dict[str, Type] | None = None,
    *indexes: Index,
    optional: tuple[str, ...] = (),
) -> Table:
    columns = [Column(column, _TYPES[type_], primary_key=True, autoincrement=False) for column, type_ in key.items()]
    columns += [Column(column, _TYPES[type_], nullable=column in optional) for column, type_ in (values or {}).items()]
    return Table(name, METADATA, *columns, *indexes, sqlite_with_rowid=False)


node = Table(
    "node",
    METADATA,
    Column("id", Integer(), primary_key=True, autoincrement=False),
    Column("kind", BigInteger(), nullable=False),
    Column("namespace", Text(), nullable=False),
    Column("name", Text(), nullable=False),
    Column("first", BigInteger(), nullable=False),
    Index("node_by_name", "namespace", "name", "kind", "first"),
)
RELATION_TABLES = {relation.name: node if relation is NODE else _relation_table(relation) for relation in RELATIONS}
_event = RELATION_TABLES["event"]
Index("event_by_subject", _event.c.subject, _event.c.time, _event.c.event)
Index("event_by_job", _event.c.job, _event.c.time, _event.c.event)
_run = RELATION_TABLES["run"]
Index("run_by_raw_id", _run.c.raw_id, sqlite_where=_run.c.raw_id.is_not(None), postgresql_where=_run.c.raw_id.is_not(None))
_has_parent = _run.c.parent_run.is_not(None)
Index("run_by_parent", _run.c.parent_run, _run.c.parent_job, sqlite_where=_has_parent, postgresql_where=_has_parent)
_has_root = and_(_run.c.root_run.is_not(None), _run.c.root_run != _run.c.parent_run)
Index("run_by_root", _run.c.root_run, _run.c.root_job, sqlite_where=_has_root, postgresql_where=_has_root)
_alias = RELATION_TABLES["alias"]
Index("alias_back", _alias.c.entity, _alias.c.whole, _alias.c.b_space, _alias.c.b_name)
_said = RELATION_TABLES["said"]
Index("said_about", _said.c.about, _said.c.side, _said.c.day)
_lifecycle, _control = RELATION_TABLES["lifecycle"], RELATION_TABLES["control"]
Index("lifecycle_by_dataset", _lifecycle.c.dataset, _lifecycle.c.first)
Index("lifecycle_by_previous", _lifecycle.c.previous, _lifecycle.c.dataset)
Index("control_by_other", _control.c.other_job, _control.c.other_run)

# runs and statements as they are now
_table(
    "present",
    {"subject": _BYTES, "job": _INT},
    {"origin": _INT, "shape": _INT, "first": _INT, "last": _INT, "sprouted": _INT, "reached": _INT, "forming": _INT},
    Index("present_by_job", "job", "last"),
    Index("present_reached", "job", "shape", "reached"),
    optional=("forming",),
)
_table(
    "present_day",
    {"subject": _BYTES, "job": _INT, "day": _INT},
    {"shape": _INT, "first": _INT, "last": _INT},
    Index("present_first", "job", "shape", "day", "first"),
    Index("present_last", "job", "shape", "day", "last"),
)
_present = METADATA.tables["present"]
Index(
    "present_forming",
    _present.c.job,
    _present.c.forming,
    _present.c.reached,
    sqlite_where=_present.c.forming.is_not(None),
    postgresql_where=_present.c.forming.is_not(None),
)
_table("subject_statement", {"subject": _BYTES, "job": _INT, "carrier": _INT, "meaning": _BYTES}, {"first": _INT})
_table("spoken", {"node": _INT, "job": _INT})
_table("dirty", {"subject": _BYTES, "job": _INT})
_table(
    "sibling",
    {"parent": _BYTES, "side": _INT, "first": _INT, "subject": _BYTES, "job": _INT},
    {"last": _INT, "shape": _INT, "reached": _INT},
    Index("sibling_by_last", "parent", "side", "last"),
    Index("sibling_by_subject", "subject", "job"),
)
_table(
    "stitch",
    {"subject": _BYTES, "job": _INT},
    {"reader": _BYTES, "reader_job": _INT},
    Index("stitch_by_reader", "reader", "reader_job"),
)
_table("unstitched", {"subject": _BYTES, "job": _INT})

# shapes, expanded once
_table("shape", {"shape": _INT}, {"origin": _INT, "inputs": _INT, "outputs": _INT, "hubs": _INT})
_table("shape_io", {"shape": _INT, "side": _INT, "dataset": _INT}, None, Index("shape_io_by_dataset", "dataset", "side", "shape"))
_table(
    "shape_statement",
    {"shape": _INT, "carrier": _INT, "meaning": _BYTES},
    None,
    Index("shape_statement_by_meaning", "meaning", "carrier", "shape"),
)
_table(
    "shape_flow",
    {"shape": _INT, "source": _INT, "target": _INT, "evidence": _INT},
    None,
    Index("shape_flow_ends", "source", "target", "shape"),
)
_table("hub_io", {"hub": _INT, "side": _INT, "dataset": _INT}, None, Index("hub_io_by_dataset", "dataset", "side", "hub"))

# jobs, as the union of their shapes
_table(
    "job_shape",
    {"job": _INT, "shape": _INT, "day": _INT},
    {"first": _INT, "last": _INT},
    Index("job_shape_by_shape", "shape", "job"),
)
_table(
    "job_io",
    {"job": _INT, "dataset": _INT, "side": _INT, "origin": _INT},
    None,
    Index("job_io_by_dataset", "dataset", "side", "job"),
)
_table(
    "flow",
    {"source": _INT, "target": _INT, "job": _INT, "origin": _INT, "evidence": _INT},
    None,
    Index("flow_back", "target", "source", "job", "origin", "evidence"),
)
_table("hub", {"hub": _INT, "job": _INT, "origin": _INT}, None, Index("hub_by_job", "job"))
_table(
    "job_statement",
    {"job": _INT, "carrier": _INT, "meaning": _BYTES, "origin": _INT},
    None,
    Index("job_statement_by_carrier", "carrier", "meaning"),
    Index("job_statement_by_meaning", "meaning"),
)

# what lineage-bearing facets say, read once
_table("facet_meaning", {"facet": _BYTES, "key": _TEXT}, {"meaning": _BYTES, "first": _INT}, optional=("meaning",))
_table("facet_node", {"node": _INT, "facet": _BYTES})
_table("meaning", {"meaning": _BYTES}, {"explicit": _INT})
_table(
    "statement",
    {
        "meaning": _BYTES,
        "target": _INT,
        "target_field": _TEXT,
        "source": _INT,
        "source_field": _TEXT,
        "type": _TEXT,
        "subtype": _TEXT,
        "masking": _INT,
    },
    None,
    Index("statement_by_source", "source", "source_field", "meaning"),
    Index("statement_by_target", "target", "target_field", "meaning"),
)
_table(
    "remark",
    {
        "meaning": _BYTES,
        "target": _INT,
        "target_field": _TEXT,
        "source": _INT,
        "source_field": _TEXT,
        "type": _TEXT,
        "subtype": _TEXT,
        "masking": _INT,
        "facet": _BYTES,
        "description": _TEXT,
        "target_run": _TEXT,
        "source_run": _TEXT,
    },
    None,
    Index("remark_by_facet", "facet"),
)

# nodes
_table(
    "current_facet",
    {"node": _INT, "job": _INT, "key": _TEXT},
    {"facet": _BYTES, "rank": _INT, "time": _INT, "event": _BYTES},
)
_table("symlink", {"dataset": _INT, "other": _INT, "type": _TEXT}, None, Index("symlink_back", "other"))
_table("symlink_said", {"dataset": _INT, "facet": _BYTES}, None, Index("symlink_said_back", "facet"))

_table(
    "claim",
    {"whole": _INT, "a_space": _TEXT, "a_name": _TEXT, "b_space": _TEXT, "b_name": _TEXT, "evidence": _TEXT},
    {"sole": _INT, "first": _INT},
    Index("claim_back", "whole", "b_space", "b_name", "a_space", "a_name"),
)
_table("claim_said", {"dataset": _INT, "key": _TEXT, "facet": _BYTES}, {"first": _INT})

# spellings: what the rules of naming make of the names that are there, or that operators use
_table(
    "respelt",
    {"owner": _INT, "namespace": _TEXT, "name": _TEXT, "rule": _TEXT, "to_namespace": _TEXT, "to_name": _TEXT},
    None,
    Index("respelt_forth", "namespace", "name"),
    Index("respelt_back", "to_namespace", "to_name"),
)
_table(
    "respaced",
    {"owner": _TEXT, "space": _TEXT, "other": _TEXT, "prefix": _TEXT, "parts": _INT, "rule": _TEXT},
    None,
    Index("respaced_forth", "space"),
    Index("respaced_back", "other"),
)

# the store itself
_table("rule", {"name": _TEXT}, {"value": _INT})
_table("position", {"source": _TEXT, "part": _INT}, {"place": _INT})

# what changed of the derived rows (store/write/changes.py)
_table(
    "change",
    {"seq": _INT},
    {
        "kind": _TEXT,
        "turn": _INT,
        "node": _INT,
        "other": _INT,
        "job": _INT,
        "side": _INT,
        "origin": _INT,
        "evidence": _INT,
        "key": _TEXT,
        "value": _BYTES,
    },
)
_table("change_epoch", {"number": _INT}, {"epoch": _TEXT, "since": _INT})

# what is searched besides names
Table(
    "search_text",
    METADATA,
    Column("node", Integer(), primary_key=True, autoincrement=False),
    *(Column(field, Text(), nullable=False) for field in FIELDS),
)
_table("unsearched", {"node": _INT})

SQLITE_SEARCH = (
    "CREATE VIRTUAL TABLE node_search USING fts5(namespace, name, content='node', content_rowid='id', tokenize='trigram')",
    f"CREATE VIRTUAL TABLE node_search_told USING fts5({', '.join(FIELDS)}, content='search_text', content_rowid='node')",
)
"""The indexes that search reads, in SQLite's own words."""
