"""Determines which datasets are tables of a metastore, and which properties, comments and tags they should have there. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from lineage_bridge.catalogs.kinds.databricks.changes import LONGEST_TAG, MOST_TAGS, NO_VALUE, TableGoal, content_of
from lineage_bridge.catalogs.kinds.databricks.naming import table_of
from lineage_bridge.catalogs.kinds.databricks.objects import LONGEST_TEXT
from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.kinds.databricks.upstream import FlowEnd, LineageWalk, PassedJob, UpstreamJob, is_topic
from lineage_bridge.catalogs.target import READ_THERE, Expressed, InexpressibleError, Json, ObjectKey

LONGEST_CHAIN: Final = 3000
"""The maximum length of the property `upstream_chain`, in characters; hops beyond are left out, the farthest first."""
_LONGEST_KEY: Final = 255
_FROM_THERE: Final = "https://lineagebridge.dev/sources/unity"
"""The producer of what a source read from a metastore."""
_TAGGED_THERE: Final = "UNITY_CATALOG"
_NOT_IN_NAMES: Final = re.compile(r"[./ \x00-\x1f\x7f]")
_NOT_IN_KEYS: Final = re.compile(r"[.,\-=/:\x00-\x1f\x7f\ud800-\udfff]")
_CONTROLS: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]+")
_MOST_SHOWN: Final = 5
"""How many jobs and inputs a comment names."""


def key_of_table(table: str, settings: DatabricksSettings) -> ObjectKey:
    """The key of a table: its name by OpenLineage's naming specification."""
    return ObjectKey("dataset", f"unitycatalog://{urlsplit(settings.url).hostname}", table)


def with_tables(events: Iterable[Json], settings: DatabricksSettings) -> Iterator[Json]:
    """The events, without those of datasets that are tables, and then one for each table, with its lineage.

    Jobs and facets that a source has read from this metastore contribute to the lineage of tables, but are not published themselves.
    """
    walk, stated, named = LineageWalk(settings), dict[str, list[Json]](), set[str]()
    for event in events:
        datasets = [event["dataset"]] if "dataset" in event else [*event.get("inputs", ()), *event.get("outputs", ())]
        for dataset in datasets:
            if table := table_of(dataset, settings):
                if "job" in event or READ_THERE not in event:
                    named.add(table)
                _state(stated.setdefault(table, []), dataset.get("facets", {}))
        if "job" in event:
            walk.add(event)
            if READ_THERE not in event:
                yield event
        elif READ_THERE not in event and not table_of(event["dataset"], settings):
            yield event
    for table, facets in sorted(stated.items()):
        if table not in named and not _says_more(facets, settings):
            continue  # it is counted as read there
        key = key_of_table(table, settings)
        yield {"dataset": {"namespace": key.namespace, "name": table}, "stated": facets, **_lineage(table, walk, settings)}


def _says_more(stated: Sequence[Json], settings: DatabricksSettings) -> bool:
    """Whether anybody except the metastore states anything about a table."""
    return bool(_comments(stated, Counter()) or _tags(stated, Counter(), settings))


def _state(stated: list[Json], facets: Json) -> None:
    found = {name: facets[name] for name in ("documentation", "schema", "tags") if isinstance(facets.get(name), dict)}
    if found and found not in stated:
        stated.append(found)


def _lineage(table: str, walk: LineageWalk, settings: DatabricksSettings) -> Json:
    hops, readers = walk.upstream(table), walk.readers.get(("", table), [])
    ends = sorted({end for hop in hops for end in hop.job.inputs})
    reading = sorted({_name(job) for job in readers if not job.is_own})
    return {
        "properties": {f"{settings.prefix}.{name}": value for name, value in _properties(hops, ends, reading, walk).items() if value},
        "is_news": bool(reading or any(not hop.job.is_own for hop in hops)),
        "is_moved": bool(hops or readers),
        "chain": _sentences([hop.job for hop in hops if hop.distance == 1 and not hop.job.is_own]),
    }


def _properties(hops: Sequence[UpstreamJob], ends: Sequence[FlowEnd], reading: Sequence[str], walk: LineageWalk) -> dict[str, str]:
    """The properties, under the names that they had in LineageBridge's first releases where those had them."""
    chain, is_cut = _chain(hops)
    writing = [hop.job for hop in hops if hop.distance == 1]
    clusters = sorted(set(walk.clusters(ends)))
    through = {name for hop in hops for name in hop.job.installations}
    return {
        "source_topics": _listed(name for namespace, name in ends if namespace and is_topic((namespace, name))),
        "source_connectors": _listed(hop.job.name for hop in hops if "CONNECTOR" in hop.job.kind.upper()),
        "producing_jobs": _listed(map(_name, writing)),
        "consuming_jobs": _listed(reading),
        "pipeline_type": _listed(job.kind.lower() for job in writing if job.kind),
        "upstream_chain": chain,
        "upstream_truncated": "true" if is_cut else "",
        "cluster_id": _listed(cluster for cluster, _ in clusters),
        "environment_id": _listed(environment for _, environment in clusters if environment),
        "publication": _listed(through),
    }


def _chain(hops: Sequence[UpstreamJob]) -> tuple[str, bool]:
    """The hops upstream as JSON in ASCII, nearest first, and whether the farthest are left out."""
    kept, room = list[str](), LONGEST_CHAIN - 2
    for hop in hops:
        entry = {"hop": hop.distance, "job": _name(hop.job), "kind": hop.job.kind, "inputs": [_shown(end) for end in hop.job.inputs]}
        text = json.dumps({name: value for name, value in entry.items() if value}, separators=(",", ":"))
        room -= len(text) + 1
        if room < 0:
            return f"[{','.join(kept)}]", True
        kept.append(text)
    return (f"[{','.join(kept)}]" if kept else ""), False


