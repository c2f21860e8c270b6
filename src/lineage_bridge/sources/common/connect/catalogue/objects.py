"""Finds the external objects of a source connector, and the topic of each before the transforms."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from lineage_bridge.sources.common.connect.catalogue.templates import ANY_VALUE, holes, invert, is_unreadable
from lineage_bridge.sources.common.connect.catalogue.view import (
    ConnectorView,
    alternatives,
    literal,
    matches_any,
    name_in_list,
)
from lineage_bridge.sources.common.connect.lineage.connection import EvidenceKind, FoundObject
from lineage_bridge.sources.common.connect.placeholders import is_left_open
from lineage_bridge.sources.common.connect.transforms.patterns import listed

ALL = ".+"
_FULL = 3
"""The number of parts of a table's full name."""


def find_objects(view: ConnectorView, candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Return the objects of a source that occur in the lists of its configuration, in settings of tasks, in offsets, and in topic
    names.

    `candidates`: topics by their names before the transforms, with the evidence for each.
    """
    connector = view.connector
    literals, patterns = _listed(view)
    found = [FoundObject(thing, _topic(view, thing), EvidenceKind.LISTED) for thing in literals]
    if connector.numbered:
        found += numbered(view)
    mapped = pairs(view)
    found += [FoundObject(thing, topic, EvidenceKind.LISTED) for topic, item in mapped for thing in _within(view, [item])]
    is_open = bool(found) or not connector.object or view.is_unreadable(connector.objects) or _is_within_unknown(view)
    fixed = None if is_open else view.text(connector.object)
    if fixed is not None:
        found.append(FoundObject(fixed, _topic(view, fixed), EvidenceKind.LISTED))
    found += [FoundObject(thing, _topic(view, thing), how) for thing, how in (*_in_tasks(view), *_in_offsets(view))]
    found += [_beside(view, view.setting(key)) for key in connector.also if view.setting(key)]
    listed_objects = {found_object.object for found_object in found}
    from_topics = [] if fixed is not None else list(_in_topics(view, candidates, patterns))
    if not from_topics:
        from_topics = [
            FoundObject(thing, _topic(view, thing), EvidenceKind.LISTED)
            for thing in _within(view, [*chain.from_iterable(map(alternatives, patterns))])
        ]
    return [*found, *(found_object for found_object in from_topics if found_object.object not in listed_objects)]


def _beside(view: ConnectorView, thing: str) -> FoundObject:
    """Make an object that the configuration names without a topic. The configured name may begin with the name of the database."""
    dataset = view.dataset(thing)
    is_full = dataset is not None and thing.count(".") == _FULL - 1 and dataset[1].count(".") >= _FULL
    return FoundObject(thing, "", EvidenceKind.LISTED, (dataset[0], thing) if dataset is not None and is_full else None)


def numbered(view: ConnectorView) -> list[FoundObject]:
    """Return the objects and topics in settings whose keys contain a number, such as `api1.http.api.path` and `api1.topics`."""
    object_key, topic_key = view.connector.numbered
    pattern = re.compile(re.escape(object_key).replace(r"\*", r"(\d+)"))
    numbers = sorted(int(match[1]) for match in map(pattern.fullmatch, view.config) if match)
    found = []
    for number in map(str, numbers):
        topics: list[str | None] = [*view.list_of([topic_key.replace("*", number)])]
        topics = topics or [view.text(view.connector.topic) if view.connector.topic else None]
        key = object_key.replace("*", number)
        thing = None if view.is_unreadable([key]) else view.setting(key) or None
        found += [FoundObject(thing, topic, EvidenceKind.LISTED) for topic in topics]
    return found


def pairs(view: ConnectorView) -> list[tuple[str, str]]:
    """Return the pairs of topic and object that a setting of the configuration lists."""
    split = (item.partition(view.connector.pair) for key in view.connector.maps for item in listed(view.setting(key)))
    both = [(first.strip(), second.strip()) for first, sign, second in split if sign]
    return [(second, first) for first, second in both] if view.connector.turned else both


def _listed(view: ConnectorView) -> tuple[list[str], list[str]]:
    """Return the names of objects in the configuration's lists, and the patterns of names. Without a list, a single pattern matches
    everything.
    """
    connector = view.connector
    elements = [element for element in view.list_of(connector.objects) if not is_unreadable(element)]
    if connector.form != "regex":
        return _within(view, elements), [] if elements else [ALL]
    read = name_in_list if view.first_of(connector.objects) in connector.plain else literal
    names = [read(element) for element in elements]
    patterns = [element for element, name in zip(elements, names, strict=True) if name is None]
    if not elements:
        parents = view.list_of(connector.parents)
        patterns = [rf"(?:{parent})\..+" for parent in parents] or [ALL]
    things = _within(view, [_in_capitals(view, name) if connector.folded else name for name in names if name is not None])
    return [thing for thing in things if view.is_named_by(thing)], patterns


def _in_capitals(view: ConnectorView, name: str) -> str:
    """Return a table's name in capitals, as the database stores it; unchanged if the name of a topic contains it as it is written."""
    topics = {*(view.evidence.known_topics or ()), *view.evidence.observed_topics}
    return name if view.text(view.connector.topic, object=name) in topics else name.upper()


def _within(view: ConnectorView, things: list[str]) -> list[str]:
    """Put each configured database before the names of objects, unless a name already contains it. None is left if a database is still to
    be filled in.
    """
    outer = view.list_of(view.connector.within)
    if _is_within_unknown(view):
        return []
    bare = [thing for thing in things if not any(thing.startswith(outer_name + ".") for outer_name in outer)]
    return (
        [*(thing for thing in things if thing not in bare), *(f"{outer_name}.{thing}" for outer_name in outer for thing in bare)]
        if outer
        else things
    )


def _is_within_unknown(view: ConnectorView) -> bool:
    return any(map(is_left_open, view.list_of(view.connector.within)))


def _topic(view: ConnectorView, thing: str) -> str | None:
    topics = {mapped: topic for topic, pair in pairs(view) for mapped in _within(view, [pair])}
    return topics.get(thing) or (view.text(view.connector.topic, object=thing) if view.connector.topic else None)


def _in_tasks(view: ConnectorView) -> Iterator[tuple[str, EvidenceKind]]:
    """Yield the objects in the tasks' settings that the connector's configuration lacks."""
    if view.connector.task_objects:
        for task in view.evidence.tasks:
            for element in listed(task.get(view.connector.task_objects, "")):
                yield unquoted(element), EvidenceKind.TASK
        return
    for task in view.evidence.tasks:
        own = replace(view, config={**view.config, **task})
        for thing in _listed(own)[0]:
            yield thing, EvidenceKind.TASK


def _in_offsets(view: ConnectorView) -> Iterator[tuple[str, EvidenceKind]]:
    for offset in view.evidence.offsets:
        partition: Mapping[str, Any] = offset.get("partition") or {}
        for key in view.connector.offsets:
            if isinstance(partition.get(key), str):
                yield unquoted(partition[key]), EvidenceKind.OFFSETS


def _in_topics(view: ConnectorView, candidates: Mapping[str, EvidenceKind], patterns: list[str]) -> Iterator[FoundObject]:
    """Find objects by the names of existing topics: the template for topics is applied backwards. Yields the objects that the lists in the
    configuration allow.
    """
    pattern = invert(view.connector.topic, "object", view.config) if "object" in holes(view.connector.topic) else None
    if pattern is None or not patterns:
        return
    anything = pattern.pattern == ANY_VALUE
    if anything and any(key not in view.config for key in holes(view.connector.topic) if key != "object"):
        return
    excluded = view.list_of(view.connector.excluded)
    for topic, how in sorted(candidates.items()):
        match = None if anything and how is not EvidenceKind.OBSERVED else pattern.fullmatch(topic)
        if match is None:
            continue
        value = common_user(match["value"]) if view.connector.folded else match["value"]
        names = [value, *([value.partition(".")[2]] if view.connector.within else [])]
        if matches_any(patterns, *names) and not matches_any(excluded, *names):
            yield FoundObject(value, topic, how)


def common_user(name: str) -> str:
    """Return a name from a topic, with the prefix of Oracle's common users restored. Topic names cannot contain `#`: `C##` is written
    `C__`.
    """
    return re.sub(r"^C__(?=\w)", "C##", name)


def unquoted(name: str) -> str:
    """Return a table's name without SQL's quotes around its parts."""
    return re.sub(r"[\"`\[\]]", "", name).strip()
