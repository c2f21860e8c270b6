"""Converts the operations `end` and `unend`, by which operators declare that flows have ended, to rows of the relation `ending`."""

from collections.abc import Callable, Iterator

import msgspec

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.openlineage.times import parse_time

ANY = 0
"""Stands for every source, or every target, of the job."""
OPERATIONS = {"end": 1, "unend": 0}


class _Node(msgspec.Struct):
    namespace: str
    name: str
    kind: str = "dataset"


class _EndOperation(msgspec.Struct):
    operation: str
    job: _Node
    source: _Node | None = None
    target: _Node | None = None
    at: str = ""


_KINDS = {"dataset": NodeKind.DATASET, "job": NodeKind.JOB}
_DECODER = msgspec.json.Decoder(_EndOperation)


def endings(record: LogRecord, node_of: Callable[[NodeKind, str, str], int]) -> Iterator[tuple[str, Row, Row]]:
    """The rows of `ending` for an operator's record: one row, or none if the record is of another kind or malformed."""
    try:
        operation = _DECODER.decode(record.body)
    except msgspec.DecodeError:
        return
    at = parse_time(operation.at) if operation.at else None
    if operation.operation not in OPERATIONS or (operation.source is None and operation.target is None) or (operation.at and at is None):
        return
    if any(end and end.kind not in _KINDS for end in (operation.source, operation.target)):
        return
    ends = [node_of(_KINDS[end.kind], end.namespace, end.name) if end else ANY for end in (operation.source, operation.target)]
    job = node_of(NodeKind.JOB, operation.job.namespace, operation.job.name)
    yield "ending", (*ends, job), (OPERATIONS[operation.operation], at.us if at else record.arrival_us, record.arrival_us, record.event_id)
