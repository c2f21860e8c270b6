"""What events look like after masking: shared by the sets that are masked as ingestion does it."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from lineage_bridge.ingest.effort import masking_effort, payload_masking_effort
from lineage_bridge.ingest.masking import mask_event
from lineage_bridge.openlineage.verdict import Rejected, judge

_ARRIVAL_US = 1_772_360_000_000_000


def masked(event: bytes) -> bytes:
    """Mask an event as ingestion does. Fails if its facets had to be masked as a whole."""
    own = masking_effort(event)
    result = mask_event(event, payload_masking_effort([event]), b"key of the installation", own)
    assert result is not None
    assert own.left_ns >= 0
    return result


def is_readable(lines: Iterable[str], event: bytes) -> bool:
    """Whether half of any of these lines, and at least six characters, can be read in an event."""
    text = "\n".join(_texts(json.loads(event)))
    return any(piece in text for line in lines for piece in _pieces(line))


def _pieces(line: str) -> Iterator[str]:
    length = min(len(line), max(6, (len(line) + 1) // 2))
    return (line[start : start + length] for start in range(len(line) - length + 1))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
    else:
        yield str(value)


def output_names(event: bytes) -> list[tuple[str, str]]:
    """The datasets that an event writes, as they are called after masking."""
    verdict = judge(masked(event), _ARRIVAL_US)
    assert not isinstance(verdict, Rejected), verdict
    return [(written.namespace, written.name) for written in verdict.event.outputs]


def shares(title: str, all_of: Counter[str], bad: Counter[str]) -> Iterator[str]:
    """Lines with how many of each name are good."""
    yield f"\n{title}"
    for name in sorted(all_of, key=lambda name: (-bad[name], name)):
        yield f"  {name:28} {all_of[name] - bad[name]:4} of {all_of[name]:4}"
