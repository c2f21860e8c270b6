"""Tests each step of an input that reads files, without ingesting any event."""

import socket
from collections.abc import Callable, Iterator
from heapq import nlargest
from typing import Final

from lineage_bridge.errors import LineageBridgeError, RequestError
from lineage_bridge.inputs.files.listing import Task, error_text
from lineage_bridge.inputs.files.open_file import OpenFile
from lineage_bridge.inputs.files.store import FileStore, FoundFile
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.model.sources import SourceCheck

RESOLVE, PLACE, LIST, RECORD = "resolve", "place", "list", "record"
_TRIED: Final = 3


def checks(store: FileStore, judge: Callable[[IncomingRecord], str]) -> Iterator[SourceCheck]:
    """Test the steps of reading files, and return a check for each. Stops at a failed step on which the following ones depend."""
    for host, port in getattr(store, "servers", ()):
        try:
            found = sorted({str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)})
        except OSError:
            yield SourceCheck(RESOLVE, False, f"unknown host: {host}", "check the settings `endpoint_url` and `region`")
            return
        yield SourceCheck(RESOLVE, True, f"{host}: {', '.join(found)}")
    try:
        yield SourceCheck(PLACE, True, store.check())
    except LineageBridgeError as error:
        yield SourceCheck(PLACE, False, str(error), error.hint)
        return
    counted: list[int] = []

    def sized() -> Iterator[FoundFile]:
        for file in store.files():
            counted.append(file.size)
            yield file

    try:
        newest = nlargest(_TRIED, (file for file in sized() if file.size), key=lambda file: file.changed_ns)
    except LineageBridgeError as error:
        yield SourceCheck(LIST, False, str(error), error.hint)
        return
    files = f"{len(counted)} file{'' if len(counted) == 1 else 's'}"
    yield SourceCheck(LIST, True, f"{files} to read, {sum(counted)} bytes")
    for problem in store.problems:
        yield SourceCheck(LIST, False, problem, "allow the server's user to read it, or exclude it with the setting `exclude`")
    yield from _record(store, newest, judge)


def _record(store: FileStore, newest: list[FoundFile], judge: Callable[[IncomingRecord], str]) -> Iterator[SourceCheck]:
    """Read and validate the first record of the newest file that has one."""
    for file in newest:
        try:
            opened = OpenFile(store, Task(file, None, False, False))
            try:
                incoming = opened.next()
            finally:
                opened.close()
        except OSError as error:
            yield SourceCheck(
                RECORD,
                False,
                f"{file.path} cannot be read: {error_text(error)}",
                "give the credentials the right to read files, not only to list them",
            )
            return
        if incoming is not None:
            yield _judged(incoming, judge)
            return
    yield SourceCheck(RECORD, True, "there are no records yet")


def _judged(incoming: IncomingRecord, judge: Callable[[IncomingRecord], str]) -> SourceCheck:
    where = f"{incoming.where.stream}, offset {incoming.offset}"
    try:
        return SourceCheck(RECORD, True, f"{where}: {judge(incoming)}")
    except RequestError as error:
        return SourceCheck(RECORD, False, f"{where}: {error}", "such records are stored in quarantine, and the input continues after them")
