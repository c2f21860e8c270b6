"""Traces the flows between external objects and topics through the transforms: from object to topic for a source, from topic to object for
a sink.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.connect.catalogue.family import SINK
from lineage_bridge.sources.common.connect.catalogue.objects import find_objects, numbered, pairs
from lineage_bridge.sources.common.connect.catalogue.readers import SINK_READERS, SOURCE_READERS
from lineage_bridge.sources.common.connect.catalogue.templates import ANY_VALUE, holes, invert
from lineage_bridge.sources.common.connect.catalogue.view import ConnectorView, literal
from lineage_bridge.sources.common.connect.lineage.connection import ConnectorFlow, EvidenceKind, ExternalDataset, FoundObject, TopicUse
from lineage_bridge.sources.common.connect.lineage.names import can_be_topic, is_dataset
from lineage_bridge.sources.common.connect.placeholders import TO_FILL_IN, is_left_open
from lineage_bridge.sources.common.connect.transforms.chain import TOPIC_STEPS, Chain, replay
from lineage_bridge.sources.common.connect.transforms.patterns import compile_java, listed
from lineage_bridge.sources.common.connect.transforms.reverse import topics_before
from lineage_bridge.sources.common.connect.transforms.topics import ANY, TopicName

_SAMPLES = ("a1.b2", "c3.d4.e5", "f6")
"""Names of objects that have nothing in common, to find out what does not depend on the object."""
_UNRESOLVED = re.compile(r"\$\{[A-Za-z]|\{\{|\$[A-Za-z_]\w|(?<!\(\?)(?<!\\k)<[A-Za-z][\w -]*>")
"""What no regular expression of topics contains: `${each.key}`, `{{ prefix }}`, `$PREFIX`, `<prefix>`."""


@dataclass
class TracedFlows:
    """The datasets, topics and flows found so far; some may be repeated."""

    flows: list[ConnectorFlow] = field(default_factory=list)
    topics: list[TopicUse] = field(default_factory=list)
    datasets: list[ExternalDataset] = field(default_factory=list)

    def see(self, view: ConnectorView, found: FoundObject, topic: str, how: tuple[EvidenceKind, ...]) -> DatasetName | None:
        """Add the dataset of an object, and return its name; None if the dataset has no name."""
        name = found.dataset or (None if found.object is None else view.dataset(found.object, topic))
        existing = _existing_topics(view, topic)
        if name is None or not is_dataset(name, existing):
            return None
        links = () if found.dataset else view.symlinks(found.object or "", topic)
        symlinks = tuple(link for link in links if is_dataset(link, existing))
        self.datasets.append(ExternalDataset(name, how, symlinks, view.connector.synthetic))
        return name


def _existing_topics(view: ConnectorView, topic: str) -> tuple[str, ...]:
    """Return the topics that are known to exist, and the topic from which a sink makes a name, unless it is a placeholder itself."""
    own = (topic,) if view.connector.direction == SINK and not is_left_open(topic) else ()
    return (*own, *view.evidence.observed_topics, *(view.evidence.known_topics or ()))


def trace_source(view: ConnectorView, chain: Chain, side: frozenset[str]) -> TracedFlows:
    """Trace the external objects of a source to topics. The topics in `side` do not carry the pipeline's data, and are skipped."""
    traced = TracedFlows()
    observed = sorted(set(view.evidence.observed_topics) - side)
    reader = SOURCE_READERS.get(view.connector.reader, find_objects)
    for found in reader(view, _before_routing(view, chain, observed, side)):
        name = traced.see(view, found, found.topic or "", (found.how,))
        for topic in listed(found.topic or ""):
            if not TO_FILL_IN.search(topic):
                _routed(traced, view, chain, found._replace(topic=topic), name, observed)
    if not traced.topics:
        for topic in _literal_topics(view, chain):
            traced.topics.append(TopicUse(topic, evidence=(EvidenceKind.LISTED,)))
            traced.flows.append(ConnectorFlow(_only(traced), topic, "", (EvidenceKind.LISTED,)))
    explained = {topic.name for topic in traced.topics if not topic.is_pattern}
    only, others = _only(traced), _topics_of_objects(view, chain)
    for topic in observed:
        if topic not in explained:
            outside = None if others and others.fullmatch(topic) else only
            traced.topics.append(TopicUse(topic, evidence=(EvidenceKind.OBSERVED,)))
            traced.flows.append(ConnectorFlow(outside, topic, "", (EvidenceKind.OBSERVED,), maybe=True))
    return traced


