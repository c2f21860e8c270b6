"""Converts the topics of the graph to the content of their entries in Google's catalog. Pure.

The event of a topic has the member `entry`: its fully qualified name (the same as in Google Data Lineage), `source`, `topic` (the
data of LineageBridge's aspect), and `schema` (that of Google's aspect of this name) if the topic's columns are known. Empty members are
left out, since Google may not keep them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from lineage_bridge.catalogs.kinds.google.settings import DataplexSettings
from lineage_bridge.catalogs.target import Expressed, InexpressibleError, Json
from lineage_bridge.graph.contents.stewardship import KEYS, stewardship
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.sources.common.google.entity_names import LONGEST_NAME, entity_name

LARGEST_ASPECT: Final = 120_000
"""The maximum size of the data of an aspect that Google accepts, in bytes."""
LONGEST_DISPLAYED, LONGEST_DESCRIPTION = 500, 2000
"""Characters of the name and of the description in an entry's source."""
DEEPEST: Final = 15
"""Levels of columns in columns."""
_HELD: Final = frozenset((*KEYS, "documentation", "schema", PUBLICATION))
_LISTS: Final = ("consumers", "producers", "tags", "owners")
"""The lists in an aspect, in the order in which they are shortened."""
_TYPES: Final = (
    (
        "NUMBER",
        ("int", "long", "short", "byte", "float", "double", "decimal", "number", "numeric", "bigint", "smallint", "tinyint", "real"),
    ),
    ("STRING", ("string", "str", "varchar", "char", "text", "uuid", "enum", "utf8")),
    ("BOOLEAN", ("boolean", "bool")),
    ("BYTES", ("bytes", "binary", "varbinary", "fixed", "blob")),
    ("TIMESTAMP", ("timestamp", "timestamp_ltz", "timestamptz", "timestamp-millis", "timestamp-micros")),
    ("DATETIME", ("date", "time", "datetime")),
    ("STRUCT", ("struct", "record", "row", "map", "message", "object")),
)
_TYPE_OF: Final = {word: name for name, words in _TYPES for word in words} | {
    f"{kind}{bits}": "NUMBER" for kind in ("int", "uint", "sint", "float") for bits in (8, 16, 32, 64)
}


def by_topic(events: Iterable[Json], settings: DataplexSettings) -> Iterator[Json]:
    """An event for each topic, after the unchanged events of jobs and datasets that are not about a topic."""
    found: dict[tuple[str, str], Json] = {}
    for event in events:
        sides = {"producers": event.get("outputs", ()), "consumers": event.get("inputs", ())}
        if "dataset" in event:
            sides = {"": [event["dataset"]]}
        topics = [(side, dataset) for side, datasets in sides.items() for dataset in datasets if _is_topic(dataset, settings)]
        if not topics:
            yield event
        for side, dataset in topics:
            made = found.setdefault(
                (dataset["namespace"], dataset["name"]), {"facets": {}, "producers": set(), "consumers": set(), "marks": []}
            )
            made["facets"] = {**dataset.get("facets", {}), **made["facets"]}
            made["marks"].append(event["job" if "job" in event else "dataset"].get("facets", {}).get(PUBLICATION, {}))
            if side:
                made[side].add((event["job"]["namespace"], event["job"]["name"]))
    for (namespace, name), made in sorted(found.items()):
        yield {"dataset": {"namespace": namespace, "name": name}, "stated": made}


