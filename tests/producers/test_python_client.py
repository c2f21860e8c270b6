"""The stock Python client, told by its environment alone where to send."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.producers.support import Column, Flow, Neighbourhood, kept_aside, name_of, names_of
from tests.serving import Served

pytestmark = [pytest.mark.spark, pytest.mark.servers]

EMIT = Path(__file__).with_name("emit.py")
TRANSPORTS = {
    "nothing-but-the-url": ({"OPENLINEAGE_URL": "{url}"}, "http", "compression=None"),
    "a-slash-at-the-end": ({"OPENLINEAGE_URL": "{url}/"}, "http", "compression=None"),
    "a-slash-at-the-end-of-the-path": ({"OPENLINEAGE_URL": "{url}", "OPENLINEAGE_ENDPOINT": "api/v1/lineage/"}, "http", "api/v1/lineage/"),
    "a-key": ({"OPENLINEAGE_URL": "{url}", "OPENLINEAGE_API_KEY": "secret"}, "http", "ApiKeyTokenProvider"),
    "gzip": (
        {
            "OPENLINEAGE__TRANSPORT__TYPE": "http",
            "OPENLINEAGE__TRANSPORT__URL": "{url}",
            "OPENLINEAGE__TRANSPORT__COMPRESSION": "gzip",
        },
        "http",
        "HttpCompression.GZIP",
    ),
    "async": ({"OPENLINEAGE_URL": "{url}", "OPENLINEAGE__TRANSPORT__TYPE": "async_http"}, "async_http", "compression=None"),
    "async-gzip": (
        {
            "OPENLINEAGE_URL": "{url}",
            "OPENLINEAGE__TRANSPORT__TYPE": "async_http",
            "OPENLINEAGE__TRANSPORT__COMPRESSION": "gzip",
        },
        "async_http",
        "HttpCompression.GZIP",
    ),
}


def emit(served: Served, job: str, folder: Path) -> dict[str, Any]:
    """Let the producer emit; the ids of its runs."""
    variables, transport, configured = TRANSPORTS[job]
    environment = {name: value.format(url=served.url) for name, value in variables.items()}
    done = subprocess.run([sys.executable, str(EMIT), job], env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(done.stdout)
    assert (answer["transport"], configured in answer["config"]) == (transport, True), answer["config"]
    return answer


@pytest.mark.parametrize("job", TRANSPORTS)
def test_what_the_client_emits_is_in_the_graph(served: Served, job: str, tmp_path: Path) -> None:
    before = kept_aside(served)
    ids = emit(served, job, tmp_path)
    assert kept_aside(served) == before
    here, by = f"db://{job}", ("sales", job)
    orders, rates, sales = (here, "orders"), (here, "währungskurse"), (here, "daily_sales")

    around = Neighbourhood(served.ask("/graph/neighbourhood", namespace=here, name="daily_sales", columns=True))
    assert around.flows == {Flow(orders, sales, by, "column"), Flow(rates, sales, by, "co-occurrence")}
    assert around.columns == {Column((*orders, "amount"), (*sales, "revenue"), by, ("DIRECT AGGREGATION",))}

    lineage = served.ask("/lineage/datasets/lineage", namespace=here, name="orders", direction="downstream")
    (event,) = lineage["events"]
    assert (event["eventType"], event["run"]["runId"], name_of(event["job"])) == ("COMPLETE", ids["run"], by)
    assert (names_of(event["inputs"]), names_of(event["outputs"])) == ({orders, rates}, {sales})
    assert (lineage["datasets_visited"], lineage["jobs_visited"]) == (2, 1)

    runs = served.ask("/graph/runs", namespace=by[0], name=by[1])["runs"]
    assert {run["run_id"]: run["state"] for run in runs} == {ids["run"]: "COMPLETE", ids["failed"]: "FAIL"}

    detail = served.ask("/lineage/datasets/detail", namespace=here, name="daily_sales")
    assert [field["name"] for field in detail["facets"]["schema"]["fields"]] == ["day", "revenue"]

    events = served.ask(f"/lineage/events/{ids['run']}")
    assert [event["eventType"] for event in events] == ["START", "COMPLETE"]
    assert events[1]["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 2
