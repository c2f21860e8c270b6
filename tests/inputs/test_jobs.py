"""Events of jobs that an input leaves out by their names are not taken in, are counted, and count as read."""

import re
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.events import KEY, RUNS, dataset_event, facet, job_event, run_event
from tests.events import dataset as about
from tests.inputs.scripted import KINDS, WHERE, ScriptedInput, record
from tests.inputs.support import installed, running, until

from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.graph.record_origin import EventPosition
from lineage_bridge.inputs.judging import RecordJudge
from lineage_bridge.inputs.reading import InputReader
from lineage_bridge.inputs.settings import InputSettings, JobPatterns
from lineage_bridge.wiring.processes import now_us

NUMBERS = count()


def parent(namespace: str, name: str) -> dict[str, Any]:
    return {"parent": facet(run={"runId": RUNS[1]}, job={"namespace": namespace, "name": name})}


def of_job(name: str, **more: Any) -> bytes:
    return run_event(namespace="team", job=name, **more)


def taken(value: bytes, **jobs: list[str]) -> tuple[list[bytes], int]:
    """The bodies of the events of a value that an input with these patterns takes in, and the number of those that it leaves out."""
    judge = RecordJudge.make_judge("events", "kafka", InputSettings.model_validate({"jobs": jobs}), KEY)
    found = judge(record(0, value), now_us)
    return [kept.body for kept in found.records], found.filtered


@pytest.mark.parametrize(
    ("jobs", "passes"),
    [
        ({}, True),
        ({"include": ["team-load"]}, True),
        ({"include": ["team"]}, True),
        ({"include": ["TEAM-Load$"]}, True),
        ({"include": ["load"]}, False),
        ({"include": [".*load"]}, True),
        ({"include": ["other", "team-l"]}, True),
        ({"include": ["team-load$"]}, False),
        ({"include": ["x|team"]}, True),
        ({"include": [r"\Qteam-", "other"]}, True),
        ({"include": [r"\Qte.m-", "other"]}, False),
        ({"include": ["(?-i)TEAM", "other"]}, False),
        ({"include": ["(?-i)TEAM", "TEAM"]}, True),
        ({"exclude": ["team-lo[a-z]d"]}, False),
        ({"exclude": ["orders"]}, True),
        ({"include": ["team-.*"], "exclude": [".*_orders"]}, False),
        ({"include": ["team-.*"], "exclude": [".*_customers"]}, True),
    ],
)
def test_a_name_passes_if_it_is_included_and_not_excluded(jobs: dict[str, list[str]], passes: bool) -> None:
    event = of_job("load_orders")
    if "TEAM-Load$" in str(jobs):
        event = of_job("load")
    assert taken(event, **jobs) == (([event], 0) if passes else ([], 1))


def test_of_a_run_with_a_parent_the_name_of_the_parents_job_counts() -> None:
    child = of_job("task", run_facets=parent("airflow", "daily"))
    assert taken(child, include=["airflow-daily$"]) == ([child], 0)
    assert taken(child, include=["team-task"]) == ([], 1)
    broken = of_job("task", run_facets={"parent": facet(run={})})
    assert taken(broken, include=["team-task"]) == ([broken], 0)


def test_an_event_of_a_job_alone_is_left_out_and_one_of_a_dataset_alone_has_no_job() -> None:
    job = job_event("a")
    dataset = dataset_event(about("a"))
    assert taken(job, exclude=["jobs-a"]) == ([], 1)
    assert taken(dataset, include=["other"]) == ([dataset], 0)


def test_what_is_no_event_is_kept_for_the_quarantine() -> None:
    judge = RecordJudge.make_judge("events", "kafka", InputSettings.model_validate({"jobs": {"include": ["other"]}}), KEY)
    found = judge(record(0, b"{"), now_us)
    assert ([kept.kind for kept in found.records], found.filtered) == ([RecordKind.REJECTED], 0)


def test_what_the_sender_may_not_send_is_left_out_before_it_is_rejected() -> None:
    settings = {"namespaces": ["team"], "jobs": {"include": ["(team|other)-load"]}}
    judge = RecordJudge.make_judge("events", "kafka", InputSettings.model_validate(settings), KEY)
    events = [run_event(namespace=namespace, job=job) for namespace in ("team", "other") for job in ("load", "drop")]
    found = judge(record(0, b"[" + b",".join(events) + b"]"), now_us)
    assert ([(kept.kind, kept.body) for kept in found.records], found.filtered) == (
        [(RecordKind.EVENT, events[0]), (RecordKind.REJECTED, events[2])],
        2,
    )


@pytest.mark.parametrize(
    ("jobs", "reason"),
    [
        ({"include": ["("]}, r"'\(' is not a regular expression of RE2: missing \): \($"),
        ({"include": ["fine", "a)|(b"]}, r"'a\)\|\(b' is not a regular expression of RE2: unexpected \): a\)\|\(b$"),
        ({"exclude": ["fine", "x**"]}, r"'x\*\*' is not a regular expression of RE2: bad repetition operator: \*\*$"),
        ({"include": ["(?!test)"]}, r"regular expression of RE2: invalid perl operator: \(\?!$"),
        ({"include": [r"(a)\1"]}, r"regular expression of RE2: invalid escape sequence: \\1$"),
        ({"include": ["(a{900}){900}"]}, r"regular expression of RE2: invalid repetition size: \{900\}$"),
        ({"include": [f"{number}[^x]{{900}}" for number in range(100)]}, "too large together: pattern too large"),
        ({"include": [""]}, "1 to 1000 characters"),
        ({"include": ["a" * 1001]}, "1 to 1000 characters"),
        ({"include": ["a"] * 101}, "up to 100"),
        ({"includes": ["a"]}, "not permitted"),
        ({"include": "a"}, "valid tuple"),
    ],
)
def test_patterns_are_checked_when_an_input_is_added(jobs: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError) as refused:
        InputSettings.model_validate({"jobs": jobs})
    assert re.search(reason, refused.value.errors()[0]["msg"])


def test_a_name_costs_no_more_than_its_length() -> None:
    """A backtracking engine would never end."""
    assert not JobPatterns(include=("(a|aa)+(a|aa)+$",)).lets_pass("a" * 500 + "b")


def test_events_left_out_count_as_read_and_nothing_of_them_is_in_the_log(tmp_path: Path) -> None:
    name = f"jobs-{next(NUMBERS)}"
    together = b"[" + b",".join((of_job("drop-1"), of_job("keep-1"), of_job("drop-2"))) + b"]"
    ScriptedInput.SCRIPTS[name] = [[record(0, of_job("drop-0")), record(1, together)], [record(2, of_job("drop-3"))]]
    made = KINDS.make(name, "scripted", {"script": name, "jobs": {"exclude": ["team-drop"]}})
    with installed(tmp_path) as installation:
        with running(InputReader(made, "scripted", installation.ledger, KEY, now_us, time.monotonic)) as reader:
            until(lambda: reader.meter.status.read == 3)
        assert (reader.meter.status.filtered, reader.meter.status.skipped) == (4, 0)
        assert installation.bodies() == [of_job("keep-1")]
        assert ScriptedInput.acknowledged[name] == {WHERE: 3}
        assert dict(installation.ledger.positions(name).partitions) == {WHERE: EventPosition(3, 0)}
        progress = installation.ledger.progress(name)
        assert progress is not None
        assert (progress.accepted, progress.rejected) == (1, {})
