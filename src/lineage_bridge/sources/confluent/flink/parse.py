"""Reads the answers of Flink's API into plain values. Pure."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.sources.common.observer import Unseen

PENDING, RUNNING, COMPLETED, FAILED, STOPPED = "PENDING", "RUNNING", "COMPLETED", "FAILED", "STOPPED"
WORKING = frozenset((RUNNING, "DEGRADED", "FAILING"))
ENDED = {COMPLETED: "COMPLETE", FAILED: "FAIL", STOPPED: "ABORT"}
"""Phases in which a statement has ended, unless it is resumed, and the type of the event that ends its run."""
WAITING = frozenset(("STOPPING", "DELETING"))
STATEMENT, MATERIALIZED_TABLE = "STATEMENT", "MATERIALIZED_TABLE"
_TYPES: Mapping[str, type] = {
    "stopped": bool,
    "labels": dict,
    "append_only": bool,
    "upsert_columns": list,
    "connections": list,
    "network": str,
    "scaling": str,
    "warnings": list,
    "table_version": int,
}
"""Members of a statement's facet that are copied from the API, and their types."""
_HINT = "check that flink_url is the address of Confluent's Flink API"
_OFFSET = re.compile(r"partition:(\d+),offset:(-?\d+)")


class Statement(NamedTuple):
    """A statement, or a materialized table with the query that fills it. Times are in microseconds, None if unknown.

    `catalog`, `database`: the current ones, as ids or display names. `offsets`: topic to the sum of the offsets of its partitions, None if
    unknown. `schema`: the columns of its result. `more`: members that are copied into its facet. `written`: the author's text, if `text`
    differs from it.
    """

    name: str
    uid: str
    text: str
    kind: str = STATEMENT
    catalog: str = ""
    database: str = ""
    phase: str = ""
    detail: str = ""
    principal: str = ""
    pool: str = ""
    created_us: int | None = None
    updated_us: int | None = None
    sql_kind: str = ""
    bounded: bool = False
    schema: tuple[SchemaField, ...] = ()
    offsets: Mapping[str, int | None] = {}
    more: Mapping[str, Any] = {}
    written: str = ""

    @property
    def shown(self) -> str:
        """The author's text."""
        return self.written or self.text


class Failure(NamedTuple):
    """Why a statement failed: the first line of its newest exception, and all exceptions."""

    message: str
    trace: str


class FlinkAnswers(msgspec.Struct, frozen=True):
    """The answers of a poll. `tables` is None if materialized tables could not be listed.

    `hidden`: statements that are no longer listed, but may still exist.
    """

    statements: tuple[Statement, ...] = ()
    tables: tuple[Statement, ...] | None = ()
    failures: Mapping[str, Failure] = {}
    hidden: frozenset[str] = frozenset()
    unseen: tuple[Unseen, ...] = ()


def parse_statement(answer: Mapping[str, Any]) -> Statement:
    """Parse a statement in an answer. Raises SourceError if it has an unexpected shape."""
    try:
        return _statement(answer)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SourceError(f"a statement has an unexpected shape: {error!r}", _HINT) from error


def _statement(answer: Mapping[str, Any]) -> Statement:
    spec, status, metadata = answer["spec"], answer.get("status") or {}, answer.get("metadata") or {}
    properties, traits = spec.get("properties") or {}, status.get("traits") or {}
    more = {
        "stopped": spec.get("stopped"),
        "labels": metadata.get("labels"),
        "append_only": traits.get("is_append_only"),
        "upsert_columns": traits.get("upsert_columns"),
        "connections": traits.get("connection_refs"),
        "network": status.get("network_kind"),
        "scaling": (status.get("scaling_status") or {}).get("scaling_state"),
        "warnings": status.get("warnings"),
    }
    return Statement(
        _named(answer),
        str(metadata.get("uid") or metadata.get("created_at") or ""),
        str(spec["statement"]),
        STATEMENT,
        str(properties.get("sql.current-catalog") or ""),
        str(properties.get("sql.current-database") or ""),
        str(status.get("phase") or ""),
        str(status.get("detail") or ""),
        str(spec.get("principal") or ""),
        str(spec.get("compute_pool_id") or (spec.get("compute_pool") or {}).get("id") or ""),
        _time(metadata.get("created_at")),
        _time(metadata.get("updated_at")),
        str(traits.get("sql_kind") or ""),
        bool(traits.get("is_bounded")) or str(spec.get("execution_mode") or "").upper() == "BATCH",
        tuple(_field(column) for column in (traits.get("schema") or {}).get("columns") or ()),
        {str(topic): _total_offset(text) for topic, text in sorted((status.get("latest_offsets") or {}).items())},
        _present(more),
    )


