"""Finds topics that a connector does not use for data: those for its internal state, its reports, and records that it could not process."""

from dataclasses import replace

from lineage_bridge.sources.common.connect.catalogue.family import SINK, SideTopic
from lineage_bridge.sources.common.connect.catalogue.view import ConnectorView
from lineage_bridge.sources.common.connect.lineage.connection import EvidenceKind, TopicUse
from lineage_bridge.sources.common.connect.lineage.names import can_be_topic
from lineage_bridge.sources.common.connect.transforms.chain import TOPIC_STEPS, Chain, replay
from lineage_bridge.sources.common.connect.transforms.patterns import listed
from lineage_bridge.sources.common.connect.transforms.topics import by_logical_table, regex_router

_OFF = frozenset(("", "false", "0", "none"))
_NEVER = "_=observed"
"""A condition that never holds: the topic counts only if it was observed."""

_OF_SINKS = (
    SideTopic("{errors.deadletterqueue.topic.name}", "dead-letter"),
    SideTopic("{reporter.result.topic.name}", "report"),
    SideTopic("{reporter.error.topic.name}", "report"),
)
_OF_SOURCES = (
    SideTopic("{state.topic.name|mq.exactly.once.state.topic}", "state", way="both"),
    SideTopic("{heartbeat.topic.name}", "heartbeat"),
    SideTopic("{errors.deadletterqueue.topic.name}", "dead-letter", when=_NEVER),
)
_OF_ALL = (SideTopic("{confluent.topic|=_confluent-command}", "license", way="both", when=_NEVER),)
_OF_MANAGED_SINKS = (
    SideTopic("dlq-{connector.id}", "dead-letter"),
    SideTopic("success-{connector.id}", "report", when="reporter.mode"),
    SideTopic("error-{connector.id}", "report", when="reporter.mode"),
)


_ROUTED = frozenset(("heartbeat", "redo-log", "report", "schema-changes", "transaction"))
"""The roles of topics that a source writes in the same way as data topics, so that its routers rename them too."""
_ROUTERS = (regex_router, by_logical_table)


def side_topics(view: ConnectorView, chain: Chain) -> list[tuple[str, TopicUse]]:
    """Return the side topics, each with its direction: `in`, `out` or `both`. Observed topics are included even if their conditions are
    not met.

    Topics that Confluent Cloud creates for every sink are only included if the cluster has them, or if its topics are unknown.
    """
    connector = view.connector
    is_sink = connector.direction == SINK
    given = _OF_MANAGED_SINKS if is_sink and view.setting("connector.class") in connector.managed else ()
    known = view.evidence.known_topics
    found: list[tuple[str, TopicUse]] = []
    for key in (*connector.side, *(_OF_SINKS if is_sink else _OF_SOURCES), *_OF_ALL, *given):
        name = view.text(key.topic)
        if name and not is_sink and key.role in _ROUTED:
            name = _routed(name, chain)
        if not name or not can_be_topic(name) or (key in given and known is not None and name not in known):
            continue
        if _is_on(view, key.when) or name in view.evidence.observed_topics:
            found.append((key.way, TopicUse(name, key.role, evidence=(EvidenceKind.LISTED,))))
    return found


def _routed(name: str, chain: Chain) -> str:
    """The name of a side topic after the routers. If the routers give other topics that name too, it has data, and the original name is
    returned.
    """
    routers = replace(chain, transforms=tuple(transform for transform in chain.transforms if TOPIC_STEPS.get(transform.kind) in _ROUTERS))
    after, of_another = replay(routers, name).topics, replay(routers, f"{name}.a1.b2").topics
    return after[0].text if len(after) == 1 and not after[0].is_pattern and after != of_another else name


def _is_on(view: ConnectorView, when: str) -> bool:
    """Whether all comma-separated conditions hold. A condition is `setting` (it is on), `setting=value` or `setting!=value`."""
    return all(_holds(view, condition) for condition in listed(when))


def _holds(view: ConnectorView, when: str) -> bool:
    key, unequal, value = when.partition("!=")
    if unequal:
        return view.setting(key).lower() != value
    key, equal, value = when.partition("=")
    found = view.setting(key).lower()
    return found == value if equal else found not in _OFF
