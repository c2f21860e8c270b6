"""Readers for connectors of message brokers and other systems. Their configurations pair objects of the system with topics of Kafka."""

import json
import re
from collections.abc import Mapping

from lineage_bridge.sources.common.connect.catalogue.objects import find_objects
from lineage_bridge.sources.common.connect.catalogue.view import ConnectorView
from lineage_bridge.sources.common.connect.lineage.connection import EvidenceKind, FoundObject
from lineage_bridge.sources.common.connect.transforms.patterns import listed

_BINDING = re.compile(r"\[([^\[\]]+)\]")


def queue_topics(view: ConnectorView, candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the queues that a source reads. A map has the topics of some queues; all others share one topic."""
    names = topics_in_json(view, "rabbitmq.queue.topic.map")
    return [entry._replace(topic=names.get(entry.object or "", entry.topic)) for entry in find_objects(view, candidates)]


def geode_source(view: ConnectorView, _candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the regions of Geode, each with its topics: `[region:topic,topic],[region:topic]`."""
    bound = _bindings(view.setting("region-to-topics"))
    return [FoundObject(region, topic, EvidenceKind.LISTED) for region, topics in bound for topic in topics]


def geode_sink(view: ConnectorView, topic: str, seen: str) -> list[FoundObject]:
    """Find the regions of Geode that a topic's records are written to: `[topic:region,region],[topic:region]`."""
    bound = _bindings(view.setting("topic-to-regions"))
    return [FoundObject(region, None, EvidenceKind.LISTED) for of, regions in bound if of in (topic, seen) for region in regions]


def job_types(view: ConnectorView, _candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the types of Zeebe's jobs that a source reads. The topic of each job is in one of its headers."""
    return [FoundObject(kind, None, EvidenceKind.LISTED) for kind in view.list_of(["job.types"])]


def jobs_of_sources(view: ConnectorView, _candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the topics of PLC4X's sources: each job of a source has a topic of its own, else that of its source, else the default topic."""
    topics: dict[str, None] = {}
    for source in view.list_of(["sources"]):
        jobs = view.list_of([f"sources.{source}.jobReferences"])
        shared = (f"sources.{source}.topic", "default.topic", "default-topic")
        for keys in ((f"sources.{source}.jobReferences.{job}.topic", *shared) for job in jobs):
            topics |= dict.fromkeys([] if view.is_unreadable(keys) else filter(None, [view.setting(*keys)]))
    return [FoundObject(None, topic, EvidenceKind.LISTED) for topic in topics]


def topics_and_queue_source(view: ConnectorView, _candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the topics and the queue of Solace that a source reads; it may have both."""
    topic = view.text(view.connector.topic)
    return [FoundObject(name, topic, EvidenceKind.LISTED) for name in _topics_and_queue(view)]


def topics_and_queue_sink(view: ConnectorView, _topic: str, _seen: str) -> list[FoundObject]:
    """Find the topics and the queue of Solace that a sink writes every record to; it may have both."""
    return [FoundObject(name, None, EvidenceKind.LISTED) for name in _topics_and_queue(view)]


def _topics_and_queue(view: ConnectorView) -> list[str]:
    queue = view.text(view.connector.object)
    return [*(f"topic/{topic}" for topic in view.list_of(view.connector.objects)), *([f"queue/{queue}"] if queue else [])]


def topics_in_json(view: ConnectorView, key: str) -> dict[str, str]:
    """Parse a setting that contains JSON with topics. Returns each topic by its purpose."""
    try:
        mapped = json.loads(view.setting(key, default="{}"))
    except (ValueError, RecursionError):
        mapped = {}
    return {str(what): str(topic) for what, topic in mapped.items()} if isinstance(mapped, dict) else {}


def _bindings(text: str) -> list[tuple[str, list[str]]]:
    """Parse bindings in square brackets, each of a name to a list: `[name:item,item]`."""
    split = (match[1].partition(":") for match in _BINDING.finditer(text))
    return [(first.strip(), listed(second)) for first, sign, second in split if sign]
