"""What the events about one cluster have in common."""

import hashlib
import json
from dataclasses import dataclass

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.outgoing import Json, Outgoing

OUT = Outgoing("https://lineagebridge.dev/sources/kafka")


@dataclass(frozen=True)
class Teller:
    """Tells of one cluster at one time. Topics, groups and producers are named in `namespace`."""

    cluster: str
    namespace: str
    now_us: int
    heartbeat_s: int

    def name(self, name: str) -> DatasetName:
        """The name of a topic, group or producer."""
        return self.namespace, name

    def job_facets(self, kind: str) -> dict[str, Json]:
        """The facets of a job; `kind` is CONSUMER_GROUP, STREAMS_APPLICATION or PRODUCER."""
        return {"jobType": OUT.job_type("STREAMING", "KAFKA", kind, self.heartbeat_s)}


def digest(value: object) -> str:
    """A short text that is the same for the same JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:8]
