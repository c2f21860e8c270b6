"""What is told of streams, tables and queries: the answers were written before the code that gives them."""

import json
from typing import Any

import pytest
from tests.corpora.published import faults
from tests.events import T0
from tests.sources.ksqldb.server import HOST, OTHER_HOST, Ksql, Query, Relation, column, shop

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.ksqldb.answers import parse
from lineage_bridge.sources.common.ksqldb.settings import KsqldbSettings
from lineage_bridge.sources.common.ksqldb.translate import shared_metadata, translate
from lineage_bridge.sources.common.observer import Observation, Unseen
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, ClusterMetadata, SharedMetadata, TopicSchema

SPACE, JOBS = "kafka://b1:9092", "ksqldb://k:8088"
CLUSTER = ClusterMetadata("c1", SPACE, frozenset(("b1:9092",)))
AROUND = SharedMetadata((CLUSTER,))
MINUTE = 60_000_000


class Polling:
    """A server that is looked at again and again; snapshots go by way of JSON, as the poller keeps them."""

    def __init__(self, server: Ksql, around: SharedMetadata = AROUND, **settings: Any) -> None:
        self.server, self.around, self.now_us = server, around, T0
        self.settings = KsqldbSettings(url="http://k:8088", **settings)
        self.last: Observation | None = None

    def poll(self, entities: list[dict[str, Any]] | None = None) -> Observation:
        """`entities`: what the server answers to the statements, if not as it is."""
        before = json.loads(json.dumps(self.last.snapshot)) if self.last else None
        state = parse(self.server.info(), entities or self.server.entities())
        self.last = translate(state, before, self.around, self.now_us, self.settings)
        assert not faults(self.last.events)
        self.now_us += MINUTE
        return self.last


def bare(value: Any) -> Any:
    """Facets without what every facet has."""
    if isinstance(value, dict):
        return {key: bare(inner) for key, inner in value.items() if key not in ("_producer", "_schemaURL")}
    return [bare(inner) for inner in value] if isinstance(value, list) else value


def runs(seen: Observation) -> list[dict[str, Any]]:
    return [bare(event) for event in seen.events if "eventType" in event]


def datasets(seen: Observation) -> list[Any]:
    return [event["dataset"] for event in seen.events if "dataset" in event]


def topics(seen: Observation) -> dict[str, Any]:
    return {dataset["name"]: bare(dataset["facets"]) for dataset in datasets(seen)}


def states(seen: Observation) -> list[tuple[object, str]]:
    return [(event["eventType"], event["job"]["name"]) for event in runs(seen)]


def source(name: str, field: str, subtype: str, kind: str = "DIRECT") -> dict[str, Any]:
    return {"namespace": SPACE, "name": name, "field": field, "transformations": [{"type": kind, "subtype": subtype}]}


def test_a_query_with_its_topics_and_columns() -> None:
    polling = Polling(shop())
    seen = polling.poll()
    (start,) = runs(seen)
    assert (start["eventType"], start["job"]["namespace"], start["job"]["name"]) == ("START", JOBS, "CSAS_RICH_3")
    facets: Any = start["job"]["facets"]
    assert facets["jobType"] == {
        "processingType": "STREAMING",
        "integration": "KSQLDB",
        "jobType": "QUERY",
        "emissionPattern": {"eventTrigger": "PERIODIC", "eventContentMode": "ACCUMULATIVE", "windowDuration": 60},
    }
    assert facets["sql"] == {"query": polling.server.queries[0].text, "dialect": "ksqldb"}
    assert facets["ksqldb_query"] == {
        "query": "CSAS_RICH_3",
        "service": "default_",
        "group": "_confluent-ksql-default_query_CSAS_RICH_3",
        "sources": ["CUSTOMERS", "ORDERS"],
        "sinks": ["RICH"],
    }
    assert [(dataset["namespace"], dataset["name"]) for dataset in start["inputs"]] == [(SPACE, "customers"), (SPACE, "orders")]
    (rich,) = start["outputs"]
    assert (rich["namespace"], rich["name"]) == (SPACE, "rich-orders")
    lineage = rich["facets"]["columnLineage"]
    assert lineage["fields"] == {
        "_key": {"inputFields": [source("orders", "CUSTOMER", "IDENTITY")]},
        "GROSS": {"inputFields": [source("orders", "AMOUNT", "TRANSFORMATION")]},
        "CITY": {"inputFields": [source("customers", "CITY", "IDENTITY")]},
    }
    assert lineage["dataset"][:2] == [source("customers", "_key", "JOIN", "INDIRECT"), source("orders", "CUSTOMER", "JOIN", "INDIRECT")]
    assert bare(start["run"])["facets"]["processing_engine"] == {"name": "ksqlDB", "version": "7.9.0"}
    found = shared_metadata(seen.snapshot)
    assert found.owners == {("c1", "_confluent-ksql-default_query_CSAS_RICH_3"): (JOBS, "CSAS_RICH_3")}


