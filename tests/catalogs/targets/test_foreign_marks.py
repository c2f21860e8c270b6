"""What others may send, write or answer never ends a publication or the reading of events."""

import errno
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.places import make_place
from tests.events import KEY, dataset, job_event

from lineage_bridge.catalogs.desired import desired_state
from lineage_bridge.catalogs.http import HttpAnswer, outcome_of
from lineage_bridge.catalogs.target import ObjectKey, Operation
from lineage_bridge.errors import SourceError
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.openlineage.event_builder import EventBuilder, encode
from lineage_bridge.openlineage.facets.from_catalog import FROM_CATALOG
from lineage_bridge.openlineage.facets.publication import PUBLICATION, installations_in
from lineage_bridge.sources.common.catalog.assets import Asset, AssetEvents
from lineage_bridge.sources.common.catalog.reading import source_of

CATALOGS = ("datahub", "openmetadata", "google")
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


def _at(address: str, _: object) -> str:
    return address


@pytest.mark.parametrize("kind", ["datahub", "openmetadata", "google", "files"])
def test_what_a_source_read_from_a_catalog_is_not_published_back_to_one(request: pytest.FixtureRequest, ours: Server, kind: str) -> None:
    namespace, build = "s3://bucket", EventBuilder("https://example.org/test")
    read, written = ([build.dataset((namespace, name))] for name in ("a", "b"))
    flow = build.dataset_lineage([source_of((namespace, "b"))], {})
    added(ours, make_place(kind, request, ours), read_at=["https://proxy.example/here"])
    target = ours.targets.target("there")
    here = min(target.addresses - {"https://proxy.example/here"})
    addresses = {"here": here, "proxy": "https://proxy.example/here", "else": "https://else.example"}
    for catalog, (place, address) in product(CATALOGS, addresses.items()):
        seen, at_us = AssetEvents(catalog, "source", partial(_at, address)), ours.parts.now_us
        job = Asset((namespace, f"job of {catalog} {place}"), {}, is_job=True, inputs=tuple(read), outputs=tuple(written))
        table = Asset((namespace, f"table of {catalog} {place}"), {"lineage": flow})
        ours.send(*(encode(seen.stated(asset, at_us)) for asset in (job, table)))
    for catalog in CATALOGS:  # an event of an earlier version, whose mark has no address
        earlier = {FROM_CATALOG: {"_producer": "p", "_schemaURL": "s", "catalog": catalog}}
        sides = [dataset("a", namespace)], [dataset("b", namespace)]
        ours.send(job_event(f"earlier job of {catalog}", job_facets=earlier, inputs=sides[0], outputs=sides[1]))
    wrong = {FROM_CATALOG: {"_producer": "p", "_schemaURL": "s", "catalog": 5}}
    ours.send(job_event("own", inputs=[dataset("a", namespace)], outputs=[dataset("b", namespace)], job_facets=wrong))
    try:
        with ours.pool.reader() as reader:
            state = desired_state(reader, target, graph_id(KEY), ours.parts.now_us)
    finally:
        target.close()
    others = [catalog for catalog in CATALOGS if catalog != kind]
    names = {key.name for key in state.objects}
    published_ones = {f"job of {catalog} {place}" for catalog in others for place in addresses}
    published_ones |= {f"earlier job of {catalog}" for catalog in others}
    assert {"own", f"job of {CATALOGS[0]} else", f"job of {kind} else" if kind in CATALOGS else "own", *published_ones} <= names
    assert not {f"{what} of {kind} {place}" for what in ("job", "table") for place in ("here", "proxy")} & names
    assert f"earlier job of {kind}" not in names
    assert state.not_expressible["jobs and datasets whose lineage was read from this catalog"] == 5 * (kind in CATALOGS)
    assert not any(FROM_CATALOG.encode() in encode(made.event()) for made in state.objects.values())
