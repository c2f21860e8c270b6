"""The lives of connectors, poll by poll, against the events written down for them."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.connect.events.lifecycles import LIVES, Life

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.connect.catalogue.catalogue import catalogue
from lineage_bridge.sources.common.connect.events.translate import translate
from lineage_bridge.sources.common.connect.settings import ConnectSettings
from lineage_bridge.sources.common.connect.worker import ConnectorState, Plugin, RunStatus, WorkerState
from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata, TopicSchema

SETTINGS = ConnectSettings(url="http://worker:8083", kafka="broker:9092")
NAMESPACE = "kafka-connect://worker:8083"
MINUTE_US = 60_000_000
T0 = 1_795_000_000_000_000
_SIGHT = re.compile(r"(?P<own>[^:]+):(?P<tasks>[^@]*)(?:@ (?P<version>\d+))?")


def part(text: str) -> RunStatus:
    state, _, why = text.strip(")").partition("(")
    trace = f"{why or 'Boom'}\n\tat org.example.Task.poll(Task.java:1)\n" if state == "FAILED" else ""
    return RunStatus(state, "worker:8083", trace, "1.0")


def sight(name: str, text: str) -> ConnectorState:
    match = _SIGHT.fullmatch(text)
    assert match
    config = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "topic": f"t{match['version'] or 1}",
        "file": "/f",
    }
    return ConnectorState(name, config, "source", part(match["own"]), dict(enumerate(map(part, match["tasks"].split()))))


def fetched(sees: dict[str, str], *, lists: bool) -> WorkerState:
    seen = {name: sight(name, text) for name, text in sees.items() if text != "-"}
    silent = tuple(Unseen(f"connector {name}", "it has no status") for name, text in sees.items() if text == "-")
    names = frozenset(sees) if lists else None
    plugins = {connector.config["connector.class"]: Plugin(connector.config["connector.class"], "1.0", ()) for connector in seen.values()}
    return WorkerState(
        "4.3.1", "cluster", seen, names, {}, plugins, unseen=silent if lists else (*silent, Unseen("list of connectors", "refused"))
    )


class Reader:
    """Events as lines, with the runs of each job numbered as they come."""

    def __init__(self) -> None:
        self.runs: dict[str, list[str]] = {}

    def line(self, event: dict) -> str:
        name = event["job"]["name"]
        if "run" not in event:
            return f"job {name}"
        known = self.runs.setdefault(name, [])
        if event["run"]["runId"] not in known:
            known.append(event["run"]["runId"])
        facets = event["run"]["facets"]
        names = "".join(f" +{key}" for key in sorted(facets) if key not in ("errorMessage", "parent"))
        error = f" - {facets['errorMessage']['message']}" if "errorMessage" in facets else ""
        return f"{event['eventType']} {name} #{known.index(event['run']['runId']) + 1}{names}{error}"


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.name)
def test_each_poll_gives_the_events_of_its_changes(life: Life) -> None:
    before, reader = None, Reader()
    for number, poll in enumerate(life.polls):
        asked = fetched(poll.sees, lists=poll.lists)
        arguments = (asked, before, NO_METADATA, T0 + number * MINUTE_US, SETTINGS, NAMESPACE, catalogue())
        seen = translate(*arguments)
        assert seen == translate(*arguments)
        assert [*map(reader.line, seen.events), *(f"unseen {entry.what}" for entry in seen.unseen)] == poll.gives, f"poll {number + 1}"
        before = seen.snapshot


_STATES = st.sampled_from(["RUNNING", "PAUSED", "UNASSIGNED", "RESTARTING", "FAILED", "FAILED(Crash)"])
_SIGHTS = st.one_of(
    st.just("-"),
    st.just("STOPPED:"),
    st.builds(
        lambda own, tasks, version: f"{own}: {' '.join(tasks)} @ {version}",
        st.sampled_from(["RUNNING", "RUNNING", "PAUSED", "UNASSIGNED", "FAILED"]),
        st.lists(_STATES, max_size=3),
        st.sampled_from([1, 1, 1, 2]),
    ),
)
_POLLS = st.lists(st.tuples(st.dictionaries(st.sampled_from(["shop", "other"]), _SIGHTS, max_size=2), st.booleans()), max_size=12)


@given(_POLLS)
def test_every_run_starts_once_and_ends_at_most_once_and_no_two_of_a_job_go_on_at_once(polls: list[tuple[dict[str, str], bool]]) -> None:
    before, kinds_of = None, dict[str, list[str]]()
    alive: dict[str, str] = {}
    for number, (sees, lists) in enumerate(polls):
        seen = translate(fetched(sees, lists=lists), before, NO_METADATA, T0 + number * MINUTE_US, SETTINGS, NAMESPACE, catalogue())
        before = json.loads(json.dumps(seen.snapshot))
        events: list[Any] = list(seen.events)
        for event in events:
            if "run" not in event:
                continue
            run, job, kind = event["run"]["runId"], event["job"]["name"], event["eventType"]
            kinds = kinds_of.setdefault(run, [])
            assert (kind == "START") == (not kinds), "a run begins with a START, and has one"
            assert not {"ABORT", "COMPLETE"} & set(kinds), "after its end nothing is told of a run"
            assert kinds[-1:] != ["FAIL"] or kind == "FAIL", "what failed does not go on: another run begins"
            kinds.append(kind)
            if kind == "START":
                assert job not in alive, "the run before has ended"
                alive[job] = run
            elif kind in ("ABORT", "COMPLETE", "FAIL"):
                alive.pop(job, None)
        gone = {job for job in alive if job.partition(".")[0] not in sees}
        assert not gone or not lists, "what a whole listing does not have has ended"
        assert {job for job in alive if sees.get(job.partition(".")[0], "").startswith("STOPPED")} == set()


def test_what_becomes_known_of_a_connector_that_has_failed_is_reported_and_starts_nothing() -> None:
    name = "io.confluent.connect.jdbc.JdbcSinkConnector"
    config = {"connector.class": name, "topics": "orders", "connection.url": "jdbc:postgresql://db/shop"}
    seen = WorkerState(
        "4.3.1",
        "cluster",
        {"sink": ConnectorState("sink", config, "sink", part("FAILED"), {})},
        frozenset(["sink"]),
        {},
        {name: Plugin(name)},
    )
    known = SharedMetadata(schemas={(("kafka://broker:9092", "orders"), "value"): TopicSchema((SchemaField(name="id", type="int"),))})
    before, kinds = None, []
    for number, around in enumerate((NO_METADATA, NO_METADATA, known, known)):
        polled = translate(seen, before, around, T0 + number * MINUTE_US, SETTINGS, NAMESPACE, catalogue())
        before = polled.snapshot
        kinds.append([event["eventType"] for event in polled.events])
        if event := next((event for event in polled.events if event["eventType"] == "OTHER"), None):
            (entry,) = event["job"]["facets"]["lineage"]["entries"]
            assert entry["fields"]["id"]["inputs"][0]["field"] == "id"
    assert kinds == [["START", "FAIL"], [], ["OTHER"], []]
