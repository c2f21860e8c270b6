"""What Flink answered of one environment and region at one poll, as plain values."""

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
"""Phases after which a statement does nothing more, unless it is resumed, to what is told of its run then."""
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
"""What is told of a statement as it is."""
_OFFSET = re.compile(r"partition:(\d+),offset:(-?\d+)")


class Statement(NamedTuple):
    """A statement, or a materialized table with the query that fills it. Times in microseconds, None if they are not told.

    `catalog`, `database`: what shorter names in it mean, by id or display name. `offsets`: topic to the sum of the positions in its
    partitions, None where no position is told. `schema`: the columns of what it gives. `more`: members that are told as they are.
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
        """The text as its author wrote it."""
        return self.written or self.text


class Failure(NamedTuple):
    """Why a statement failed, by its newest exceptions: the first lines, and all of them."""

    message: str
    trace: str


class Answers(msgspec.Struct, frozen=True):
    """What was seen. `tables` is None if materialized tables could not be listed. `hidden`: statements that are not listed any more,
    but may be there.
    """

    statements: tuple[Statement, ...] = ()
    tables: tuple[Statement, ...] | None = ()
    failures: Mapping[str, Failure] = {}
    hidden: frozenset[str] = frozenset()
    unseen: tuple[Unseen, ...] = ()


def statement_of(answer: Mapping[str, Any]) -> Statement:
    """A statement as the API tells it. Raises SourceError for one that cannot be read."""
    try:
        return _statement(answer)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SourceError(
            f"a statement is told in a shape that cannot be read: {error!r}", "is it the API of Confluent's Flink?"
        ) from error


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
        tuple(_field(one) for one in (traits.get("schema") or {}).get("columns") or ()),
        {str(topic): _position(told) for topic, told in sorted((status.get("latest_offsets") or {}).items())},
        _told(more),
    )


def table_of(environment: str, answer: Mapping[str, Any]) -> Statement:
    """A materialized table as the API tells it; its text is a statement that says the same. Raises SourceError, likewise."""
    try:
        return _table(environment, answer)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        told = f"a materialized table is told in a shape that cannot be read: {error!r}"
        raise SourceError(told, "is it the API of Confluent's Flink?") from error


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
    columns = [one for one in spec.get("columns") or () if isinstance(one, Mapping)]
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
        schema=tuple(_field(one) for one in columns if str(one.get("kind") or "PHYSICAL").upper() == "PHYSICAL"),
        more=_told(more),
        written=str(status.get("creation_statement") or query),
    )


def failure_of(answer: object) -> Failure | None:
    """Why a statement failed; None if nothing is told."""
    listed = answer.get("data") if isinstance(answer, Mapping) else None
    told = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    newest = sorted(told, key=lambda one: str(one.get("timestamp") or ""), reverse=True)
    texts = [": ".join(filter(None, (str(one.get("name") or ""), str(one.get("message") or "")))) for one in newest]
    return Failure(texts[0].partition("\n")[0], "\n\n".join(texts)) if texts else None


def quoted(name: str) -> str:
    """A part of a name, quoted."""
    return f"`{name.replace('`', '``')}`"


def _named(answer: Mapping[str, Any]) -> str:
    name = answer["name"]
    if not isinstance(name, str) or not name:
        raise ValueError("without a name")
    return name


def _told(members: Mapping[str, Any]) -> dict[str, Any]:
    """Members that are told, of the types that they have."""
    return {key: value for key, value in members.items() if value not in (None, [], {}, "") and isinstance(value, _TYPES[key])}


def _time(told: object) -> int | None:
    found = parse_time(told) if isinstance(told, str) else None
    return found.us if found else None


def _position(told: object) -> int | None:
    """The sum of the positions in partitions; those below 0 stand for the ends, and tell none."""
    found = [int(offset) for _, offset in _OFFSET.findall(str(told))]
    return sum(found) if found and min(found) >= 0 else None


def _field(told: Mapping[str, Any]) -> SchemaField:
    return _typed(str(told["name"]), told.get("type"), told.get("description"))


def _typed(name: str, told: object, description: object = None) -> SchemaField:
    kind = told if isinstance(told, Mapping) else {"type": told}
    inner: tuple[SchemaField, ...] = ()
    parts = kind.get("fields")
    if isinstance(parts, list):
        inner = tuple(_typed(str(one["name"]), one.get("field_type") or one.get("type"), one.get("description")) for one in parts)
    elif kind.get("key_type") is not None:
        inner = (_typed("key", kind["key_type"]), _typed("value", kind.get("value_type")))
    elif kind.get("element_type") is not None:
        inner = (_typed("_element", kind["element_type"]),)
    bounds = [str(kind[key]) for key in ("length", "precision", "scale") if kind.get(key) is not None]
    text = str(kind.get("type") or "") + (f"({', '.join(bounds)})" if bounds else "")
    said = description if isinstance(description, str) and description else None
    return SchemaField(name=name, type=text or None, description=said, fields=inner or None)
