"""Files in object stores: servers with the APIs of Amazon S3, Google Cloud Storage and Azure Blob Storage."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.events import KEY
from tests.inputs.files.support import bring, event, lines, numbers, packed, reading, rejected
from tests.inputs.support import installed, until
from tests.servers.stores import AZURE_KEY, ObjectStore

from lineage_bridge.config.outbound import Outbound
from lineage_bridge.inputs.service import InputService
from lineage_bridge.sources.common.settings import SourceContext
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.inputs import InputRepository
from lineage_bridge.wiring.processes import now_us

NUMBERS = count()


@pytest.fixture(params=["s3", "gcs", "azure"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    monkeypatch.setenv("S3_KEY", "none")
    monkeypatch.setenv("AZURE_KEY", AZURE_KEY)
    found: ObjectStore = request.getfixturevalue(f"{request.param}_store")
    return found


@contextmanager
def service(folder: Path, context: SourceContext, settings: dict[str, Any], kind: str) -> Iterator[InputService]:
    made = InputService({}, InputRepository(StateDatabase(folder / "state.db")), now_us, context, key=KEY)
    made.add("events", kind, settings, replace=False)
    yield made


def test_objects_are_read_once_and_replaced_ones_anew(store: ObjectStore, tmp_path: Path) -> None:
    bucket = f"events-{next(NUMBERS)}"
    settings = store.create(bucket)
    store.write(bucket, "lineage/part-10.ndjson", lines(10, 11))
    store.write(bucket, "lineage/part-2.ndjson", lines(2))
    store.write(bucket, "lineage/day=1/a.json.gz", packed(lines(1)))
    store.write(bucket, "other/b.json", event(90))
    with installed(tmp_path) as installation:
        where = {"kind": store.kind, "prefix": "/lineage/", **settings}
        bring(installation, [1, 2, 10, 11], **where)
        assert numbers(installation) == [1, 2, 10, 11]
        assert installation.origins()[0].stream == "day=1/a.json.gz"
        store.write(bucket, "lineage/part-10.ndjson", lines(10, 11, 12))
        store.write(bucket, "lineage/part-2.ndjson", lines(3))
        store.write(bucket, "lineage/array.json", b"[\n" + event(4) + b",\n" + event(5) + b"\n]")
        store.write(bucket, "lineage/bad.json", b"[\n" + event(6))
        bring(installation, [1, 2, 10, 11, 12, 3, 4, 5], **where)
        bring(installation, [1, 2, 10, 11, 12, 3, 4, 5], **where)
        assert [(path, offset) for path, offset, _ in rejected(installation)] == [("bad.json", 0)]


def test_a_bucket_that_is_not_there_is_not_an_empty_one(store: ObjectStore, tmp_path: Path) -> None:
    bucket = f"events-{next(NUMBERS)}"
    setting = {**store.settings, store.bucket_setting: bucket}
    with installed(tmp_path) as installation, reading(installation, store.kind, **setting) as reader:
        until(lambda: reader.meter.status.state == "failing", f"a failure ({reader.meter.status})")
        assert bucket in reader.meter.status.error
        store.create(bucket)
        store.write(bucket, "a.json", event(1))
        until(lambda: numbers(installation) == [1], f"the event ({reader.meter.status})")
        store.delete(bucket, "a.json")
        store.write(bucket, "b.json", event(2))
        until(lambda: numbers(installation) == [1, 2])


def test_each_step_is_tested_and_addresses_that_are_not_allowed_are_refused(store: ObjectStore, tmp_path: Path) -> None:
    bucket = f"events-{next(NUMBERS)}"
    settings = store.create(bucket)
    store.write(bucket, "a.ndjson", lines(1, 2))
    with service(tmp_path, SourceContext(), settings, store.kind) as inputs:
        found = [(check.step, check.works) for check in inputs.test("events")]
        assert found == [("resolve", True), ("place", True), ("list", True), ("record", True)]
        assert inputs.test("events")[-1].message == "a.ndjson, offset 0: 1 event would be accepted"
        store.write(bucket, "b.ndjson", b'{"no": "event"}\n')
        store.delete(bucket, "a.ndjson")
        assert [check.works for check in inputs.test("events")] == [True, True, True, False]
    only = SourceContext(outbound=Outbound.parse("10.0.0.0/8"))
    with service(tmp_path / "other", only, {**settings, "endpoint_url": store.url.replace("127.0.0.1", "localhost")}, store.kind) as inputs:
        check = inputs.test("events")[-1]
        assert (check.step, check.works) == ("place", False)
        assert "may be called" in check.message