def parse_table(environment: str, answer: Mapping[str, Any]) -> Statement:
    """Parse a materialized table as the statement that would create it. Raises SourceError if it has an unexpected shape."""
    try:
        return _table(environment, answer)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SourceError(f"a materialized table has an unexpected shape: {error!r}", _HINT) from error


def _table(environment: str, answer: Mapping[str, Any]) -> Statement:
    spec, status, metadata = answer["spec"], answer.get("status") or {}, answer.get("metadata") or {}
    options, cluster, name = spec.get("session_options") or {}, str(spec["kafka_cluster_id"]), _named(answer)
    query = str(spec["query"]).strip().rstrip(";")
    more = {
        "stopped": spec.get("stopped"),
        "table_version": status.get("version"),
        "warnings": status.get("warnings"),
        "scaling": (status.get("scaling_status") or {}).get("scaling_state"),
    }
    columns = [column for column in spec.get("columns") or () if isinstance(column, Mapping)]
    return Statement(
        name,
        str(metadata.get("uid") or metadata.get("created_at") or name),
        f"CREATE MATERIALIZED TABLE {quoted(environment)}.{quoted(cluster)}.{quoted(name)} AS {query}",
        MATERIALIZED_TABLE,
        str(options.get("sql.current-catalog") or environment),
        str(options.get("sql.current-database") or cluster),
        str(status.get("phase") or (STOPPED if spec.get("stopped") else RUNNING)),
        str(status.get("detail") or ""),
        str(spec.get("principal") or ""),
        str(spec.get("compute_pool_id") or ""),
        _time(metadata.get("created_at")),
        _time(metadata.get("updated_at")),
        "MATERIALIZED_TABLE",
        schema=tuple(_field(column) for column in columns if str(column.get("kind") or "PHYSICAL").upper() == "PHYSICAL"),
        more=_present(more),
        written=str(status.get("creation_statement") or query),
    )


def parse_failure(answer: object) -> Failure | None:
    """Parse why a statement failed; None if there are no exceptions."""
    listed = answer.get("data") if isinstance(answer, Mapping) else None
    exceptions = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    newest_first = sorted(exceptions, key=lambda entry: str(entry.get("timestamp") or ""), reverse=True)
    texts = [": ".join(filter(None, (str(entry.get("name") or ""), str(entry.get("message") or "")))) for entry in newest_first]
    return Failure(texts[0].partition("\n")[0], "\n\n".join(texts)) if texts else None


def quoted(name: str) -> str:
    """Quote a part of a name with backticks."""
    return f"`{name.replace('`', '``')}`"


def _named(answer: Mapping[str, Any]) -> str:
    name = answer["name"]
    if not isinstance(name, str) or not name:
        raise ValueError("it has no name")
    return name


def _present(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that are not empty and have the expected types."""
    return {key: value for key, value in members.items() if value not in (None, [], {}, "") and isinstance(value, _TYPES[key])}


def _time(text: object) -> int | None:
    time = parse_time(text) if isinstance(text, str) else None
    return time.us if time else None


def _total_offset(text: object) -> int | None:
    """The sum of the partitions' offsets; None if one is negative, which means the start or end of the partition."""
    offsets = [int(offset) for _, offset in _OFFSET.findall(str(text))]
    return sum(offsets) if offsets and min(offsets) >= 0 else None


def _field(column: Mapping[str, Any]) -> SchemaField:
    return _typed(str(column["name"]), column.get("type"), column.get("description"))


def _typed(name: str, data_type: object, description: object = None) -> SchemaField:
    kind = data_type if isinstance(data_type, Mapping) else {"type": data_type}
    inner: tuple[SchemaField, ...] = ()
    members = kind.get("fields")
    if isinstance(members, list):
        inner = tuple(
            _typed(str(member["name"]), member.get("field_type") or member.get("type"), member.get("description")) for member in members
        )
    elif kind.get("key_type") is not None:
        inner = (_typed("key", kind["key_type"]), _typed("value", kind.get("value_type")))
    elif kind.get("element_type") is not None:
        inner = (_typed("_element", kind["element_type"]),)
    bounds = [str(kind[key]) for key in ("length", "precision", "scale") if kind.get(key) is not None]
    text = str(kind.get("type") or "") + (f"({', '.join(bounds)})" if bounds else "")
    comment = description if isinstance(description, str) and description else None
    return SchemaField(name=name, type=text or None, description=comment, fields=inner or None)
