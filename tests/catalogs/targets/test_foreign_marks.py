"""What others may send, write or answer never ends a publication or the reading of events."""

import errno
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import published
from tests.events import dataset, job_event

from lineage_bridge.catalogs.http import HttpAnswer, outcome_of
from lineage_bridge.catalogs.target import ObjectKey, Operation
from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.facets.publication import PUBLICATION, installations_in

DEEP = b"[" * 5000 + b"]" * 5000


@pytest.mark.parametrize(
    "facet", [b'{"x":' + DEEP + b"}", b'{"installations":["\xff"]}', b'{"installations":5}'], ids=["deep", "bytes", "no list"]
)
def test_a_mark_that_cannot_be_read_names_nobody(facet: bytes) -> None:
    assert installations_in({PUBLICATION: facet}) == []


@pytest.mark.parametrize("facet", [b'{"x":' + DEEP + b"}", b'{"installations":["\xff"]}'], ids=["deep", "bytes"])
def test_an_event_with_a_mark_that_cannot_be_read_is_answered(ours: Server, facet: bytes) -> None:
    event = job_event("marked", inputs=[dataset("a")], job_facets={PUBLICATION: "here"}).replace(b'"here"', facet)
    answer = ours.client.post("/api/v1/lineage", content=event, headers={"Content-Type": "application/json"})
    assert answer.status_code < 500


@pytest.mark.parametrize("installations", [5, None, [{"a": 1}], "abc"], ids=["number", "null", "objects", "text"])
def test_a_wrong_mark_of_a_producer_does_not_end_a_publication(ours: Server, installations: object) -> None:
    wrong = {PUBLICATION: {"_producer": "p", "_schemaURL": "s", "installations": installations}}
    ours.send(job_event("marked", inputs=[dataset("a")], job_facets=wrong))
    ours.targets.add("there", "files", {"events": "jobs"}, replace=False)
    report = published(ours)
    assert (report.state, report.error) == ("done", "")
    assert "marked" in {operation.name for operation in report.operations}


@pytest.mark.parametrize("line", [DEEP, b'{"job": "\xff"}'], ids=["deep", "bytes"])
def test_a_line_that_cannot_be_read_stays(ours: Server, line: bytes) -> None:
    ours.targets.add("there", "files", {"events": "jobs"}, replace=False)
    path = ours.folder / "published" / "lineage.ndjson"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(line + b"\n")
    assert published(ours).state == "done"
    assert path.read_bytes().splitlines()[0] == line


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(ours: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    ours.targets.add("there", "files", {"events": "jobs", "file": "folder/lineage.ndjson"}, replace=False)
    with monkeypatch.context() as patched:
        patched.setattr("lineage_bridge.catalogs.kinds.files.os.fsync", full)
        target = ours.targets.target("there")
        with pytest.raises(SourceError, match="No space"):
            target.write([Operation("create", ObjectKey("job", "n", "j"), b"{}", "1")])
    assert [path.name for path in (ours.folder / "published" / "folder").iterdir()] == [".lineage.ndjson.lock"]


def test_targets_of_the_same_file_do_not_lose_lines_of_each_other(ours: Server) -> None:
    for name in "ab":
        ours.targets.add(name, "files", {}, replace=False)

    def write(name: str) -> None:
        target = ours.targets.target(name)
        for number in range(40):
            target.write([Operation("create", ObjectKey("job", "jobs", f"{name}{number}"), job_event(f"{name}{number}"), "1")])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, "ab"))
    assert len((ours.folder / "published" / "lineage.ndjson").read_bytes().splitlines()) == 80


def test_an_answer_that_only_looks_like_json_is_a_success() -> None:
    assert outcome_of(HttpAnswer(200, b"{accepted}", "")).done
