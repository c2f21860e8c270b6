"""Reads the operations by which operators declare that a flow has ended, or take that back."""

from collections.abc import Callable, Iterator

import msgspec

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.openlineage.times import parse_time

ANY = 0
"""In the place of a source or target: every source, or every target, of the job."""
OPERATIONS = {"end": 1, "unend": 0}


class _End(msgspec.Struct):
    namespace: str
    name: str
    kind: str = "dataset"


class _Order(msgspec.Struct):
    operation: str
    job: _End
    source: _End | None = None
    target: _End | None = None
    at: str = ""


_KINDS = {"dataset": NodeKind.DATASET, "job": NodeKind.JOB}
_DECODER = msgspec.json.Decoder(_Order)


def endings(record: LogRecord, node_of: Callable[[NodeKind, str, str], int]) -> Iterator[tuple[str, Row, Row]]:
    """The row of `ending` for an operator's record; no row if the record is of another kind or malformed."""
    try:
        order = _DECODER.decode(record.body)
    except msgspec.DecodeError:
        return
    at = parse_time(order.at) if order.at else None
    if order.operation not in OPERATIONS or (order.source is None and order.target is None) or (order.at and at is None):
        return
    if any(end and end.kind not in _KINDS for end in (order.source, order.target)):
        return
    ends = [node_of(_KINDS[end.kind], end.namespace, end.name) if end else ANY for end in (order.source, order.target)]
    job = node_of(NodeKind.JOB, order.job.namespace, order.job.name)
    yield "ending", (*ends, job), (OPERATIONS[order.operation], at.us if at else record.arrival_us, record.arrival_us, record.event_id)
