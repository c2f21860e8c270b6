"""Files: other lines stay, and what somebody changed in ours is told and not overwritten."""

import msgspec
import pytest
from tests.api.support import Server
from tests.catalogs.conftest import published
from tests.events import dataset, job_event

from lineage_bridge.errors import ConfigError


@pytest.fixture
def lines(ours: Server):
    ours.targets.add("there", "files", {"events": "jobs"}, replace=False)
    path = ours.folder / "published" / "lineage.ndjson"

    def read() -> list[bytes]:
        return path.read_bytes().splitlines()

    def write(*new: bytes) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(line + b"\n" for line in new))

    return read, write


def test_foreign_lines_are_left_alone(ours: Server, lines) -> None:
    read, write = lines
    foreign = [b"# not JSON", b'{"some": "thing"}', job_event("theirs"), job_event("clean", inputs=[dataset("q")])]
    write(*foreign)
    report = published(ours)
    assert [(finding.name, finding.finding) for finding in report.drift] == [("clean", "was there before, and was not published from here")]
    assert report.outcomes == {"done": 3}
    assert read()[:4] == foreign
    ours.targets.add("there", "files", {"events": "jobs", "exclude_namespaces": ["*"]}, replace=True)
    assert published(ours, prune=True).counts == {"delete": 3}
    assert read() == foreign


def test_what_was_there_before_is_replaced_only_when_told_and_never_deleted(ours: Server, lines) -> None:
    read, write = lines
    write(job_event("clean", inputs=[dataset("q")]))
    assert published(ours, overwrite=True).outcomes == {"done": 4}
    assert published(ours).drift == []
    ours.targets.add("there", "files", {"events": "jobs", "exclude_namespaces": ["*"]}, replace=True)
    report = published(ours, prune=True)
    assert report.kept == {"no longer to be published, but was there before it was published": 1}
    assert [msgspec.json.decode(line)["job"]["name"] for line in read()] == ["clean"]


def test_drift_is_told_and_overwritten_only_when_told(ours: Server, lines) -> None:
    read, write = lines
    published(ours)
    before = {msgspec.json.decode(line).get("job", {}).get("name"): line for line in read()}
    write(*(line for name, line in before.items() if name not in ("clean", "load")), before["clean"].replace(b'"x"', b'"changed"'))
    report = published(ours)
    assert {(finding.name, finding.finding) for finding in report.drift} == {("clean", "was changed there"), ("load", "was removed there")}
    assert report.counts == {}
    assert published(ours, overwrite=True).counts == {"create": 1, "update": 1}
    after = {msgspec.json.decode(line).get("job", {}).get("name"): msgspec.json.decode(line) for line in read()}
    assert after.keys() == before.keys()
    assert published(ours).drift == []


@pytest.mark.parametrize("file", ["../x", "/etc/x", "a//b", ".hidden", "a b", ""])
def test_files_lie_below_the_folder(ours: Server, file: str) -> None:
    with pytest.raises(ConfigError, match="file"):
        ours.targets.add("bad", "files", {"file": file}, replace=False)
