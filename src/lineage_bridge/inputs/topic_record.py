"""Writes log records as records of a topic: the event is the value, and everything else of a log record is in headers. Pure.

Any consumer of the topic sees an OpenLineage event as JSON; LineageBridge reads back exactly the record that it wrote.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, read_note, write_note
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.inputs.values import origin_of

REQUEST_HEADER: Final = "lineagebridge-request"
"""The header with the id of the request that sent the event. It is stored with the record's origin."""
_KIND, _RECEIVED, _CHANNEL, _PRINCIPAL, _NOTE = (f"lineagebridge-{name}" for name in ("kind", "received", "channel", "principal", "note"))
_OWN: Final = frozenset({_KIND, _RECEIVED, _CHANNEL, _PRINCIPAL, _NOTE})
_KINDS: Final = {"event": RecordKind.EVENT, "rejected": RecordKind.REJECTED, "operator": RecordKind.OPERATOR}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}
_MOST_US: Final = 253_402_300_800_000_000
"""The year 10000."""
_OVERHEAD: Final = 512

Headers = Sequence[tuple[str, bytes]]


def headers_of(record: LogRecord, request: str = "") -> list[tuple[str, bytes]]:
    """The headers of a record in a topic; `request` is the id of the request that contained the event.

    `lineagebridge-received` is the time of arrival in UTC microseconds; `lineagebridge-note` is a RecordNote as JSON, absent if empty.
    """
    found = [
        (_KIND, _NAMES[record.kind].encode()),
        (_RECEIVED, str(record.arrival_us).encode()),
        (_CHANNEL, record.channel.encode()),
        (_PRINCIPAL, record.principal.encode()),
    ]
    if record.note:
        found.append((_NOTE, record.note))
    return [*found, (REQUEST_HEADER, request.encode())] if request else found


def size_of(record: LogRecord) -> int:
    """An upper estimate of a record's bytes in a topic, including headers and the overhead of a batch."""
    return len(record.body) + len(record.note) + 4 * (len(record.channel) + len(record.principal)) + _OVERHEAD


def restored(name: str, incoming: IncomingRecord, key: bytes) -> LogRecord | None:
    """Restore the log record that LineageBridge wrote, with an origin in the input `name`; None for a record that another program wrote.
    `key` is the installation's key, which digests of secrets in headers depend on.
    """
    found = {header: value for header, value in incoming.headers if header in _OWN}
    try:
        kind = _KINDS[(found[_KIND] or b"").decode()]
        received_us = int(found[_RECEIVED] or b"")
        channel, principal = ((found[header] or b"").decode() for header in (_CHANNEL, _PRINCIPAL))
        note = read_note(found.get(_NOTE) or b"")
    except (KeyError, ValueError, msgspec.DecodeError):
        return None
    body = incoming.value
    if body is None or not 0 <= received_us < _MOST_US:
        return None
    others = tuple(header for header in incoming.headers if header[0] not in _OWN)
    origin = origin_of(name, incoming._replace(headers=others), key)
    kept = write_note(msgspec.structs.replace(note, origin=origin))
    return LogRecord(kind, event_id(body), received_us, channel, principal, kept, body)
