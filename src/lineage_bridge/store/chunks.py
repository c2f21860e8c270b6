"""Splits many ids into chunks, each for one SQL statement."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
_CHUNKS = (1, 4, 16, 32, 64, 128, 256, 512)


def chunks(ids: Iterable[int]) -> Iterator[list[int]]:
    """Split ids into lists as `batches` does, after sorting them and removing duplicates."""
    return batches(sorted(set(ids)))


def batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Split values into lists of only a few different lengths, so that the database prepares few different statements. A list may repeat
    its last value to reach its length.
    """
    start, end = 0, len(items)
    while start < end:
        size = next((size for size in _CHUNKS if size >= end - start), _CHUNKS[-1])
        some = list(items[start : start + size])
        yield some + [some[-1]] * (size - len(some))
        start += size


def marks(some: Collection[object]) -> str:
    """A list of question marks for SQL, one for each value."""
    return ", ".join("?" * len(some))
