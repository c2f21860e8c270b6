"""Estimates the minimum cost of masking the secrets in a body, before any of its texts is read."""

from collections.abc import Sequence
from typing import Final

from lineage_bridge.openlineage.json_text import Spend

_OFFSET_NS, _TEXT_NS = 2_000, 9_000
"""What looking at a suspicious offset costs, and at least at a text that contains any, in nanoseconds."""
_FEW: Final = 32
"""Of more offsets than this, the texts that contain them are counted."""


def expect_work(raw: bytes, offsets: Sequence[int], spend: Spend) -> None:
    """Call `spend` with the cost of examining these suspicious offsets, which are sorted. Raises the errors of `spend`. They are also
    raised if too many texts contain the offsets; the cost of these texts themselves is only deducted when they are read.
    """
    spend(len(offsets) * _OFFSET_NS)
    if len(offsets) > _FEW:
        texts = _texts_with(raw, offsets) * _TEXT_NS
        spend(texts)
        spend(-texts)


def prepare_counting() -> None:
    """Load now what counting the texts needs."""
    _texts_with(b"", ())


def _texts_with(raw: bytes, offsets: Sequence[int]) -> int:
    """How many of the parts of a body between quotes contain any of the offsets."""
    import numpy as np  # noqa: PLC0415  # takes longer to load than all of masking, and few bodies need it

    quotes = np.flatnonzero(np.frombuffer(raw, np.uint8) == ord('"'))
    return 1 + int(np.count_nonzero(np.diff(np.searchsorted(quotes, offsets))))
