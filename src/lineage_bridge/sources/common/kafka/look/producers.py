"""Fetches the producers of a cluster from the brokers that coordinate transactions and lead partitions: transactional ids, and the topics
that they write.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kafka.protocol.admin import DescribeProducersRequest, DescribeTransactionsRequest, ListTransactionsRequest

from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.sources.common.kafka.look.cluster import UNDER_WAY, KafkaTopic, Producer, Transaction
from lineage_bridge.sources.common.kafka.look.groups import TRANSACTION, coordinators
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures, batches, by_leader, request_each
from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol

NOT_FOUND = 105
_AT_ONCE, _PARTITIONS_AT_ONCE = 250, 5000


def transactions(wire: KafkaProtocol, failures: Failures) -> tuple[dict[str, Transaction] | None, bool]:
    """Fetch the transactional ids of the cluster, and whether all brokers answered. None if the brokers are too old to list them."""
    found: dict[str, Transaction] = {}
    running: dict[int, list[str]] = defaultdict(list)
    whole = True
    requests = [(node, ListTransactionsRequest(state_filters=[], producer_id_filters=[])) for node in wire.brokers]
    for node, _, answer in request_each(wire, requests):
        if isinstance(answer, MissingError):
            failures.add_listing("transactions", "the brokers' version cannot list transactions")
            return None, False
        if isinstance(answer, SourceError):
            failures.add_listing(f"broker {node}: transactions", answer)
        elif answer.error_code:
            failures.add_name(f"broker {node}: transactions", answer.error_code, "list transactions")
        if isinstance(answer, SourceError) or answer.error_code:
            whole = False
            continue
        for state in answer.transaction_states:
            found[state.transactional_id] = Transaction(state.producer_id, state.transaction_state)
            if state.transaction_state in UNDER_WAY:
                running[node].append(state.transactional_id)
    for name, topics in _written(wire, running, failures).items():
        found[name] = found[name]._replace(topics=topics)
    return found, whole


def _written(wire: KafkaProtocol, running: Mapping[int, list[str]], failures: Failures) -> dict[str, frozenset[str]]:
    requests = [
        (node, DescribeTransactionsRequest(transactional_ids=batch))
        for node, names in sorted(running.items())
        for batch in batches(sorted(names), _AT_ONCE)
    ]
    written = {}
    for node, _, answer in request_each(wire, requests):
        if isinstance(answer, SourceError):
            failures.add_listing(f"broker {node}: transactions under way", answer)
            continue
        for state in answer.transaction_states:
            if not state.error_code:
                written[state.transactional_id] = frozenset(topic.topic for topic in state.topics)
            elif state.error_code != NOT_FOUND:
                failures.add_name("transactions under way", state.error_code, state.transactional_id)
    return written


def find_deleted(wire: KafkaProtocol, known: Iterable[str], failures: Failures) -> frozenset[str]:
    """Return those of the known transactional ids that no longer exist. Brokers do not report an id as gone to a user who may not see
    it.
    """
    what = "transactions that are no longer listed"
    gone = set()
    held = coordinators(wire, known, TRANSACTION, what, failures)
    for _, _, answer in request_each(
        wire, [(node, DescribeTransactionsRequest(transactional_ids=names)) for node, names in sorted(held.items())]
    ):
        if isinstance(answer, SourceError):
            failures.add_listing(what, answer)
            continue
        for state in answer.transaction_states:
            if state.error_code == NOT_FOUND:
                gone.add(state.transactional_id)
            elif state.error_code:
                failures.add_name(what, state.error_code, state.transactional_id)
    return frozenset(gone)


def producers(wire: KafkaProtocol, topics: Mapping[str, KafkaTopic], failures: Failures) -> dict[str, tuple[Producer, ...]]:
    """Fetch the recent producers of each topic. Brokers only know producers that number their records, as newer clients do by default."""
    topic_request = DescribeProducersRequest.TopicRequest
    requests = [
        (
            node,
            DescribeProducersRequest(
                topics=[topic_request(name=name, partition_indexes=partitions) for name, partitions in sorted(partitions_of.items())]
            ),
        )
        for node, partitions_of in by_leader({name: topic.leaders for name, topic in topics.items()}, _PARTITIONS_AT_ONCE)
    ]
    found: dict[str, dict[int, int]] = defaultdict(dict)
    for node, _, answer in request_each(wire, requests):
        if isinstance(answer, MissingError):
            failures.add_listing("topics: producers", "the brokers' version cannot describe producers")
            return {}
        if isinstance(answer, SourceError):
            failures.add_listing(f"broker {node}: producers of topics", answer)
            continue
        for topic in answer.topics:
            for partition in topic.partitions:
                if partition.error_code:
                    failures.add_name("topics: producers", partition.error_code, topic.name)
                    continue
                for producer in partition.active_producers:
                    found[topic.name][producer.producer_id] = max(found[topic.name].get(producer.producer_id, -1), producer.last_timestamp)
    return {topic: tuple(Producer(ident, last) for ident, last in sorted(held.items())) for topic, held in found.items()}
