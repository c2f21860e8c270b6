"""Managed connectors: handwritten answers of the service, and the events that follow from them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.support import Server
from tests.sources.confluent.polling import ENV, LKC, SECRET, SPACE, T0, Polling, bare, edges, polling, topic_metadata
from tests.sources.connect.events.test_lifecycles import Reader
from tests.sources.http import Reply, Request

from lineage_bridge.errors import BusyError, ForbiddenError, SourceError, UnreachableError
from lineage_bridge.sources.confluent.connect.plane import planes
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.runtime.poller import outbox_messages

PATH = f"/connect/v1/environments/{ENV}/clusters/{LKC}/connectors"
MASKED = "****************"
CDC = {
    "connector.class": "PostgresCdcSourceV2",
    "database.hostname": "shop.db.example.org",
    "database.port": "5432",
    "database.dbname": "shop",
    "database.user": "kafka",
    "database.password": MASKED,
    "topic.prefix": "shop",
    "table.include.list": "public.orders,public.users",
    "after.state.only": "true",
    "kafka.auth.mode": "SERVICE_ACCOUNT",
    "kafka.service.account.id": "sa-1",
}
LAKE = {"connector.class": "S3_SINK", "topics": "shop.public.orders", "s3.bucket.name": "lake", "aws.secret.access.key": MASKED}
OWN = {
    "confluent.connector.type": "CUSTOM",
    "confluent.custom.plugin.id": "ccp-1",
    "topics": "shop.public.users",
    "acme.token": SECRET,
    "acme.pin": SECRET,
}
PLUGIN = {"id": "ccp-1", "connector_class": "com.acme.AcmeSink", "description": "To ACME", "sensitive_config_properties": ["acme.pin"]}
DB = "postgres://shop.db.example.org:5432"
ALL = "+kafka_connect +kafka_connect_health +processing_engine"
BOTH = "+kafka_connect +kafka_connect_health"


def connector(config: dict[str, str], kind: str, state: str = "RUNNING", tasks: str = "RUNNING", **more: Any) -> dict[str, Any]:
    """An entry of the expanded listing. The id is made of the kind."""
    return {
        "id": {"id": f"lcc-{kind[:3]}", "id_type": "ID"},
        "info": {"name": "n", "type": kind, "config": {"name": "n", **config}, "tasks": []},
        "status": {
            "name": "n",
            "connector": {"state": state, "worker_id": "w", "trace": more.pop("trace", "")},
            "tasks": [{"id": at, "state": task, "worker_id": "w", "msg": more.get("msg", "")} for at, task in enumerate(tasks.split())],
            "type": kind,
            **more,
        },
    }


class Cloud:
    """The connectors as a test has them; the offsets of a sink's topic."""

    def __init__(self) -> None:
        self.connectors: dict[str, Any] = {"cdc": connector(CDC, "source"), "to/lake": connector(LAKE, "sink")}
        self.offset = 100

    def __call__(self, request: Request) -> Reply:
        if request.parts[-1] == "custom-connector-plugins":
            return Reply(200, {"metadata": {"next": None}, "data": [PLUGIN]})
        if request.parts[-1] == "connectors":
            assert request.query == {"expand": "info,status,id"}
            return Reply(200, self.connectors)
        assert request.parts[-1] == "offsets"
        name = request.parts[-2]
        lake: list[Any] = [{"kafka_topic": "shop.public.orders", "kafka_partition": at} for at in (0, 1)]
        own: dict[str, list[Any]] = {"cdc": [{"server": "shop"}], "to/lake": lake}
        partitions = own.get(name, [])
        offsets = [
            {"partition": partition, "offset": {"lsn": 7} if name == "cdc" else {"kafka_offset": self.offset}} for partition in partitions
        ]
        return Reply(200, {"name": name, "offsets": offsets, "metadata": {}})


@pytest.fixture
def cloud() -> Cloud:
    return Cloud()


