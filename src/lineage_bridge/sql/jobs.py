"""The jobs that a script of Flink SQL starts: one for each INSERT and each CREATE TABLE AS, and one for each statement set."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lineage_bridge.sql.lineage import Lineage
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.script import StreamingScript
from lineage_bridge.sql.text.cursor import Cursor
from lineage_bridge.sql.text.tokens import Token, TokenError, tokens

_NAME_SETTING = "pipeline.name"


@dataclass(frozen=True)
class StartedJob:
    """A job that a script starts. `reads`: for each table written, the tables that the job's statements read for it.

    `name` is the job name that the script sets, else the name that Flink makes from the tables written. `paths`: for each table name in
    `lineage`, the name with catalog and database.
    """

    name: str
    text: str
    lineage: Lineage
    reads: dict[Name, tuple[Name, ...]]
    paths: dict[Name, Name]

    @property
    def tables(self) -> tuple[frozenset[Name], frozenset[Name]]:
        """The tables that the job reads and those that it writes, qualified with catalog and database."""
        return frozenset(self.paths[name] for name in self.lineage.inputs), frozenset(self.paths[name] for name in self.lineage.outputs)


class _OpenJob:
    """A job that is not complete yet: further statements of the script may belong to it."""

    def __init__(self, set_head: str = "") -> None:
        self.set_head = set_head
        self.texts: list[str] = []
        self.lineage = Lineage()
        self.reads: dict[Name, dict[Name, None]] = {}


def jobs_of(script: StreamingScript, text: str) -> Iterator[StartedJob]:
    """The jobs that a script starts, in order. `script` is the reader to use, which may already know tables."""
    name, job = "", _OpenJob()
    for piece in _pieces(text):
        cursor = Cursor(piece)
        if _ends(piece):
            yield from _started(script, name, job)
            job = _OpenJob()
            continue
        if _begins(cursor):
            job = _OpenJob(text[piece[0].start : piece[cursor.at - 1].end])
        name = _named(Cursor(piece), name)
        if cursor.token is not None:
            _read(script, text[cursor.token.start : piece[-1].end], job)
        if not job.set_head:
            yield from _started(script, name, job)
            job = _OpenJob()
    yield from _started(script, name, job)


def _pieces(text: str) -> Iterator[Sequence[Token]]:
    """Split a script at its semicolons. Each piece is returned as text."""
    try:
        found = tokens(text)
    except TokenError as err:
        found = [*err.before, err.token]
    start = 0
    for at in range(len(found) + 1):
        if at == len(found) or found[at].upper == ";":
            if at > start:
                yield found[start:at]
            start = at + 1


def _ends(piece: Sequence[Token]) -> bool:
    return [token.upper for token in piece] == ["END"]


def _begins(cursor: Cursor) -> bool:
    return cursor.takes("EXECUTE", "STATEMENT", "SET", "BEGIN") or cursor.takes("BEGIN", "STATEMENT", "SET")


def _named(cursor: Cursor, before: str) -> str:
    """The name that jobs get after a statement: `SET 'pipeline.name' = 'x'` sets it, RESET removes it, all other statements leave it
    unchanged.
    """
    if cursor.takes("RESET"):
        return "" if cursor.token is None or cursor.token.text == _NAME_SETTING else before
    if not cursor.takes("SET"):
        return before
    setting, _, value = "".join(token.text for token in cursor.rest()).partition("=")
    return value if setting == _NAME_SETTING else before


def _read(script: StreamingScript, text: str, job: _OpenJob) -> None:
    for _, lineage in script.read(text):
        if not lineage.outputs:
            continue
        job.texts.append(text)
        job.lineage.add(lineage)
        for table in lineage.outputs:
            job.reads.setdefault(table, {}).update(lineage.inputs)


def _started(script: StreamingScript, name: str, job: _OpenJob) -> Iterator[StartedJob]:
    if not job.texts:
        return
    paths = {table: script.catalog.path(table) for table in (*job.lineage.inputs, *job.lineage.outputs)}
    made = "insert-into_" + ",".join(".".join(paths[table]) for table in job.reads)
    reads = {table: tuple(read) for table, read in job.reads.items()}
    whole = "\n".join((job.set_head, *(f"{text};" for text in job.texts), "END")) if job.set_head else job.texts[0]
    yield StartedJob(name or made, whole, job.lineage, reads, paths)
