"""Makes pages of items that pass a filter which the store does not know."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

PORTION: Final = 500
LARGEST_PORTION: Final = 8000
"""Portions grow by doubling up to this size, because a store reads all rows before an offset for each portion."""
Item = TypeVar("Item")


def page_of(
    fetch: Callable[[int, int], Sequence[Item]], keep: Callable[[Sequence[Item]], list[Item]], limit: int, offset: int
) -> list[Item]:
    """A page of the items that pass `keep`, from those that `fetch` returns for a limit and an offset."""
    return list(islice(_kept(fetch, keep, max(limit, PORTION)), offset, offset + limit))


def _kept(fetch: Callable[[int, int], Sequence[Item]], keep: Callable[[Sequence[Item]], list[Item]], portion: int) -> Iterator[Item]:
    offset = 0
    while some := fetch(portion, offset):
        yield from keep(some)
        if len(some) < portion:
            return
        offset += len(some)
        portion = max(portion, min(2 * portion, LARGEST_PORTION))
