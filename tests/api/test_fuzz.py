"""Nothing answers 500: not for any body, not for any question."""

import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.api.support import LINEAGE, Server, running
from tests.events import KEY, design_events, run_events

from lineage_bridge.graph.ids import graph_id
from lineage_bridge.graph.log_record import RecordKind

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=10,
)
_members = st.sampled_from(["eventTime", "eventType", "run", "job", "dataset", "inputs", "outputs", "producer", "schemaURL", "events"])
_events = run_events | design_events


def _spoilt(event: bytes, member: str, value: Any) -> bytes:
    return json.dumps({**json.loads(event), member: value}).encode()


_single = st.one_of(
    st.binary(max_size=60),
    _events,
    st.builds(_spoilt, _events, _members, _json),
    _json.map(lambda value: json.dumps(value).encode()),
    st.builds(lambda event, cut: event[:cut], _events, st.integers(0, 400)),
    st.builds(lambda event, at, junk: event[:at] + junk + event[at:], _events, st.integers(0, 400), st.binary(min_size=1, max_size=3)),
)
_separators = st.sampled_from([b",", b"\n", b"", b" , ", b"\r\n", b"\x1e"])
_wraps = st.sampled_from([(b"", b""), (b"[", b"]"), (b'{"events": [', b"]}"), (b"[", b""), (b" \n[", b"]\n ")])
_bodies = st.builds(
    lambda events, separator, wrap: wrap[0] + separator.join(events) + wrap[1], st.lists(_single, max_size=4), _separators, _wraps
)
_sent = st.one_of(
    _bodies.map(lambda body: (body, "")),
    _bodies.map(lambda body: (gzip.compress(body, mtime=0), "gzip")),
    st.binary(max_size=40).map(lambda body: (body, "gzip")),
    st.builds(lambda body, cut: (gzip.compress(body, mtime=0)[:cut], "gzip"), _bodies, st.integers(0, 200)),
)
_types = st.sampled_from(["application/json", "application/x-ndjson", "text/plain", "", "multipart/form-data", "x"])
_words = st.text(max_size=12) | st.sampled_from(["*", "[", "[a", "ns", "a", "\x00", "jobs", "-1", "1e9", "e30", "2026-01-01"])


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Any:
    """One server for all examples: what is in the log already makes no difference to them."""
    with running(tmp_path_factory.mktemp("fuzz"), empty_store) as server:
        yield server


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sent=_sent, kind=_types, path=st.sampled_from(["", "/batch", "/events"]))
def test_every_body_has_an_answer_and_is_kept(shared: Server, sent: tuple[bytes, str], kind: str, path: str) -> None:
    body, encoding = sent
    before = shared.log.end()
    headers = {"content-type": kind, **({"content-encoding": encoding} if encoding else {})}
    answer = shared.client.post(LINEAGE + path, content=body, headers=headers)
    assert answer.status_code in (200, 201, 400, 413, 422), answer.text
    outcome = answer.json()
    records = [record for _, record in shared.records.log.read(before, shared.records.durable_end())]
    kept = [record.kind == RecordKind.EVENT for record in records]
    if "summary" in outcome:
        counts = (outcome["summary"]["successful"], outcome["summary"]["failed"])
    elif "events" in outcome:
        counts = (outcome["accepted"], outcome["rejected"])
    else:
        counts = (int(outcome["status"] == "accepted"), int(outcome["status"] == "rejected"))
    assert counts == (sum(kept), len(kept) - sum(kept))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    path=st.sampled_from(
        [
            "/lineage/events?namespace={}&job={}",
            "/lineage/events?since={}&until={}",
            "/lineage/events?limit={}&offset={}",
            "/lineage/events/{}{}",
            "/lineage/datasets?namespace={}&name={}",
            "/lineage/datasets/detail?namespace={}&name={}",
            "/lineage/datasets/lineage?namespace={}&name={}",
            "/lineage/datasets/lineage?namespace=ns&name={}&depth={}",
            "/lineage/jobs?namespace={}&name={}",
            "/lineage/jobs/detail?namespace={}&name={}",
            "/graph/neighbourhood?namespace={}&name={}&columns=1",
            "/graph/runs?namespace={}&name={}",
            "/graph/runs/{}{}",
            "/graphs/" + graph_id(KEY) + "/nodes/{}{}",
            "/graphs/" + graph_id(KEY) + "/query/upstream/confluent:kafka_topic:{}:{}",
            "/graphs/" + graph_id(KEY) + "/query/downstream/aws:glue_table:{}:{}",
            "/graphs/" + graph_id(KEY) + "/nodes?search={}&env_id={}",
            "/graphs/enriched/view?systems={}&names={}",
            "/search?q={}&kind={}",
            "/search?q={} {}",
            "/quarantine?code={}&limit={}",
            "/quarantine/{}{}/body",
            "/lineage/datasets?min_position={}&wait={}",
        ]
    ),
    words=st.tuples(_words, _words),
)
def test_every_question_has_an_answer(shared: Server, path: str, words: tuple[str, str]) -> None:
    if not (shared.folder / "graph.db").exists():
        shared.fold()
    url = "/api/v1" + path.format(*(quote(word, safe="") for word in words))
    answer = shared.client.get(url)
    assert answer.status_code in (200, 404, 422, 503), (url, answer.text)
    if answer.status_code == 503:
        assert answer.json()["error"]["code"] == "unavailable"
