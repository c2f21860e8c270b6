"""Everything that real producers were recorded to send goes in without a rejection, and what it says is what the graph says.

Recorded: Debezium 3.5.0, Flink 2.3.0, Spark 3.5.9, 4.1.4 and 4.2.0 with their OpenLineage agents, and the events of Marquez's demo together
with what Marquez answered to them.
"""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.producers.support import Name, kept_aside, name_of, names_of
from tests.serving import Served

pytestmark = [pytest.mark.spark, pytest.mark.servers]

SAMPLES = Path(__file__).parent.parent / "samples"
FILES = sorted(path for path in SAMPLES.rglob("*.ndjson") if not path.name.startswith("recorded-"))
MARQUEZ = SAMPLES / "marquez" / "food_delivery_lineage.json"

POSTGRES, KAFKA, OTHER_KAFKA = "postgres://localhost:5433", "kafka://localhost:9092", "kafka://localhost:19092"
TRIED_AGAIN = "01a1fb66-026d-73ec-8e44-5de0b5518bf9"
FAILED_AND_COMPLETE = "01a1fb7a-ba96-7d9d-a60a-273a534579a5"


def recorded(file: str = "") -> list[dict[str, Any]]:
    """The events of the files whose path contains a text."""
    return [json.loads(line) for path in FILES if file in str(path.relative_to(SAMPLES)) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def sent(served: Served) -> dict[str, Any]:
    """What became of the events."""
    before = kept_aside(served)
    outcome: dict[str, Any] = json.loads(served.command("send", "--json", "--wait", *FILES))
    assert kept_aside(served) == before
    return outcome


@pytest.fixture(scope="module")
def flows(served: Served, sent: dict[str, Any]) -> dict[Name, set[tuple[Name, Name, str]]]:
    """Job to its flows: source, target, evidence."""
    assert sent["accepted"]
    found: dict[Name, set[tuple[Name, Name, str]]] = {}
    for line in served.export("flow"):
        ends = (name_of(line["source"]["dataset"]), name_of(line["target"]["dataset"]), line["evidence"])
        found.setdefault(name_of(line["job"]), set()).add(ends)
    return found


def test_no_event_is_rejected(sent: dict[str, Any]) -> None:
    assert (len(recorded()), sent["accepted"], sent["rejected"]) == (368, 368, 0)
    repairs = Counter((Path(event["source"]).name, repair["code"]) for event in sent["events"] for repair in event.get("repairs", []))
    # Flink's listener gives its generator and its printer an empty namespace: two jobs, an input and an output each, in both modes.
    assert repairs == {
        ("flink_openlineage_events_attached.ndjson", "empty_name"): 4,
        ("flink_openlineage_events_detached.ndjson", "empty_name"): 4,
    }


@pytest.mark.usefixtures("sent")
def test_every_event_is_sent_again_as_it_was_sent_but_for_a_password(served: Served) -> None:
    by_run: dict[str, list[str]] = {}
    for event in recorded():
        by_run.setdefault(event["run"]["runId"], []).append(
            json.dumps(event).replace("food_delivery:food_delivery@", "food_delivery:********@")
        )
    served.catch_up()
    for run, events in by_run.items():
        assert sorted(map(json.dumps, served.client.get(f"/api/v1/lineage/events/{run}"))) == sorted(events)


# Debezium


def test_tables_flow_to_topics_though_no_event_of_debezium_names_both(flows: dict[Name, set[tuple[Name, Name, str]]]) -> None:
    assert not [event for event in recorded("debezium/") if event["inputs"] and event["outputs"]]
    tables = [(POSTGRES, "shop.public.orders"), (POSTGRES, "shop.public.customers")]
    copies = [(POSTGRES, "shop.public.copy_orders"), (POSTGRES, "shop.public.copy_customers")]
    first = [(KAFKA, "shopcdc.public.orders"), (KAFKA, "shopcdc.public.customers")]
    third = [(KAFKA, "cdc3.public.orders"), (KAFKA, "cdc3.public.customers")]
    assert {job: found for job, found in flows.items() if job[0] == "cdc-jobs"} == {
        ("cdc-jobs", "shopcdc.0"): together(tables, first),
        ("cdc-jobs", "cdc3.0"): together(tables, third),
        ("cdc-jobs", "copy-out.0"): together(third, copies),
    }


def together(sources: list[Name], targets: list[Name]) -> set[tuple[Name, Name, str]]:
    return {(source, target, "co-occurrence") for source, target in product(sources, targets)}


@pytest.mark.usefixtures("sent")
def test_a_copied_table_leads_back_through_both_connectors(served: Served) -> None:
    answer = served.ask("/lineage/datasets/lineage", namespace=POSTGRES, name="shop.public.copy_orders")
    assert [(name_of(event["job"])[1], event["eventType"]) for event in answer["events"]] == [
        ("cdc3.0", "RUNNING"),
        ("copy-out.0", "COMPLETE"),
    ]
    assert (answer["datasets_visited"], answer["jobs_visited"]) == (5, 2)


@pytest.mark.usefixtures("sent")
def test_a_failure_that_debezium_recovered_from_is_not_the_end(served: Served) -> None:
    types = [event["eventType"] for event in recorded("debezium/") if event["run"]["runId"] == TRIED_AGAIN]
    assert types.count("FAIL") == 28
    assert types[-7:] == ["RUNNING"] * 6 + ["COMPLETE"]
    run = one_run(served, TRIED_AGAIN)
    assert (run["state"], run["conflict"], run["ended_at"]) == ("COMPLETE", True, "2026-11-20T23:59:24.813880Z")


@pytest.mark.usefixtures("sent")
def test_runs_are_in_the_state_their_events_say(served: Served) -> None:
    served.catch_up()
    expected = {
        "01a1fb62-883d-7e47-9f65-8da98960457e": "COMPLETE",  # Debezium, stopped
        "01a1fb75-2637-713a-8705-7b2730a83910": "RUNNING",  # Debezium, never stopped
        "01a1fb6f-7d4d-77b6-8f86-4cd0da1b1ad5": "START",  # Flink attached: nothing follows a START
        "01a1fb70-c289-7ae2-8551-567c79419d60": "ABORT",  # Flink, cancelled
        "01a1fb70-d49b-7809-92f8-41c710de7a3e": "COMPLETE",  # Flink, bounded
        "01a1fb70-d908-7db0-941d-59805209b7b9": "FAIL",  # Flink, failed
        "01a1fb7b-7b7b-7dbc-8c1d-09b97943a3ed": "COMPLETE",  # Spark 3.5.9 does not tell that the write failed
        "01a1fb71-f63e-7fd2-8fb8-0e8264bd47ad": "COMPLETE",  # Spark with Delta: a COMPLETE is all there is
        "182a9eaf-881a-4d49-860c-f7e260b8bf60": "COMPLETE",  # Marquez's demo
    }
    assert {run: one_run(served, run)["state"] for run in expected} == expected


def one_run(served: Served, run: str) -> dict[str, Any]:
    (found,) = served.client.get(f"/api/v1/graph/runs/{run}")["runs"]
    return dict(found)


# Flink


def test_flinks_topics_flow_and_are_not_one_with_its_tables(served: Served, flows: dict[Name, set[tuple[Name, Name, str]]]) -> None:
    generator = ("", "default_catalog.default_database.gen")
    assert {job: found for job, found in flows.items() if job[0] == "flink-jobs"} == {
        ("flink-jobs", "orders_pipeline"): together([(KAFKA, "orders")], [(KAFKA, "orders-doubled"), (KAFKA, "orders-agg")]),
        ("flink-jobs", "bounded_job"): together([generator], [("", "default_catalog.default_database.pr")]),
        ("flink-jobs", "failing_job"): together([generator], [("", "default_catalog.default_database.bad")]),
    }
    for topic, table in (("orders", "orders_src"), ("orders-doubled", "orders_out"), ("orders-agg", "orders_agg")):
        detail = served.ask("/lineage/datasets/detail", namespace=KAFKA, name=topic)
        (link,) = detail["facets"]["symlinks"]["identifiers"]
        assert (link["type"], link["name"]) == ("TABLE", f"default_catalog.default_database.{table}")
        assert (detail["canonical"]["name"], detail["aliases"]) == (topic, [])


@pytest.mark.usefixtures("sent")
def test_flinks_end_without_datasets_takes_nothing_back(served: Served) -> None:
    (end,) = [event for event in recorded("detached") if event["eventType"] == "ABORT"]
    assert "inputs" not in end
    detail = served.ask("/lineage/jobs/detail", namespace="flink-jobs", name="orders_pipeline")
    assert (detail["latest_run"]["run_id"], detail["latest_run"]["state"]) == (end["run"]["runId"], "ABORT")
    assert names_of(detail["latest_inputs"]) == {(KAFKA, "orders")}
    assert names_of(detail["latest_outputs"]) == {(KAFKA, "orders-doubled"), (KAFKA, "orders-agg")}


# Spark


@pytest.mark.usefixtures("sent")
def test_a_complete_behind_sparks_fail_does_not_hide_it(served: Served) -> None:
    types = [event["eventType"] for event in recorded("without_delta_4.1.4") if event["run"]["runId"] == FAILED_AND_COMPLETE]
    assert types == ["START", "RUNNING", "FAIL", "COMPLETE"]
    run = one_run(served, FAILED_AND_COMPLETE)
    assert (run["state"], run["conflict"], run["ended_at"]) == ("FAIL", True, "2026-11-21T00:21:27.359000Z")


@pytest.mark.parametrize("version", ["3.5.9", "4.1.4"])
def test_spark_without_delta(flows: dict[Name, set[tuple[Name, Name, str]]], version: str) -> None:
    orders, customers = (file(f"o2{version}", name) for name in ("o.csv", "c.csv"))
    expected = {
        "1_join_agg": {(orders, "column"), (customers, "column")},
        "2_agg": {(orders, "column")},
        "3_join": {(orders, "column"), (customers, "column")},
        "4_plain": {(orders, "column")},
        "5_join_agg_again": {(orders, "column"), (customers, "column")},
        # Its plan failed before columns could be told.
        "6_bad": {(orders, "co-occurrence")},
    }
    assert sources_under(flows, "lab", f"o2{version}") == expected


@pytest.mark.parametrize("version", ["4.1.4", "4.2.0"])
def test_spark_with_delta(flows: dict[Name, set[tuple[Name, Name, str]]], version: str) -> None:
    orders = file(f"ol{version}", "orders.csv")
    assert sources_under(flows, "lab_spark", f"ol{version}") == {
        "wh/enriched": {(orders, "column")},
        # MERGE names its target as its only input; the columns name the other.
        "dord": {(orders, "column"), (file(f"ol{version}", "dord"), "column")},
        "bad": {(orders, "co-occurrence")},
        # What foreachBatch writes is said in one run, what it reads in another: the two belong together.
        "fb": {((OTHER_KAFKA, "lat"), "stitched")},
    }
    assert flows["lab_spark", "nightly_orders.write_to_data_source_v2"] == together([(OTHER_KAFKA, "lat")], [(OTHER_KAFKA, "olout")])


def file(folder: str, name: str) -> Name:
    return "file", f"/srv/trial/work/{folder}/{name}"


def sources_under(flows: dict[Name, set[tuple[Name, Name, str]]], namespace: str, folder: str) -> dict[str, set[tuple[Name, str]]]:
    """What is written under a folder, with its sources and their evidence."""
    found: dict[str, set[tuple[Name, str]]] = {}
    start = file(folder, "")[1]
    for source, target, evidence in set().union(*(some for job, some in flows.items() if job[0] == namespace)):
        if target[1].startswith(start):
            found.setdefault(target[1].removeprefix(start), set()).add((source, evidence))
    return found


@pytest.mark.usefixtures("sent")
def test_a_table_of_sparks_catalog_is_one_with_its_folder(served: Served) -> None:
    for version in ("4.1.4", "4.2.0"):
        table = served.ask("/lineage/datasets/detail", namespace=f"file:/srv/trial/work/ol{version}/wh", name="default.enriched")
        assert name_of(table["canonical"]) == file(f"ol{version}", "wh/enriched")
    aliases = {name_of(line["node"]) for line in served.export("alias")}
    assert {node for node in aliases if "/srv/trial/" in node[0]} == {
        (f"file:/srv/trial/work/ol{version}/wh", "default.enriched") for version in ("4.1.4", "4.2.0")
    }


# Marquez


@pytest.fixture(scope="module")
def marquez() -> dict[str, set[tuple[str, str]]]:
    """Pairs of node ids that data goes between, by call."""
    answers: dict[str, list[dict[str, Any]]] = json.loads(MARQUEZ.read_text())
    return {path.partition("?")[0]: set(data_goes(path, nodes)) for path, nodes in answers.items()}


def data_goes(path: str, nodes: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        yield from ((edge["origin"], edge["destination"]) for edge in node["outEdges"])
        # Edges into a column are told with their ends swapped.
        swapped = "column-lineage" in path
        yield from ((edge["destination"], edge["origin"]) if swapped else (edge["origin"], edge["destination"]) for edge in node["inEdges"])


@pytest.mark.usefixtures("sent")
def test_jobs_read_and_write_what_marquez_says(served: Served, marquez: dict[str, set[tuple[str, str]]]) -> None:
    found = set()
    for job in served.ask("/lineage/jobs", namespace="food_delivery"):
        detail = served.client.get("/api/v1/lineage/jobs/detail", namespace=job["namespace"], name=job["name"])
        by = f"job:food_delivery:{job['name']}"
        found |= {(f"dataset:{namespace}:{name}", by) for namespace, name in names_of(detail["latest_inputs"])}
        found |= {(by, f"dataset:{namespace}:{name}") for namespace, name in names_of(detail["latest_outputs"])}
    assert found == marquez["/api/v1/lineage"]
    assert len(found) == 27


@pytest.mark.usefixtures("sent")
def test_columns_come_from_where_marquez_says_and_from_where_it_keeps_silent(
    served: Served, marquez: dict[str, set[tuple[str, str]]]
) -> None:
    found = {
        (column_id(line["source"]), column_id(line["target"]))
        for line in served.export("column_flow")
        if line["job"]["namespace"] == "food_delivery"
    }
    known = marquez["/api/v1/column-lineage"]
    assert known <= found
    here = "datasetField:food_delivery:public."
    assert {(source.removeprefix(here), target.removeprefix(here)) for source, target in found - known} == {
        # Marquez drops columns that the schema of the target does not list.
        ("categories:id", "orders_7_days:category_id"),
        ("menu_items:category_id", "orders_7_days:category_id"),
        ("menu_items:id", "orders_7_days:menu_item_id"),
        ("orders:menu_item_id", "orders_7_days:menu_item_id"),
        ("menu_item_id:category_id", "delivery_7_days:category_id"),
        ("restaurants:menu_item_id", "delivery_7_days:menu_item_id"),
        # These lie a hop beyond what it was asked for.
        ("top_delivery_times:order_placed_on", "popular_orders_day_of_week:order_day_of_week"),
        ("top_delivery_times:order_placed_on", "popular_orders_day_of_week:order_placed_on"),
    }


def column_id(column: dict[str, str]) -> str:
    return f"datasetField:{column['namespace']}:{column['name']}:{column['field']}"
