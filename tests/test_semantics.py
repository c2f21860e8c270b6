"""Every section of docs/semantics.md is a rule with an example: its events are folded, in order and reversed, and give what it says.

A section's fences: `json events` (a list of events), `json operators` (what operators say then), `export TYPE ...` (all lines of these
types) and `answer PATH` (what the answer to GET PATH holds at least). An export is compared by the members that its lines spell out.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import OffsetRange, RecordKind
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.write.apply import GraphWriter
from tests.api.support import running
from tests.events import KEY, stored_record
from tests.store.reading import reader_of

PAGE = Path(__file__).parents[1] / "docs" / "semantics.md"
NAMES = Names(KEY)


class Fence(NamedTuple):
    head: str
    options: list[str]
    text: str


class Section(NamedTuple):
    title: str
    fences: list[Fence]

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for fence in self.fences if fence.options == ["events"] for event in json.loads(fence.text)]

    @property
    def operators(self) -> list[bytes]:
        """What operators say, after the events."""
        return [
            json.dumps(operation).encode()
            for fence in self.fences
            if fence.options == ["operators"]
            for operation in json.loads(fence.text)
        ]


def sections() -> Iterator[Section]:
    for section in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        found = re.findall(r"^```(\w+) ([^\n]+)\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
        yield Section(section.partition("\n")[0], [Fence(head, options.split(), text) for head, options, text in found])


SECTIONS = list(sections())
each_section = pytest.mark.parametrize("section", SECTIONS, ids=[s.title for s in SECTIONS])


def now_of(section: Section) -> int:
    times = [parse_time(event["eventTime"]) for event in section.events]
    return max(time.us for time in times if time)


def exported(path: Path, section: Section, bodies: list[bytes], only: frozenset[str]) -> list[dict[str, Any]]:
    now = now_of(section)
    writer = GraphWriter(path, NAMES, stitch=True)
    try:
        records = [stored_record(body, offset=index + 1, arrival=now) for index, body in enumerate(bodies)]
        records += [stored_record(body, arrival=now + n, kind=RecordKind.OPERATOR) for n, body in enumerate(section.operators)]
        for index, record in enumerate(records):
            rows = dict(flat(fold_records([record], NAMES)))
            writer.apply(Batch({("log", 0): OffsetRange(index, index + 1)}, rows), Budget(10_000))
        assert [d for d in reader_of(writer).whole.differences(NAMES) if d.surplus or d.missing] == []
        return [json.loads(line) for line in reader_of(writer).whole.lines(only, now_us=now)]
    finally:
        writer.close()


def spelt_out(lines: list[dict[str, Any]], expected: list[dict[str, Any]]) -> list[str]:
    """Lines with the members that the wanted lines of their type have, sorted."""
    members: dict[str, set[str]] = {}
    for line in expected:
        members.setdefault(line["type"], set()).update(line)
    return sorted({json.dumps({k: v for k, v in line.items() if k in members.get(line["type"], line)}, sort_keys=True) for line in lines})


@each_section
def test_the_graph_is_as_the_section_says(section: Section, tmp_path: Path) -> None:
    bodies = [json.dumps(event).encode() for event in section.events]
    assert bodies, "a rule has an example"
    assert len(section.fences) > 1, "an example says what it gives"
    for number, fence in enumerate(f for f in section.fences if f.head == "export"):
        expected = [json.loads(line) for line in fence.text.splitlines()]
        for way, order in enumerate((bodies, [*reversed(bodies), *bodies])):
            found = exported(tmp_path / f"{number}-{way}.db", section, order, frozenset(fence.options))
            assert spelt_out(found, expected) == spelt_out(expected, expected)


@each_section
def test_the_answers_are_as_the_section_says(section: Section, tmp_path: Path, empty_store: Path) -> None:
    fences = [fence for fence in section.fences if fence.head == "answer"]
    if not fences:
        return
    with running(tmp_path, empty_store) as server:
        server.parts.now_us = now_of(section)
        server.send(*(json.dumps(event).encode() for event in section.events))
        for operation in map(json.loads, section.operators):
            assert server.client.post(f"/api/v1/operations/{operation.pop('operation')}", json=operation).is_success
        server.fold()
        for fence in fences:
            answer = server.client.get(fence.options[-1])
            assert answer.status_code == 200, answer.text
            assert holds(answer.json(), json.loads(fence.text)), answer.json()


def holds(found: Any, expected: Any) -> bool:
    """Whether an answer holds all that is wanted: objects at least the wanted members, lists exactly the wanted elements, in any order."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(key in found and holds(found[key], value) for key, value in expected.items())
    if isinstance(expected, list):
        left = list(found) if isinstance(found, list) else []
        for value in expected:
            match = next((index for index, record in enumerate(left) if holds(record, value)), None)
            if match is None:
                return False
            del left[match]
        return not left
    return bool(found == expected)


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(path, NAMES).close()
    return path
