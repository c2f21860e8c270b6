"""Makes rows of `quarantine`: log records whose event is not used, each with the reason."""

from lineage_bridge.graph.facts.facet_sets import Fact
from lineage_bridge.graph.log_record import StoredRecord, read_note

SAMPLE_CHARACTERS = 2000


def rejected_row(stored: StoredRecord) -> Fact:
    """The row of a record that was rejected on arrival; the record's note contains the reason."""
    reason = read_note(stored.record.note)
    return quarantine_row(stored, reason.code or "rejected", reason.path or "$", reason.message)


def quarantine_row(stored: StoredRecord, code: str, path: str, message: str) -> Fact:
    """The row of a record, with the beginning of its text. If an input read the record, the message contains its position there."""
    record = stored.record
    origin = read_note(record.note).origin
    message = f"{message} ({origin})" if origin else message
    sample = record.body[: 4 * SAMPLE_CHARACTERS].decode("utf-8", "replace").replace("\x00", "\ufffd")[:SAMPLE_CHARACTERS]
    values = (code, path, message, sample, len(record.body), record.arrival_us, record.channel, record.principal)
    return "quarantine", (record.event_id, stored.source, stored.partition, stored.offset), values
