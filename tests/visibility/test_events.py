"""What counting and listing the quarantine costs, for everybody and for those who are limited."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.events import KEY
from tests.store.reading import reader_of

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.model.access import Visibility
from lineage_bridge.ports.graph_reader import EventReader
from lineage_bridge.store.query.events import MOST_COUNTED
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.visibility.border import Border
from lineage_bridge.visibility.events import LimitedEvents

_ROW = "INSERT INTO quarantine VALUES (?, 'log', 0, ?, ?, '$', '', ?, 9, ?, 'http', '')"
_OWN_EVERY = 4


def whole(reader: StoreReader) -> EventReader:
    return reader.events


def limited(reader: StoreReader) -> EventReader:
    visibility = Visibility(("own",), neighbours=True)
    return LimitedEvents(reader.events, reader.events, Border(reader.nodes, visibility, visibility.owned(["own"])))


def filled(path: Path, records: int) -> GraphWriter:
    """A graph with rejected events, every fourth of which is one's own; the oldest have another code than the newest 10,000."""
    writer = GraphWriter(path, Names(KEY))
    rows = (
        (
            number.to_bytes(16, "big"),
            number,
            "no_time" if records - number <= MOST_COUNTED else "not_json",
            f'{{"job":{{"namespace":"{"theirs" if number % _OWN_EVERY else "own"}","name":"j"}}',
            number,
        )
        for number in range(records)
    )
    writer.connection.executemany(_ROW, rows)
    return writer


@pytest.mark.parametrize(("view", "share"), [(whole, 1), (limited, _OWN_EVERY)])
def test_the_newest_10_000_are_counted_in_one_pass(tmp_path: Path, view: Callable[[StoreReader], EventReader], share: int) -> None:
    statements, looked_at = list[str](), list[str]()

    def look_at(sample: str) -> bool:
        looked_at.append(sample)
        return False

    with closing(filled(tmp_path / "graph.db", MOST_COUNTED + 1000)) as writer:
        reader = reader_of(writer)
        events = view(reader)
        writer.connection.raw.set_trace_callback(statements.append)
        assert events.quarantine_counts() == ({"no_time": MOST_COUNTED // share}, True)
        assert len(statements) == 1
        assert events.quarantine_counts(look_at) == ({}, True)
        assert len(looked_at) == MOST_COUNTED // share


def test_all_are_counted_when_they_are_few_enough(tmp_path: Path) -> None:
    with closing(filled(tmp_path / "graph.db", MOST_COUNTED)) as writer:
        assert whole(reader_of(writer)).quarantine_counts() == ({"no_time": MOST_COUNTED}, False)


def test_the_statements_of_a_far_page_do_not_grow_with_what_comes_before_it(tmp_path: Path) -> None:
    with closing(filled(tmp_path / "graph.db", 15_000)) as writer:
        reader = reader_of(writer)
        events, statements = limited(reader), list[str]()
        writer.connection.raw.set_trace_callback(statements.append)
        assert [record.arrival for record in events.quarantine(None, 2, 3700)] == [196, 192]
        assert len(statements) <= 6