def _topics_of_objects(view: ConnectorView, chain: Chain) -> re.Pattern[str] | None:
    """Make a pattern that matches the topics of single objects, such as formerly listed ones; None if it would match any name."""
    if "object" not in holes(view.connector.topic) or any(transform.kind in TOPIC_STEPS for transform in chain.transforms):
        return None
    pattern = invert(view.connector.topic, "object", view.config)
    return None if pattern is None or pattern.pattern == ANY_VALUE else pattern


def _only(traced: TracedFlows) -> DatasetName | None:
    """Return the dataset if exactly one was found, else None."""
    datasets = {outside.dataset for outside in traced.datasets}
    return next(iter(datasets)) if len(datasets) == 1 else None


def _literal_topics(view: ConnectorView, chain: Chain) -> list[str]:
    """Return the topics of a source that do not depend on its objects, because the configuration names them or routes all records to
    them.
    """
    template = view.connector.topic
    if template and "object" in holes(template):
        found = [set(replay(chain, view.text(template, object=name) or name).topics) for name in _samples(view)]
        same = found[0] if all(topics == found[0] for topics in found) else set()
        return sorted(topic.text for topic in same if not topic.is_pattern and can_be_topic(topic.text))
    # Classes of the catalogue that have the setting `topics` name it in their entry or reader; in others it means nothing.
    unexplained = view.list_of(["topics"]) if view.connector.inferred else []
    named = listed(view.text(template) or "") if template else unexplained
    routed = {topic for name in named if not TO_FILL_IN.search(name) for topic in replay(chain, name).topics}
    return sorted(topic.text for topic in routed if not topic.is_pattern and can_be_topic(topic.text))


def _samples(view: ConnectorView) -> list[str]:
    """Return names of objects that have in common only the databases that the configuration lists."""
    parents = [literal(pattern) for pattern in view.list_of(view.connector.parents)]
    return [f"{parent}.{name}" for parent in parents for name in _SAMPLES] if parents and all(parents) else list(_SAMPLES)


def trace_sink(view: ConnectorView, chain: Chain, side: frozenset[str]) -> TracedFlows:
    """Trace the topics of a sink to external objects. The topics in `side` do not carry the pipeline's data, and are skipped."""
    traced = TracedFlows()
    asked = bool(view.setting("topics", "topics.regex"))
    for use in _consumed(view, side):
        traced.topics.append(use)
        if use.is_pattern:
            for found in _targets(view, "", TopicName(use.name, is_pattern=True)) or [FoundObject(None, None, EvidenceKind.LISTED)]:
                name = traced.see(view, found, "", (*use.evidence, found.how))
                traced.flows.append(ConnectorFlow(name, use.name, use.name, use.evidence, maybe=True, is_pattern=True))
            continue
        stale = asked and set(use.evidence) <= {EvidenceKind.OFFSETS, EvidenceKind.OBSERVED}
        outcomes = replay(chain, use.name).outcomes
        for outcome in [outcome for outcome in outcomes if outcome.topic == ANY] or outcomes:
            for found in _targets(view, use.name, outcome.topic) or [FoundObject(None, None, EvidenceKind.LISTED)]:
                how = (*use.evidence, found.how)
                name = traced.see(view, found, outcome.topic.text, how)
                traced.flows.append(ConnectorFlow(name, use.name, use.name, use.evidence, outcome.maybe or stale or found.maybe))
    if not traced.topics:
        for found in _targets(view, "", TopicName("", is_pattern=True)):
            traced.see(view, found, "", (found.how,))
    return traced


