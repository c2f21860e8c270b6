"""Builds events about a Kafka cluster: the parts that events about topics, groups and producers have in common."""

import hashlib
import json
from dataclasses import dataclass

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.openlineage.naming import DatasetName

OUT = EventBuilder("https://lineagebridge.dev/sources/kafka")


@dataclass(frozen=True)
class KafkaEventBuilder:
    """Builds the events about a Kafka cluster at one time.

    Topics, groups and producers have names in `namespace`; A job that represents a consumer group has the prefix `groups` in its name, one
    that represents a producer the prefix `producers`.
    """

    cluster: str
    namespace: str
    now_us: int
    heartbeat_s: int
    groups: str = ""
    producers: str = ""

    def name(self, name: str) -> DatasetName:
        """The namespace and name of a topic's dataset."""
        return self.namespace, name

    def group(self, name: str) -> DatasetName:
        """The namespace and name of the job that represents a consumer group."""
        return self.namespace, f"{self.groups}{name}"

    def producer(self, name: str) -> DatasetName:
        """The namespace and name of the job that represents a producer."""
        return self.namespace, f"{self.producers}{name}"

    def job_facets(self, kind: str) -> dict[str, Json]:
        """The facets of a job; `kind` is CONSUMER_GROUP, STREAMS_APPLICATION or PRODUCER."""
        return {"jobType": OUT.job_type("STREAMING", "KAFKA", kind, self.heartbeat_s)}


def digest(value: object) -> str:
    """A short digest of a JSON value, for comparing the value with that of the previous poll."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:8]
