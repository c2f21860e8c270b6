"""Polls one plane of a small organization repeatedly. Snapshots are encoded as JSON in between, as the poller stores them."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.corpora.published import faults
from tests.sources.http import Api, Standin, standing

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, ClusterMetadata, SharedMetadata, TopicSchema
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.organization import Environment, KafkaCluster, KsqlCluster, Organization
from lineage_bridge.sources.confluent.plane import AnyPlane, PlaneContext, Planes
from lineage_bridge.sources.confluent.settings import ConfluentSettings

T0, MINUTE_US = 1_795_000_000_000_000, 60_000_000
ENV, LKC, KSQL = "env-a1", "lkc-b2", "lksqlc-c3"
SPACE = f"confluent://{ENV}/{LKC}"
SECRET = "hunter2-in-clear"  # what must be found nowhere


class Polling:
    """A plane whose system is `server`. `now_us`: the time of the next poll."""

    def __init__(self, server: Standin, planes: Callable[[PlaneContext], Planes], shared: SharedMetadata, **settings: Any) -> None:
        self.server, self.planes, self.shared, self.now_us = server, planes, shared, T0
        self.observed = Organization(
            "org",
            (Environment(ENV, "production"),),
            (KafkaCluster(LKC, ENV, "orders", "Dedicated", "aws", "eu-west-1", server.url, "pkc-1.example.org:9092"),),
            ksqldb_clusters=(KsqlCluster(KSQL, ENV, LKC, "ksql", server.url),),
        )
        key = {"key": "KEY", "secret": "${env:SECRET}"}
        values = {"url": server.url, "timeout_s": 20, "cloud": key, "ksqldb": {"*": key}, "tableflow": {"*": key}, **settings}
        self.settings = ConfluentSettings.model_validate(values)
        self.clients = Clients(self.settings)
        self.organization = self.observed
        self.snapshot: Any = None

    @property
    def plane(self) -> AnyPlane:
        (plane,) = self.planes(PlaneContext(self.observed, self.organization, self.clients, self.settings))
        return plane

    def poll(self, minutes: int = 5) -> Observation:
        """Poll; the next poll is `minutes` later."""
        plane = self.plane
        assert not plane.unavailable_reason()
        fetched = plane.fetch(self.snapshot, self.now_us)
        seen = plane.translate(fetched, self.snapshot, self.shared, self.now_us)
        assert set(getattr(fetched, "unseen", ())) <= set(seen.unseen)
        self.keep(seen, minutes)
        return seen

    def end_scope(self) -> Observation:
        """Translate the end of the whole scope."""
        seen = self.plane.translate(self.plane.empty_answer(), self.snapshot, self.shared, self.now_us)
        self.keep(seen, 5)
        return seen

    def keep(self, seen: Observation, minutes: int) -> None:
        assert not faults(seen.events)
        text = json.dumps([seen.snapshot, seen.events, seen.aliases, seen.unseen])
        assert SECRET not in text
        self.snapshot = json.loads(json.dumps(seen.snapshot))
        self.now_us += minutes * MINUTE_US

    @property
    def shared_metadata(self) -> SharedMetadata:
        return self.plane.shared_metadata(self.snapshot)


@contextmanager
def polling(api: Api, planes: Callable[[PlaneContext], Planes], shared: SharedMetadata, **settings: Any) -> Iterator[Polling]:
    """A plane and its system, which answers as `api` does."""
    with standing(Standin(api, f"KEY:{SECRET}")) as server:
        poller = Polling(server, planes, shared, **settings)
        yield poller
        poller.clients.close()


def topic_metadata(*names: str, **more: Any) -> SharedMetadata:
    """Shared metadata of topics: the cluster has them, and each has the columns `id`, `total` and, in its key, `shop`."""
    fields = tuple(SchemaField(name=name, type="STRING") for name in ("id", "total"))
    schemas = {((SPACE, name), VALUE): TopicSchema(fields, f"{name}-value version 1") for name in names}
    schemas |= {((SPACE, name), KEY): TopicSchema((SchemaField(name="shop", type="STRING"),)) for name in names}
    cluster = ClusterMetadata(LKC, SPACE, frozenset(("pkc-1.example.org:9092",)), frozenset(names), **more)
    return SharedMetadata((cluster,), schemas, names={"sa-1": "order service"})


def bare(value: Any) -> Any:
    """Facets without `_producer` and `_schemaURL`."""
    if isinstance(value, dict):
        return {key: bare(inner) for key, inner in value.items() if key not in ("_producer", "_schemaURL")}
    return [bare(inner) for inner in value] if isinstance(value, list) else value


def edges(seen: Observation) -> list[str]:
    """Every flow in lineage facets, `source > target`, and those of columns."""
    found = []
    for event in seen.events:
        lineage = event.get("job", {}).get("facets", {}).get("lineage", {"entries": []})
        for entry in lineage["entries"]:
            target = f"{entry['namespace']} {entry['name']}"
            found += [f"{dataset['namespace']} {dataset['name']} > {target}" for dataset in entry["inputs"]]
            for column, sources in entry.get("fields", {}).items():
                found += [
                    f"{dataset['namespace']} {dataset['name']} {dataset['field']} > {target} {column}" for dataset in sources["inputs"]
                ]
    return sorted(set(found))
