"""What an analysis found, for a principal that sees a part of the graph."""

from collections.abc import Iterator

import msgspec

from lineage_bridge.model.access import Visibility
from lineage_bridge.model.analysis import FindingsPart, FindingsSummary
from lineage_bridge.visibility.findings import LimitedFindings

LINES = 5_000


class CountedFindings:
    """Implements ports.FindingsReader, and counts the lines that were read or passed over."""

    def __init__(self) -> None:
        self.summary = FindingsSummary({}, "2026-05-01T04:00:00Z", 30, True, LINES, 0, {"impact": FindingsPart(0, LINES)})
        self.passed = 0

    def lines(self, part: str, limit: int, offset: int) -> list[bytes]:
        """Lines of a part."""
        found = list(self.every(part))[: offset + limit]
        return found[offset:]

    def every(self, part: str) -> Iterator[bytes]:
        """All lines of a part."""
        assert part == "impact"
        for number in range(LINES):
            self.passed += 1
            yield msgspec.json.encode({"namespace": "ours" if number % 1000 == 0 else "theirs", "name": f"d{number}"})


def test_a_part_is_read_once_for_its_count_and_once_for_a_page() -> None:
    findings = CountedFindings()
    limited = LimitedFindings(findings, Visibility(("ours",)))
    assert (limited.summary.parts["impact"].count, findings.passed) == (5, LINES)
    assert [msgspec.json.decode(line)["name"] for line in limited.lines("impact", 2, 3)] == ["d3000", "d4000"]
    assert findings.passed <= 2 * LINES