def _name(job: PassedJob) -> str:
    return f"{job.namespace} {job.name}"


def _shown(end: FlowEnd) -> str:
    return " ".join(part for part in end if part)


def _listed(names: Iterable[str]) -> str:
    """The sorted names with commas between them, as many as have room."""
    found, length = list[str](), -1
    for name in sorted({_plain(name) for name in names} - {""}):
        length += len(name) + 1
        if length > LONGEST_TEXT:
            break
        found.append(name)
    return ",".join(found)


def _sentences(writing: Sequence[PassedJob]) -> str:
    """The sentences of a comment about the jobs that write a table."""
    found = []
    for job in writing[:_MOST_SHOWN]:
        inputs = [name for _, name in job.inputs]
        more = f" and {len(inputs) - _MOST_SHOWN} more" if len(inputs) > _MOST_SHOWN else ""
        source = f" from {', '.join(inputs[:_MOST_SHOWN])}{more}" if inputs else ""
        found.append(f"Written by {job.name}{source}.")
    return _plain(" ".join(found))


# what a table should have


def express_table(event: Json, settings: DatabricksSettings) -> Expressed:
    """The properties, comments and tags of a table, with a digest of them as its content. Raises InexpressibleError."""
    lost = Counter[str]()
    tags = _tags(event["stated"], lost, settings) if settings.set_tags else {}
    comments = _comments(event["stated"], lost) if settings.comments else {}
    if not event["is_news"] and not tags and not comments:
        moved = "tables about which only Databricks has stated anything"
        raise InexpressibleError(moved if event["is_moved"] else "datasets that no job reads or writes")
    if not settings.warehouse_id:
        raise InexpressibleError("properties, comments and tags of tables, which need a SQL warehouse")
    if any(_NOT_IN_NAMES.search(part) for part in event["dataset"]["name"].split(".")):
        raise InexpressibleError("properties, comments and tags of tables with a name that Unity Catalog does not allow")
    if settings.comments and event["chain"] and "" not in comments:
        comments[""] = event["chain"][:LONGEST_TEXT]
    made = {"properties": event["properties"], "comments": comments, "tags": tags}
    dataset = {member: event["dataset"][member] for member in ("namespace", "name")}
    return Expressed({"dataset": dataset, **made, "content": content_of(**made)}, +lost)


def goal_of(event: Json) -> TableGoal:
    """The goal of a table (what it should have), from an event that `express_table` returned."""
    return TableGoal(event["content"], event["properties"], event["comments"], event["tags"])


def _comments(stated: Iterable[Json], lost: Counter[str]) -> dict[str, str]:
    """Descriptions by column; an empty name stands for the table itself. Descriptions that a source read from this metastore are left
    out.
    """
    found: dict[str, str] = {}
    for facets in stated:
        described = facets.get("documentation", {})
        schema = facets.get("schema", {})
        fields = schema.get("fields") if schema.get("_producer") != _FROM_THERE else ()
        texts = [("", described.get("description") if described.get("_producer") != _FROM_THERE else None)]
        texts += [(str(each.get("name") or ""), each.get("description")) for each in fields or () if isinstance(each, dict)]
        for index, (column, text) in enumerate(texts):
            whole = _plain(text) if isinstance(text, str) else ""
            if whole and (column or index == 0) and column.lower() not in found:
                lost["ends of descriptions and statements that are too long"] += len(whole) > LONGEST_TEXT
                found[column.lower()] = whole[:LONGEST_TEXT]
    return found


def _tags(stated: Iterable[Json], lost: Counter[str], settings: DatabricksSettings) -> dict[str, dict[str, str]]:
    """Tags by column and key. Tags that a source read from this metastore are left out."""
    found: dict[str, dict[str, str]] = {}
    for tag in (tag for facets in stated for tag in facets.get("tags", {}).get("tags") or () if isinstance(tag, dict)):
        key, value, column = (tag.get(member) for member in ("key", "value", "field"))
        if not isinstance(key, str) or tag.get("source") == _TAGGED_THERE:
            continue
        text = value if isinstance(value, str) and value else NO_VALUE
        of_column = found.setdefault(column.lower() if isinstance(column, str) else "", {})
        if key in of_column:
            continue
        is_taken = _is_key(key) and key != settings.prefix and len(text) <= LONGEST_TAG and text == _plain(text)
        if is_taken and len(of_column) < MOST_TAGS:
            of_column[key] = text
        else:
            lost["tags that Unity Catalog does not take"] += 1
    return {column: tags for column, tags in found.items() if tags}


def _is_key(key: str) -> bool:
    return 0 < len(key) <= _LONGEST_KEY and key == key.strip() and not _NOT_IN_KEYS.search(key)


def _plain(text: str) -> str:
    """A text without control characters and spaces around it."""
    return _CONTROLS.sub(" ", text).strip()


def without_published_tags(event: Json, settings: DatabricksSettings) -> Json:
    """The event of a job without the tags of tables, if they are published with the tables."""
    if not (settings.warehouse_id and settings.set_tags):
        return event
    return {**event, **{side: [_without_tags(dataset, settings) for dataset in event.get(side, ())] for side in ("inputs", "outputs")}}


def _without_tags(dataset: Json, settings: DatabricksSettings) -> Json:
    if "tags" not in dataset.get("facets", {}) or not table_of(dataset, settings):
        return dataset
    return {**dataset, "facets": {name: facet for name, facet in dataset["facets"].items() if name != "tags"}}
