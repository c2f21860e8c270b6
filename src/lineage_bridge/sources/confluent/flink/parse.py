"""Converts the answers of Flink's API to plain values. Pure."""

import re
from collections.abc import Callable, Iterable, Mapping
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
_HINT = "check that `flink_url` is the address of Confluent's Flink API"
_OFFSET = re.compile(r"partition:(\d+),offset:(-?\d+)")
_NO_OFFSET = 2**63 - 1


class Statement(NamedTuple):
    """A statement, or a materialized table with the query that fills it. Times are in microseconds, None if unknown.

    `catalog`, `database`: the current ones, as ids or display names. `offsets`: for each topic, the sum of the offsets of its partitions,
    None if unknown. `schema`: the columns of its result. `more`: members of the answer that are copied into the statement's facet.
    `written`: the author's own text, if `text` differs from it.
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
        """The text of the statement, as its author wrote it."""
        return self.written or self.text


class Failure(NamedTuple):
    """Why a statement failed: the first line of its newest exception, and all exceptions."""

    message: str
    trace: str


class FlinkAnswers(msgspec.Struct, frozen=True):
    """The answers of Flink's API at one poll. `tables` is None if materialized tables could not be listed.

    `hidden`: statements that could not be read or are no longer listed, but may still exist; `hidden_tables`: the same for tables, None
    if any table may.
    """

    statements: tuple[Statement, ...] = ()
    tables: tuple[Statement, ...] | None = ()
    failures: Mapping[str, Failure] = {}
    hidden: frozenset[str] = frozenset()
    hidden_tables: frozenset[str] | None = frozenset()
    unseen: tuple[Unseen, ...] = ()


def parse_each(
    parse: Callable[[Mapping[str, Any]], Statement], what: str, entries: Iterable[Mapping[str, Any]], unseen: list[Unseen]
) -> tuple[list[Statement], list[str]]:
    """Parse the entries of a listing. Entries that cannot be read are added to `unseen`, and their names are returned too (empty if an
    entry has no name).
    """
    found: list[Statement] = []
    unreadable: list[str] = []
    for entry in entries:
        answer = _try_to_parse(parse, entry)
        if isinstance(answer, Statement):
            found.append(answer)
        else:
            name = entry.get("name")
            unreadable.append(name if isinstance(name, str) else "")
            unseen.append(Unseen(f"{what} {unreadable[-1] or 'without a name'}", str(answer), answer.hint))
    return found, unreadable


def _try_to_parse(parse: Callable[[Mapping[str, Any]], Statement], entry: Mapping[str, Any]) -> Statement | SourceError:
    try:
        return parse(entry)
    except SourceError as error:
        return error


def parse_statement(answer: Mapping[str, Any]) -> Statement:
    """Parse a statement in an answer. Raises SourceError if it has an unexpected shape."""
    try:
        return _statement(answer)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SourceError(f"a statement has an unexpected shape: {error!r}", _HINT) from error


def parse_answer(answer: object) -> Statement:
    """Parse the answer to a request for one statement by its name. Raises SourceError."""
    if not isinstance(answer, Mapping):
        raise SourceError("a statement has an unexpected shape: it is not an object", _HINT)
    return parse_statement(answer)


def _statement(answer: Mapping[str, Any]) -> Statement:
    spec, status, metadata = answer["spec"], _object(answer.get("status")), _object(answer.get("metadata"))
    properties, traits = _object(spec.get("properties")), _object(status.get("traits"))
    more = {
        "stopped": spec.get("stopped"),
        "labels": metadata.get("labels"),
        "append_only": traits.get("is_append_only"),
        "upsert_columns": traits.get("upsert_columns"),
        "connections": traits.get("connection_refs"),
        "network": status.get("network_kind"),
        "scaling": _object(status.get("scaling_status")).get("scaling_state"),
        "warnings": status.get("warnings"),
    }
    return Statement(
        _text(answer, "name"),
        str(metadata.get("uid") or metadata.get("created_at") or ""),
        _text(spec, "statement"),
        STATEMENT,
        str(properties.get("sql.current-catalog") or ""),
        str(properties.get("sql.current-database") or ""),
        str(status.get("phase") or ""),
        str(status.get("detail") or ""),
        str(spec.get("principal") or ""),
        str(spec.get("compute_pool_id") or _object(spec.get("compute_pool")).get("id") or ""),
        _time(metadata.get("created_at")),
        _time(metadata.get("updated_at")),
        str(traits.get("sql_kind") or ""),
        bool(traits.get("is_bounded")) or str(spec.get("execution_mode") or "").upper() == "BATCH",
        _fields(_object(traits.get("schema")).get("columns")),
        {str(topic): _total_offset(text) for topic, text in sorted(_object(status.get("latest_offsets")).items())},
        _present(more),
    )


def parse_table(environment: str, answer: Mapping[str, Any]) -> Statement:
    """Parse a materialized table into the statement that would create it. Raises SourceError if the answer has an unexpected shape."""
    try:
        return _table(environment, answer)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SourceError(f"a materialized table has an unexpected shape: {error!r}", _HINT) from error


def _table(environment: str, answer: Mapping[str, Any]) -> Statement:
    spec, status, metadata = answer["spec"], _object(answer.get("status")), _object(answer.get("metadata"))
    options, cluster, name = _object(spec.get("session_options")), _text(spec, "kafka_cluster_id"), _text(answer, "name")
    query = _text(spec, "query").strip().rstrip(";")
    more = {
        "stopped": spec.get("stopped"),
        "table_version": status.get("version"),
        "warnings": status.get("warnings"),
        "scaling": _object(status.get("scaling_status")).get("scaling_state"),
    }
    columns = spec.get("columns")
    physical = [column for column in columns if _is_physical(column)] if isinstance(columns, list) else []
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
        schema=_fields(physical),
        more=_present(more),
        written=str(status.get("creation_statement") or query),
    )


def parse_failure(answer: object) -> Failure | None:
    """Parse the exceptions of a failed statement; None if there are none."""
    listed = answer.get("data") if isinstance(answer, Mapping) else None
    exceptions = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    newest_first = sorted(exceptions, key=lambda entry: str(entry.get("timestamp") or ""), reverse=True)
    texts = [": ".join(filter(None, (str(entry.get("name") or ""), str(entry.get("message") or "")))) for entry in newest_first]
    return Failure(texts[0].partition("\n")[0], "\n\n".join(texts)) if texts else None


def quoted(name: str) -> str:
    """Quote one part of a name with backticks, as SQL requires."""
    return f"`{name.replace('`', '``')}`"


def _text(whole: Mapping[str, Any], member: str) -> str:
    """A required member of an object, as text. Raises KeyError if it is absent."""
    text = whole[member]
    if not isinstance(text, str) or not text.strip():
        raise KeyError(member)
    return text


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_physical(column: object) -> bool:
    return isinstance(column, Mapping) and str(column.get("kind") or "PHYSICAL").upper() == "PHYSICAL"


def _present(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an object that have one of the expected types and are not empty."""
    return {key: value for key, value in members.items() if value not in (None, [], {}, "") and isinstance(value, _TYPES[key])}


