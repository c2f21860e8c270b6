"""What a stream's server refuses: throttled calls, expired iterators, deleted records, a shard that fails, missing rights, addresses."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.events import KEY
from tests.inputs.kinesis import faults
from tests.inputs.kinesis.faults import Faults
from tests.inputs.kinesis.test_streams import event, numbers, settings_of, stream_of
from tests.inputs.support import Installation, installed, until
from tests.servers.kinesis import Kinesis

from lineage_bridge.config.outbound import Outbound
from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.kinds import KINDS
from lineage_bridge.inputs.kinesis.shards import CHECKED
from lineage_bridge.inputs.service import InputService
from lineage_bridge.sources.common.settings import SourceContext


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with installed(tmp_path) as made:
        yield made


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPUT_SECRET", "secret")


@pytest.fixture
def broken(kinesis_local: Kinesis) -> Iterator[Faults]:
    with faults.before(kinesis_local) as made:
        yield made


def through(broken: Faults, stream: str, **more: Any) -> dict[str, Any]:
    return {**settings_of(broken.target, stream), "endpoint_url": broken.url, **more}


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ("GetRecords", "ProvisionedThroughputExceededException"),
        ("GetRecords", "ExpiredIteratorException"),
        ("GetRecords", "KMSThrottlingException"),
        ("GetRecords", "InternalFailureException"),
        ("GetShardIterator", "ProvisionedThroughputExceededException"),
        ("ListShards", "LimitExceededException"),
        ("DescribeStreamSummary", "LimitExceededException"),
    ],
)
def test_what_passes_is_waited_for(broken: Faults, installation: Installation, operation: str, code: str) -> None:
    stream = stream_of(broken.target)
    broken.target.put(stream, [event(number) for number in range(4)])
    broken.fail(operation, code, times=2)
    with installation.reading(**through(broken, stream, batch_records=3)) as reader:
        until(lambda: len(installation.records()) == 4)
        assert reader.meter.status.lost == 0
    assert numbers(installation) == [0, 1, 2, 3]


def test_throttled_calls_become_fewer_and_are_reported(broken: Faults, installation: Installation) -> None:
    stream = stream_of(broken.target)
    broken.fail("GetRecords", "ProvisionedThroughputExceededException", times=100)
    with installation.reading(**through(broken, stream)) as reader:
        until(lambda: any("ProvisionedThroughput" in problem for problem in reader.meter.status.problems))
        assert sum(operation == "GetRecords" for operation, _ in broken.calls) == 3
        assert reader.meter.status.state == "reading"


def test_a_shard_is_called_five_times_a_second_at_most(broken: Faults, installation: Installation) -> None:
    stream = stream_of(broken.target)
    broken.target.put(stream, [event(number) for number in range(12)])
    began = time.monotonic()
    with installation.reading(**through(broken, stream, batch_records=1)):
        until(lambda: len(installation.records()) == 12)
    assert time.monotonic() - began >= 11 / 5


def test_a_shard_that_fails_does_not_stop_the_others(broken: Faults, installation: Installation) -> None:
    stream = stream_of(broken.target, 2)
    broken.target.put(stream, [b"\xf3\x89\x9a\xc2 poison", event(0)], at=0)
    broken.target.put(stream, [event(1)], at=1)
    broken.fail("GetShardIterator", "InternalFailureException", times=100, where="shardId-000000000000")
    with installation.reading(**through(broken, stream)) as reader:
        until(lambda: numbers(installation) == [1])
        until(lambda: any("shardId-000000000000" in problem for problem in reader.meter.status.problems))
        broken.mend()
        until(lambda: sorted(numbers(installation)) == [0, 1])
    assert len(installation.records()) == 3


def brought_before(installation: Installation, broken: Faults, hours: float, settings: dict[str, Any]) -> None:
    """Read one record so many hours ago, by the service's clock, which is then deleted; nothing came since, as was stored."""
    broken.behind_s = hours * 3600
    with installation.reading(**settings):
        until(lambda: any(found.at.number >= CHECKED for found in installation.ledger.positions("events").partitions))
    broken.behind_s = 0
    broken.trimmed = {str(installation.origins()[0].offset)}


