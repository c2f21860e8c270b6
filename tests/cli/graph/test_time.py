"""Earlier times, differences, drift, ended flows and liveness on the command line."""

import json
import time
import uuid

import pytest
from tests.events import dataset, facet, job_event, run_event, schema

from lineage_bridge.cli.client import Client
from lineage_bridge.openlineage.times import format_time

RUNS = [str(uuid.UUID(int=200 + number)) for number in range(5)]
HOUR = 3_600_000_000
DAY = 24 * HOUR
STREAM = {"jobType": facet(processingType="STREAMING", integration="FLINK")}


@pytest.fixture(scope="module")
def now():
    return time.time_ns() // 1000


def send(server, *bodies):
    with Client(server.url) as client:
        client.post_events(b"[" + b",".join(bodies) + b"]", "application/json")
    server.fold()


@pytest.fixture(scope="module", autouse=True)
def events(server, now):
    send(
        server,
        job_event("nightly", time_us=now - 9 * DAY, inputs=[dataset("old"), dataset("never")], outputs=[dataset("report")], producer="p"),
        run_event(job="nightly", run=RUNS[1], time_us=now - 8 * DAY, inputs=[dataset("old")], outputs=[dataset("report")]),
        run_event(job="nightly", run=RUNS[2], time_us=now - HOUR, inputs=[dataset("new")], outputs=[dataset("report")]),
        run_event(
            "START", job="enrich", run=RUNS[3], time_us=now - HOUR, inputs=[dataset("topic")], outputs=[dataset("rich")], job_facets=STREAM
        ),
        run_event("RUNNING", job="generate", run=RUNS[4], time_us=now, outputs=[dataset("made")], job_facets=STREAM),
    )


def cells(line):
    return line.split()


def test_lineage_as_of_an_earlier_time(call, server, now):
    then = format_time(now - 5 * DAY)
    question = ("lineage", "ns", "report", "--url", server.url)
    out = call(*question, "--at", then).out
    assert "old" in out
    assert "new" not in out
    assert "new" in call(*question).out
    assert f"as of {then}, exact to the day" in call(*question, "--at", then).err
    assert call(*question, "--at", "yesterday").code == 2


def test_diff_around_a_dataset(call, server, now):
    question = ("diff", "ns", "report", "--since", format_time(now - 5 * DAY), "--url", server.url)
    lines = [cells(line) for line in call(*question).out.splitlines()]
    assert lines[0] == ["change", "what", "from", "by", "to", "label"]
    assert ["appeared", "dataset", "ns", "new"] in lines
    assert ["appeared", "flow", "ns", "new", "jobs", "nightly", "ns", "report", "current"] in lines
    assert not any("old" in line and line[0] == "disappeared" for line in lines)
    assert call(*question, "--until", format_time(now - 4 * DAY)).err.startswith("nothing changed\n")
    assert "`until` is before `since`" in call(*question, "--until", format_time(now - 6 * DAY)).err


def test_diff_of_all_jobs_in_pages(call, server, now):
    question = ("diff", "--since", format_time(now - 9 * DAY - HOUR), "--jobs", "jobs", "--limit", "1", "--url", server.url)
    first = call(*question)
    assert ["appeared", "input", "ns", "topic", "jobs", "enrich", "current", "(silent)"] in [cells(line) for line in first.out.splitlines()]
    assert "continue with --offset" in first.err
    assert json.loads(call(*question, "--json").out)["changes"]


def test_drift(call, server):
    question = ("drift", "jobs", "--job", "nightly", "--url", server.url)
    lines = [cells(line) for line in call(*question).out.splitlines()]
    assert lines[0] == ["job", "drift", "what", "name", "since"]
    drifts = [(" ".join(line[2:5]), line[5], " ".join(line[6:-2])) for line in lines[1:]]
    assert ("declared, not observed", "input", "ns never") in drifts
    assert ("declared, not observed", "flow", "ns never -> ns report") in drifts
    assert ("observed, not declared", "input", "ns new") in drifts
    assert call("drift", "jobs", "--job", "enrich", "--url", server.url).err.startswith(
        "no drift in 0 declared jobs: there is nothing to compare"
    )


def test_ending_a_flow_and_undoing_it(call, server):
    order = ("end", "jobs", "nightly", "--source", "ns", "new", "--url", server.url)
    question = ("lineage", "ns", "report", "--url", server.url)
    assert call(*order).out == "the flows are declared as ended\n"
    server.fold()
    assert "new" not in call(*question).out
    assert "[ended" in next(line for line in call(*question, "--ended").out.splitlines() if "new" in line)
    assert call(*order, "--undo").out == "the flows are no longer declared as ended\n"
    server.fold()
    assert "new" in call(*question).out
    assert call("end", "jobs", "nightly", "--url", server.url).code == 2


def test_liveness_of_streams(call, server, now):
    url = ("--url", server.url)
    (line,) = (line for line in call("lineage", "ns", "rich", *url).out.splitlines() if "topic" in line)
    assert line.endswith("topic  ns  [silent]")
    (port,) = (line for line in call("lineage", "ns", "rich", "--direction", "downstream", *url).out.splitlines()[:1])
    assert "silent" not in port
    assert "START (silent)" in call("runs", "jobs", "enrich", *url).out
    assert call("runs", RUNS[3], *url).out.splitlines()[0].endswith(": START (silent)")
    changed = call("diff", "ns", "rich", "--since", format_time(now - DAY), *url).out
    assert any("flow" in cells(line) and line.rstrip().endswith("current (silent)") for line in changed.splitlines())
    (source,) = (line for line in call("lineage", "ns", "made", *url).out.splitlines() if "generate" in line)
    assert source.endswith("[alive]")


def test_the_latest_schema_changes_of_all_datasets(call, server, now):
    asked = ("schemas", "--url", server.url)
    assert "no schema changed since" in call(*asked).err
    for hours, columns in ((3, ("id", "phone")), (2, ("id", "email"))):
        written = dataset("contacts", schema=schema(*columns))
        send(server, run_event("RUNNING", job="crm", run=RUNS[0], time_us=now - hours * HOUR, outputs=[written]))
    lines = call(*asked).out.splitlines()
    assert (lines[0].endswith("  ns contacts"), lines[1:]) == (True, ["  + email INT", "  - phone INT"])
    assert json.loads(call(*asked, "--json", "--limit", "1").out)["changes"][0]["dataset"]["name"] == "contacts"
    assert "no schema changed since" in call(*asked, "--since", format_time(now - HOUR)).err
    for wrong in (("ns",), ("--diff",), ("ns", "contacts", "--since", format_time(now))):
        assert call(*asked, *wrong).code == 2
