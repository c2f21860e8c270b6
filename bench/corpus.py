"""Generated events on disk: a text file that every engine reads, and the event log made from it.

A line is `arrival <tab> event id in hex <tab> body`: what a record of the log carries. No body holds a tab or a line end.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.generator import Corpus, generate
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind

SUBMIT_RECORDS = 1000


class Written(NamedTuple):
    """A file of events: how many, and how many bytes their bodies have."""

    path: Path
    events: int
    bytes: int


def write_corpus(corpus: Corpus, path: Path) -> Written:
    """Generate to a file."""
    events = size = 0
    with path.open("wb") as file:
        for sent in generate(corpus):
            file.write(b"%d\t%b\t%b\n" % (sent.arrival_us, event_id(sent.body).hex().encode(), sent.body))
            events += 1
            size += len(sent.body)
    return Written(path, events, size)


def read_records(path: Path) -> Iterator[LogRecord]:
    """The file's events as records."""
    with path.open("rb") as file:
        for line in file:
            arrival, event, body = line.rstrip(b"\n").split(b"\t", 2)
            yield LogRecord(RecordKind.EVENT, bytes.fromhex(event.decode()), int(arrival), "http", "", b"", body)


def append_corpus(writer: LogWriter, path: Path) -> None:
    """Append a file's events to the log; they are durable when this returns."""
    waiting: list[LogRecord] = []
    for record in read_records(path):
        waiting.append(record)
        if len(waiting) == SUBMIT_RECORDS:
            writer.append(waiting)
            waiting = []
    if waiting:
        writer.append(waiting)