def test_streams_and_tables_are_names_of_topics() -> None:
    seen = Polling(shop()).poll()
    found = topics(seen)
    assert sorted(found) == ["customers", "orders", "rich-orders"]
    assert found["orders"]["symlinks"] == {"identifiers": [{"namespace": JOBS, "name": "ORDERS", "type": "TABLE"}]}
    assert found["orders"]["schema"]["fields"] == [
        {"name": "CUSTOMER", "type": "STRING", "ordinal_position": 1},
        {"name": "AMOUNT", "type": "DECIMAL(10,2)", "ordinal_position": 2},
        {"name": "_key", "type": "BIGINT", "ordinal_position": 3},
    ]
    (stream,) = found["orders"]["ksqldb"]["streams"]
    assert {key: stream[key] for key in ("name", "type", "keyFormat", "valueFormat", "partitions", "replication")} == {
        "name": "ORDERS",
        "type": "STREAM",
        "keyFormat": "KAFKA",
        "valueFormat": "JSON",
        "partitions": 2,
        "replication": 1,
    }
    schemas = shared_metadata(seen.snapshot).schemas
    assert schemas[(SPACE, "orders"), KEY] == TopicSchema((SchemaField(name="", type="BIGINT"),), "ksqlDB stream ORDERS", 1)
    assert ((SPACE, "orders"), VALUE) not in schemas, "ksqlDB wrote them in capitals: what fields are called there it does not tell"
    assert [field.name for field in schemas[(SPACE, "rich-orders"), VALUE].fields] == ["GROSS", "CITY"]


def test_names_that_somebody_quoted_are_those_of_the_fields() -> None:
    server = shop()
    server.relations[0].fields = [column("orderId", "STRING")]
    assert [field.name for field in shared_metadata(Polling(server).poll().snapshot).schemas[(SPACE, "orders"), VALUE].fields] == [
        "orderId"
    ]


def test_nested_columns_and_keys_of_several_columns() -> None:
    address = [column("CITY", "STRING"), column("ZIP", "INTEGER")]
    fields = [
        column("A", "STRING", key=True),
        column("B", "INTEGER", key=True),
        column("TO", "STRUCT", fields=address),
        column("TAGS", "ARRAY", member={"type": "STRING", "fields": None, "memberSchema": None}),
        column("RATES", "MAP", member={"type": "DOUBLE", "fields": None, "memberSchema": None}),
    ]
    found = topics(Polling(Ksql([Relation("S", "s", fields, key_format="JSON")])).poll())["s"]["schema"]["fields"]
    shape = {field["name"]: [inner["name"] for inner in field.get("fields", ())] for field in found}
    assert shape == {"TO": ["CITY", "ZIP"], "TAGS": ["_element"], "RATES": ["key", "value"], "_key": ["A", "B"]}


def test_columns_go_by_the_registrys_spelling() -> None:
    fields = (SchemaField(name="customer", type="string"), SchemaField(name="Amount", type="double"))
    schemas = {
        ((SPACE, "orders"), VALUE): TopicSchema(fields, "orders-value version 1, id 1"),
        ((SPACE, "orders"), KEY): TopicSchema((SchemaField(name="id", type="long"),), "orders-key version 1, id 2"),
    }
    seen = Polling(shop(), SharedMetadata((CLUSTER,), schemas)).poll()
    assert "schema" not in topics(seen)["orders"]
    (start,) = runs(seen)
    lineage: Any = start["outputs"][0]["facets"]["columnLineage"]
    assert lineage["fields"]["_key"]["inputFields"] == [source("orders", "customer", "IDENTITY")]
    assert lineage["fields"]["GROSS"]["inputFields"] == [source("orders", "Amount", "TRANSFORMATION")]


