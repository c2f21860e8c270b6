"""The demo's pipeline: the path from the dashboard back to the database, and the events on it."""

import json
from collections import defaultdict
from itertools import pairwise
from typing import Any

import pytest

from lineage_bridge.demo.events import events

NOW_US = 1_795_225_921_123_456
POSTGRES = "postgres://commerce-db.internal:5432"
KAFKA = "kafka://broker.internal:9092"
SNOWFLAKE = "snowflake://acme-analytics"
LOOKER = "looker://acme.cloud.looker.com"

Node = tuple[str, str]
Field = tuple[str, str, str]

EVENTS: list[dict[str, Any]] = [json.loads(raw) for raw in events(NOW_US, "first")]

ORDERS_TABLE = (POSTGRES, "commerce.public.orders")
CUSTOMERS_TABLE = (POSTGRES, "commerce.public.customers")
ORDERS_TOPIC = (KAFKA, "commerce.public.orders")
CUSTOMERS_TOPIC = (KAFKA, "commerce.public.customers")
ENRICHED_TOPIC = (KAFKA, "order-events-enriched")
ENRICHED_TABLE = (SNOWFLAKE, "analytics_db.raw.orders_enriched")
ORDERS_FACT = (SNOWFLAKE, "analytics_db.analytics.orders_fact")
DAILY_REVENUE = (SNOWFLAKE, "analytics_db.analytics.daily_revenue_summary")
DASHBOARD = (LOOKER, "Executive Revenue Dashboard")


def node(value: dict[str, Any]) -> Node:
    """Namespace and name of a dataset or job."""
    return value["namespace"], value["name"]


def sources_of_datasets() -> dict[Node, set[Node]]:
    """For each dataset, the inputs of the runs that wrote it, over all events of a run."""
    inputs: dict[str, set[Node]] = defaultdict(set)
    outputs: dict[str, set[Node]] = defaultdict(set)
    for event in EVENTS:
        inputs[event["run"]["runId"]].update(map(node, event["inputs"]))
        outputs[event["run"]["runId"]].update(map(node, event["outputs"]))
    found: dict[Node, set[Node]] = defaultdict(set)
    for run, written in outputs.items():
        for dataset in written:
            found[dataset] |= inputs[run]
    return found


def column_statements() -> dict[Node, list[dict[str, Any]]]:
    """For each dataset, its columnLineage facets."""
    found: dict[Node, list[dict[str, Any]]] = defaultdict(list)
    for event in EVENTS:
        for output in event["outputs"]:
            if "columnLineage" in output.get("facets", {}):
                found[node(output)].append(output["facets"]["columnLineage"])
    return found


def sources_of_columns() -> dict[Field, set[Field]]:
    """For each column, the columns whose values it takes."""
    found: dict[Field, set[Field]] = defaultdict(set)
    for dataset, statements in column_statements().items():
        for statement in statements:
            for name, entry in statement["fields"].items():
                found[dataset[0], dataset[1], name].update((*node(source), source["field"]) for source in entry["inputFields"])
    return found


def reachable(start: Any, sources: dict[Any, set[Any]]) -> set[Any]:
    """Everything upstream of `start`, itself included."""
    seen, frontier = {start}, [start]
    while frontier:
        fresh = sources.get(frontier.pop(), set()) - seen
        seen |= fresh
        frontier.extend(fresh)
    return seen


def of_job(name: str, *types: str) -> list[dict[str, Any]]:
    """The events of a job, of the given types or of all."""
    return [event for event in EVENTS if event["job"]["name"] == name and (not types or event["eventType"] in types)]


def counts(job: str, side: str, member: str, dataset: Node) -> list[list[int]]:
    """For each run of a job, the row counts of a dataset on a side, in the order of events."""
    found: dict[str, list[int]] = defaultdict(list)
    for event in of_job(job, "RUNNING"):
        for access in event[side]:
            for statistics in access.get(member, {}).values() if node(access) == dataset else ():
                found[event["run"]["runId"]].append(statistics["rowCount"])
    return list(found.values())


