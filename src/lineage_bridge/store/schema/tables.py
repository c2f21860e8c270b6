"""Defines the tables of the graph store: one for each relation, with its columns, and those of the derived values.

Edge tables are indexed in both directions. In SQLite, tables with composite keys have no row id: their rows are stored in the order of the
key.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, Table, Text, and_
from sqlalchemy.types import TypeEngine

from lineage_bridge.graph.contents.search_terms import FIELDS
from lineage_bridge.graph.merge_rules import MergeRule, Relation, Type
from lineage_bridge.graph.relations import NODE, RELATIONS

METADATA = MetaData()

_KEY = Integer().with_variant(BigInteger(), "postgresql")
"""A key that is SQLite's row id."""
_WORDS = Text().with_variant(Text(collation="C"), "postgresql")
"""A text that both databases compare byte by byte."""
_TYPES: dict[Type, TypeEngine[Any]] = {Type.INT: BigInteger(), Type.TEXT: _WORDS, Type.BYTES: LargeBinary()}
_INT, _TEXT, _BYTES = Type.INT, Type.TEXT, Type.BYTES


def _relation_table(relation: Relation) -> Table:
    columns = [
        Column(c.name, _TYPES[c.type], primary_key=c.rule is MergeRule.KEY, nullable=c.optional, autoincrement=False)
        for c in relation.columns
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
    Column("id", _KEY, primary_key=True, autoincrement=False),
    Column("kind", BigInteger(), nullable=False),
    Column("namespace", _WORDS, nullable=False),
    Column("name", _WORDS, nullable=False),
    Column("first", BigInteger(), nullable=False),
    Index("node_by_name", "namespace", "name", "kind", "first"),
)
RELATION_TABLES = {relation.name: node if relation is NODE else _relation_table(relation) for relation in RELATIONS}
_event = RELATION_TABLES["event"]
Index("event_by_asserter", _event.c.asserted_by, _event.c.time, _event.c.event)
Index("event_by_job", _event.c.job, _event.c.time, _event.c.event)
_run = RELATION_TABLES["run"]
Index("run_by_raw_id", _run.c.raw_id, sqlite_where=_run.c.raw_id.is_not(None), postgresql_where=_run.c.raw_id.is_not(None))
_has_parent = _run.c.parent_run.is_not(None)
Index("run_by_parent", _run.c.parent_run, _run.c.parent_job, sqlite_where=_has_parent, postgresql_where=_has_parent)
_has_root = and_(_run.c.root_run.is_not(None), _run.c.root_run != _run.c.parent_run)
Index("run_by_root", _run.c.root_run, _run.c.root_job, sqlite_where=_has_root, postgresql_where=_has_root)
Index("run_by_parent_job", _run.c.parent_job, _run.c.parent_time, sqlite_where=_has_parent, postgresql_where=_has_parent)
Index("run_by_root_job", _run.c.root_job, _run.c.parent_time, sqlite_where=_has_root, postgresql_where=_has_root)
for _raw in (_run.c.parent_raw, _run.c.root_raw):
    Index(f"run_by_{_raw.name}", _raw, sqlite_where=_raw.is_not(None), postgresql_where=_raw.is_not(None))
_alias = RELATION_TABLES["alias"]
Index("alias_back", _alias.c.entity, _alias.c.whole, _alias.c.b_namespace, _alias.c.b_name)
_assertion = RELATION_TABLES["assertion"]
Index("assertion_by_node", _assertion.c.node, _assertion.c.side, _assertion.c.day)
_foreign = RELATION_TABLES["foreign_assertion"]
Index("foreign_assertion_by_node", _foreign.c.node, _foreign.c.last)
Index("foreign_assertion_by_job", _foreign.c.job, _foreign.c.last)
Index("foreign_assertion_by_last", _foreign.c.last)
_lifecycle, _job_dependency = RELATION_TABLES["lifecycle"], RELATION_TABLES["job_dependency"]
Index("lifecycle_by_dataset", _lifecycle.c.dataset, _lifecycle.c.first)
Index("lifecycle_by_previous", _lifecycle.c.previous, _lifecycle.c.dataset)
Index("job_dependency_by_other", _job_dependency.c.other_job, _job_dependency.c.other_run)

# current shapes of runs and statements
_table(
    "run_shape",
    {"asserted_by": _BYTES, "job": _INT},
    {"origin": _INT, "shape": _INT, "first": _INT, "last": _INT, "first_shape_at": _INT, "current_since": _INT, "pending_until": _INT},
    Index("run_shape_by_job", "job", "last"),
    Index("run_shape_by_current_since", "job", "shape", "current_since"),
    optional=("pending_until",),
)
_table(
    "run_shape_day",
    {"asserted_by": _BYTES, "job": _INT, "day": _INT},
    {"shape": _INT, "first": _INT, "last": _INT},
    Index("run_shape_day_by_first", "job", "shape", "day", "first"),
    Index("run_shape_day_by_last", "job", "shape", "day", "last"),
)
_run_shape = METADATA.tables["run_shape"]
Index(
    "run_shape_pending",
    _run_shape.c.job,
    _run_shape.c.pending_until,
    _run_shape.c.current_since,
    sqlite_where=_run_shape.c.pending_until.is_not(None),
    postgresql_where=_run_shape.c.pending_until.is_not(None),
)
_table("run_lineage_set", {"asserted_by": _BYTES, "job": _INT, "carrier": _INT, "lineage_set": _BYTES}, {"first": _INT})
_table("mentioned_node", {"node": _INT, "job": _INT})
_table("derive_queue", {"asserted_by": _BYTES, "job": _INT})
_table(
    "sibling",
    {"parent": _BYTES, "parent_job": _INT, "side": _INT, "first": _INT, "asserted_by": _BYTES, "job": _INT},
    {"last": _INT, "shape": _INT, "current_since": _INT},
    Index("sibling_by_last", "parent", "parent_job", "side", "last"),
    Index("sibling_by_asserter", "asserted_by", "job"),
)
_table(
    "stitch",
    {"asserted_by": _BYTES, "job": _INT},
    {"reader": _BYTES, "reader_job": _INT},
    Index("stitch_by_reader", "reader", "reader_job"),
)
_table("stitch_queue", {"asserted_by": _BYTES, "job": _INT})

