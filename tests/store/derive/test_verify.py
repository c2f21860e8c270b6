"""Verification looks at everything derived, and sees a row that is wrong."""

import pytest
from tests.events import T0, columns, dataset, facet, job_event, records_of, run_event, schema
from tests.store.reading import reader_of
from tests.store.tables import execute
from tests.store.writing import NAMES, apply, opened

from lineage_bridge.graph.relations import BY_NAME
from lineage_bridge.store.derive.verify import APART, MAY_HOLD_MORE, SEARCH, STORED, WAITING
from lineage_bridge.store.schema.tables import METADATA
from lineage_bridge.store.write.apply import GraphWriter

EVENTS = [
    run_event(
        inputs=[dataset("a", schema=schema("id"))],
        outputs=[
            dataset(
                "b",
                columnLineage=columns(id=[("ns", "a", "id")]),
                symlinks=facet(identifiers=[{"namespace": "file", "name": "b", "type": "TABLE"}]),
            )
        ],
    ),
    run_event(job="wide", time_us=T0 + 1, inputs=[dataset(f"i{n}") for n in range(40)], outputs=[dataset(f"o{n}") for n in range(40)]),
    job_event(inputs=[dataset("a")], outputs=[dataset("c")]),
    job_event(job="spelt", inputs=[dataset("topic", "kafka://Host.internal:9092")]),
]


def wrong(writer: GraphWriter) -> list[str]:
    return [table.table for table in reader_of(writer).whole.differences(NAMES) if table.surplus or table.missing]


def test_every_table_that_is_no_relation_is_verified() -> None:
    derived = METADATA.tables.keys() - BY_NAME.keys()
    assert derived == {*STORED, *WAITING, *APART}
    with opened() as writer:
        virtual = {row[0] for row in execute(writer, "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'")}
        assert virtual == SEARCH.keys()


@pytest.mark.parametrize("table", [table for table in STORED if table not in MAY_HOLD_MORE])
def test_a_row_that_is_missing_or_too_many_is_seen(table: str) -> None:
    with opened() as writer:
        apply(writer, records_of(EVENTS))
        assert wrong(writer) == []
        columns_ = [column.name for column in METADATA.tables[table].columns]
        some = execute(writer, f'SELECT * FROM "{table}" LIMIT 1').fetchone()
        values = [(value + 1 if isinstance(value, int) else b"\x01" * 16 if isinstance(value, bytes) else "other") for value in some or ()]
        if some is None:
            values = [
                1 if str(column.type) == "BIGINT" else b"" if str(column.type) == "BLOB" else "x"
                for column in METADATA.tables[table].columns
            ]
        execute(writer, "BEGIN")
        execute(writer, f'INSERT OR REPLACE INTO "{table}" VALUES ({", ".join("?" * len(columns_))})', values)
        assert table in wrong(writer)
        execute(writer, "ROLLBACK")
        if some is not None:
            execute(writer, f'DELETE FROM "{table}"')
            assert table in wrong(writer)


def test_a_name_that_search_does_not_know_is_seen() -> None:
    with opened() as writer:
        apply(writer, records_of(EVENTS))
        id_, namespace, name = execute(writer, "SELECT id, namespace, name FROM node LIMIT 1").fetchone()
        execute(writer, "INSERT INTO node_search (node_search, rowid, namespace, name) VALUES ('delete', ?, ?, ?)", (id_, namespace, name))
        assert wrong(writer) == ["node_search"]


def test_keys_that_wait_are_reported() -> None:
    with opened() as writer:
        apply(writer, records_of(EVENTS))
        execute(writer, "INSERT INTO derive_queue VALUES (x'00', 1)")
        assert wrong(writer) == ["derive_queue"]
