"""The values that all events of one poll of a ksqlDB server have in common. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from lineage_bridge.openlineage.event_builder import EventBuilder, encode
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.ksqldb.answers import KsqldbState
from lineage_bridge.sources.common.ksqldb.settings import KsqldbSettings
from lineage_bridge.sources.common.shared_metadata import SharedMetadata

EVENTS = EventBuilder("https://lineagebridge.dev/sources/ksqldb")
RUNNING, PAUSED, ERROR, UNRESPONSIVE = "RUNNING", "PAUSED", "ERROR", "UNRESPONSIVE"


class KsqldbNames(NamedTuple):
    """The namespaces of queries and of streams, and `lead`, the prefix of the names of queries.

    `alone`: no other server reports the same topics. If others do, each stream has a dataset of its own, because the facets of a shared
    topic would only describe the stream of the server that reported last.
    """

    queries: str
    streams: str
    lead: str = ""
    alone: bool = True


def group_of(service: str, query: str) -> str:
    """The name of a query's consumer group. `service`: the id of the ksqlDB service."""
    return f"_confluent-ksql-{service}query_{query}"


class KsqldbPoll:
    """One poll of a ksqlDB server. `before`: the snapshot of the previous poll."""

    def __init__(
        self,
        state: KsqldbState,
        before: Mapping[str, Any],
        shared: SharedMetadata,
        now_us: int,
        settings: KsqldbSettings,
        names: KsqldbNames,
    ) -> None:
        self.state, self.before, self.shared, self.now_us, self.settings, self.names = state, before, shared, now_us, settings, names
        self.namespace = shared.namespace(state.cluster, settings.kafka)
        """The namespace of topics."""
        self.datasets = {name: (self.namespace, relation.topic) for name, relation in state.relations.items()}
        """The topics of streams and tables."""
        self.is_complete = state.status in ("", RUNNING)
        """Whether the server's listings are complete."""
        self.unreadable = frozenset(name for _, name, _ in state.unreadable)
        """Names of listed streams, tables and queries that cannot be read; empty for one without a name."""

    def is_hidden(self, name: str) -> bool:
        """Whether a missing stream, table or query may be in an answer that could not be read."""
        return name in self.unreadable or "" in self.unreadable

    def may_exist(self, name: str) -> bool:
        """Whether a stream, table or query may still exist although the answers do not contain it."""
        return not self.is_complete or self.is_hidden(name)

    def job(self, query: str) -> DatasetName:
        """The namespace and name of the job that represents a query."""
        return self.names.queries, self.names.lead + query


def digest(value: Mapping[str, Any]) -> str:
    """A digest of a JSON value, for comparing it with the previous poll's."""
    return hashlib.blake2b(encode(dict(value)), digest_size=12).hexdigest()