@pytest.fixture
def plane(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[Polling]:
    monkeypatch.setenv("SECRET", SECRET)
    with polling(cloud, planes, topic_metadata("shop.public.orders", "shop.public.users", "dlq-lcc-sin")) as poller:
        yield poller


def lines(reader: Reader, polled: Polling) -> list[str]:
    seen = polled.poll()
    return [*map(reader.line, seen.events), *(f"unseen {part.what}" for part in seen.unseen)]


def test_both_sides_of_each_connector_are_reported_with_columns(plane: Polling) -> None:
    seen = plane.poll()
    orders, users = f"{SPACE} shop.public.orders", f"{SPACE} shop.public.users"
    lake = "s3://lake topics/shop.public.orders"
    assert edges(seen) == sorted(
        [
            *(f"{DB} shop.public.{name} > {SPACE} shop.public.{name}" for name in ("orders", "users")),
            *(f"{DB} shop.public.orders {column} > {orders} {column}" for column in ("id", "total")),
            *(f"{DB} shop.public.users {column} > {users} {column}" for column in ("id", "total")),
            *(f"{DB} shop.public.{name} shop > {SPACE} shop.public.{name} _key.shop" for name in ("orders", "users")),
            f"{orders} > {lake}",
            *(f"{orders} {column} > {lake} {column}" for column in ("id", "total")),
            f"{orders} > {SPACE} dlq-lcc-sin",
        ]
    )
    start = bare(seen.events[0])
    assert start["job"]["namespace"] == SPACE
    assert start["job"]["facets"]["confluent_connector"] == {
        "connector_class": "PostgresCdcSourceV2",
        "connector_type": "source",
        "cluster_id": LKC,
        "environment_id": ENV,
        "connector_id": "lcc-sou",
    }
    assert start["job"]["facets"]["ownership"] == {"owners": [{"name": "order service", "type": "MAINTAINER"}]}
    assert [dataset["facets"]["dataSource"] for dataset in start["inputs"]] == [{"name": "PostgreSQL", "uri": DB}] * 2
    config = start["run"]["facets"]["kafka_connect"]["config"]
    assert (config["database.user"], config.get("database.password")) == ("kafka", None)
    assert plane.shared_metadata.owners == {(LKC, "connect-lcc-sin"): (SPACE, "to/lake")}


def test_an_unchanged_second_poll_sends_heartbeats_with_one_request(plane: Polling) -> None:
    first = plane.poll()
    assert plane.server.asked[0] == f"GET {PATH}?expand=info%2Cstatus%2Cid"
    assert sorted(plane.server.asked[1:]) == [f"GET {PATH}/{name}/offsets" for name in ("cdc", "to%2Flake")]
    plane.server.asked.clear()
    second = plane.poll()
    assert len(plane.server.asked) == 1
    assert [(event["eventType"], event["job"]["name"], event["job"]["facets"]) for event in second.events] == [
        ("RUNNING", name, {}) for name in ("cdc", "to/lake")
    ]
    assert {event["run"]["runId"] for event in second.events} == {event["run"]["runId"] for event in first.events}


def test_offsets_of_sinks_are_fetched_every_quarter_of_an_hour_and_those_of_sources_hourly(plane: Polling, cloud: Cloud) -> None:
    requests = []
    for _ in range(13):
        plane.server.asked.clear()
        seen = plane.poll()
        rows = [
            dataset["inputFacets"]["inputStatistics"]["rowCount"]
            for event in seen.events
            for dataset in event["inputs"]
            if "inputFacets" in dataset
        ]
        requests.append((sorted(target.split("/")[-2] for target in plane.server.asked if target.endswith("offsets")), rows))
        cloud.offset += 10
    assert requests[0] == (["cdc", "to%2Flake"], [])
    assert [at for at, (names, _) in enumerate(requests) if "to%2Flake" in names] == [0, 3, 6, 9, 12]
    assert [at for at, (names, _) in enumerate(requests) if "cdc" in names] == [0, 12]
    assert [rows for _, rows in requests if rows] == [[60], [120], [180], [240]]


def test_a_new_password_changes_nothing_and_another_setting_starts_a_new_run(plane: Polling, cloud: Cloud) -> None:
    reader = Reader()
    lines(reader, plane)
    cloud.connectors["cdc"] = connector({**CDC, "database.password": "********", "database.sslkey": MASKED}, "source")
    assert lines(reader, plane) == ["RUNNING cdc #1", "RUNNING to/lake #1"]
    plane.server.asked.clear()
    cloud.connectors["cdc"] = connector({**CDC, "table.include.list": "public.users"}, "source")
    seen = plane.poll()
    assert [reader.line(event) for event in seen.events][:3] == ["COMPLETE cdc #1", f"START cdc #2 {ALL}", "RUNNING cdc #2"]
    assert not any("orders" in edge for edge in edges(seen))
    assert [target for target in plane.server.asked if "cdc" in target] == [f"GET {PATH}/cdc/offsets"]


LIVES = {
    "provisioned, running, degraded, paused, running": [
        (("PROVISIONING", ""), [f"START a #1 {ALL}", "RUNNING a #1"]),
        (("RUNNING", "RUNNING"), [f"RUNNING a #1 {BOTH}"]),
        (("DEGRADED", "RUNNING"), [f"RUNNING a #1 {BOTH}"]),
        (("PAUSED", "PAUSED"), [f"RUNNING a #1 {BOTH}"]),
        (("RUNNING", "RUNNING"), [f"RUNNING a #1 {BOTH}"]),
    ],
    "failed, provisioned anew, running, deleted": [
        (("FAILED", "FAILED"), [f"START a #1 {ALL}", "FAIL a #1 - cannot connect"]),
        (("FAILED", "FAILED"), []),
        (("PROVISIONING", ""), []),
        (("RUNNING", "RUNNING"), [f"START a #2 {ALL}", "RUNNING a #2"]),
        (("DELETED", ""), [f"ABORT a #2 {BOTH}"]),
        (None, []),
        (("RUNNING", "RUNNING"), [f"START a #3 {ALL}", "RUNNING a #3"]),
        (None, ["ABORT a #3"]),
    ],
    "its task fails for what its user did": [
        (("RUNNING", "RUNNING"), [f"START a #1 {ALL}", "RUNNING a #1"]),
        (("RUNNING", "USER_ACTIONABLE_ERROR"), [f"FAIL a #1 {BOTH} - no such bucket"]),
    ],
}


@pytest.mark.parametrize("life", LIVES.values(), ids=list(LIVES))
def test_each_state_has_its_event(plane: Polling, cloud: Cloud, life: list[Any]) -> None:
    reader = Reader()
    for number, (states, gives) in enumerate(life):
        trace = "cannot connect\n\tat io.confluent" if states and states[0] == "FAILED" else ""
        more = {"trace": trace, "msg": "no such bucket"}
        cloud.connectors = {"a": connector(LAKE, "sink", *states, **more)} if states else {}
        assert lines(reader, plane) == gives, f"poll {number + 1}"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(503, {"errors": [{"detail": "come again"}]}), BusyError),
        (Reply(401, {"errors": [{"detail": "who?"}]}), ForbiddenError),
        (Reply(403, {"errors": [{"detail": "no"}]}), ForbiddenError),
        (Reply(200, b"<html>", "text/html"), SourceError),
        (Reply(200, b'{"cdc": {"id"'), SourceError),
        (Reply(200, ["cdc"]), SourceError),
    ],
)
def test_a_failed_listing_is_an_error_and_ends_no_runs(plane: Polling, reply: Reply, error: type[Exception]) -> None:
    reader = Reader()
    lines(reader, plane)
    plane.server.failing = {PATH: reply}
    with pytest.raises(error):
        plane.poll()
    plane.server.failing = {}
    assert lines(reader, plane) == ["RUNNING cdc #1", "RUNNING to/lake #1"]


