"""Traces: what each process records of its work, how a trace goes from one to the next, and that none are recorded by default."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from lineage_bridge import tracing
from lineage_bridge.errors import ConfigError, NotFoundError
from lineage_bridge.tracing import span, trace_headers
from tests.events import run_event
from tests.servers.collector import collecting, recording
from tests.serving import COMMAND, bare_environment

CALLER_TRACE, CALLER_SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{CALLER_TRACE}-{CALLER_SPAN}-01"
"""As the specification of W3C Trace Context prints it."""
SERVER, CLIENT = 2, 3


def test_a_request_is_one_trace_across_processes_below_the_clients_span(tmp_path: Path) -> None:
    sooner = {"OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_EXPORTER_OTLP_HEADERS": "x-team=data"}
    with collecting() as collector, socket.create_server(("127.0.0.1", 0)) as listener, (tmp_path / "log").open("wb") as log:
        options = ["--fd", str(listener.fileno()), "--data-dir", str(tmp_path / "data"), "--traces", collector.url]
        command = [*COMMAND, "api", *options, "--log-format", "json", "--log-requests"]
        process = subprocess.Popen(command, stderr=log, env={**bare_environment(), **sooner}, pass_fds=[listener.fileno()])
        try:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/api/v1"
            with httpx.Client(base_url=url, timeout=60, trust_env=False, headers={"traceparent": TRACEPARENT}) as client:
                assert client.post("/lineage", content=run_event(job="secret-job"), headers={"Content-Type": "application/json"}).is_success
                assert client.get("/search", params={"q": "in-the-query"}).status_code in (200, 503)
                client.get("/ready")
            asked = collector.single("answer question")
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()
    sent = collector.single("POST /api/v1/lineage")
    assert (sent.program, sent.kind, sent.trace, sent.parent) == ("lineage-bridge-api", SERVER, CALLER_TRACE, CALLER_SPAN)
    assert sent.attributes == {"http.request.method": "POST", "http.route": "/api/v1/lineage", "http.response.status_code": 201}
    judged, waited = collector.single("judge events"), collector.single("wait for the log")
    assert {(span.trace, span.parent) for span in (judged, waited)} == {(CALLER_TRACE, sent.id)}
    assert judged.attributes == {"lineage_bridge.events": 1, "lineage_bridge.accepted": 1}
    (passed_on,) = [span for span in collector.spans if span.id == asked.parent]
    assert (asked.program, passed_on.program) == ("lineage-bridge-questions", "lineage-bridge-api")
    assert (asked.trace, passed_on.trace, passed_on.parent) == (CALLER_TRACE, CALLER_TRACE, CALLER_SPAN)
    assert not any("in-the-query" in span.text or "127.0.0.1" in span.text for span in collector.spans)
    assert collector.headers[0]["x-team"] == "data"
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines() if line.startswith("{")]
    logged = next(line for line in lines if line.get("path") == "/api/v1/lineage")
    assert (logged["trace_id"], logged["span_id"]) == (CALLER_TRACE, sent.id)


def test_nothing_of_opentelemetry_is_loaded_where_traces_are_off() -> None:
    program = "import sys, lineage_bridge.cli.main; print('opentelemetry' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "False\n"
    with span("nothing") as unrecorded:
        unrecorded.set({"a": 1})
        unrecorded.fail("Error")
        assert trace_headers() == {}


def test_a_block_that_raises_is_a_failed_span_without_the_message() -> None:
    with recording() as collector:
        with pytest.raises(NotFoundError), span("outer"), span("inner"):
            raise NotFoundError("there is no alice@example.com")
        assert trace_headers() == {}
    inner, outer = collector.single("inner"), collector.single("outer")
    assert inner.parent == outer.id
    assert [(failed.is_failed, failed.attributes["error.type"]) for failed in (inner, outer)] == [(True, "NotFoundError")] * 2
    assert "alice" not in inner.text + outer.text


@pytest.mark.parametrize("header", ["", "x", "00-0-0-01", "ü", f"00-{'0' * 32}-{CALLER_SPAN}-01"])
def test_a_header_that_names_no_span_begins_a_trace(header: str) -> None:
    with recording() as collector, span("here", parent=header):
        pass
    assert collector.single("here").parent == ""


def test_a_trace_that_its_caller_does_not_record_is_not_recorded() -> None:
    with recording() as collector:
        with span("theirs", parent=TRACEPARENT[:-2] + "00"):
            pass
        with span("ours"):
            pass
    assert [seen.name for seen in collector.spans] == ["ours"]


def test_a_collector_that_never_answers_does_not_keep_a_process_from_ending() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        tracing.start(f"http://127.0.0.1:{silent.getsockname()[1]}", 1.0, "here", "1")
        with span("lost"):
            pass
        tracing.stop()
    assert not tracing.is_on()


def test_without_the_extra_the_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(ConfigError) as refused:
        tracing.start("http://127.0.0.1:4318", 1.0, "here", "1")
    assert refused.value.hint == "install it with: pip install 'lineage-bridge[tracing]'"
