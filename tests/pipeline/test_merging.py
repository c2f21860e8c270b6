"""The merge rules agree in plain Python, SQL and Spark."""

import random
import sqlite3
from hashlib import blake2b
from itertools import chain

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.events import KEY, record_lists

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.graph.merge_rules import Column, MergeRule, Relation, Row, Type, upsert_sql
from lineage_bridge.graph.relations import RELATIONS
from lineage_bridge.pipeline.merging import merge_rows, rows_of, schema_of

pytestmark = pytest.mark.spark

NAMES = Names(KEY)
ARROW = {Type.INT: pa.int64(), Type.TEXT: pa.string(), Type.BYTES: pa.binary()}
EVERY_LAW = Relation(
    "every_law",
    (
        Column("key", Type.TEXT, MergeRule.KEY),
        Column("least", Type.TEXT, MergeRule.MIN),
        Column("most", Type.BYTES, MergeRule.MAX),
        Column("most_told", Type.INT, MergeRule.MAX, optional=True),
        Column("chosen", Type.TEXT, MergeRule.GREATEST, "up", optional=True),
        Column("up_text", Type.TEXT, MergeRule.GREATEST, "up", ordinal=True),
        Column("up_event", Type.BYTES, MergeRule.GREATEST, "up", ordinal=True),
        Column("other", Type.INT, MergeRule.LEAST, "down", optional=True),
        Column("down_time", Type.INT, MergeRule.LEAST, "down", ordinal=True),
        Column("down_event", Type.BYTES, MergeRule.LEAST, "down", ordinal=True),
        Column("same", Type.TEXT, MergeRule.SAME, optional=True),
    ),
)
"""What no relation of ours has at once: text in an order, a least choice with values."""
VALUES: dict[Type, list[object]] = {
    Type.INT: [-(2**63), -1, 0, 1, 2**63 - 1, 1_795_000_000_000_000],
    Type.TEXT: ["", "a", "A", "aa", "a\x00", "é", "e\u0301", "\uffff", "\U00010000", "\ud7ff", "z"],
    Type.BYTES: [b"", b"\x00", b"\x00\x00", b"\x7f", b"\x80", b"\xff", bytes(16)],
}
"""Extremes, and texts whose order differs by UTF-8 and UTF-16."""


def rows_for(relation: Relation, source: random.Random, count: int) -> list[Row]:
    """Rows as facts may be: few keys, few orders, what is the same a function of the key, what is chosen a function of its order."""
    rows = []
    for _ in range(count):
        row: dict[str, object] = {c.name: source.choice([*VALUES[c.type], *([None] if c.optional else [])]) for c in relation.columns}
        key = [row[name] for name in relation.key]
        for column in relation.columns:
            order = [row[c.name] for c in relation.columns if c.group == column.group and c.ordinal] if column.group else []
            if column.rule is MergeRule.SAME or (column.group and not column.ordinal):
                seed = blake2b(repr((column.name, key, order)).encode(), digest_size=8).digest()
                options = [*VALUES[column.type], None] if column.optional else VALUES[column.type]
                row[column.name] = random.Random(seed).choice(options)
        rows.append(tuple(row[name] for name in relation.names))
    return rows


def plain(relation: Relation, rows: list[Row]) -> set[Row]:
    table: dict[Row, Row] = {}
    for row in rows:
        key, values = row[: relation.key_size], row[relation.key_size :]
        table[key] = relation.merge(table[key], values) if key in table else values
    return {key + values for key, values in table.items()}


def by_sql(relation: Relation, rows: list[Row]) -> set[Row]:
    connection = sqlite3.connect(":memory:")
    columns, key = (", ".join(f'"{name}"' for name in names) for names in (relation.names, relation.key))
    connection.execute(f'CREATE TABLE "{relation.name}" ({columns}, PRIMARY KEY ({key}))')
    connection.executemany(upsert_sql(relation, f"VALUES ({', '.join('?' * len(relation.names))})"), rows)
    found = set(connection.execute(f'SELECT {columns} FROM "{relation.name}"'))
    connection.close()
    return found


def by_spark(spark: SparkSession, relation: Relation, rows: list[Row]) -> set[Row]:
    columns = [pa.array(values, ARROW[c.type]) for c, values in zip(relation.columns, zip(*rows, strict=True), strict=True)]
    record = spark.createDataFrame(pa.table(columns, names=list(relation.names)), schema_of(relation)).repartition(2)
    found = rows_of(merge_rows(record, relation=relation))
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.parametrize("relation", [*RELATIONS, EVERY_LAW], ids=lambda relation: relation.name)
def test_extreme_values_merge_alike(spark: SparkSession, relation: Relation) -> None:
    rows = rows_for(relation, random.Random(relation.name), 600)
    rows += [(*row[: relation.key_size], *other[relation.key_size :]) for row, other in zip(rows, same_key(relation, rows), strict=True)]
    merged = plain(relation, rows)
    assert by_sql(relation, rows) == merged
    assert by_spark(spark, relation, rows) == merged


def same_key(relation: Relation, rows: list[Row]) -> list[Row]:
    """For each row one that a merge may meet: the next row with its key, if there is one."""
    by_key: dict[Row, list[Row]] = {}
    for row in rows:
        by_key.setdefault(row[: relation.key_size], []).append(row)
    return [random.Random(index).choice(by_key[row[: relation.key_size]]) for index, row in enumerate(rows)]


@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(record_lists(min_size=25, max_size=40), st.randoms(use_true_random=False))
def test_folds_of_parts_merge_to_the_fold_of_all(spark: SparkSession, records: list[StoredRecord], source: random.Random) -> None:
    pieces = [[source.choice(records) for _ in range(source.randint(1, 12))] for _ in range(40)]
    parts = [dict(flat(fold_records(piece, NAMES))) for piece in pieces]
    whole = dict(flat(fold_records(chain.from_iterable(pieces), NAMES)))
    for relation in RELATIONS:
        rows = [row for part in parts for row in part.get(relation.name, [])]
        expected = set(whole.get(relation.name, []))
        assert by_sql(relation, rows) == expected
        if rows:
            assert by_spark(spark, relation, rows) == expected