def test_an_unreachable_service_is_an_error(plane: Polling) -> None:
    settings = plane.settings.model_copy(update={"url": "http://127.0.0.1:9"})
    plane.settings, plane.clients.settings = settings, settings
    with pytest.raises(UnreachableError):
        plane.poll()


def test_without_a_cloud_key_the_plane_is_unavailable(plane: Polling) -> None:
    plane.settings = plane.settings.model_copy(update={"cloud": None})
    assert plane.plane.unavailable_reason() == "no Cloud API key is set (cloud)"


@pytest.mark.parametrize("part", ["id", "info", "status"])
def test_an_incompletely_listed_connector_keeps_its_state(plane: Polling, cloud: Cloud, part: str) -> None:
    reader = Reader()
    lines(reader, plane)
    del cloud.connectors["cdc"][part]
    assert lines(reader, plane) == ["RUNNING to/lake #1", "unseen connector cdc"]
    cloud.connectors["cdc"] = connector(CDC, "source")
    plane.server.asked.clear()
    assert lines(reader, plane) == ["RUNNING cdc #1", "RUNNING to/lake #1"]
    assert len(plane.server.asked) == 1


def test_missing_offsets_are_unseen_and_fetched_again_later(plane: Polling) -> None:
    reader = Reader()
    plane.server.failing = {f"{PATH}/cdc": Reply(503, {}), f"{PATH}/to": Reply(404, {"errors": [{"detail": "not for this plugin"}]})}
    lost = ["unseen connector cdc: offsets", "unseen connector to/lake: offsets"]
    assert [line for line in lines(reader, plane) if line.startswith("unseen")] == lost
    plane.server.asked.clear()
    assert lines(reader, plane) == ["RUNNING cdc #1", "RUNNING to/lake #1", *lost]
    assert not any("lake" in target for target in plane.server.asked)
    plane.server.failing = {}
    assert lines(reader, plane)[2:] == lost[1:]
    plane.poll()
    assert not plane.poll().unseen


