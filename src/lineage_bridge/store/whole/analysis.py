"""Stores the findings of an analysis of the whole graph in a file of lines, with one object in each line.

The first line is a summary. It contains the offset of each part of the findings, so that a page of a part can be read without the lines
before it. The parts follow, each sorted in its own way.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import msgspec

from lineage_bridge.conversion import decode
from lineage_bridge.errors import NotFoundError
from lineage_bridge.model.analysis import Analysis, FindingsPart, FindingsSummary
from lineage_bridge.model.graph import Node
from lineage_bridge.openlineage.times import format_time

PARTS = ("impact", "cycle", "orphan", "unused")
Line = dict[str, Any]
_ENCODER = msgspec.json.Encoder()


class Findings:
    """Implements ports.FindingsReader over the file at `path`. Raises NotFoundError if this version wrote no such file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                first = file.readline()
            self.summary = decode(first, FindingsSummary)
        except (FileNotFoundError, msgspec.DecodeError) as error:
            raise NotFoundError("the graph has not been analysed", "run lineage-bridge analyse") from error
        self._behind = len(first)

    def lines(self, part: str, limit: int, offset: int) -> list[bytes]:
        """A page of the lines in one part of the findings, as unparsed text."""
        return list(self._read(part, offset, limit))

    def every(self, part: str) -> Iterator[bytes]:
        """All lines in one part of the findings, as unparsed text. The file is read once, as the lines are consumed."""
        return self._read(part, 0, None)

    def _read(self, part: str, offset: int, limit: int | None) -> Iterator[bytes]:
        try:
            of = self.summary.parts[part]
            stop = of.count if limit is None else min(offset + limit, of.count)
            with self.path.open("rb") as file:
                file.seek(self._behind + of.start)
                for line in islice(file, min(offset, of.count), stop):
                    msgspec.json.decode(line)
                    yield line.rstrip(b"\n")
        except (KeyError, OSError, ValueError, msgspec.DecodeError) as error:
            raise NotFoundError("the last analysis cannot be read", "run it again: lineage-bridge analyse") from error


def write_findings(path: Path, found: Analysis, position: Mapping[tuple[str, int], int], made_us: int, unused_days: int) -> None:
    """Replace the file of the findings. A reader sees the whole old file or the whole new one."""
    makers = {"impact": _impact, "cycle": _cycles, "orphan": _orphans, "unused": _unused}
    parts: dict[str, FindingsPart] = {}
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with TemporaryFile(dir=path.parent) as body, fresh.open("wb") as file:
        for part in PARTS:
            start = body.tell()
            parts[part] = FindingsPart(start, sum(1 for line in makers[part](found) if body.write(_ENCODER.encode(line) + b"\n")))
        offsets = {f"{source}/{number}": offset for (source, number), offset in sorted(position.items())}
        summary = FindingsSummary(offsets, format_time(made_us), unused_days, found.exact, len(found.nodes), found.flows, parts)
        file.write(_ENCODER.encode(summary) + b"\n")
        body.seek(0)
        while some := body.read(1 << 20):
            file.write(some)
    fresh.replace(path)


def _impact(found: Analysis) -> Iterator[Line]:
    """The nodes that have any node downstream or upstream, those with the most downstream nodes first."""
    for measure in sorted(found.nodes, key=lambda m: (-m.downstream, -m.dashboards, -m.upstream, *_name(m.node).values())):
        if measure.downstream or measure.upstream:
            counts = {"downstream": measure.downstream, "downstream_dashboards": measure.dashboards, "upstream": measure.upstream}
            yield {**_name(measure.node), **counts}


def _cycles(found: Analysis) -> Iterator[Line]:
    for cycle in found.cycles:
        yield {"nodes": [_name(node) for node in cycle]}


def _orphans(found: Analysis) -> Iterator[Line]:
    yield from sorted(map(_name, found.orphans), key=lambda name: tuple(name.values()))


def _unused(found: Analysis) -> Iterator[Line]:
    """The unused datasets, those that were read longest ago first."""
    for touched in sorted(found.unused, key=lambda t: (t.read or 0, *_name(t.dataset).values())):
        read = {} if touched.read is None else {"last_read": format_time(touched.read)}
        yield {**_name(touched.dataset), "last_written": format_time(touched.written), **read}


def _name(node: Node) -> dict[str, str]:
    return {"kind": node.kind.name.lower(), "namespace": node.namespace, "name": node.name}
