"""Tables of Unity Catalog of which a source has read there what Databricks' own jobs read and write."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.places import Place, make_place
from tests.catalogs.standins.databricks import UnityCatalog
from tests.events import RUNS, T0, dataset, dataset_event, facet, run_event, schema

from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.catalog.address import catalog_address
from lineage_bridge.sources.common.catalog.assets import Asset, AssetEvents
from lineage_bridge.sources.unity.translate import SeenFlow, UnityNames, read_flows, read_table, read_tags

HOST = "localhost"
HERE = f"unitycatalog://{HOST}"
BROKER = "kafka://broker:9092"
FIRST, SECOND, THIRD = "main.sales.orders", "main.sales.revenue", "main.sales.alone"
PREFIX = "lineagebridge."
NAMES = UnityNames(HOST)


@pytest.fixture
def place(request: pytest.FixtureRequest, ours: Server) -> Place:
    made = make_place("databricks", request, ours)
    made.settings["url"] = made.settings["url"].replace("127.0.0.1", HOST)
    added(ours, made, namespaces=["kafka://*", "unitycatalog://*", "databricks://*"])
    return made


@pytest.fixture
def there(place: Place) -> UnityCatalog:
    found: UnityCatalog = place.more["there"]
    for name in (FIRST, SECOND, THIRD):
        found.sql.add(name, "id", "price")
        found.tables[name] = ["id", "price"]
    return found


def read_there(ours: Server, place: Place, *assets: Asset | None) -> list[bytes]:
    """The events in which a source of this metastore states these assets."""
    seen = AssetEvents("unity", "workspace", lambda _: catalog_address(place.settings["url"]))
    return [encode(seen.stated(asset, ours.parts.now_us)) for asset in assets if asset]


def flow(*pairs: tuple[str, str], entity: str = "1") -> Asset | None:
    return read_flows((SeenFlow("7", "JOB", entity, *pair) for pair in pairs), NAMES)


def table(name: str, **members: Any) -> Asset:
    columns = [{"name": name, "type_text": "int", "comment": f"their {name}"} for name in ("id", "price")]
    return read_table({"table_type": "MANAGED", "comment": "theirs", "columns": columns, **members}, name, NAMES)


def sink(name: str = FIRST) -> bytes:
    return run_event(
        run=RUNS[3],
        job="sink",
        namespace=BROKER,
        job_facets={"jobType": facet(processingType="STREAMING", integration="KAFKA_CONNECT", jobType="CONNECTOR")},
        inputs=[dataset("orders", BROKER)],
        outputs=[dataset(name, HERE, schema=schema("id", "price"))],
    )


def own(there: UnityCatalog, name: str) -> dict[str, str]:
    found = there.sql.tables[name]["properties"]
    return {key.removeprefix(PREFIX): value for key, value in found.items() if key.startswith(PREFIX)}


def hops(there: UnityCatalog, name: str) -> Iterable[tuple[int, str]]:
    return [(entry["hop"], entry["job"]) for entry in json.loads(own(there, name).get("upstream_chain", "[]"))]


def test_what_databricks_has_seen_itself_is_a_step_of_longer_paths_and_is_not_echoed(
    ours: Server, place: Place, there: UnityCatalog
) -> None:
    there.sql.tables[SECOND]["columns"]["id"] = "their id"
    ours.send(
        sink(),
        *read_there(ours, place, table(FIRST), table(SECOND), flow((FIRST, SECOND), ("s3://lake/raw", SECOND))),
        *read_there(ours, place, read_tags(SECOND, [("", "tier", "gold"), ("id", "pii", "true")], NAMES)),
    )
    report = published(ours)
    assert report.state == "done"
    assert own(there, SECOND)["source_topics"] == "orders"
    assert own(there, SECOND)["source_connectors"] == "sink"
    assert hops(there, SECOND) == [(1, f"databricks://{HOST} 7/job/1"), (2, f"{BROKER} sink")]
    assert own(there, FIRST)["source_topics"] == "orders"
    assert "consuming_jobs" not in own(there, FIRST)
    assert there.sql.tables[SECOND]["comment"] == ""
    assert there.sql.tables[SECOND]["columns"] == {"id": "their id", "price": ""}
    assert there.sql.tags == {}
    published_names = {found["properties"]["lineagebridge.name"] for found in there.metadata.values()}
    assert published_names == {"sink", "orders"}
    assert {name for ends in there.lineage for kind, name in ends if kind == "table"} == {FIRST}
    again = published(ours)
    assert (again.counts, again.drift) == ({}, [])


def tagged(*keys: str) -> dict[str, Any]:
    return facet(tags=[{"key": key, "value": "1", "source": "test"} for key in keys])


def test_what_others_state_about_a_table_that_a_source_has_read_there_is_published(ours: Server, place: Place, there: UnityCatalog) -> None:
    there.sql.tables[THIRD]["comment"] = "theirs"
    ours.send(*read_there(ours, place, table(SECOND), table(THIRD)), dataset_event(dataset(THIRD, HERE, tags=tagged("tier"))))
    report = published(ours)
    assert report.not_expressible["jobs and datasets whose lineage was read from this catalog"] == 2
    assert "datasets that no job reads or writes" not in report.not_expressible
    assert there.sql.tags == {(THIRD, ""): {"tier": "1"}}
    assert there.sql.tables[THIRD]["comment"] == "theirs"
    assert own(there, SECOND) == {}
    again = published(ours)
    assert (again.counts, again.drift) == ({}, [])


# what goes wrong


@pytest.mark.parametrize("what", ["tag", "column"])
def test_a_statement_that_is_refused_since_the_table_has_changed_holds_up_nothing(ours: Server, there: UnityCatalog, what: str) -> None:
    ours.send(sink(), dataset_event(dataset(FIRST, HERE, tags=tagged("team", "tier"))))
    published(ours)
    described = {"fields": [{"name": "price", "type": "int", "description": "in euros"}]}
    ours.send(dataset_event(dataset(FIRST, HERE, tags=tagged("tier", "new"), schema={**schema("x"), **described}), T0 + 9))
    original = there.sql.rows

    def meanwhile(text: str, given: dict[str, str]) -> list[list[str | None]]:
        if not text.startswith("SELECT"):  # what others do, or a statement whose answer was lost
            there.sql.tags[FIRST, ""].pop("team", None)
            if what == "column":
                there.sql.tables[FIRST]["columns"].pop("price", None)
        return original(text, given)

    there.sql.rows = meanwhile  # type: ignore[method-assign]  # others change the table while it is being changed
    assert set(published(ours).outcomes) == {"done"}
    assert there.sql.tags[FIRST, ""] == {"tier": "1", "new": "1"}
    assert there.sql.tables[FIRST]["columns"].get("price", "") == ("in euros" if what == "tag" else "")
    there.sql.rows = original  # type: ignore[method-assign]  # as above
    assert published(ours).counts == {}


def test_tags_that_are_replaced_make_room_for_others(ours: Server, there: UnityCatalog) -> None:
    old, new = ([f"{word}{number}" for number in range(50)] for word in ("old", "new"))
    ours.send(dataset_event(dataset(FIRST, HERE, tags=tagged(*old))))
    published(ours)
    ours.send(dataset_event(dataset(FIRST, HERE, tags=tagged(*new)), T0 + 9))
    published(ours)
    assert there.sql.tags[FIRST, ""].keys() == set(new)


@pytest.mark.parametrize("kind", ["MANAGED", "STREAMING_TABLE"])
def test_without_its_warehouse_a_target_does_not_forget_what_it_has_published(
    ours: Server, place: Place, there: UnityCatalog, kind: str
) -> None:
    there.sql.add(FIRST, "id", "price", kind=kind)
    ours.send(sink(), dataset_event(dataset(FIRST, HERE, tags=tagged("tier"))))
    published(ours)
    there.statements.clear()
    filters = {"namespaces": ["kafka://*", "unitycatalog://*"]}
    added(ours, place, **filters, warehouse_id="")
    assert published(ours).state == "done"
    report = published(ours, prune=True, overwrite=True)
    assert (report.outcomes, there.statements) == ({"refused": 1}, [])
    assert "set `warehouse_id`" in report.operations[0].detail
    added(ours, place, **filters)
    again = published(ours)
    assert (again.counts, again.drift) == ({}, [])
    added(ours, place, exclude_namespaces=["*"])
    published(ours, prune=True)
    assert (own(there, FIRST), [found for found in there.sql.tags.values() if found]) == ({}, [])


def test_a_table_that_was_refused_is_tried_again_on_request(ours: Server, there: UnityCatalog) -> None:
    del there.sql.tables[FIRST]
    ours.send(sink())
    assert published(ours).outcomes["refused"] == 1
    there.sql.add(FIRST, "id", "price")
    assert published(ours).counts == {}
    assert published(ours, overwrite=True).outcomes == {"done": 1}
    assert own(there, FIRST)["source_topics"] == "orders"
