"""The context that all events of one poll of a ksqlDB server share. Pure."""

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
    """The namespaces of queries and of streams, and the prefix `lead` of the names of queries.

    `alone`: no other server reports the same topics. Otherwise each stream has a dataset of its own, because a shared topic's facets would
    only describe the stream of the server that reported last.
    """

    queries: str
    streams: str
    lead: str = ""
    alone: bool = True


def group_of(service: str, query: str) -> str:
    """The consumer group of a query."""
    return f"_confluent-ksql-{service}query_{query}"


class KsqldbPoll:
    """One poll of a server. `before` is the previous snapshot."""

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
        """Whether a stream, table or query that was not read may be one that cannot be read."""
        return name in self.unreadable or "" in self.unreadable

    def may_exist(self, name: str) -> bool:
        """Whether a stream, table or query that was not read may still exist."""
        return not self.is_complete or self.is_hidden(name)

    def job(self, query: str) -> DatasetName:
        """The namespace and name of the job that stands for a query."""
        return self.names.queries, self.names.lead + query


def digest(value: Mapping[str, Any]) -> str:
    """A digest of a JSON value, for comparing it with the previous poll's."""
    return hashlib.blake2b(encode(dict(value)), digest_size=12).hexdigest()