def test_a_custom_plugin_is_fetched_once_and_its_configuration_is_not_emitted(plane: Polling, cloud: Cloud) -> None:
    cloud.connectors = {"own": connector(OWN, "sink")}
    seen = bare(plane.poll().events[0])
    assert seen["job"]["facets"]["confluent_connector"]["connector_class"] == "com.acme.AcmeSink"
    assert seen["job"]["facets"]["documentation"] == {"description": "To ACME"}
    assert "config" not in seen["run"]["facets"]["kafka_connect"]
    assert [dataset["name"] for dataset in seen["inputs"]] == ["shop.public.users"]
    plane.poll()
    assert sum("custom-connector-plugins" in target for target in plane.server.asked) == 1


def test_a_mapping_describes_a_custom_class(plane: Polling, cloud: Cloud) -> None:
    cloud.connectors = {"own": connector({**OWN, "acme.shop": "north"}, "sink")}
    mapping = {
        "classes": ["com.acme.AcmeSink"],
        "direction": "sink",
        "namespace": "acme://{acme.shop}",
        "object": "{topic}",
        "secrets": ["acme.pin"],
    }
    plane.settings = ConfluentSettings.model_validate({**plane.settings.model_dump(), "mappings": [mapping]})
    seen = plane.poll()
    assert f"{SPACE} shop.public.users > acme://north shop.public.users" in edges(seen)
    assert seen.events[0]["run"]["facets"]["kafka_connect"]["config"]["acme.shop"] == "north"


def test_a_file_of_the_users_own_describes_a_custom_class(plane: Polling, cloud: Cloud, tmp_path: Path) -> None:
    cloud.connectors = {"own": connector({**OWN, "acme.shop": "north"}, "sink")}
    entry = [
        "[[connector]]",
        'classes = ["com.acme.AcmeSink"]',
        'direction = "sink"',
        'namespace = "acme://{acme.shop}"',
        'object = "{topic}"',
        'secrets = ["acme.pin"]',
    ]
    (tmp_path / "own.toml").write_text("\n".join(entry), "utf-8")
    plane.settings = ConfluentSettings.model_validate({**plane.settings.model_dump(), "catalogue": str(tmp_path)})
    assert f"{SPACE} shop.public.users > acme://north shop.public.users" in edges(plane.poll())


def test_an_owner_who_gets_a_name_is_emitted_once(plane: Polling) -> None:
    named, plane.shared = plane.shared, topic_metadata("shop.public.orders")
    plane.shared = type(named)(plane.shared.clusters, plane.shared.schemas)
    owner = next(event["job"]["facets"].get("ownership", {}).get("owners") for event in plane.poll().events)
    assert owner == [{"name": "sa-1", "type": "MAINTAINER"}]
    plane.shared = named
    facets = [list(event["job"]["facets"]) for _ in range(2) for event in plane.poll().events if event["job"]["name"] == "cdc"]
    assert [keys for keys in facets if "ownership" in keys] == [["ownership"]] or facets[0][0] == "ownership"
    assert facets[1] == []


def test_runs_end_when_their_cluster_is_gone(plane: Polling) -> None:
    reader = Reader()
    lines(reader, plane)
    assert [reader.line(event) for event in plane.end_scope().events] == ["ABORT cdc #1", "ABORT to/lake #1"]


def test_topics_have_the_clusters_namespace_even_without_shared_metadata(plane: Polling) -> None:
    plane.shared = type(plane.shared)()
    assert any(edge.endswith(f"> {SPACE} dlq-lcc-sin") for edge in edges(plane.poll())), "and a dead letter topic is expected"


def test_lineage_of_a_table_leads_through_a_topic_to_the_lake(plane: Polling, graph: Server) -> None:
    graph.parts.now_us = T0
    for path, body in outbox_messages(plane.poll()):
        assert graph.client.post(path, content=body, headers={"Content-Type": "application/json"}).is_success
    graph.fold()
    walk = graph.ask("/graph/neighbourhood", namespace=DB, name="shop.public.orders", direction="downstream", depth=5)
    names = {(node["kind"], node["namespace"], node["name"]) for node in walk["nodes"]}
    assert {("dataset", SPACE, "shop.public.orders"), ("job", SPACE, "cdc"), ("job", SPACE, "to/lake")} <= names
    assert ("dataset", "s3://lake", "topics/shop.public.orders") in names