def test_a_registry_that_is_known_later_is_not_contradicted_and_begins_another_run() -> None:
    polling = Polling(shop())
    (first,) = runs(polling.poll())
    fields = (SchemaField(name="customer", type="string"), SchemaField(name="Amount", type="double"))
    polling.around = SharedMetadata((CLUSTER,), {((SPACE, "orders"), VALUE): TopicSchema(fields, "orders-value version 1, id 1")})
    seen = polling.poll()
    assert topics(seen) == {}
    ended, started = runs(seen)
    assert (ended["eventType"], started["eventType"], ended["run"]["runId"]) == ("COMPLETE", "START", first["run"]["runId"])
    assert started["outputs"][0]["facets"]["columnLineage"]["fields"]["GROSS"]["inputFields"] == [
        source("orders", "Amount", "TRANSFORMATION")
    ]
    polling.server.relations = polling.server.relations[1:]
    assert sorted(topics(polling.poll())["orders"]) == ["ksqldb", "symlinks"]


def test_what_runs_reports_its_amounts_since_it_was_first_seen() -> None:
    polling = Polling(shop())
    polling.poll()
    rich = polling.server.relations[2]
    rich.written, rich.offsets = (
        {HOST: 130, OTHER_HOST: 50},
        {"_confluent-ksql-default_query_CSAS_RICH_3": {"orders": [110, 65], "customers": [7]}},
    )
    seen = polling.poll()
    (beat,) = runs(seen)
    assert (beat["eventType"], topics(seen)) == ("RUNNING", {})
    assert {dataset["name"]: dataset["inputFacets"]["inputStatistics"] for dataset in beat["inputs"]} == {
        "customers": {"rowCount": 0},
        "orders": {"rowCount": 15},
    }
    assert beat["outputs"][0]["outputFacets"]["outputStatistics"] == {"rowCount": 30, "size": 300}
    assert "sql" not in beat["job"]["facets"]
    rich.written = {HOST: 5, OTHER_HOST: 60}
    (beat,) = runs(polling.poll())
    assert beat["outputs"][0]["outputFacets"]["outputStatistics"] == {"rowCount": 45, "size": 450}


def test_of_a_sink_with_several_writers_nobody_knows_who_wrote_how_much() -> None:
    server = shop()
    server.queries.append(Query("INSERTQUERY_9", "INSERT INTO RICH SELECT * FROM ORDERS EMIT CHANGES;", ["ORDERS"], ["RICH"]))
    server.relations[2].writers.append("INSERTQUERY_9")
    polling = Polling(server)
    polling.poll()
    assert all("outputFacets" not in dataset for beat in runs(polling.poll()) for dataset in beat["outputs"])


def test_what_a_topics_only_reader_reads_is_counted_by_the_servers_too() -> None:
    server = shop()
    orders, customers, rich = server.relations
    orders.consumed, customers.consumed, rich.offsets = {HOST: 5, OTHER_HOST: 5}, {HOST: 7}, {}
    server.relations.append(Relation("PEOPLE", "customers", customers.fields, "TABLE", readers=["CTAS_OTHER_9"]))
    polling = Polling(server)
    polling.poll()
    orders.consumed, customers.consumed = {HOST: 8, OTHER_HOST: 2}, {HOST: 9}
    (beat,) = runs(polling.poll())
    counted = {dataset["name"]: dataset.get("inputFacets") for dataset in beat["inputs"]}
    assert counted == {"customers": None, "orders": {"inputStatistics": {"rowCount": 5, "size": 100}}}


def test_of_a_topic_with_several_streams_all_writers_count() -> None:
    server = shop()
    server.relations.append(Relation("RICH_2", "rich-orders", [column("CITY", "STRING")], writers=["INSERTQUERY_9"]))
    polling = Polling(server)
    polling.poll()
    (beat,) = runs(polling.poll())
    assert all("outputFacets" not in dataset for dataset in beat["outputs"])