def test_the_pipeline_is_these_jobs_and_datasets() -> None:
    datasets = {node(dataset) for event in EVENTS for dataset in [*event["inputs"], *event["outputs"]]}

    assert {node(event["job"]) for event in EVENTS} == {
        ("kafka-connect", "commerce-cdc"),
        ("flink-jobs", "order-enrichment"),
        ("kafka-connect", "snowflake-orders-sink"),
        ("dbt", "dbt-run-shop"),
        ("dbt", "analytics_db.analytics.shop.orders_fact"),
        ("dbt", "analytics_db.analytics.shop.daily_revenue_summary"),
        ("looker", "executive_revenue_dashboard.refresh"),
    }
    assert datasets == {
        ORDERS_TABLE,
        CUSTOMERS_TABLE,
        ORDERS_TOPIC,
        CUSTOMERS_TOPIC,
        ENRICHED_TOPIC,
        ENRICHED_TABLE,
        ORDERS_FACT,
        DAILY_REVENUE,
        DASHBOARD,
    }


def test_each_dataset_comes_from_the_one_before_it() -> None:
    sources = sources_of_datasets()

    assert sources[DASHBOARD] == {DAILY_REVENUE}
    assert sources[DAILY_REVENUE] == {ORDERS_FACT}
    assert sources[ORDERS_FACT] == {ENRICHED_TABLE}
    assert sources[ENRICHED_TABLE] == {ENRICHED_TOPIC}
    assert sources[ENRICHED_TOPIC] == {ORDERS_TOPIC, CUSTOMERS_TOPIC}
    assert reachable(DASHBOARD, sources) >= {ORDERS_TABLE, CUSTOMERS_TABLE}


def test_revenue_comes_from_amount_and_discount_of_the_orders_and_nothing_else() -> None:
    sources = sources_of_columns()
    upstream = reachable((*DASHBOARD, "revenue_today"), sources)

    assert upstream == {
        (*DASHBOARD, "revenue_today"),
        (*DAILY_REVENUE, "revenue"),
        (*ORDERS_FACT, "net_amount"),
        *((*dataset, column) for dataset in (ENRICHED_TABLE, ENRICHED_TOPIC) for column in ("amount", "discount")),
        *((*dataset, column) for dataset in (ORDERS_TOPIC, ORDERS_TABLE) for column in ("amount", "discount")),
    }


def test_a_topic_takes_its_columns_from_its_own_table_only() -> None:
    sources = sources_of_columns()
    origins = {dataset: {source[:2] for field, found in sources.items() if field[:2] == dataset for source in found}
               for dataset in (ORDERS_TOPIC, CUSTOMERS_TOPIC)}  # fmt: skip

    assert origins == {ORDERS_TOPIC: {ORDERS_TABLE}, CUSTOMERS_TOPIC: {CUSTOMERS_TABLE}}


def test_the_email_address_reaches_the_warehouse_only_masked() -> None:
    sources = sources_of_columns()
    email = (*CUSTOMERS_TABLE, "email")
    holders = {field for field in sources if email in reachable(field, sources)}
    (statement,) = {json.dumps(values["fields"]["customer_email_hash"]) for values in column_statements()[ENRICHED_TOPIC]}
    (source,) = json.loads(statement)["inputFields"]

    assert holders == {
        (*CUSTOMERS_TOPIC, "email"),
        (*ENRICHED_TOPIC, "customer_email_hash"),
        (*ENRICHED_TABLE, "customer_email_hash"),
        (*ORDERS_FACT, "customer_email_hash"),
    }
    assert (*node(source), source["field"]) == (*CUSTOMERS_TOPIC, "email")
    assert [(how["type"], how["masking"]) for how in source["transformations"]] == [("DIRECT", True)]


def test_columns_named_in_lineage_exist_in_the_schemas() -> None:
    schemas: dict[Node, set[str]] = defaultdict(set)
    for event in EVENTS:
        for dataset in [*event["inputs"], *event["outputs"]]:
            fields = dataset.get("facets", {}).get("schema", {}).get("fields", [])
            schemas[node(dataset)].update(field["name"] for field in fields)

    for target, statements in column_statements().items():
        assert set().union(*(statement["fields"] for statement in statements)) == schemas[target]
        for statement in statements:
            named = [source for entry in statement["fields"].values() for source in entry["inputFields"]]
            assert all(source["field"] in schemas[node(source)] for source in [*named, *statement["dataset"]])


def test_joins_filters_and_grouping_decide_over_whole_rows() -> None:
    found = {
        (target, *node(source), source["field"], how["type"], how["subtype"])
        for target, statements in column_statements().items()
        for statement in statements
        for source in statement["dataset"]
        for how in source["transformations"]
    }

    assert {
        (ENRICHED_TOPIC, *ORDERS_TOPIC, "customer_id", "INDIRECT", "JOIN"),
        (ENRICHED_TOPIC, *CUSTOMERS_TOPIC, "customer_id", "INDIRECT", "JOIN"),
        (ENRICHED_TOPIC, *ORDERS_TOPIC, "status", "INDIRECT", "FILTER"),
        (DAILY_REVENUE, *ORDERS_FACT, "order_date", "INDIRECT", "GROUP_BY"),
    } <= found


