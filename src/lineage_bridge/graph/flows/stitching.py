"""Stitching: flows between runs that belong together but report apart, as Spark's foreachBatch does.

The rule `stitch_siblings`: a run that only writes, within a streaming run that only reads, both children of one parent run, writes what
that one reads. Within means: it began after the reader began, and its last event is not later than the reader's. Of the readers, the four
that began last before the writer are looked at, and exactly one of them must hold it: streams that work at once cannot be told apart. A run
that states lineage itself is not guessed at. The flows are inferred, never observed.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from lineage_bridge.graph.flows.shapes import Shape, make_shape
from lineage_bridge.graph.relations import Origin, Side

RULE = "stitch_siblings"
LOOK_BACK = 4
"""How many readers are looked at: those that began last before the writer."""


class Sibling(NamedTuple):
    """A run with one side and a parent run, which may be stitched: it spoke from `first` to `last`, UTC microseconds.

    Compared as a tuple, siblings of one parent and side are in the order in which they began.
    """

    parent: bytes
    side: int
    first: int
    asserted_by: bytes
    job: int
    last: int


def one_side(inputs: int, outputs: int, statements: int, *, streaming: bool) -> Side | None:
    """The side on which a run of that many inputs, outputs and statements of lineage may be stitched to another, if it may."""
    if statements or bool(inputs) == bool(outputs):
        return None
    if outputs:
        return Side.OUTPUT
    return Side.INPUT if streaming else None


def reader_of(writer: Sibling, readers: Iterable[Sibling]) -> Sibling | None:
    """The reader that a writer works for, of those that began last before it (at most LOOK_BACK, all of one parent run)."""
    holding = [reader for reader in readers if reader.first < writer.first and writer.last <= reader.last]
    return holding[0] if len(holding) == 1 else None


def find_stitches(siblings: Iterable[Sibling]) -> list[tuple[Sibling, Sibling]]:
    """Every writer with the reader it works for."""
    families: dict[bytes, tuple[list[Sibling], list[Sibling]]] = {}
    for sibling in sorted(siblings):
        families.setdefault(sibling.parent, ([], []))[sibling.side].append(sibling)
    pairs = ((writer, reader_of(writer, _before(writer, readers))) for readers, writers in families.values() for writer in writers)
    return [(writer, reader) for writer, reader in pairs if reader]


def _before(writer: Sibling, readers: Sequence[Sibling]) -> Sequence[Sibling]:
    return [reader for reader in readers if reader.first < writer.first][-LOOK_BACK:]


def stitched_shape(reader: Shape, writer: Shape) -> Shape:
    """What the two amount to together."""
    return make_shape(Origin.INFERRED, [*reader.members, *writer.members], ())


def stitch_id(asserted_by: bytes, job: int) -> bytes:
    """Under which subject a writing run is stitched."""
    return blake2b(b"%b%d" % (asserted_by, job), digest_size=16, person=b"stitch").digest()
