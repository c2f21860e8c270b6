"""Statements that others published: the columns that they fill, and the flows into these."""

import pytest
from tests.sql.published import Published, found, published

from lineage_bridge.sql.reading import lineage_of, tables_of


@pytest.mark.parametrize("script", published(), ids=lambda script: script.name)
def test_each_statement_fills_the_columns_that_its_engine_fills(script: Published) -> None:
    lineage = lineage_of(script.sql, script.dialect)
    assert lineage.errors == []
    for sink in script.sinks:
        assert found(lineage, sink.table) == sink.flows, sink.table


@pytest.mark.parametrize("script", [script for script in published() if script.dialect == "ksqldb"], ids=lambda script: script.name)
def test_columns_of_ksqldb_are_in_the_order_of_the_engine(script: Published) -> None:
    """But for tables with columns that are defined in a registry only."""
    tables = tables_of(script.sql, script.dialect)
    for sink in script.sinks:
        if sink.table in tables:
            assert tables[sink.table] == tuple(name for name, _ in sink.columns)


def test_the_book_is_large() -> None:
    sinks = {dialect: sum(len(script.sinks) for script in published() if script.dialect == dialect) for dialect in ("ksqldb", "flink")}
    assert sinks["ksqldb"] >= 300
    assert sinks["flink"] >= 165
