"""Converts processes of Google Data Lineage to assets. Pure. The members are those of Google's API, in its JSON form."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.catalog.assets import Asset
from lineage_bridge.sources.common.catalog.reading import list_in, object_in, source_of, text_in
from lineage_bridge.sources.common.google.entity_names import UNKNOWN, dataset_name

EVENTS: Final = EventBuilder("https://lineagebridge.dev/sources/google")
_INSTALLATIONS: Final = "installations"
"""The attribute by which the target of kind `google` marks its processes."""
_IDENTITY: Final = ("EXACT_COPY", 1)
_End = tuple[DatasetName, str]


def is_published(process: Mapping[str, Any]) -> bool:
    """Whether LineageBridge published a process. An attribute of the process shows it or, if it was created from OpenLineage events, a
    facet.
    """
    attributes = object_in(process, "attributes")
    ours = _INSTALLATIONS in attributes and {"namespace", "name"} <= attributes.keys()
    return ours or any(PUBLICATION in text for text in (*attributes, json.dumps(attributes)))


def read_process(process: Mapping[str, Any], parent: str, events: Iterable[Mapping[str, Any]]) -> Asset:
    """Convert a process to an asset, by the lineage events of its newest run; the asset is empty if these events have no links."""
    inputs: set[DatasetName] = set()
    flows: dict[DatasetName, set[DatasetName]] = {}
    columns: dict[DatasetName, dict[str, dict[_End, bool]]] = {}
    for link in (link for event in events for link in list_in(event, "links")):
        source, target = _end(link, "source"), _end(link, "target")
        if source is None or target is None or source[0] == target[0]:
            continue
        inputs.add(source[0])
        known = flows.setdefault(target[0], set())
        if source[1] and target[1]:
            is_copy = object_in(link, "dependencyInfo").get("dependencyType") in _IDENTITY
            columns.setdefault(target[0], {}).setdefault(target[1], {})[source] = is_copy
        else:
            known.add(source[0])
    name, shown = text_in(process, "name").rpartition("/")[2], text_in(process, "displayName")
    entries = [_entry(target, sources, columns.get(target, {})) for target, sources in sorted(flows.items())]
    facets = {"lineage": EVENTS.lineage(entries)} if entries else {}
    job = f"{shown} ({name})" if shown else name
    ends = (tuple(EVENTS.dataset(end) for end in sorted(side)) for side in (inputs, flows))
    read, written = ends
    return Asset((f"{UNKNOWN}{parent}", job), facets, is_job=True, inputs=read, outputs=written)


def _end(link: object, side: str) -> _End | None:
    """The dataset and the column at one end of a link. The column is empty if the link is about the whole dataset."""
    name = text_in(link, side, "fullyQualifiedName")
    path = [level for level in list_in(link, side, "field") if isinstance(level, str)]
    return (dataset_name(name), ".".join(path)) if name else None


def _entry(target: DatasetName, sources: Iterable[DatasetName], columns: Mapping[str, Mapping[_End, bool]]) -> Json:
    fields = {
        column: {"inputs": [_column_source(source, is_copy=is_copy) for source, is_copy in sorted(found.items())]}
        for column, found in sorted(columns.items())
    }
    entry: Json = {"type": "DATASET", "namespace": target[0], "name": target[1]}
    inputs = sorted({*sources, *(source for found in columns.values() for source, _ in found)})
    return {**entry, "inputs": [source_of(source) for source in inputs], **({"fields": fields} if fields else {})}


def _column_source(source: _End, *, is_copy: bool) -> Json:
    stated = {"transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}]} if is_copy else {}
    return {**source_of(*source), **stated}