def test_the_cdc_connector_never_names_tables_and_topics_in_one_event() -> None:
    capture = of_job("commerce-cdc")

    assert any(event["inputs"] for event in capture)
    assert any(event["outputs"] for event in capture)
    assert not any(event["inputs"] and event["outputs"] for event in capture)


def test_the_enrichment_failed_once_and_went_on_as_another_run() -> None:
    (failure,) = [event for event in EVENTS if event["eventType"] == "FAIL"]
    first, second = of_job("order-enrichment", "START")
    ended = [event["eventTime"] for event in EVENTS if event["run"]["runId"] == first["run"]["runId"]]

    assert failure["run"]["runId"] == first["run"]["runId"] != second["run"]["runId"]
    assert failure["run"]["facets"]["errorMessage"]["message"]
    assert max(ended) == failure["eventTime"] < second["eventTime"]


def test_the_enrichment_came_back_with_another_query_and_one_column_more() -> None:
    first, second = of_job("order-enrichment", "START")
    columns = [[field["name"] for field in event["outputs"][0]["facets"]["schema"]["fields"]] for event in (first, second)]
    stated = [set(event["outputs"][0]["facets"]["columnLineage"]["fields"]) for event in (first, second)]

    assert columns[1] == [*columns[0], "status"]
    assert stated == [set(names) for names in columns]
    assert first["job"]["facets"]["sql"]["query"] != second["job"]["facets"]["sql"]["query"]
    assert first["inputs"] == second["inputs"]


def test_streams_do_not_end_and_batch_runs_all_do() -> None:
    types: dict[str, set[str]] = defaultdict(set)
    for event in EVENTS:
        types[event["run"]["runId"]].add(event["eventType"])
    ends = sorted(tuple(sorted(values - {"START"})) for values in types.values())

    assert ends == [("COMPLETE",)] * 40 + [("FAIL", "RUNNING")] + [("RUNNING",)] * 3


@pytest.mark.parametrize(
    ("job", "read", "written", "runs"),
    [
        ("commerce-cdc", ORDERS_TABLE, ORDERS_TOPIC, 1),
        ("commerce-cdc", CUSTOMERS_TABLE, CUSTOMERS_TOPIC, 1),
        ("order-enrichment", ORDERS_TOPIC, ENRICHED_TOPIC, 2),
        ("snowflake-orders-sink", ENRICHED_TOPIC, ENRICHED_TABLE, 1),
    ],
)
def test_heartbeats_count_rows_that_only_grow(job: str, read: Node, written: Node, runs: int) -> None:
    inputs = counts(job, "inputs", "inputFacets", read)
    outputs = counts(job, "outputs", "outputFacets", written)

    assert len(inputs) == len(outputs) == runs
    assert [len(values) for values in inputs] == [len(values) for values in outputs]
    for values in [*inputs, *outputs]:
        assert values == sorted(values)
        assert 0 < values[0] < values[-1]


def test_orders_are_sent_twice_from_the_rebalance_on_and_not_before() -> None:
    (read,) = counts("commerce-cdc", "inputs", "inputFacets", ORDERS_TABLE)
    (sent,) = counts("commerce-cdc", "outputs", "outputFacets", ORDERS_TOPIC)
    surplus = [topic - table for table, topic in zip(read, sent, strict=True)]

    assert surplus[0] == surplus[len(surplus) // 2] == 0
    assert surplus[-4] < surplus[-3] < surplus[-2] < surplus[-1]


def test_the_surplus_reaches_the_warehouse() -> None:
    (landed,) = counts("snowflake-orders-sink", "outputs", "outputFacets", ENRICHED_TABLE)
    per_report = [later - earlier for earlier, later in pairwise(landed)]

    assert per_report[-1] > 1.2 * per_report[0]


def test_a_rebalance_of_the_connector_is_reported_when_its_surplus_begins() -> None:
    stated = [event for event in EVENTS if "kafka_rebalance" in event["job"].get("facets", {})]
    assert [event["job"]["name"] for event in stated] == ["commerce-cdc"]
    rebalance = stated[0]["job"]["facets"]["kafka_rebalance"]
    assert rebalance["since"] < rebalance["until"] == stated[0]["eventTime"]
