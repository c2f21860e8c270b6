"""Kinesis: records of events in a stream, of which some may be refused, within what the service takes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.places import Place, edges_of, make_place
from tests.catalogs.standins.amazon import model_of
from tests.catalogs.test_golden import check_golden
from tests.events import dataset, job_event
from tests.inputs.kinesis import faults
from tests.inputs.kinesis.faults import Faults
from tests.inputs.support import installed
from tests.servers.kinesis import Kinesis

from lineage_bridge.catalogs.kinds.kinesis.kinesis_target import MOST_BYTES, MOST_RECORDS, partition_key
from lineage_bridge.catalogs.kinds.kinesis.settings import KEY_BYTES, KinesisTargetSettings
from lineage_bridge.catalogs.target import CREATE, ObjectKey, Operation
from lineage_bridge.errors import ConfigError

SHAPES = model_of("kinesis")
THROTTLED = "ProvisionedThroughputExceededException"


@pytest.fixture
def place(request: pytest.FixtureRequest, ours: Server) -> Place:
    return make_place("kinesis", request, ours)


@pytest.fixture
def broken(kinesis_local: Kinesis, ours: Server, place: Place) -> Iterator[Faults]:
    """What fails before the stream; the target `there` calls through it, one call at once, each request held against Amazon's model."""
    with faults.before(kinesis_local) as made:
        place.settings["endpoint_url"] = made.url
        added(ours, place, at_once=1)
        yield made


def records(place: Place) -> list[dict[str, Any]]:
    server: Kinesis = place.more["there"]
    return server.records(place.settings["stream"])


def puts(broken: Faults) -> list[int]:
    """How many records each PutRecords had."""
    return [len(asked["Records"]) for operation, asked in broken.calls if operation == "PutRecords"]


def test_records_have_the_keys_of_openlineage_and_come_in_one_request(ours: Server, place: Place, broken: Faults) -> None:
    assert published(ours).outcomes == {"done": 4}
    assert puts(broken) == [4]
    keys = {msgspec.json.decode(record["Data"]).get("job", {}).get("name", "alone"): record["PartitionKey"] for record in records(place)}
    assert keys == {
        "clean": "job:jobs/clean",
        "load": "job:jobs/load",
        "declared": "job:jobs/declared",
        "alone": "dataset:ns/alone",
    }


def test_only_records_that_were_refused_are_sent_again(ours: Server, place: Place, broken: Faults) -> None:
    waits: list[float] = []
    ours.wait = waits.append
    broken.refuse_records(THROTTLED, 3)
    broken.refuse_records("InternalFailure", 1)
    assert published(ours).outcomes == {"done": 4}
    assert puts(broken) == [4, 3, 1]
    assert waits == [1.0, 1.0]
    assert len(records(place)) == 4
    assert place.edges() == EDGES


def test_a_stream_that_takes_nothing_for_a_while_is_waited_for(ours: Server, place: Place, broken: Faults) -> None:
    broken.refuse_records(THROTTLED, 4, 4)
    broken.fail("PutRecords", THROTTLED, times=2)
    assert published(ours).outcomes == {"done": 4}
    assert puts(broken) == [4] * 5
    assert len(records(place)) == 4


def test_what_a_stream_does_not_take_in_the_end_is_sent_by_the_next_publication_alone(ours: Server, place: Place, broken: Faults) -> None:
    added(ours, place, at_once=1, tries=2)
    broken.refuse_records(THROTTLED, 1, 1, 1)
    report = published(ours)
    assert (report.state, report.outcomes) == ("failed", {"done": 3, "failed": 1})
    assert THROTTLED in next(item.detail for item in report.operations if item.outcome == "failed")
    assert published(ours).outcomes == {"done": 1}
    assert len(records(place)) == 4


@pytest.mark.parametrize("code", ["AccessDeniedException", "KMSAccessDeniedException", "ResourceNotFoundException"])
def test_what_every_record_would_meet_ends_the_publication(ours: Server, broken: Faults, code: str) -> None:
    broken.fail("PutRecords", code)
    report = published(ours)
    assert (report.state, report.outcomes.get("done")) == ("failed", None)
    assert code in report.error
    assert len(puts(broken)) == 1
    assert published(ours).outcomes == {"done": 4}


def test_a_record_that_is_larger_than_the_stream_takes_holds_up_no_other(ours: Server, place: Place) -> None:
    added(ours, place, max_bytes=4 << 20)
    text = {"_producer": "p", "_schemaURL": "s", "description": "x" * (1 << 20)}
    ours.send(job_event("large", job_facets={"documentation": text}, inputs=[dataset("a")]))
    report = published(ours)
    assert report.outcomes == {"done": 4, "refused": 1}
    (refused,) = (item for item in report.operations if item.outcome == "refused")
    assert (refused.name, refused.detail.partition(":")[0]) == ("large", "InvalidArgumentException")
    assert place.edges() == EDGES
    assert published(ours).kept == {"refused there before, and unchanged since": 1}
    added(ours, place)
    smaller = published(ours)
    assert (smaller.outcomes, smaller.not_expressible) == ({"done": 1}, {"facets of events that are too large": 1})