def test_offsets_of_the_broker_where_ksqldb_reports_none() -> None:
    server = shop()
    server.relations[2].offsets = {}
    group = "_confluent-ksql-default_query_CSAS_RICH_3"
    polling = Polling(server, SharedMetadata((ClusterMetadata("c1", SPACE, read={(group, "orders"): 40}),)))
    polling.poll()
    polling.around = SharedMetadata((ClusterMetadata("c1", SPACE, read={(group, "orders"): 42}),))
    (beat,) = runs(polling.poll())
    assert [dataset.get("inputFacets") for dataset in beat["inputs"]] == [None, {"inputStatistics": {"rowCount": 2}}]


def test_the_life_of_a_query() -> None:
    polling = Polling(shop())
    query = polling.server.queries[0]
    assert states(polling.poll()) == [("START", "CSAS_RICH_3")]
    query.hosts = {HOST: "PAUSED"}
    (paused,) = runs(polling.poll())
    assert (paused["eventType"], paused["run"]["facets"]["ksqldb_state"]) == ("RUNNING", {"state": "PAUSED", "hosts": {HOST: "PAUSED"}})
    (still,) = runs(polling.poll())
    assert "ksqldb_state" not in still["run"]["facets"]
    query.hosts = {HOST: "RUNNING"}
    (again,) = runs(polling.poll())
    assert again["run"]["facets"]["ksqldb_state"]["state"] == "RUNNING"
    query.hosts, query.errors = {HOST: "ERROR"}, ["first", "Exhausted: password=hunter2 of orders"]
    (failed,) = runs(polling.poll())
    assert failed["eventType"] == "FAIL"
    message = failed["run"]["facets"]["errorMessage"]["message"]
    assert (message.startswith("Exhausted"), "hunter2" in json.dumps(failed)) == (True, False)
    assert runs(polling.poll()) == []
    query.hosts = {HOST: "RUNNING"}
    assert states(polling.poll()) == [("RUNNING", "CSAS_RICH_3")]
    polling.server.queries.clear()
    (ended,) = runs(polling.poll())
    assert (ended["eventType"], ended["run"]["runId"]) == ("ABORT", again["run"]["runId"])
    assert runs(polling.poll()) == []


def test_one_host_that_fails_is_no_end() -> None:
    polling = Polling(shop())
    polling.poll()
    polling.server.queries[0].hosts = {HOST: "RUNNING", OTHER_HOST: "ERROR"}
    (beat,) = runs(polling.poll())
    assert beat["eventType"] == "RUNNING"
    assert beat["run"]["facets"]["ksqldb_state"] == {"state": "RUNNING", "hosts": {HOST: "RUNNING", OTHER_HOST: "ERROR"}}


def test_a_query_whose_hosts_do_not_answer_is_unseen() -> None:
    polling = Polling(shop())
    polling.poll()
    polling.server.queries[0].hosts = {HOST: "UNRESPONSIVE"}
    seen = polling.poll()
    assert (runs(seen), [unseen.what for unseen in seen.unseen]) == ([], ["query CSAS_RICH_3: state"])
    polling.server.queries[0].hosts = {HOST: "RUNNING", OTHER_HOST: "UNRESPONSIVE"}
    seen = polling.poll()
    assert states(seen) == [("RUNNING", "CSAS_RICH_3")]
    assert seen.unseen == (Unseen(f"query CSAS_RICH_3: host {OTHER_HOST}", "the host does not answer the other hosts"),)


def test_a_query_that_failed_before_it_was_seen() -> None:
    server = shop()
    server.queries[0].hosts = {HOST: "ERROR"}
    polling = Polling(server)
    assert states(polling.poll()) == [("START", "CSAS_RICH_3"), ("FAIL", "CSAS_RICH_3")]
    assert states(polling.poll()) == []


def test_a_query_that_is_replaced_is_another_run() -> None:
    polling = Polling(shop())
    (first,) = runs(polling.poll())
    polling.server.queries[0].text = polling.server.queries[0].text.replace("1.2", "1.19")
    ended, started = runs(polling.poll())
    assert [(event["eventType"], event["run"]["runId"] == first["run"]["runId"]) for event in (ended, started)] == [
        ("COMPLETE", True),
        ("START", False),
    ]