# shapes, each expanded once
_table("shape", {"shape": _INT}, {"origin": _INT, "inputs": _INT, "outputs": _INT, "hubs": _INT})
_table("shape_io", {"shape": _INT, "side": _INT, "dataset": _INT}, None, Index("shape_io_by_dataset", "dataset", "side", "shape"))
_table(
    "shape_lineage_set",
    {"shape": _INT, "carrier": _INT, "lineage_set": _BYTES},
    None,
    Index("shape_lineage_set_by_lineage_set", "lineage_set", "carrier", "shape"),
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
    "job_lineage_set",
    {"job": _INT, "carrier": _INT, "lineage_set": _BYTES, "origin": _INT},
    None,
    Index("job_lineage_set_by_carrier", "carrier", "lineage_set"),
    Index("job_lineage_set_by_lineage_set", "lineage_set"),
)

# the contents of lineage facets, each parsed once
_table("facet_lineage_set", {"facet": _BYTES, "key": _TEXT}, {"lineage_set": _BYTES, "first": _INT}, optional=("lineage_set",))
_table("facet_node", {"node": _INT, "facet": _BYTES})
_table("lineage_set", {"lineage_set": _BYTES}, {"explicit": _INT})
_table(
    "column_statement",
    {
        "lineage_set": _BYTES,
        "target": _INT,
        "target_field": _TEXT,
        "source": _INT,
        "source_field": _TEXT,
        "type": _TEXT,
        "subtype": _TEXT,
        "masking": _INT,
    },
    None,
    Index("column_statement_by_source", "source", "source_field", "lineage_set"),
    Index("column_statement_by_target", "target", "target_field", "lineage_set"),
)
_table(
    "annotation",
    {
        "lineage_set": _BYTES,
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
    Index("annotation_by_facet", "facet"),
)

# nodes
_table(
    "current_facet",
    {"node": _INT, "job": _INT, "key": _TEXT},
    {"facet": _BYTES, "rank": _INT, "time": _INT, "event": _BYTES},
)
_table(
    "job_symlinks",
    {"dataset": _INT, "job": _INT, "declared_by": _BYTES},
    {"facet": _BYTES, "time": _INT, "event": _BYTES},
    Index("job_symlinks_by_facet", "dataset", "facet", "time"),
)
_table("symlink", {"dataset": _INT, "other": _INT, "type": _TEXT}, None, Index("symlink_back", "other"))
_table("symlink_evidence", {"dataset": _INT, "facet": _BYTES}, None, Index("symlink_evidence_back", "facet"))

_table(
    "namespace_claim",
    {"whole": _INT, "a_namespace": _TEXT, "a_name": _TEXT, "b_namespace": _TEXT, "b_name": _TEXT, "evidence": _TEXT},
    {"sole": _INT, "first": _INT},
    Index("namespace_claim_back", "whole", "b_namespace", "b_name", "a_namespace", "a_name"),
)
_table("namespace_claim_evidence", {"dataset": _INT, "key": _TEXT, "facet": _BYTES}, {"first": _INT})

# spellings: what the naming rules derive from names that are in use, or that operators' aliases use
_table(
    "name_alias",
    {"owner": _INT, "namespace": _TEXT, "name": _TEXT, "rule": _TEXT, "to_namespace": _TEXT, "to_name": _TEXT},
    None,
    Index("name_alias_forth", "namespace", "name"),
    Index("name_alias_back", "to_namespace", "to_name"),
)
_table(
    "namespace_alias",
    {"owner": _TEXT, "namespace": _TEXT, "other_namespace": _TEXT, "prefix": _TEXT, "parts": _INT, "rule": _TEXT},
    None,
    Index("namespace_alias_forth", "namespace"),
    Index("namespace_alias_back", "other_namespace"),
)

# the store itself
_table("rule", {"name": _TEXT}, {"value": _INT})
_table("position", {"source": _TEXT, "partition": _INT}, {"offset": _INT})

# changes of the derived rows (store/write/changes.py)
_table(
    "change",
    {"seq": _INT},
    {
        "kind": _TEXT,
        "action": _INT,
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

# texts that are searched besides names
Table(
    "search_text",
    METADATA,
    Column("node", _KEY, primary_key=True, autoincrement=False),
    *(Column(field, _WORDS, nullable=False) for field in FIELDS),
)
_table("search_queue", {"node": _INT})

SQLITE_SEARCH = (
    "CREATE VIRTUAL TABLE node_search USING fts5(namespace, name, content='node', content_rowid='id', tokenize='trigram')",
    f"CREATE VIRTUAL TABLE node_search_text USING fts5({', '.join(FIELDS)}, content='search_text', content_rowid='node')",
)
"""The indexes that search reads, in SQLite's own SQL."""
