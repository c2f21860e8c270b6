"""A real PySpark job with the real OpenLineage agent, which posts over HTTP to the running server."""

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.producers.support import Column, Flow, Name, Neighbourhood, Port, kept_aside, name_of, names_of
from tests.serving import Served, bare_environment
from tools.jars import fetch

from lineage_bridge.pipeline.streams.jars import default_cache, ivy_for

pytestmark = [pytest.mark.spark, pytest.mark.servers]

JOB = Path(__file__).with_name("nightly_orders.py")
NAMESPACE = "spark-agent"
APPLICATION = (NAMESPACE, "nightly_orders")
FIRST = (NAMESPACE, "nightly_orders.adaptive_spark_plan.shop_revenue")
SECOND = (NAMESPACE, "nightly_orders.execute_insert_into_hadoop_fs_relation_command.shop_report")
"""The agent names a job after the application, Spark's plan, and the end of the path that is written."""


@dataclass(frozen=True)
class Shop:
    """The folder in which the job has run."""

    folder: Path

    def name(self, file: str) -> Name:
        """A file or folder as the agent names it."""
        return "file", str(self.folder / file)

    def column(self, file: str, field: str) -> tuple[str, str, str]:
        return *self.name(file), field


def submit_arguments(url: str, scratch: Path) -> str:
    """What turns an ordinary job into a producer, with what keeps Spark small."""
    (agent,) = fetch("agent", default_cache(), ivy_for(os.environ))
    settings = {
        "spark.jars": agent,
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.openlineage.transport.type": "http",
        "spark.openlineage.transport.url": url,
        "spark.openlineage.transport.endpoint": "api/v1/lineage",
        "spark.openlineage.namespace": NAMESPACE,
        "spark.master": "local[1]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.local.dir": scratch,
        "spark.sql.shuffle.partitions": 1,
        "spark.ui.enabled": "false",
    }
    return shlex.join([*(word for name, value in settings.items() for word in ("--conf", f"{name}={value}")), "pyspark-shell"])


@pytest.fixture(scope="module")
def shop(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    base = tmp_path_factory.mktemp("producers")
    folder = base / "shop"
    folder.mkdir()
    (folder / "orders.csv").write_text("order_id,customer_id,amount,note\n1,10,5.5,\n2,11,7,gift\n3,10,2,\n")
    (folder / "customers.csv").write_text("customer_id,country,email\n10,DE,a@example.org\n11,NL,b@example.org\n")
    arguments = submit_arguments(served.url, base / "scratch")
    environment = {**bare_environment(), "PYSPARK_SUBMIT_ARGS": arguments, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    before = kept_aside(served)
    done = subprocess.run([sys.executable, str(JOB), str(folder)], env=environment, cwd=base, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert kept_aside(served) == before
    return Shop(folder)


def around(served: Served, shop: Shop, file: str, direction: str) -> Neighbourhood:
    namespace, name = shop.name(file)
    return Neighbourhood(
        served.ask("/graph/neighbourhood", namespace=namespace, name=name, direction=direction, depth=9, columns=True, kind="dataset")
    )


def test_the_report_comes_from_both_files_by_way_of_the_parquet(served: Served, shop: Shop) -> None:
    namespace, name = shop.name("report")
    answer = served.ask("/lineage/datasets/lineage", namespace=namespace, name=name, direction="upstream")
    assert (answer["datasets_visited"], answer["jobs_visited"], answer["truncated"]) == (4, 2, "")
    assert {
        name_of(event["job"]): (event["eventType"], names_of(event["inputs"]), names_of(event["outputs"])) for event in answer["events"]
    } == {
        FIRST: ("COMPLETE", {shop.name("orders.csv"), shop.name("customers.csv")}, {shop.name("revenue")}),
        SECOND: ("COMPLETE", {shop.name("revenue")}, {shop.name("report")}),
    }


def test_flows_are_the_same_from_everywhere(served: Served, shop: Shop) -> None:
    orders = Flow(shop.name("orders.csv"), shop.name("revenue"), FIRST, "column")
    customers = Flow(shop.name("customers.csv"), shop.name("revenue"), FIRST, "column")
    report = Flow(shop.name("revenue"), shop.name("report"), SECOND, "column")
    assert around(served, shop, "report", "upstream").flows == {orders, customers, report}
    assert around(served, shop, "orders.csv", "both").flows == {orders, report}
    found = around(served, shop, "revenue", "both")
    assert found.flows == {orders, customers, report}
    assert found.ports == {Port(FIRST, "output", shop.name("revenue")), Port(SECOND, "input", shop.name("revenue"))}


def test_columns_come_from_columns_and_what_is_not_used_comes_nowhere(served: Served, shop: Shop) -> None:
    revenue = shop.column("revenue", "")
    assert around(served, shop, "report", "upstream").columns == {
        Column(shop.column("orders.csv", "amount"), shop.column("revenue", "revenue"), FIRST, ("DIRECT AGGREGATION",)),
        Column(shop.column("customers.csv", "country"), shop.column("revenue", "country"), FIRST, ("DIRECT IDENTITY",)),
        Column(shop.column("customers.csv", "country"), revenue, FIRST, ("INDIRECT GROUP_BY",)),
        Column(shop.column("orders.csv", "customer_id"), revenue, FIRST, ("INDIRECT FILTER", "INDIRECT JOIN")),
        Column(shop.column("customers.csv", "customer_id"), revenue, FIRST, ("INDIRECT FILTER", "INDIRECT JOIN")),
        Column(shop.column("revenue", "revenue"), shop.column("report", "gross"), SECOND, ("DIRECT TRANSFORMATION",)),
        Column(shop.column("revenue", "country"), shop.column("report", "country"), SECOND, ("DIRECT IDENTITY",)),
    }


@pytest.mark.usefixtures("shop")
def test_runs_have_ended_under_the_application(served: Served) -> None:
    (application,) = runs(served, APPLICATION)
    assert (application["state"], application["inputs"], application["outputs"]) == ("COMPLETE", [], [])
    for job in (FIRST, SECOND):
        (run,) = runs(served, job)
        assert (run["state"], "conflict" in run, "started_inferred" in run) == ("COMPLETE", False, False)
        assert application["started_at"] < run["started_at"] < run["ended_at"] <= application["ended_at"]
        assert (run["parent_run_id"], name_of(run["parent_job"])) == (application["run_id"], APPLICATION)


def runs(served: Served, job: Name) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.ask("/graph/runs", namespace=job[0], name=job[1])["runs"]
    return found


def test_schemas_are_known(served: Served, shop: Shop) -> None:
    assert {
        file: [(field["name"], field["type"]) for field in served.ask("/lineage/datasets/detail", **named)["facets"]["schema"]["fields"]]
        for file, named in ((file, {"namespace": "file", "name": str(shop.folder / file)}) for file in ("orders.csv", "revenue"))
    } == {
        "orders.csv": [("order_id", "integer"), ("customer_id", "integer"), ("amount", "double"), ("note", "string")],
        "revenue": [("country", "string"), ("revenue", "double")],
    }