def test_queries_of_clients_are_no_jobs_and_a_materialized_source_writes_nothing() -> None:
    server = shop()
    server.queries = [
        Query("transient_RICH_1", "SELECT * FROM RICH EMIT CHANGES;", ["RICH"], [], type="PUSH"),
        Query(
            "CST_CUSTOMERS_1",
            "CREATE SOURCE TABLE CUSTOMERS (NAME STRING PRIMARY KEY) WITH (KAFKA_TOPIC='customers');",
            ["CUSTOMERS"],
            ["CUSTOMERS"],
        ),
    ]
    (start,) = runs(Polling(server).poll())
    assert (start["job"]["name"], [dataset["name"] for dataset in start["inputs"]], start["outputs"]) == (
        "CST_CUSTOMERS_1",
        ["customers"],
        [],
    )


def test_windows() -> None:
    server = shop()
    counts = Relation(
        "COUNTS",
        "COUNTS",
        [column("CUSTOMER", "STRING", key=True), column("N", "BIGINT")],
        "TABLE",
        window="HOPPING",
        writers=["CTAS_COUNTS_5"],
    )
    text = """CREATE TABLE COUNTS WITH (KAFKA_TOPIC='COUNTS') AS SELECT O.CUSTOMER CUSTOMER, SUM(O.AMOUNT) N FROM ORDERS O
WINDOW HOPPING ( SIZE 1 HOURS , ADVANCE BY 10 MINUTES , RETENTION 7 DAYS , GRACE PERIOD 5 MINUTES ) GROUP BY O.CUSTOMER EMIT CHANGES;"""
    topology = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders])
      --> Aggregate-GroupBy
    Sink: Aggregate-GroupBy-repartition-sink (topic: Aggregate-GroupBy-repartition)
   Sub-topology: 1
    Source: Aggregate-GroupBy-repartition-source (topics: [Aggregate-GroupBy-repartition])
    Processor: KSTREAM-AGGREGATE-0000000003 (stores: [Aggregate-Aggregate-Materialize])
    Sink: KSTREAM-SINK-0000000009 (topic: COUNTS)
"""
    server.relations.append(counts)
    server.queries = [Query("CTAS_COUNTS_5", text, ["ORDERS"], ["COUNTS"], window="HOPPING", topology=topology)]
    (start,) = runs(Polling(server).poll())
    facets: Any = start["job"]["facets"]
    assert facets["ksqldb_window"] == {
        "type": "HOPPING",
        "size": "1 HOURS",
        "advance": "10 MINUTES",
        "retention": "7 DAYS",
        "grace": "5 MINUTES",
    }
    group = "_confluent-ksql-default_query_CTAS_COUNTS_5"
    assert facets["ksqldb_query"]["internal"] == [
        f"{group}-Aggregate-Aggregate-Materialize-changelog",
        f"{group}-Aggregate-GroupBy-repartition",
    ]
    assert start["outputs"][0]["facets"]["columnLineage"]["fields"]["N"]["inputFields"] == [source("orders", "AMOUNT", "AGGREGATION")]


def test_topics_come_from_the_topology_where_streams_are_not_reported() -> None:
    server = shop()
    server.relations = []
    server.queries[0].topology = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000001 (topics: [orders])
    Source: KTABLE-SOURCE-0000000002 (topics: [customers])
    Sink: KSTREAM-SINK-0000000009 (topic: rich-orders)
"""
    (start,) = runs(Polling(server).poll())
    assert ([dataset["name"] for dataset in start["inputs"]], [dataset["name"] for dataset in start["outputs"]]) == (
        ["customers", "orders"],
        ["rich-orders"],
    )


def test_what_is_not_understood_of_a_statement_is_reported() -> None:
    server = shop()
    server.queries[0].text = "CREATE STREAM RICH AS SELECT ((( FROM ORDERS EMIT CHANGES;"
    (start,) = runs(Polling(server).poll())
    (error,) = start["run"]["facets"]["extractionError"]["errors"]
    assert error["errorMessage"].startswith("line 1")
    assert [dataset["name"] for dataset in start["inputs"]] == ["customers", "orders"]


def test_a_stream_that_is_dropped_withdraws_what_it_declared() -> None:
    polling = Polling(shop())
    polling.poll()
    polling.server.relations = polling.server.relations[1:]
    assert topics(polling.poll())["orders"] == {key: {"_deleted": True} for key in ("ksqldb", "schema", "symlinks")}
    assert topics(polling.poll()) == {}