def _before_routing(view: ConnectorView, chain: Chain, observed: list[str], side: frozenset[str]) -> dict[str, EvidenceKind]:
    """Return the names of topics before the transforms. If transforms rename topics, they are derived from used topics, where
    reversible.
    """
    if any(transform.kind in TOPIC_STEPS for transform in chain.transforms):
        return {
            before: EvidenceKind.OBSERVED for topic in observed for before in (*topics_before(chain, topic), *_solved(view, chain, topic))
        }
    is_limited = bool(view.list_of([*view.connector.objects, *view.connector.parents]))
    how = EvidenceKind.MATCHED if is_limited else EvidenceKind.PREFIXED
    known = view.evidence.known_topics or ()
    return {**{topic: how for topic in known if topic not in side}, **dict.fromkeys(observed, EvidenceKind.OBSERVED)}


def _solved(view: ConnectorView, chain: Chain, topic: str) -> list[str]:
    """Find the name before the transforms that becomes this topic, if there is exactly one, and its table is in a listed database."""
    parents = [name for name in map(literal, view.list_of(view.connector.parents)) if name]
    names = {topic, *(topic[at + 1 :] for at, sign in enumerate(topic) if not sign.isalnum())} - {""}
    found = set()
    for parent in parents:
        made = {name: view.text(view.connector.topic, object=f"{parent}.{name}") or "" for name in (*names, *_SAMPLES)}
        routed = {name: replay(chain, before).topics for name, before in made.items()}
        if all(routed[name] != (TopicName(topic),) for name in _SAMPLES):
            found |= {made[name] for name in names if routed[name] == (TopicName(topic),)}
    return sorted(found) if len(found) == 1 else []


def _routed(
    traced: TracedFlows, view: ConnectorView, chain: Chain, found: FoundObject, name: DatasetName | None, observed: list[str]
) -> None:
    """Add the flow from an object to each topic that may contain its records after the transforms."""
    before = found.topic or ""
    how = EvidenceKind.PREDICTED if found.how is EvidenceKind.LISTED and not view.names(before) else found.how
    for outcome in replay(chain, before).outcomes:
        if not (outcome.topic.is_pattern or can_be_topic(outcome.topic.text)):
            continue
        topics = _topics_of(outcome.topic, observed, view.evidence.known_topics or ())
        several = outcome.topic.is_pattern and len(topics) > 1
        for topic, evidence in topics:
            use = TopicUse(topic.text, is_pattern=topic.is_pattern, evidence=(how, *evidence))
            traced.topics.append(use)
            maybe = outcome.maybe or several or found.maybe
            traced.flows.append(ConnectorFlow(name, topic.text, before, use.evidence, maybe, topic.is_pattern))


def _topics_of(topic: TopicName, observed: list[str], known: Iterable[str]) -> list[tuple[TopicName, tuple[EvidenceKind, ...]]]:
    """Return the topics that a name or pattern means, with the evidence for each: the used topics that match, else the known ones, else
    the pattern itself.
    """
    pattern = compile_java(topic.text) if topic.is_pattern else None
    if pattern is None:
        return [(topic, (EvidenceKind.OBSERVED,) if topic.text in observed else ())]
    found = [(name, EvidenceKind.OBSERVED) for name in observed if pattern.fullmatch(name)]
    found = found or [(name, EvidenceKind.MATCHED) for name in known if topic != ANY and pattern.fullmatch(name)]
    return [(TopicName(name), (how,)) for name, how in found] if found else [(topic, ())]


