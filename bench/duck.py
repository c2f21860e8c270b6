"""The same tables built by DuckDB from the same text (duck.sql): validity judged, every relation merged by the same law, then the
derived ones. Ids differ; `compare.py` brings the two together by names.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import duckdb

from bench.meter import Clock, Result, calibrate, per_event

SCRIPT = Path(__file__).with_name("duck.sql")
TABLES = (
    *("node", "event", "event_record", "quarantine", "run", "run_event", "run_io", "io_sample", "assertion", "facet_set", "facet"),
    *("run_shape", "job_shape", "job_io", "flow", "job_lineage_set", "column_statement", "current_facet"),
)
_RAW = """CREATE TEMP TABLE raw AS SELECT row_number() OVER () AS "offset", * FROM read_csv({files}, delim='\\t', quote='', escape='',
header=false, auto_detect=false, max_line_size=40000000, columns={{'arrival': 'BIGINT', 'event': 'VARCHAR', 'body': 'VARCHAR'}})"""


def fold_in_duckdb(store: Path, warm: Path, corpus: Path, events: int) -> Result:
    """All tables to a file at `store`, from both text files at once; how long each statement took."""
    calibration = calibrate()
    clock = Clock().start()
    connection = duckdb.connect(str(store))
    connection.execute("SET enable_progress_bar = false")
    connection.execute(_RAW.format(files=repr([str(warm), str(corpus)])))
    steps = {"raw": round(clock.read()[1], 3)}
    for name, sql in statements():
        connection.execute(sql)
        steps[name] = round(clock.read()[1] - sum(steps.values()), 3)
    connection.execute("CHECKPOINT")
    cpu, wall = clock.read()
    calibration = mean((calibration, calibrate()))
    rows = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0] for name in TABLES}
    connection.close()
    return {**per_event(events, cpu, wall, calibration), "store_bytes": store.stat().st_size, "rows": rows, "wall_s_by_step": steps}


def statements() -> Iterator[tuple[str, str]]:
    """(table, statement) of the script, in order."""
    for block in SCRIPT.read_text(encoding="utf-8").split("-- table: ")[1:]:
        name, _, sql = block.partition("\n")
        yield name, sql
