"""A registry's subjects in the graph."""

import json
from typing import Any

from tests.api.support import Server
from tests.events import T0, dataset, run_event, schema
from tests.sources.http import Standin, standing
from tests.sources.registry.confluent import Confluent

from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.observer import Snapshot
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.registry.observer import RegistryObserver

HOUR = 3_600_000_000
ORDERS: dict[str, Any] = {"namespace": "kafka://b1:9092", "name": "orders"}


def record(*names: str) -> str:
    return json.dumps({"type": "record", "name": "Order", "fields": [{"name": name, "type": "long"} for name in names]})


def test_a_new_version_is_a_new_schema_of_the_topic(graph: Server) -> None:
    around = SharedMetadata((ClusterMetadata("c1", "kafka://b1:9092", topics=frozenset(("orders",))),))
    registry = Confluent()
    with standing(Standin(registry)) as server:
        observer = RegistryObserver("r", RegistrySettings(url=server.url))
        snapshot: Snapshot | None = None
        for hour, act in enumerate(
            (
                lambda: (registry.register("orders-value", record("id")), registry.register("orders-key", '"string"')),
                lambda: registry.register("orders-value", record("id", "amount")),
                lambda: registry.delete("orders-value"),
            )
        ):
            act()
            seen = observer.observe(snapshot, around, T0 + hour * HOUR)
            snapshot = seen.snapshot
            graph.send(*map(encode, seen.events), run_event("RUNNING", outputs=[dataset(**ORDERS, schema=schema("a_writers_word"))]))
            schemas = graph.ask("/graph/schemas", **ORDERS)
            if hour == 1:
                assert schemas["evidence"] == "dataset"
                assert [[field["name"] for field in version["fields"]] for version in schemas["versions"]] == [
                    ["id", "amount", "_key"],
                    ["id", "_key"],
                ]
                change = graph.ask("/graph/schemas/diff", **ORDERS)
                assert change["added"] == [{"path": ["amount"], "type": "long"}]
                found = graph.ask("/search", q="amount")["results"]
                assert [result["name"] for result in found] == ["orders"]
        observer.close()
    (current,) = (version for version in graph.ask("/graph/schemas", **ORDERS)["versions"] if version.get("current"))
    assert [field["name"] for field in current["fields"]] == ["_key"]