def _consumed(view: ConnectorView, side: frozenset[str]) -> list[TopicUse]:
    """Return the topics that a sink reads. If none matches the configured regex, return the regex itself."""
    named = [(topic, EvidenceKind.LISTED) for topic in view.list_of(["topics"])]
    if view.connector.numbered:
        named += [(target.topic, EvidenceKind.LISTED) for target in numbered(view) if target.topic]
    named += [(topic, EvidenceKind.TASK) for task in view.evidence.tasks for topic in listed(task.get("topics", ""))]
    found = [(topic, how) for topic, how in named if can_be_topic(topic)]
    partitions: list[Mapping[str, object]] = [offset.get("partition") or {} for offset in view.evidence.offsets]
    found += [(str(partition["kafka_topic"]), EvidenceKind.OFFSETS) for partition in partitions if partition.get("kafka_topic")]
    found += [(topic, EvidenceKind.OBSERVED) for topic in view.evidence.observed_topics if topic not in side]
    regex = view.setting("topics.regex")
    regex = "" if _UNRESOLVED.search(regex) else regex
    pattern = compile_java(regex) if regex else None
    if pattern is not None:
        known = {*(view.evidence.known_topics or ()), *(topic for topic, _ in found)} - side
        found += [(topic, EvidenceKind.MATCHED) for topic in known if pattern.fullmatch(topic)]
    if not found and regex:
        return [TopicUse(regex, is_pattern=True, evidence=(EvidenceKind.LISTED,))]
    kinds: dict[str, set[EvidenceKind]] = {}
    for topic, how in found:
        kinds.setdefault(topic, set()).add(how)
    return [TopicUse(topic, evidence=tuple(sorted(how))) for topic, how in sorted(kinds.items())]


def _targets(view: ConnectorView, topic: str, seen: TopicName) -> list[FoundObject]:
    """Return the objects to which a topic's records go. `seen`: the topic's name after the transforms."""
    connector = view.connector
    if _is_open(view, topic):
        return [FoundObject(None, None, EvidenceKind.LISTED)]
    if connector.reader in SINK_READERS:
        return SINK_READERS[connector.reader](view, topic, "" if seen.is_pattern else seen.text)
    own = [target._replace(topic=None) for target in numbered(view) if target.topic in (topic, seen.text)] if connector.numbered else []
    mapped = _mapped(pairs(view), seen.text)
    targets = own or [FoundObject(thing, None, EvidenceKind.LISTED) for thing in mapped or view.list_of(connector.objects)]
    return targets or _by_topic(view, seen)


def _is_open(view: ConnectorView, topic: str) -> bool:
    """Whether it is unknown to which object a topic's records go, because a field of the records, a class of the user's own, or an
    unreadable setting decides it.
    """
    connector = view.connector
    varies = any(view.text(template, topic=topic) is not None for template in connector.varies)
    deciding = [*connector.maps, *connector.objects, *(holes(template)[0] for template in connector.varies)]
    return varies or any(view.is_unreadable([key]) for key in deciding)


def _mapped(mapping: list[tuple[str, str]], *names: str) -> list[str]:
    """Return the entries of a map for a topic under one of its names, else the entries whose patterns match one of them."""
    exact = [thing for topic, thing in mapping if topic in names]
    patterns = [(compile_java(topic), thing) for topic, thing in mapping if literal(topic) is None]
    return exact or [thing for pattern, thing in patterns if pattern and any(map(pattern.fullmatch, names))]


def _by_topic(view: ConnectorView, seen: TopicName) -> list[FoundObject]:
    """Return the object that the template names for a topic. For a pattern of topics, the object is only returned if it does not depend on
    the topic.
    """
    template = view.connector.object
    if not template:
        return []
    made = view.text(template, topic=seen.text)
    if seen.form:
        made = (view.text(template, topic=seen.form) or "").replace(seen.time.lower(), seen.time) or None
    elif seen.is_pattern and made != view.text(template, topic=f"{seen.text}.{_SAMPLES[-1]}"):
        made = None
    return [FoundObject(made, None, EvidenceKind.PREDICTED)]
