"""Computes the desired state of a target: the current graph, filtered, with the names that it has at the target, in the form that the
target accepts.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from lineage_bridge.catalogs.events import PRODUCER, digest, fitted, key_of
from lineage_bridge.catalogs.settings import TargetSettings
from lineage_bridge.catalogs.target import READ_THERE, InexpressibleError, Json, ObjectKey, Target
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.inventory import InventoryEntry
from lineage_bridge.openlineage.event_builder import OWN_FACETS, encode
from lineage_bridge.openlineage.facets.from_catalog import FROM_CATALOG, CatalogMark, catalog_mark
from lineage_bridge.openlineage.facets.publication import PUBLICATION, installations_in
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.event_shapes import ViewEvent
from lineage_bridge.projections.nodes import lineage_node
from lineage_bridge.projections.states import state_events

MOST_INSTALLATIONS: Final = 16
"""The maximum number of installations that a mark names; the last ones are kept."""
_SPEED: Final = 1
BY_FILTER: Final = "is left out by the target's filters"
READ_FROM_THERE: Final = "has lineage that was read from this catalog"
IN_JOBS: Final = "is described by the jobs that name it now"


@dataclass(frozen=True)
class DesiredObject:
    """An object in its desired state. `packed` is its event without time and run id; `fingerprint` is the event's digest, `visible` that of
    the part that can be read back.
    """

    packed: bytes
    fingerprint: str
    visible: str

    def event(self) -> Json:
        """The event of the object, unpacked."""
        found: Json = msgspec.json.decode(zlib.decompress(self.packed))
        return found


@dataclass
class DesiredState:
    """All objects that a target should have, and how much of the graph it cannot represent, by kind.

    `known` are the objects that were published before. `left_out` has the reason why those of them that are in the graph are not among
    `objects`. `unmatched` has each value of a filter that nothing in the graph matches, with the name of the filter before it.
    """

    objects: dict[ObjectKey, DesiredObject] = field(default_factory=dict)
    not_expressible: Counter[str] = field(default_factory=Counter)
    known: Collection[ObjectKey] = ()
    left_out: dict[ObjectKey, str] = field(default_factory=dict)
    unmatched: list[str] = field(default_factory=list)

    def leave_out(self, key: ObjectKey, reason: str) -> None:
        """Note why an object is not published, if it was published before."""
        if key in self.known:
            self.left_out[key] = reason


def desired_state(
    graph: GraphReader, target: Target[Any], installation: str, now_us: int, known: Collection[ObjectKey] = ()
) -> DesiredState:
    """The desired state of a target. `installation` is the id of this LineageBridge, with which everything is marked; `known` are the
    keys of all objects that were published before.
    """
    settings: TargetSettings = target.settings
    state, chosen = DesiredState(known=known), TargetFilter(settings)

    def leave_out(node: Node) -> None:
        kind = "job" if node.kind == NodeKind.JOB else "dataset"
        named = renamed({"namespace": node.namespace, "name": node.name}, settings.map_namespaces, settings.map_names)
        state.leave_out(ObjectKey(kind, **named), BY_FILTER)

    views = state_events(graph, now_us, settings.names, chosen.includes, leave_out)
    events = (event for view in views if (event := _event_for(target, view, installation, state)))
    for event in target.arranged(renamed(event, settings.map_namespaces, settings.map_names) for event in events):
        add_object(state, target, event)
    for edge in graph.inventory.direct(now_us=now_us):
        if NodeKind.JOB in (edge.source.kind, edge.target.kind):
            state.not_expressible["edges from job to job"] += 1
    state.unmatched = chosen.unmatched
    return state


def _event_for(target: Target[Any], view: ViewEvent, installation: str, state: DesiredState) -> Json | None:
    """The marked event of a view. If the event's lineage was read from this catalog by a source, it is counted and not published: the
    result is None or, for targets that follow such lineage, an event with the member READ_THERE.
    """
    event = marked(view, installation)
    mark = catalog_mark(event["job" if "job" in event else "dataset"]["facets"].pop(FROM_CATALOG, None))
    if mark and is_read_from(target, mark):
        state.not_expressible["jobs and datasets whose lineage was read from this catalog"] += 1
        state.leave_out(key_of(renamed(event, target.settings.map_namespaces, target.settings.map_names)), READ_FROM_THERE)
        return {**event, READ_THERE: True} if target.follows_own_lineage else None
    return event


def is_read_from(target: Target[Any], mark: CatalogMark) -> bool:
    """Whether a mark names the catalog to which a target publishes. Without an address, it may be any catalog of its kind."""
    return mark.catalog == target.catalog and (not mark.address or mark.address in target.addresses)


def add_object(state: DesiredState, target: Target[Any], event: Json) -> None:
    """Add the object that an event describes to a state, or count it if the target cannot represent it."""
    for dataset in (*event.get("inputs", ()), *event.get("outputs", ())):
        state.leave_out(ObjectKey("dataset", dataset["namespace"], dataset["name"]), IN_JOBS)
    try:
        expressed = fitted(target.express(event), target.settings.max_bytes)
    except InexpressibleError as error:
        state.not_expressible[str(error)] += 1
        state.leave_out(key_of(event), f"can no longer be expressed there; counted as: {error}")
        return
    state.not_expressible.update(expressed.lost)
    key = key_of(expressed.event)
    if key in state.objects:
        state.not_expressible["objects whose mapped name another one has"] += 1
        return
    packed = zlib.compress(encode(expressed.event), _SPEED)
    state.objects[key] = DesiredObject(packed, digest(expressed.event), target.visible(expressed.event))


def resolve_objects(state: DesiredState, target: Target[Any], keys: Iterable[ObjectKey]) -> None:
    """Replace objects by what can be published of them, after `look_up` of a target; others are counted. Their fingerprints stay those of
    what the graph states, so what the target has later is no change of the graph.
    """
    for key in sorted(keys):
        made = state.objects[key]
        try:
            expressed = target.resolve(made.event())
        except InexpressibleError as error:
            state.not_expressible[str(error)] += 1
            state.leave_out(key, f"can no longer be expressed there; counted as: {error}")
            del state.objects[key]
            continue
        state.not_expressible.update(expressed.lost)
        packed = zlib.compress(encode(expressed.event), _SPEED)
        state.objects[key] = replace(made, packed=packed, visible=target.visible(expressed.event))


def marked(view: ViewEvent, installation: str) -> Json:
    """The event of a view without its time, marked as published by this installation. The mark lists earlier publishers first."""
    event: Json = msgspec.json.decode(msgspec.json.encode(view))
    del event["eventTime"]
    kind = "job" if "job" in event else "dataset"
    for dataset in (*event.get("inputs", ()), *event.get("outputs", ())):
        for key in (PUBLICATION, FROM_CATALOG):
            dataset.get("facets", {}).pop(key, None)
    facets = event[kind].setdefault("facets", {})
    before = {PUBLICATION: encode(facets[PUBLICATION])} if PUBLICATION in facets else {}
    through = [text for text in installations_in(before) if text != installation]
    facets[PUBLICATION] = publication_facet(kind.title(), [*through, installation])
    return {**event, "producer": PRODUCER}


def publication_facet(kind: str, installations: Sequence[str]) -> Json:
    """The facet that marks a published job (`kind` "Job") or dataset ("Dataset"); the last of `installations` is the publisher."""
    name = f"LineageBridgePublication{kind}Facet"
    url = f"{OWN_FACETS}1-0-0/{name}.json#/$defs/{name}"
    return {"_producer": PRODUCER, "_schemaURL": url, "installations": list(installations)[-MOST_INSTALLATIONS:]}


# which


Match = Callable[[InventoryEntry, str], bool]


class TargetFilter:
    """Decides which events of jobs and datasets are published: the event, or that of a neighbouring dataset, must match every filter."""

    def __init__(self, settings: TargetSettings) -> None:
        filters: dict[str, tuple[Sequence[str], Match]] = {
            "namespaces": (settings.namespaces, lambda entry, glob: _is_in(entry, (glob,))),
            "systems": (settings.systems, lambda entry, system: entry.node_id.system == system),
            "tags": (settings.tags, lambda entry, tag: tag in lineage_node(entry).tags),
            "environments": (settings.environments, _is_in_environment),
        }
        self._filters = {name: matched for name, matched in filters.items() if matched[0]}
        self._excluded = settings.exclude_namespaces
        self._unmatched = {name: set(values) for name, (values, _) in self._filters.items()}

    @property
    def unmatched(self) -> list[str]:
        """Each value of a filter that nothing asked about has matched, with the name of the filter before it."""
        return [f"{name} {value}" for name, values in self._unmatched.items() for value in sorted(values)]

    def includes(self, entry: InventoryEntry, datasets: Sequence[InventoryEntry]) -> bool:
        """Whether the event of a job or dataset is published."""
        fitting = [self._fits(name, (entry, *datasets)) for name in self._filters]  # each of them, for `unmatched`
        return all(fitting) and not _is_in(entry, self._excluded)

    def _fits(self, name: str, entries: Sequence[InventoryEntry]) -> bool:
        values, matches = self._filters[name]
        found = {value for value in values if any(matches(entry, value) for entry in entries)}
        self._unmatched[name] -= found
        return bool(found)


def _is_in(entry: InventoryEntry, globs: Iterable[str]) -> bool:
    namespaces = {node.namespace for node in (entry.named, *entry.members)}
    return any(fnmatchcase(namespace, glob) for namespace in namespaces for glob in globs)


def _is_in_environment(entry: InventoryEntry, environment: str) -> bool:
    node = lineage_node(entry)
    return environment in (node.environment_id, node.environment_name)


# names


def renamed(value: Any, namespaces: Mapping[str, str], names: Mapping[str, str]) -> Any:  # noqa: ANN401 - a JSON edge
    """Replace all names in a JSON value (objects with a namespace and a name) by those that they have at the target."""
    if not namespaces and not names:
        return value
    if isinstance(value, list):
        return [renamed(element, namespaces, names) for element in value]
    if not isinstance(value, dict):
        return value
    out = {key: renamed(member, namespaces, names) for key, member in value.items()}
    namespace, name = out.get("namespace"), out.get("name")
    if isinstance(namespace, str) and isinstance(name, str):
        out |= {"namespace": _mapped(namespace, namespaces), "name": _mapped(name, names)}
    return out


def _mapped(text: str, mapping: Mapping[str, str]) -> str:
    if text in mapping:
        return mapping[text]
    prefixes = [key[:-1] for key in mapping if key.endswith("*") and text.startswith(key[:-1])]
    prefix = max(prefixes, key=len, default=None)
    return text if prefix is None else mapping[f"{prefix}*"] + text[len(prefix) :]
