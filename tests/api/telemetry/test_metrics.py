"""Metrics are read by Prometheus' own parser, and everything that the dashboard and the alerts ask for is there."""

import json
import re
from pathlib import Path

import msgspec
import yaml
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as prometheus_text
from tests.api.support import LINEAGE, NOW, Server
from tests.events import T0, run_event
from tests.inputs.test_input_ledger import batch, records

from lineage_bridge.model.sources import InputStatus, SourceState
from lineage_bridge.ports.inputs import InputsReport

ROOT = Path(__file__).parents[3]
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
NAME = re.compile(r"\b((?:lineage_bridge|process)_[a-z_]+)")
PIPELINE = {
    "state": "running",
    "pid": 7,
    "started_us": NOW - 5_000_000,
    "beat_us": NOW,
    "batches": 3,
    "events": 40,
    "left": 2,
    "commit_us": 1_500_000,
    "committed_us": NOW - 1_000_000,
    "freshness_us": 250_000,
}


def scrape(server: Server, accept: str = "text/plain") -> dict[str, Metric]:
    answer = server.client.get("/metrics", headers={"accept": accept})
    assert answer.status_code == 200
    parse = open_metrics if answer.headers["content-type"].startswith("application/openmetrics-text") else prometheus_text
    return {family.name: family for family in parse(answer.text)}


def values(family: Metric, name: str = "") -> dict[tuple[str, ...], float]:
    """Label values in the order of their names, to the value of the sample."""
    sample_name = name or (f"{family.name}_total" if family.type == "counter" else family.name)
    samples = [sample for sample in family.samples if sample.name == sample_name]
    return {tuple(sample.labels[label] for label in sorted(sample.labels)): sample.value for sample in samples}


def filled(server: Server) -> Server:
    server.parts.pipeline = PIPELINE
    server.sources.add("broker", "kafka", {"bootstrap_servers": "localhost:9092"}, replace=False)
    server.source_repository.save_poll("broker", _polled(server), None, [("/api/v1/lineage", b"{}")])
    server.inputs.add("topic", "kafka", {"bootstrap_servers": "localhost:9092", "topics": ["lineage"]}, replace=False)
    server.ledger.append("topic", batch(records(4, run_event(job="a"), name="topic"), records(5, b"bad", name="topic"), session="session"))
    files = InputStatus("reading", lag_s=7.5, lag_files=2, lag_bytes=300, problems=("one",), read=9, skipped=1, lost=3, filtered=4)
    server.parts.report = InputsReport(7, NOW, {"topic": msgspec.structs.replace(files, lag_records=12)})
    server.client.post(LINEAGE, content=run_event())
    server.client.post(LINEAGE, content=b"{}")
    server.client.post(LINEAGE, content=run_event().replace(b"COMPLETE", b"complete"))
    return server


def _polled(server: Server) -> SourceState:
    state = server.source_repository.states()["broker"]
    return msgspec.structs.replace(state, polls=state.polls + 1, events=6, succeeded_us=NOW, took_us=2_000_000)


def test_events_are_counted_by_outcome_and_reason(server: Server) -> None:
    families = scrape(filled(server))
    assert values(families["lineage_bridge_ingest_events"]) == {
        ("http", "accepted"): 1,
        ("http", "repaired"): 1,
        ("http", "rejected"): 1,
    }
    assert values(families["lineage_bridge_ingest_rejected_events"]) == {("http", "no_subject"): 1}
    assert values(families["lineage_bridge_ingest_event_bytes"])["http",] > 2 * len(run_event())


def test_requests_are_counted_by_their_route(server: Server) -> None:
    filled(server)
    for path in ("/api/v1/graph/runs/one", "/api/v1/graph/runs/two", "/api/v1/nowhere"):
        server.client.get(path)
    families = scrape(server)
    counted = values(families["lineage_bridge_http_requests"])
    assert counted["POST", "/api/v1/lineage", "201"] == 2
    assert counted["POST", "/api/v1/lineage", "422"] == 1
    assert counted["GET", "/api/v1/graph/runs/{run_id:path}", "503"] == 2
    assert counted["GET", "unmatched", "404"] == 1
    seconds = families["lineage_bridge_http_request_duration_seconds"]
    assert values(seconds, f"{seconds.name}_count")["/api/v1/lineage",] == 3
    assert values(families["lineage_bridge_http_requests_in_progress"]) == {(): 1}


