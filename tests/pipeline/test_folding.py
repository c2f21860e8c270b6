"""What a task reads of an input of the stream is bounded by what it reads, whatever it keeps of it."""

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.events import KEY, run_event

from lineage_bridge.eventlog.archive.files import ArchivedPartition
from lineage_bridge.eventlog.erasing.erased_ids import ErasedIds
from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.judging import RecordJudge
from lineage_bridge.inputs.settings import JobPatterns
from lineage_bridge.inputs.streaming import RowJudge
from lineage_bridge.pipeline.streams.folding import PARTS, Part, PartWriter
from lineage_bridge.ports.streams import StreamRow
from lineage_bridge.wiring.processes import now_us

WHERE = StreamPartition("topic", "life", "0")
AT = (WHERE.stream, WHERE.partition)
NOTHING, EVERYTHING = JobPatterns(include=("nothing",)), JobPatterns()
TEXT = "".join(map(str, range(2_000)))


def read(folder: Path, values: Sequence[bytes], jobs: JobPatterns, most: int) -> Part:
    """The part of a task that reads these values, of which `jobs` lets some pass."""
    writing = PartWriter(folder, RowJudge(RecordJudge("events", "kafka", (), KEY, jobs=jobs), {AT: WHERE}, now_us), most, ErasedIds(folder))
    rows = [StreamRow(WHERE, offset, value, 0, None, ()) for offset, value in enumerate(values)]
    kept = list(writing.records(rows, {AT: ArchivedPartition("events", WHERE)}))
    (part,) = PARTS.decode(writing.finish().column("rows")[0].as_py())
    assert len(kept) == part.accepted == part.read - part.filtered
    return part


@pytest.mark.parametrize("packed", [False, True])
def test_a_task_reads_as_many_rows_whether_or_not_their_events_are_left_out(tmp_path: Path, packed: bool) -> None:
    values = [run_event(job=f"job-{number}", number=number, text=TEXT) for number in range(20)]
    values = [gzip.compress(value) for value in values] if packed else values
    all_kept, none_kept = (read(tmp_path, values, jobs, 50_000) for jobs in (EVERYTHING, NOTHING))
    assert (all_kept.filtered, none_kept.filtered) == (0, none_kept.read)
    assert 1 < none_kept.read == all_kept.read < 20
    assert all_kept.is_cut
    assert none_kept.is_cut
    assert none_kept.size == all_kept.size > 50_000, "how many rows are read next follows from the size of these"