def test_several_streams_of_one_topic() -> None:
    server = shop()
    server.relations.append(Relation("ORDERS_2", "orders", [column("CUSTOMER", "STRING"), column("NOTE", "STRING")]))
    facets_of_topic = topics(Polling(server).poll())["orders"]
    assert [identifier["name"] for identifier in facets_of_topic["symlinks"]["identifiers"]] == ["ORDERS", "ORDERS_2"]
    assert [field["name"] for field in facets_of_topic["schema"]["fields"]] == ["CUSTOMER", "AMOUNT", "NOTE", "_key"]


def test_without_a_kafka_source_the_cluster_goes_by_its_id_or_by_what_is_set() -> None:
    assert {dataset["namespace"] for dataset in datasets(Polling(shop(), SharedMetadata()).poll())} == {"kafka://c1"}
    seen = Polling(shop(), SharedMetadata(), kafka="b7:9092").poll()
    assert {dataset["namespace"] for dataset in datasets(seen)} == {"kafka://b7:9092"}


def test_of_a_server_that_is_not_well_nothing_is_reported_as_gone() -> None:
    polling = Polling(shop())
    polling.poll()
    polling.server.relations, polling.server.queries, polling.server.status = [], [], "DEGRADED"
    seen = polling.poll()
    assert (seen.events, [unseen.what for unseen in seen.unseen]) == ((), ["state of the server"])
    polling.server.status = "RUNNING"
    assert states(polling.poll()) == [("ABORT", "CSAS_RICH_3")]


@pytest.mark.parametrize("name", ["ORDERS", None])
def test_a_stream_that_cannot_be_read_loses_only_itself_and_its_queries(name: str | None) -> None:
    server = shop()
    server.relations += [Relation("IN", "in", [column("ID", "BIGINT")]), Relation("OUT", "out", [column("ID", "BIGINT")])]
    server.queries.append(Query("CSAS_OUT_5", "CREATE STREAM OUT AS SELECT * FROM IN EMIT CHANGES;", ["IN"], ["OUT"]))
    polling = Polling(server)
    assert states(polling.poll()) == [("START", "CSAS_OUT_5"), ("START", "CSAS_RICH_3")]
    entities = server.entities()
    entities[0]["sourceDescriptions"][0] |= {"name": name, "fields": None}
    seen = polling.poll(entities)
    assert states(seen) == [("RUNNING", "CSAS_OUT_5")]
    assert topics(seen) == {}
    assert [unseen.what for unseen in seen.unseen] == [f"stream {name or 'without a name'}", "query CSAS_RICH_3"]
    assert states(polling.poll()) == [("RUNNING", "CSAS_OUT_5"), ("RUNNING", "CSAS_RICH_3")]


@pytest.mark.parametrize("name", ["CSAS_RICH_3", None])
def test_a_query_that_cannot_be_read_has_not_ended(name: str | None) -> None:
    polling = Polling(shop())
    polling.poll()
    entities = polling.server.entities()
    entities[2]["queryDescriptions"][0] |= {"id": name, "sources": None}
    seen = polling.poll(entities)
    assert (seen.events, [unseen.what for unseen in seen.unseen]) == ((), [f"query {name or 'without a name'}"])
    polling.server.queries.clear()
    assert states(polling.poll()) == [("ABORT", "CSAS_RICH_3")]


def test_a_topic_keeps_its_description_while_one_of_its_streams_cannot_be_read() -> None:
    server = shop()
    server.relations.append(Relation("ORDERS_2", "orders", [column("NOTE", "STRING")]))
    polling = Polling(server)
    polling.poll()
    entities = server.entities()
    entities[0]["sourceDescriptions"][-1]["fields"] = None
    assert topics(polling.poll(entities)) == {}
    server.relations.pop()
    assert [identifier["name"] for identifier in topics(polling.poll())["orders"]["symlinks"]["identifiers"]] == ["ORDERS"]


def test_warnings_are_unseen() -> None:
    server = shop()
    server.warnings = ["Error from host ksql-2:8088"]
    assert {unseen.what for unseen in Polling(server).poll().unseen} == {
        "warnings of SHOW STREAMS",
        "warnings of SHOW TABLES",
        "warnings of SHOW QUERIES",
    }


@pytest.mark.parametrize("cut", [slice(0, 2), slice(1, 3), slice(0, 0)])
def test_half_an_answer_is_none(cut: slice) -> None:
    server = shop()
    with pytest.raises(SourceError):
        parse(server.info(), server.entities()[cut])
