"""Reads the findings of an analysis that concern the principal's own nodes."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from lineage_bridge.model.access import Visibility
from lineage_bridge.model.analysis import FindingsPart, FindingsSummary
from lineage_bridge.ports.analysis import FindingsReader
from lineage_bridge.visibility.border import BEYOND

_CYCLE: Final = "cycle"
_IMPACT: Final = "impact"


class LimitedFindings:
    """Implements ports.FindingsReader with the lines about own nodes, under their preferred names. Counts are of these lines."""

    def __init__(self, findings: FindingsReader, visibility: Visibility) -> None:
        self._findings, self._visibility = findings, visibility
        whole = findings.summary
        counts = {part: sum(1 for _ in self.every(part)) for part in whole.parts}
        parts = {part: FindingsPart(0, count) for part, count in counts.items()}
        self.summary: FindingsSummary = msgspec.structs.replace(whole, parts=parts, nodes=counts.get(_IMPACT, 0), flows=None)

    def lines(self, part: str, limit: int, offset: int) -> list[bytes]:
        """A page of the lines in one part of the findings, such as the unused datasets."""
        return list(islice(self.every(part), offset, offset + limit))

    def every(self, part: str) -> Iterator[bytes]:
        """All lines in one part of the findings."""
        return (shown for line in self._findings.every(part) if (shown := self._shown(part, line)) is not None)

    def _shown(self, part: str, line: bytes) -> bytes | None:
        found = msgspec.json.decode(line)
        if part != _CYCLE:
            return line if self._is_own(found) else None
        if not any(map(self._is_own, found["nodes"])):
            return None
        nodes = [node if self._is_own(node) else _place(number, node) for number, node in enumerate(found["nodes"], 1)]
        return msgspec.json.encode({**found, "nodes": nodes})

    def _is_own(self, name: dict[str, Any]) -> bool:
        return self._visibility.owns(name["namespace"])


def _place(number: int, name: dict[str, Any]) -> dict[str, Any]:
    return {**name, "namespace": BEYOND, "name": str(number)}


def limited_findings(findings: Callable[[], FindingsReader], visibility: Callable[[], Visibility | None]) -> Callable[[], FindingsReader]:
    """Wrap `findings` so that they are limited to the principal's visibility."""

    def open_findings() -> FindingsReader:
        limits = visibility()
        return findings() if limits is None else LimitedFindings(findings(), limits)

    return open_findings
