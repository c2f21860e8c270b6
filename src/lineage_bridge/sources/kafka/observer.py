"""The observer of a Kafka cluster."""

from collections.abc import Iterator
from dataclasses import replace

from lineage_bridge.errors import LineageBridgeError, SourceError
from lineage_bridge.sources.common.kafka.events import translate
from lineage_bridge.sources.common.kafka.look.look import checked, poll_cluster
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.common.kafka.protocol.records import newest
from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.observer import Check, Observation, Observer, Snapshot, SourceKind
from lineage_bridge.sources.common.shared_metadata import SharedMetadata

_HINTS = {
    "configurations": "allow DESCRIBE_CONFIGS on topics",
    "groups": "allow DESCRIBE on groups",
    "transactions": "allow DESCRIBE on transactional ids",
    "producers": "allow READ on topics",
    "rights": "allow DESCRIBE on the cluster",
    "offsets": "allow DESCRIBE on topics",
}


class KafkaObserver(Observer[KafkaSettings]):
    """Observes a Kafka cluster through Kafka's protocol. Each poll opens and closes its own connections."""

    def test(self) -> Iterator[Check]:
        """Check whether the source can connect and log in, then try each listing."""
        try:
            with KafkaProtocol(self.settings) as wire:
                yield Check("reach", True, f"{self.settings.server} answers, {len(wire.brokers)} brokers")
                for step, seen, failure in checked(wire, self.settings):
                    yield Check(step, not failure, failure or seen, _HINTS.get(step, "") if failure else "")
        except LineageBridgeError as error:
            yield Check("reach", False, str(error), error.hint)

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll the cluster once. Raises SourceError."""
        with KafkaProtocol(self.settings) as wire:
            seen = poll_cluster(wire, self.settings, translate.recorded_names(before, now_us))
        if before and seen.cluster != before["cluster"]:
            message = f"{self.settings.server} is now the cluster {seen.cluster}, but the source observed {before['cluster']} before"
            raise SourceError(message, "if this is intended, remove the source and add it again")
        topics = translate.topics_to_sample(self.settings, seen, before, now_us)
        if topics:
            failures = Failures()
            samples = newest(self.settings, topics, seen.starts, failures)
            seen = replace(seen, samples=samples, unseen=tuple(sorted({*seen.unseen, *failures.unseen()})))
        return translate.translate(self.settings, seen, before, shared, now_us)

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return what is known about the cluster: its topics, groups and offsets."""
        return translate.shared_metadata(self.settings, snapshot)

    def close(self) -> None:
        """Do nothing, because no connection is open between polls."""


KIND = SourceKind(KafkaSettings, KafkaObserver, "a Kafka cluster: topics, groups, producers, offsets, rights")
