"""The corpus of quirks: what real producers send, and what their recordings lack. `bodies()` gives all of it, in the order it is told.

One row for each producer of the survey of producers, shown clause by clause and quoted; then what recordings lack.
"""

from collections.abc import Iterator

from tests.quirks import declared, engines, missing, spark, streams, workflows
from tests.quirks.builders import Quirk, Row

ROWS: tuple[Row, ...] = (
    spark.ROW,
    workflows.AIRFLOW_ROW,
    workflows.DBT_ROW,
    streams.FLINK_1_ROW,
    streams.FLINK_2_ROW,
    streams.DEBEZIUM_ROW,
    streams.CONNECT_ROW,
    engines.TRINO_ROW,
    engines.PRESTO_ROW,
    engines.HIVE_ROW,
    workflows.EXPECTATIONS_ROW,
    workflows.DAGSTER_ROW,
    engines.SNOWFLAKE_ROW,
    engines.MARQUEZ_ROW,
    engines.OTHERS_ROW,
)
RECORDED: tuple[Quirk, ...] = (spark.RECORDED, *streams.RECORDED, engines.RECORDED)
LACKING: tuple[Quirk, ...] = (*missing.SHOWN, *declared.SHOWN)


def quirks() -> Iterator[Quirk]:
    """Every quirk of the corpus."""
    for row in ROWS:
        yield from row.shown
    yield from RECORDED
    yield from LACKING


def bodies(*, huge: bool = True) -> list[bytes]:
    """Every event of the corpus. `huge`: with the one of several megabytes."""
    bodies = [body for shown in quirks() for body in shown.bodies]
    return [*bodies, missing.multi_megabyte()] if huge else bodies