def _time(text: object) -> int | None:
    time = parse_time(text) if isinstance(text, str) else None
    return time.us if time else None


def _total_offset(text: object) -> int | None:
    """The sum of the offsets of all partitions; None if one is unknown, or if the sum is larger than any number of rows can be.

    Offsets below 0 and from 2^63-1 on stand for an end of the partition: stopped statements report 2^63.
    """
    offsets = [int(offset) for _, offset in _OFFSET.findall(str(text))]
    return total if offsets and min(offsets) >= 0 and (total := sum(offsets)) < _NO_OFFSET else None


def _fields(columns: object) -> tuple[SchemaField, ...]:
    """The columns of a statement's result, without those that have no name."""
    named = [column for column in columns if isinstance(column, Mapping) and column.get("name")] if isinstance(columns, list) else []
    return tuple(_typed(str(column["name"]), column.get("type"), column.get("description") or column.get("comment")) for column in named)


def _typed(name: str, data_type: object, description: object = None) -> SchemaField:
    kind = data_type if isinstance(data_type, Mapping) else {"type": data_type}
    inner: tuple[SchemaField, ...] = ()
    members = kind.get("fields")
    if isinstance(members, list):
        inner = tuple(
            _typed(str(member["name"]), member.get("field_type") or member.get("type"), member.get("description"))
            for member in members
            if isinstance(member, Mapping) and member.get("name")
        )
    elif kind.get("key_type") is not None:
        inner = (_typed("key", kind["key_type"]), _typed("value", kind.get("value_type")))
    elif kind.get("element_type") is not None:
        inner = (_typed("_element", kind["element_type"]),)
    bounds = [str(kind[key]) for key in ("length", "precision", "scale") if kind.get(key) is not None]
    text = str(kind.get("type") or "") + (f"({', '.join(bounds)})" if bounds else "")
    comment = description if isinstance(description, str) and description else None
    return SchemaField(name=name, type=text or None, description=comment, fields=inner or None)