def express_topic(event: Json) -> Expressed:
    """The event of a topic with the content of its entry. Raises InexpressibleError."""
    if "stated" not in event:
        raise InexpressibleError("jobs that read and write no topic" if "job" in event else "datasets that are not topics")
    stated, lost = event["stated"], Counter[str]()
    namespace, name = event["dataset"]["namespace"], event["dataset"]["name"]
    named = entity_name(namespace, name)
    if len(named) > LONGEST_NAME:
        raise InexpressibleError("topics whose names are too long")
    facets: Json = {key: facet for key, facet in stated["facets"].items() if isinstance(facet, dict)}
    lost["facets that entries of topics do not hold"] += len(facets.keys() - _HELD)
    description = facets.get("documentation", {}).get("description")
    text = description if isinstance(description, str) else ""
    lost["ends of descriptions that are too long"] += len(text) > LONGEST_DESCRIPTION
    schema = _within(
        {"fields": _columns(facets.get("schema", {}).get("fields"), lost)}, ("fields",), "columns of topics that are too many", lost
    )
    topic = _within(_topic(namespace, name, stated, facets), _LISTS, "jobs, owners and tags of topics that are too many", lost)
    entry = {
        "fullyQualifiedName": named,
        "source": {
            "resource": f"{namespace}/{name}"[:LONGEST_NAME],
            "system": "Confluent" if namespace.startswith("confluent:") else "Kafka",
            "platform": "Kafka",
            "displayName": name[:LONGEST_DISPLAYED],
            "description": text[:LONGEST_DESCRIPTION],
        },
        "topic": {**topic, "hasSchema": bool(schema["fields"])},
        **({"schema": schema} if schema["fields"] else {}),
    }
    return Expressed({"dataset": event["dataset"], "entry": without_empty(entry)}, +lost)


def without_empty(value: Any) -> Any:  # noqa: ANN401  # JSON
    """A JSON value without members that are empty texts, lists or objects."""
    if isinstance(value, Mapping):
        made = {str(key): without_empty(member) for key, member in value.items()}
        return {key: member for key, member in made.items() if member not in ("", [], {}, None)}
    return [without_empty(member) for member in value] if isinstance(value, list) else value


def _is_topic(dataset: Json, settings: DataplexSettings) -> bool:
    return any(fnmatchcase(dataset["namespace"], glob) for glob in settings.topics)


def _topic(namespace: str, name: str, stated: Json, facets: Json) -> Json:
    """The data of LineageBridge's aspect."""
    steward = stewardship({key: encode(facets[key]).decode() for key in KEYS if key in facets})
    lists: dict[str, list[Any]] = {
        side: [{"namespace": of, "name": job} for of, job in sorted(stated[side])] for side in ("producers", "consumers")
    }
    tags = {
        (str(tag["key"]), str(tag.get("value") or ""), str(tag.get("field") or ""))
        for tag in facets.get("tags", {}).get("tags") or ()
        if isinstance(tag, dict) and tag.get("key")
    }
    through = [mark.get("installations") or [] for mark in stated["marks"] if isinstance(mark, dict)]
    return {
        "namespace": namespace,
        "name": name,
        **lists,
        "owners": list(steward.owners),
        "tags": [{"key": key, "value": value, "field": field} for key, value, field in sorted(tags)],
        "retention": steward.retention,
        "installations": sorted({str(installation) for names in through for installation in names}),
    }


def _columns(fields: Any, lost: Counter[str], depth: int = 1) -> list[Json]:  # noqa: ANN401  # JSON of a facet
    """Columns in the form of Google's aspect; those in too many levels are left out."""
    stated = [field for field in fields or () if isinstance(field, dict) and field.get("name")]
    if depth > DEEPEST:
        lost["columns in too many levels"] += len(stated)
        return []
    return [_column(field, lost, depth) for field in stated]


def _column(field: Json, lost: Counter[str], depth: int) -> Json:
    type_ = str(field.get("type") or "")
    inner = _columns(field.get("fields"), lost, depth + 1)
    word = type_.lower().partition("<")[0].partition("(")[0].strip().removesuffix(" not null")
    is_list = word in ("array", "list", "repeated")
    described = field.get("description")
    return {
        "name": str(field["name"]),
        "mode": "REPEATED" if is_list else "NULLABLE",
        "dataType": type_ or "unknown",
        "metadataType": "STRUCT" if inner else _TYPE_OF.get(word, "OTHER"),
        "description": described if isinstance(described, str) else "",
        "fields": inner,
    }


def _within(data: Json, lists: Sequence[str], what: str, lost: Counter[str]) -> Json:
    """The data of an aspect, whose lists lose their last members where it is too large. `lost` counts these as `what`."""
    data = without_empty(data)
    for member in lists:
        room = LARGEST_ASPECT - len(encode({**data, member: []})) - 100
        found, kept = data.get(member, []), 0
        for value in found:
            room -= len(encode(value)) + 1
            if room < 0:
                break
            kept += 1
        lost[what] += len(found) - kept
        data = {**data, member: found[:kept]}
    return data