def test_a_request_that_one_record_spoils_is_sent_record_by_record(ours: Server, place: Place, broken: Faults) -> None:
    broken.fail("PutRecords", "InvalidArgumentException", times=2)
    assert published(ours).outcomes == {"done": 3, "refused": 1}
    assert puts(broken) == [4, 1, 1, 1, 1]
    assert len(records(place)) == 3


def test_requests_are_as_large_as_the_service_takes(ours: Server, place: Place, broken: Faults) -> None:
    text = {"_producer": "p", "_schemaURL": "s", "description": "x" * 900_000}
    many = [job_event(f"many{number}", inputs=[dataset("a")], outputs=[dataset("b")]) for number in range(MOST_RECORDS)]
    large = [job_event(f"large{number}", job_facets={"documentation": text}, inputs=[dataset("a")]) for number in range(6)]
    ours.send(*many, *large)
    assert published(ours).outcomes == {"done": 4 + MOST_RECORDS + 6}
    assert max(puts(broken)) <= MOST_RECORDS
    assert len(puts(broken)) >= 3
    sizes = [len(json.dumps(asked)) * 3 // 4 for operation, asked in broken.calls if operation == "PutRecords"]
    assert max(sizes) <= MOST_BYTES
    assert len(records(place)) == 4 + MOST_RECORDS + 6


def test_the_limits_are_those_of_amazons_model() -> None:
    request = SHAPES.operation_model("PutRecords").input_shape.members["Records"]
    assert request.metadata["max"] == MOST_RECORDS
    entry = request.member.members
    largest = KinesisTargetSettings.model_fields["max_bytes"].metadata
    assert entry["Data"].metadata["max"] == max(limit.le for limit in largest if hasattr(limit, "le")) + KEY_BYTES
    for name in ("short", "x" * 300, "\N{GRINNING FACE}" * 300):
        key = partition_key(Operation(CREATE, ObjectKey("job", "jobs", name), b"{}", ""))
        assert len(key.encode("utf-16-le")) // 2 <= entry["PartitionKey"].metadata["max"]
        assert len(key.encode()) <= KEY_BYTES
    long = [partition_key(Operation(CREATE, ObjectKey("job", "jobs", "x" * 300 + end), b"{}", "")) for end in "ab"]
    assert long[0] != long[1]


@pytest.mark.parametrize("server", ["moto", "kinesis_local"])
@pytest.mark.parametrize("form", ["jobs", "runs"])
def test_an_input_reads_what_was_written(request: pytest.FixtureRequest, ours: Server, tmp_path: Path, server: str, form: str) -> None:
    there: Kinesis = request.getfixturevalue(server)
    stream = f"both-{server}-{form}"
    there.create(stream, 2)
    shared = {"endpoint_url": there.url, "region": "us-east-1", "stream": stream, "access_key_id": "AKIATEST"}
    added(ours, Place("kinesis", {**shared, "secret_access_key": "${env:PATH}", "events": form}, set))
    count = 4 if form == "jobs" else 3
    assert published(ours).outcomes == {"done": count}
    with installed(tmp_path / "reading") as reader:
        bodies = reader.bring(count, kind="kinesis", secret_access_key="${env:PATH}", **shared)
    assert edges_of([msgspec.json.decode(body) for body in bodies]) == EDGES


def test_what_is_published_is_as_the_file_has_it(ours: Server, place: Place) -> None:
    check_golden(ours, place, "kinesis")


def test_the_check_shows_the_stream_and_says_which_right_is_missing(ours: Server, place: Place, broken: Faults) -> None:
    (check,) = ours.targets.test("there")
    assert (check.works, check.message) == (True, f"{place.settings['stream']} is active, with 2 open shards")
    broken.fail("DescribeStreamSummary", "AccessDeniedException")
    (check,) = ours.targets.test("there")
    assert (check.works, check.hint) == (False, "grant kinesis:DescribeStreamSummary on the stream")
    added(ours, place, stream="absent")
    (check,) = ours.targets.test("there")
    assert (check.works, "ResourceNotFoundException" in check.message) == (False, True)


@pytest.mark.parametrize(
    "wrong", [{"stream": "no/name"}, {"stream": "arn:aws:kinesis:eu:1:stream/s"}, {"region": ""}, {"max_bytes": 11 << 20}]
)
def test_settings_that_are_wrong(ours: Server, place: Place, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        added(ours, place, **wrong)
