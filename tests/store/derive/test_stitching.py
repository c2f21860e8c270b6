"""Runs that belong together but report apart: the rule `stitch_siblings`, plain and in the store."""

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events import KEY, T0, dataset, erase, facet, records_of, run_event, stored_record
from tests.store.reading import reader_of
from tests.store.tables import contents, rows_written
from tests.store.writing import apply, empty_store, settle

from lineage_bridge.graph.facts.fold import fold_records, without_erased
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import derive
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.log_record import RecordKind, StoredRecord
from lineage_bridge.graph.relations import Evidence, Origin
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)
SECOND = 1_000_000
SAMPLES = Path(__file__).parents[2] / "samples" / "spark"
PARENTS = ["01a1fb6f-57b2-74a6-895e-b06a98b95e7f", "01a1fb6f-57b2-74a6-895e-b06a98b95e80"]
DERIVED = ("sibling", "stitch", "run_shape", "job_shape", "job_io", "flow")


def run_id(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def child(number: int, at: float, end: float, parent: int | None = 0, streaming: bool = False, job: str = "", **sides: Any) -> list[bytes]:
    app = {"namespace": "jobs", "name": sides.pop("app", "app")}
    facets = {"parent": facet(run={"runId": PARENTS[parent]}, job=app)} if parent is not None else None
    job_facets = {"jobType": facet(processingType="STREAMING" if streaming else "BATCH", integration="SPARK")}
    return [
        run_event(
            kind, run_id(number), job or ("project" if streaming else "insert"), T0 + int(time * SECOND),
            run_facets=facets, job_facets=job_facets, **sides,
        )
        for kind, time in (("START", at), ("COMPLETE", end))
    ]  # fmt: skip


def reads(number: int, at: float, end: float, *names: str, **more: Any) -> list[bytes]:
    return child(number, at, end, streaming=more.pop("streaming", True), inputs=[dataset(name) for name in names], **more)


def writes(number: int, at: float, end: float, *names: str, **more: Any) -> list[bytes]:
    return child(number, at, end, outputs=[dataset(name) for name in names], **more)


def stitched(*runs: list[bytes]) -> set[tuple[str, str]]:
    names = {NAMES.dataset("ns", name): name for name in "abcdefgh"}
    flows = derive(fold_records(records_of([body for run in runs for body in run]), NAMES), NAMES, stitch=True).get("flow", set())
    assert all(row[4] == Evidence.STITCHED for row in flows if row[3] == Origin.INFERRED)
    return {(names[row[0]], names[row[1]]) for row in flows if row[3] == Origin.INFERRED}


def test_a_writer_within_a_streaming_reader_writes_what_that_one_reads() -> None:
    assert stitched(reads(1, 0, 10, "a", "b"), writes(2, 1, 9, "c")) == {("a", "c"), ("b", "c")}


def test_each_batch_is_stitched_by_itself() -> None:
    runs = [reads(1, 0, 10, "a"), writes(2, 1, 9, "c"), reads(3, 11, 20, "b"), writes(4, 12, 19, "d")]
    assert stitched(*runs) == {("a", "c"), ("b", "d")}


def test_what_does_not_fit_is_not_guessed() -> None:
    assert stitched(reads(1, 0, 10, "a"), writes(2, 1, 11, "c")) == set(), "it outlives the reader"
    assert stitched(reads(1, 2, 10, "a"), writes(2, 1, 9, "c")) == set(), "it began before"
    assert stitched(reads(1, 0, 10, "a"), writes(2, 1, 9, "c", parent=1)) == set(), "another parent"
    assert stitched(reads(1, 0, 10, "a"), writes(2, 1, 9, "c", app="other")) == set(), "another job's parent of the same id"
    assert stitched(reads(1, 0, 10, "a"), writes(2, 1, 9, "c", parent=None)) == set(), "no parent"
    assert stitched(reads(1, 0, 10, "a", streaming=False), writes(2, 1, 9, "c")) == set(), "a batch that reads"
    assert stitched(reads(1, 0, 10, "a"), writes(2, 1, 9, "c", inputs=[dataset("b")])) == set(), "it reads itself"
    assert stitched(reads(1, 0, 10, "a"), reads(2, 0.5, 10, "b"), writes(3, 1, 9, "c")) == set(), "two streams at once"


def test_the_rule_is_off_unless_asked_for() -> None:
    records = records_of([*reads(1, 0, 10, "a"), *writes(2, 1, 9, "c")])
    assert not derive(fold_records(records, NAMES), NAMES).get("flow")


def test_spark_for_each_batch_as_it_was_recorded() -> None:
    for sample in sorted(SAMPLES.glob("with_delta_kafka_*.ndjson")):
        lines = [line for line in sample.read_bytes().splitlines() if line.strip()]
        tables = fold_records(records_of(lines, arrival=T0 + 90 * DAY_US), NAMES)
        names = {id_: name for id_, _, _, name in tables["node"]}
        rows = derive(tables, NAMES, stitch=True)["flow"]
        found = {(names[row[0]], Path(names[row[1]]).name) for row in rows if row[3] == Origin.INFERRED}
        assert found == {("lat", "fb")}, sample.name


def grown(run: list[bytes], number: int, at: float, more: str | None) -> list[bytes]:
    """The same run with an event amid the others that names one dataset more, which changes what it read and not when."""
    middle = [] if more is None else reads(number, at, at, more)[:1]
    return [*run, *middle]


_readers = st.builds(
    lambda number, at, length, names, streaming, parent, more: grown(
        reads(number, at, at + length, *names, streaming=streaming, parent=parent), number, at + length / 2, more
    ),
    st.integers(0, 2), st.integers(0, 3), st.integers(2, 6), st.sampled_from(["a", "b", "ab"]), st.sampled_from([True, True, True, False]),
    st.sampled_from([0, 0, 0, 0, 1, None]), st.sampled_from([None, "e"]),
)  # fmt: skip
_writers = st.builds(
    lambda number, at, length, name, parent, day, app: writes(number, at + day, at + day + length, name, parent=parent, app=app),
    st.integers(3, 6), st.integers(1, 5), st.integers(0, 2), st.sampled_from("cd"), st.sampled_from([0, 0, 0, 0, 1]),
    st.sampled_from([0, 0, 0, 0, 86_400]), st.sampled_from(["app", "app", "app", "other"]),
)  # fmt: skip


@st.composite
def families(draw: st.DrawFn) -> list[StoredRecord]:
    events = [event for run in draw(st.lists(_readers | _writers, min_size=2, max_size=8)) for event in run]
    records = records_of(draw(st.permutations(events)))
    if draw(st.integers(0, 3)) == 0:
        records.append(stored_record(erase(run_id(draw(st.integers(0, 9)))), offset=10_000, kind=RecordKind.OPERATOR))
    return records


@settings(max_examples=150, deadline=None)
@given(families(), st.data())
def test_the_store_stitches_as_the_plain_rule_does(tmp_path_factory: Any, records: list[StoredRecord], data: st.DataObject) -> None:
    derived = derive(without_erased(fold_records(records, NAMES)), NAMES, stitch=True)
    path = tmp_path_factory.mktemp("graph") / "graph.db"
    path.write_bytes(empty_store())
    writer = GraphWriter(path, Names(KEY), stitch=data.draw(st.booleans()))
    left = data.draw(st.permutations(records))
    while left:
        size = data.draw(st.integers(1, 6))
        apply(writer, left[:size], budget=data.draw(st.sampled_from([1, 10_000])))
        left = left[size:]
    if not writer.derivation.stitching.on:
        writer.close()
        writer = GraphWriter(path, Names(KEY), stitch=True)
    settle(writer)
    for name in DERIVED:
        assert contents(writer, name) == derived.get(name, set()), name
    assert all(d.surplus == d.missing == 0 for d in reader_of(writer).whole.differences(NAMES))
    writer.close()
    off = GraphWriter(path, Names(KEY), stitch=False)
    assert all(d.surplus == d.missing == 0 for d in reader_of(off).whole.differences(NAMES))
    assert not [row for row in contents(off, "flow") if row[3] == Origin.INFERRED]
    off.close()


def test_a_reader_that_names_more_is_stitched_anew(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    path.write_bytes(empty_store())
    writer = GraphWriter(path, Names(KEY), stitch=True)
    apply(writer, records_of([*reads(1, 0, 10, "a"), *writes(2, 1, 9, "c")]))
    apply(writer, records_of(reads(1, 5, 5, "b")[:1]))
    inferred = {row[0] for row in contents(writer, "flow") if row[3] == Origin.INFERRED}
    assert inferred == {NAMES.dataset("ns", "a"), NAMES.dataset("ns", "b")}
    writer.close()


def cost_of_one_more_reader(path: Path, siblings: int) -> int:
    """The rows that change in a store whose parent has so many children, when one more comes among them."""
    path.write_bytes(empty_store())
    writer = GraphWriter(path, Names(KEY), stitch=True)
    batches = [body for n in range(siblings) for body in (*reads(2 * n, n, n + 0.9, "a"), *writes(2 * n + 1, n + 0.1, n + 0.8, "c"))]
    apply(writer, records_of(batches), budget=10**9)
    settle(writer)
    apply(writer, records_of(reads(8_000, 0, 1, "b", parent=None)))
    cost = rows_written(writer, lambda: apply(writer, records_of(reads(9_000, 5.05, 5.9, "b")), budget=10**9))
    writer.close()
    return cost


def test_a_parent_of_very_many_children_does_not_slow_a_batch(tmp_path: Path) -> None:
    """What one more reader concerns is found by its time, however many writers its parent has."""
    assert cost_of_one_more_reader(tmp_path / "many.db", 200) <= cost_of_one_more_reader(tmp_path / "few.db", 20) + 20
