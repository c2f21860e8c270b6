"""Lists of runs."""

from tests.events import KEY, RUNS, T0, dataset, run_event
from tests.store.reading import found, reader_of
from tests.store.writing import add

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.runs import RunFilter
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)


def names(nodes: tuple[Node, ...]) -> set[str]:
    return {node.name for node in nodes}


def test_the_newest_run_with_datasets(writer: GraphWriter) -> None:
    add(
        writer,
        run_event("START", run=RUNS[0], inputs=[dataset("a")], outputs=[dataset("b")]),
        run_event("START", run=RUNS[1], time_us=T0 + 5),
    )
    r = reader_of(writer)
    job = found(r, "job", NodeKind.JOB)
    newest, named = r.runs.latest(job, with_datasets=False), r.runs.latest(job, with_datasets=True)
    assert newest is not None
    assert named is not None
    assert (newest.run_id, named.run_id) == (RUNS[1], RUNS[0])
    assert (names(named.inputs), names(named.outputs)) == ({"a"}, {"b"})
    assert [run.run_id for run in r.runs.page(RunFilter(job.id)).runs] == [RUNS[1], RUNS[0]]


def test_a_run_is_found_by_the_id_that_was_sent(writer: GraphWriter) -> None:
    add(writer, run_event(run="external-run-1"), run_event(run=RUNS[2].upper()))
    (record,) = reader_of(writer).runs.find("external-run-1")
    assert record.raw_id == "external-run-1"
    assert [run.run_id for run in reader_of(writer).runs.find(record.run_id)] == [record.run_id]
    assert [run.raw_id for run in reader_of(writer).runs.find(RUNS[2])] == [None]
    assert reader_of(writer).runs.find("never seen") == []
