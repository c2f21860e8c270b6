"""Polls a cluster once. The settings select what is fetched."""

from collections.abc import Callable, Iterable

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.kafka.look import groups as kafka_groups
from lineage_bridge.sources.common.kafka.look import producers as kafka_producers
from lineage_bridge.sources.common.kafka.look import topics as kafka_topics
from lineage_bridge.sources.common.kafka.look.cluster import ClusterState, KafkaGroup, KafkaTopic, Transaction
from lineage_bridge.sources.common.kafka.look.scope import RecordedNames, is_reported, matches
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol
from lineage_bridge.sources.common.kafka.settings import KafkaSettings


def poll_cluster(wire: KafkaProtocol, settings: KafkaSettings, known: RecordedNames) -> ClusterState:
    """Poll everything in the cluster that the settings select. Raises SourceError if not even the topics can be listed."""
    failures = Failures()
    answer, listed = kafka_topics.cluster(wire)
    topics = {name: topic for name, topic in listed.items() if is_reported(settings, name, topic.internal)}
    missed = {name for name in known.topics - set(topics) if is_reported(settings, name)}
    found, topics_gone = kafka_topics.find_by_name(wire, missed, failures)
    topics |= found
    ends = kafka_topics.offsets(wire, topics, kafka_topics.LATEST, failures)
    starts = kafka_topics.offsets(wire, topics, kafka_topics.EARLIEST, failures)
    moved = {name: topic for name, topic in topics.items() if name not in ends or known.ends.get(name) != sum(ends[name])}
    groups, groups_gone, committed = _groups(wire, settings, known, failures)
    transactions, transactions_gone = _transactions(wire, settings, known, failures)
    return ClusterState(
        cluster=answer.cluster_id or "",
        brokers=tuple(sorted(f"{broker.host}:{broker.port}" for broker in answer.brokers)),
        controller=answer.controller_id,
        topics=topics,
        topics_gone=topics_gone,
        configs=kafka_topics.configs(wire, topics.keys() - known.settled, failures),
        settled=known.settled,
        starts=starts,
        ends=ends,
        groups=groups,
        groups_gone=groups_gone,
        committed=committed,
        transactions=transactions,
        transactions_gone=transactions_gone,
        producers=kafka_producers.producers(wire, moved, failures),
        rules=kafka_topics.rules(wire, failures),
        unseen=failures.unseen(),
    )


def poll_groups(wire: KafkaProtocol, settings: KafkaSettings, known: RecordedNames) -> ClusterState:
    """Poll only groups, transactions and the end offsets of topics. Raises SourceError."""
    failures = Failures()
    answer, listed = kafka_topics.cluster(wire)
    topics = {name: topic for name, topic in listed.items() if is_reported(settings, name, topic.internal)}
    groups, groups_gone, committed = _groups(wire, settings, known, failures)
    transactions, transactions_gone = _transactions(wire, settings, known, failures)
    return ClusterState(
        cluster=answer.cluster_id or "",
        topics=topics,
        ends=kafka_topics.offsets(wire, topics, kafka_topics.LATEST, failures),
        groups=groups,
        groups_gone=groups_gone,
        committed=committed,
        transactions=transactions,
        transactions_gone=transactions_gone,
        producers=kafka_producers.producers(wire, topics, failures) if transactions else {},
        unseen=failures.unseen(),
    )


def _groups(
    wire: KafkaProtocol, settings: KafkaSettings, known: RecordedNames, failures: Failures
) -> tuple[dict[str, KafkaGroup], frozenset[str], dict[str, dict[str, tuple[int, ...]]]]:
    every, whole = kafka_groups.listed(wire, failures)
    found = {name: held for name, held in every.items() if matches(name, settings.groups)}
    missed = {name: kind for name, kind in known.groups.items() if name not in found and matches(name, settings.groups)}
    gone = kafka_groups.find_deleted(wire, missed, failures) if whole and missed else frozenset()
    return kafka_groups.described(wire, found, failures), gone, kafka_groups.committed(wire, found, failures)


def _transactions(
    wire: KafkaProtocol, settings: KafkaSettings, known: RecordedNames, failures: Failures
) -> tuple[dict[str, Transaction] | None, frozenset[str]]:
    every, whole = kafka_producers.transactions(wire, failures)
    if every is None:
        return None, frozenset()
    found = {name: held for name, held in every.items() if matches(name, settings.groups)}
    missed = known.transactions - set(found)
    gone = kafka_producers.find_deleted(wire, missed, failures) if whole and missed else frozenset()
    return found, gone


def checked(wire: KafkaProtocol, settings: KafkaSettings) -> Iterable[tuple[str, str, str]]:
    """Try each listing by itself. Yields its name, what it found, and why it failed (empty if it did not fail)."""
    topics: dict[str, KafkaTopic] = {}
    try:
        answer, listed = kafka_topics.cluster(wire)
    except SourceError as error:
        yield "topics", "", str(error)
        return
    topics = {name: topic for name, topic in listed.items() if is_reported(settings, name, topic.internal)}
    yield "cluster", f"{answer.cluster_id}, {len(answer.brokers)} brokers, controller {answer.controller_id}", ""
    yield "topics", f"{len(topics)} of {len(listed)} topics are reported", ""
    some = dict(sorted(topics.items())[:100])
    steps: dict[str, Callable[[Failures], str]] = {
        "configurations": lambda failures: f"of {len(kafka_topics.configs(wire, some, failures))} topics",
        "offsets": lambda failures: f"of {len(kafka_topics.offsets(wire, some, kafka_topics.LATEST, failures))} topics",
        "groups": lambda failures: _describe_groups_found(wire, settings, failures),
        "transactions": lambda failures: f"{len(kafka_producers.transactions(wire, failures)[0] or ())} transactional ids",
        "producers": lambda failures: f"of {len(kafka_producers.producers(wire, some, failures))} topics",
        "rights": lambda failures: f"{len(kafka_topics.rules(wire, failures) or ())} ACLs of topics",
    }
    for what, step in steps.items():
        failures = Failures()
        seen = step(failures)
        yield what, seen, "; ".join(f"{unseen.what}: {unseen.why}" for unseen in failures.unseen())


def _describe_groups_found(wire: KafkaProtocol, settings: KafkaSettings, failures: Failures) -> str:
    groups, _, committed = _groups(wire, settings, RecordedNames(), failures)
    return f"{len(groups)} groups, {len(committed)} with offsets"
