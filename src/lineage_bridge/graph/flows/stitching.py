"""The rule for stitching, which infers flows between runs that belong together but report separately, as with Spark's foreachBatch.

The rule `stitch_siblings` concerns a run that only writes (the writer) and a streaming run that only reads (the reader). If both name the
same parent run (the same id and job), and the writer lies within the reader, then the writer writes what the reader reads. The writer lies
within the reader if it began after the reader, and its last event is not later than the reader's last event. Only the four readers that
began last before the writer are considered, and the writer must lie within exactly one of them, because concurrent streams cannot be
distinguished. Runs that state lineage themselves are not stitched. The flows are inferred, never observed.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from lineage_bridge.graph.flows.shapes import Shape, make_shape
from lineage_bridge.graph.relations import Origin, Side

RULE = "stitch_siblings"
LOOK_BACK = 4
"""How many reading runs are considered for a writing run: those that began last before it."""


class Sibling(NamedTuple):
    """A run that may be stitched: it has a parent run, and only reads or only writes. `first` and `last`: the times of its events in
    UTC microseconds.

    Sorted as tuples, siblings that have the same parent, and all read or all write, are in the order in which they began.
    """

    parent: bytes
    parent_job: int
    side: int
    first: int
    asserted_by: bytes
    job: int
    last: int

    @property
    def key(self) -> tuple[bytes, int]:
        """The run id and the job of the sibling, which together identify it."""
        return self.asserted_by, self.job


def one_side(inputs: int, outputs: int, statements: int, *, streaming: bool) -> Side | None:
    """Whether a run that may be stitched only reads (Side.INPUT) or only writes (Side.OUTPUT); None if the run may not be stitched.

    `inputs`, `outputs` and `statements` (lineage sets) are counts.
    """
    if statements or bool(inputs) == bool(outputs):
        return None
    if outputs:
        return Side.OUTPUT
    return Side.INPUT if streaming else None


def reader_of(writer: Sibling, readers: Iterable[Sibling]) -> Sibling | None:
    """The reader that a writer lies within; None if there is not exactly one.

    `readers` are those of the same parent run that began last before the writer, at most LOOK_BACK.
    """
    holding = [reader for reader in readers if reader.first < writer.first and writer.last <= reader.last]
    return holding[0] if len(holding) == 1 else None


def find_stitches(siblings: Iterable[Sibling]) -> list[tuple[Sibling, Sibling]]:
    """The reader of each writer that lies within exactly one reader."""
    families: dict[tuple[bytes, int], tuple[list[Sibling], list[Sibling]]] = {}
    for sibling in sorted(siblings):
        families.setdefault((sibling.parent, sibling.parent_job), ([], []))[sibling.side].append(sibling)
    pairs = ((writer, reader_of(writer, _before(writer, readers))) for readers, writers in families.values() for writer in writers)
    return [(writer, reader) for writer, reader in pairs if reader]


def _before(writer: Sibling, readers: Sequence[Sibling]) -> Sequence[Sibling]:
    return [reader for reader in readers if reader.first < writer.first][-LOOK_BACK:]


def stitched_shape(reader: Shape, writer: Shape) -> Shape:
    """The shape of a writer and its reader together: the members of both, without lineage sets."""
    return make_shape(Origin.INFERRED, [*reader.members, *writer.members], ())


def stitch_id(asserted_by: bytes, job: int) -> bytes:
    """The `asserted_by` under which the stitched shape of a writing run is stored."""
    return blake2b(b"%b%d" % (asserted_by, job), digest_size=16, person=b"stitch").digest()
