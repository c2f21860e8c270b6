"""Builds events about a cluster: what those about topics, groups and producers have in common."""

import hashlib
import json
from dataclasses import dataclass

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.openlineage.naming import DatasetName

OUT = EventBuilder("https://lineagebridge.dev/sources/kafka")


@dataclass(frozen=True)
class KafkaEventBuilder:
    """Builds the events about one cluster at one time.

    Topics, groups and producers are named in `namespace`; `groups` and `producers` are the prefixes of the names of their jobs.
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
        """The namespace and name of the job that stands for a consumer group."""
        return self.namespace, f"{self.groups}{name}"

    def producer(self, name: str) -> DatasetName:
        """The namespace and name of the job that stands for a producer."""
        return self.namespace, f"{self.producers}{name}"

    def job_facets(self, kind: str) -> dict[str, Json]:
        """The facets of a job; `kind` is CONSUMER_GROUP, STREAMS_APPLICATION or PRODUCER."""
        return {"jobType": OUT.job_type("STREAMING", "KAFKA", kind, self.heartbeat_s)}


def digest(value: object) -> str:
    """A short digest of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:8]
