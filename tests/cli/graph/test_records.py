"""Runs, statistics, schema versions and facets on the command line."""

import json

import pytest
from tests.events import RUNS, T0, dataset, facet, run_event, schema

from lineage_bridge.cli.client import Client
from lineage_bridge.openlineage.times import format_time

HOUR = 3_600_000_000
DAY = ("--since", format_time(T0), "--until", format_time(T0 + 24 * HOUR))


@pytest.fixture(scope="module", autouse=True)
def events(server):
    statistics = ("outputFacets", {"outputStatistics": facet(rowCount=70)})
    state = facet(lifecycleStateChange="CREATE")
    inside = {"parent": facet(run={"runId": RUNS[4]}, job={"namespace": "jobs", "name": "dag"})}
    bodies = [
        run_event("START", run=RUNS[0], job="recorded", run_facets=inside, outputs=[dataset("r1", schema=schema("id"))]),
        run_event(
            "FAIL",
            run=RUNS[0],
            job="recorded",
            time_us=T0 + HOUR,
            outputs=[dataset("r1", access=statistics, schema=schema("id", "x"), lifecycleStateChange=state)],
        ),
    ]
    with Client(server.url) as client:
        client.post_events(b"[" + b",".join(bodies) + b"]", "application/json")
    server.fold()


def test_runs(call, server):
    assert "FAIL" in call("runs", "jobs", "recorded", "--url", server.url).out
    assert RUNS[0] in call("runs", "jobs", "recorded", "--state", "fail", "--url", server.url).out
    assert call("runs", "jobs", "recorded", "--state", "ABORT", "--url", server.url).err == "no runs found\n"
    assert "unobserved" in call("runs", RUNS[4], "--tree", "--url", server.url).out
    assert f"parent run id: {RUNS[4]}" in call("runs", RUNS[0], "--url", server.url).out
    assert RUNS[0] in call("runs", RUNS[4], "--children", "--url", server.url).out
    assert call("runs", "jobs", "recorded", "--tree", "--url", server.url).code == 2


def test_the_lineage_of_a_run(call, server):
    assert "no upstream runs" in call("runs", RUNS[0], "--lineage", "upstream", "--url", server.url).err
    assert call("runs", "jobs", "recorded", "--lineage", "upstream", "--url", server.url).code == 2


def test_stats(call, server):
    assert "70" in call("stats", "ns", "r1", *DAY, "--url", server.url).out.split()
    result = json.loads(call("stats", "--job", "jobs", "recorded", "--bucket", "7200", *DAY, "--json", "--url", server.url).out)
    assert result["series"][0]["buckets"] == [{"start": format_time(T0), "rows": 70}]
    assert "no statistics" in call("stats", "ns", "r1", "--until", format_time(T0), "--url", server.url).err
    assert call("stats", "--url", server.url).code == 2


def test_schemas(call, server):
    out = call("schemas", "ns", "r1", "--url", server.url).out
    assert [line.split()[-1] for line in out.splitlines()[1:2]] == ["current"]
    assert "+ x INT" in call("schemas", "ns", "r1", "--diff", "--url", server.url).out
    assert call("schemas", "ns", "r1", "--before", "2026", "--url", server.url).code == 2


def test_facets_and_life(call, server):
    assert "recorded" in call("facets", "ns", "r1", "schema", "--url", server.url).out
    assert len(json.loads(call("facets", "ns", "r1", "schema", "--json", "--url", server.url).out)["history"]) == 2
    assert "no facet" in call("facets", "jobs", "recorded", "sql", "--kind", "job", "--url", server.url).err
    assert "CREATE" in call("life", "ns", "r1", "--url", server.url).out


def test_search(call, server):
    assert "column: x" in call("search", "x", "--in", "column", "--url", server.url).out
    assert "r1" in call("search", "r1", "--has", "schema", "--url", server.url).out
    assert "r1" in call("search", "--has", "schema", "--url", server.url).out
    assert "no dataset or job matches" in call("search", "zzz", "--url", server.url).err
    assert call("search", "--url", server.url).code == 2
