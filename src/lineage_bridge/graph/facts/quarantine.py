"""Rows of `quarantine`: log records whose event is not used, each with the reason."""

import msgspec

from lineage_bridge.graph.facts.facet_sets import Fact
from lineage_bridge.graph.log_record import StoredRecord

SAMPLE_CHARACTERS = 2000


class _Reason(msgspec.Struct):
    code: str = "rejected"
    path: str = "$"
    message: str = ""


def rejected_row(stored: StoredRecord) -> Fact:
    """The row of a record that was rejected when it arrived; its note has the reason."""
    note = stored.record.note
    reason = msgspec.json.decode(note, type=_Reason) if note else _Reason()
    return quarantine_row(stored, reason.code, reason.path, reason.message)


def quarantine_row(stored: StoredRecord, code: str, path: str, message: str) -> Fact:
    """The row of a record, with the start of its text."""
    record = stored.record
    sample = record.body[: 4 * SAMPLE_CHARACTERS].decode("utf-8", "replace").replace("\x00", "\ufffd")[:SAMPLE_CHARACTERS]
    values = (code, path, message, sample, len(record.body), record.arrival_us, record.channel, record.principal)
    return "quarantine", (record.event_id, stored.source, stored.partition, stored.offset), values