def test_the_state_of_the_parts_is_read_when_metrics_are(server: Server) -> None:
    families = scrape(filled(server))
    assert values(families["lineage_bridge_ready"]) == {(): 0}
    assert values(families["lineage_bridge_part_up"]) == {("intake",): 1, ("log",): 1, ("store",): 0, ("pipeline",): 1, ("inputs",): 1}
    assert values(families["lineage_bridge_pipeline_events"]) == {(): 40}
    assert values(families["lineage_bridge_pipeline_commit_seconds"]) == {(): 1.5}
    assert values(families["lineage_bridge_pipeline_freshness_seconds"]) == {(): 0.25}
    assert values(families["lineage_bridge_lag_bytes"])[()] > 100
    assert values(families["lineage_bridge_source_up"]) == {("kafka", "broker"): 1}
    assert values(families["lineage_bridge_source_polls"]) == {("kafka", "broker"): 1}
    assert values(families["lineage_bridge_source_poll_duration_seconds"]) == {("kafka", "broker"): 2}
    assert values(families["lineage_bridge_store_size_bytes"]) == {("graph",): 4096, ("state",): 8192}
    assert values(families["lineage_bridge_outbox_messages"]) == {(): 1}
    assert values(families["lineage_bridge_questions_running"]) == {
        ("light",): 0,
        ("heavy",): 0,
        ("whole-graph",): 0,
        ("waiting",): 0,
        ("streaming",): 0,
    }
    server.fold()
    families = scrape(server)
    assert values(families["lineage_bridge_ready"]) == {(): 1}
    assert values(families["lineage_bridge_lag_bytes"]) == {(): 0}


def test_each_input_has_its_lag_rate_outcomes_and_last_record(server: Server) -> None:
    families = scrape(filled(server))
    topic = ("topic", "kafka")
    found = {name: values(families[f"lineage_bridge_input_{name}"]) for name in ("lag_records", "lag_seconds", "lag_files", "lag_bytes")}
    assert found == {"lag_records": {topic: 12}, "lag_seconds": {topic: 7.5}, "lag_files": {topic: 2}, "lag_bytes": {topic: 300}}
    counted = {name: values(families[f"lineage_bridge_input_{name}"]) for name in ("records", "skipped_records", "lost_records")}
    assert counted == {"records": {topic: 9}, "skipped_records": {topic: 1}, "lost_records": {topic: 3}}
    assert values(families["lineage_bridge_input_filtered_events"]) == {topic: 4}
    assert values(families["lineage_bridge_input_problems"]) == values(families["lineage_bridge_input_up"]) == {topic: 1}
    assert values(families["lineage_bridge_input_events"]) == {(*topic, "accepted"): 1, (*topic, "not_json"): 1}
    assert values(families["lineage_bridge_input_last_record_timestamp_seconds"]) == {topic: T0 / 1e6}
    server.inputs.pause("topic", paused=True)
    assert values(scrape(server)["lineage_bridge_input_paused"]) == {topic: 1}


def test_both_text_formats_have_the_same_metrics(server: Server) -> None:
    filled(server)
    text, open_text = (
        {sample.name for family in scrape(server, accept).values() for sample in family.samples} for accept in ("text/plain", OPEN_METRICS)
    )
    assert text == open_text


def test_what_the_dashboard_and_the_alerts_ask_for_is_there(server: Server) -> None:
    families = scrape(filled(server))
    server.fold()
    families |= scrape(server)
    known = {sample.name for family in families.values() for sample in family.samples}
    folder = ROOT / "docs" / "monitoring"
    dashboard = json.loads((folder / "grafana.json").read_text())
    targets = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    rules = [rule["expr"] for group in yaml.safe_load((folder / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
    asked = {name for expression in (*targets, *rules) for name in NAME.findall(expression)}
    assert len(targets) >= 30
    assert asked - known == set()
    everything = {name for name in known if name.startswith("lineage_bridge_input_")}
    assert everything - asked == {"lineage_bridge_input_lag_bytes"}, "metrics of inputs that nobody looks at"


def test_the_page_about_monitoring_lists_every_metric(server: Server) -> None:
    page = (ROOT / "docs" / "monitoring.md").read_text()
    listed = set(re.findall(r"`(lineage_bridge_[a-z_]+)`", page))
    families = scrape(filled(server))
    server.fold()
    families |= scrape(server)
    suffix = {"counter": "_total", "info": "_info"}
    own = {name + suffix.get(family.type, "") for name, family in families.items() if name.startswith("lineage_bridge_")}
    assert listed == own - {"lineage_bridge_build"} | {"lineage_bridge_build_info"}


def test_without_a_pipeline_its_metrics_are_absent(server: Server) -> None:
    server.parts.pipeline = None
    families = scrape(server)
    assert [name for name in families if "pipeline" in name] == []
    assert values(families["lineage_bridge_part_up"])["pipeline",] == 0