@pytest.mark.parametrize(("hours", "lost"), [(30, 1), (20, 0)], ids=["longer than records are kept", "shorter"])
def test_records_that_may_have_been_deleted_unread_are_a_gap(broken: Faults, installation: Installation, hours: float, lost: int) -> None:
    stream = stream_of(broken.target)
    settings = through(broken, stream)
    broken.target.put(stream, [event(0)])
    brought_before(installation, broken, hours, settings)
    broken.target.put(stream, [event(1)])
    with installation.reading(**settings) as reader:
        until(lambda: len(installation.records()) == 2)
        until(lambda: reader.meter.status.lost == lost)
        assert any("may have been deleted" in problem for problem in reader.meter.status.problems) == bool(lost)
    assert numbers(installation) == [0, 1]


def test_a_sequence_number_that_is_not_known_any_more_is_a_gap(broken: Faults, installation: Installation) -> None:
    stream = stream_of(broken.target)
    settings = through(broken, stream)
    broken.target.put(stream, [event(0)])
    installation.bring(1, **settings)
    broken.target.put(stream, [event(1)])
    broken.fail("GetShardIterator", "InvalidArgumentException", times=100, where="AT_SEQUENCE_NUMBER")
    with installation.reading(**settings) as reader:
        until(lambda: len(installation.records()) == 2)
        until(lambda: reader.meter.status.lost == 1)
    assert numbers(installation) == [0, 1]


def test_it_stops_before_a_gap_if_it_is_to(broken: Faults, installation: Installation) -> None:
    stream = stream_of(broken.target)
    settings = through(broken, stream, expired="stop")
    broken.target.put(stream, [event(0)])
    brought_before(installation, broken, 30, settings)
    broken.target.put(stream, [event(1)])
    with installation.reading(**settings) as reader:
        until(lambda: any("set `expired`" in problem for problem in reader.meter.status.problems))
    assert numbers(installation) == [0]
    installation.bring(2, **{**settings, "expired": "trim_horizon"})


@pytest.mark.parametrize("operation", ["DescribeStreamSummary", "ListShards", "GetShardIterator", "GetRecords"])
def test_the_test_names_the_right_that_is_missing(broken: Faults, installation: Installation, operation: str) -> None:
    stream = stream_of(broken.target)
    broken.target.put(stream, [event(0)])
    settings = through(broken, stream)
    kind = str(settings.pop("kind"))
    service = InputService({"events": {**settings, "kind": kind}}, installation.repository, lambda: 0, key=KEY)
    whole = service.test("events")
    assert [check.step for check in whole] == ["credentials", "stream", "shards", "iterator", "records", "record"]
    assert all(check.works for check in whole), whole
    assert "1 event would be accepted" in whole[-1].message
    broken.fail(operation, "AccessDeniedException", times=100)
    failed = service.test("events")[-1]
    assert (failed.works, f"kinesis:{operation}" in failed.hint) == (False, True)
    assert installation.records() == []


def test_addresses_that_are_not_allowed_are_not_called(broken: Faults, installation: Installation) -> None:
    settings = through(broken, "any", endpoint_url=broken.url.replace("127.0.0.1", "localhost"))
    with installation.reading(context=SourceContext(outbound=Outbound.parse("10.0.0.0/8")), **settings) as reader:
        until(lambda: "may be called" in reader.meter.status.error)
    assert broken.calls == []
    with pytest.raises(ConfigError, match="link-local or metadata"):
        KINDS.make("events", "kinesis", {"stream": "s", "region": "r", "endpoint_url": "http://169.254.169.254/"})


def test_a_role_is_assumed_with_its_external_id(moto: Kinesis, installation: Installation) -> None:
    stream = stream_of(moto)
    moto.put(stream, [event(0)])
    role = {"role_arn": "arn:aws:iam::123456789012:role/reader", "external_id": "ours", "sts_endpoint_url": moto.url}
    installation.bring(1, **settings_of(moto, stream, **role))
    assert numbers(installation) == [0]


def test_without_credentials_it_says_so(installation: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    service = InputService(
        {"events": {"kind": "kinesis", "stream": "s", "region": "us-east-1", "endpoint_url": "http://127.0.0.1:9"}},
        installation.repository,
        lambda: 0,
        key=KEY,
    )
    assert [(check.step, check.works) for check in service.test("events")] == [("credentials", False)]
