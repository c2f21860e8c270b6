"""Files, as producers and tests write them, and an input that reads them into a real log."""

import gzip
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.events import KEY, run_event
from tests.inputs.support import Installation, running, until

from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.inputs.kinds import KINDS
from lineage_bridge.inputs.reading import InputReader
from lineage_bridge.sources.common.settings import NO_CONTEXT, SourceContext
from lineage_bridge.wiring.processes import now_us


def lines(*numbers: int) -> bytes:
    """Events with these numbers, one a line."""
    return b"".join(event(number) + b"\n" for number in numbers)


def event(number: int) -> bytes:
    return run_event(job=f"job-{number}", number=number)


def packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


@contextmanager
def reading(
    installation: Installation, kind: str = "folder", log: Any = None, context: SourceContext = NO_CONTEXT, **settings: Any
) -> Iterator[InputReader]:
    """Read files while the block lasts."""
    order = {"poll_s": 0.1, "refresh_s": 0.1, **settings}
    source = KINDS.make("events", kind, order, context, "0123456789abcdef")
    with running(InputReader(source, kind, log or installation.ledger, KEY, now_us, time.monotonic)) as reader:
        yield reader


def numbers(installation: Installation) -> list[int]:
    """The numbers of the accepted events in the log, in its order."""
    return [json.loads(record.body)["number"] for record in installation.records() if record.kind == RecordKind.EVENT]


def rejected(installation: Installation) -> list[tuple[str, int, str]]:
    """Path, offset and message of the rejected records in the log."""
    pairs = zip(installation.records(), installation.origins(), strict=True)
    return [
        (origin.stream, origin.offset, json.loads(record.note)["message"]) for record, origin in pairs if record.kind == RecordKind.REJECTED
    ]


def bring(installation: Installation, expected: Sequence[int], **settings: Any) -> None:
    """Read until the log has events with these numbers, and nothing waits; each is there once."""
    with reading(installation, **settings) as reader:
        until(lambda: len(numbers(installation)) >= len(expected), f"{len(expected)} events")
        until(lambda: reader.meter.status.lag_files == 0, "an end")
    assert sorted(numbers(installation)) == sorted(expected)


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
