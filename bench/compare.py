"""Two stores side by side: ours and DuckDB's, every row of every table, by names and hashes of texts instead of either's ids."""

import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from bench.meter import Result

_CHUNK = 200_000
_READ = {
    "node": "SELECT id, kind, namespace, name FROM node",
    "event": "SELECT time, event, effective, type, asserted_by, job FROM event",
    "event_record": 'SELECT time, event, "offset", arrival FROM event_record',
    "quarantine": 'SELECT event, "offset", code, size, arrival FROM quarantine',
    "run": "SELECT run, job, parent_run, parent_job, parent_time, parent_event, nominal_start, nominal_time, nominal_event FROM run",
    "run_event": 'SELECT run, type, min("first") AS "first", max("last") AS "last" FROM run_event GROUP BY 1, 2',
    "run_io": 'SELECT run, job, dataset, side, min("first") AS "first", max("last") AS "last" FROM run_io GROUP BY 1, 2, 3, 4',
    "io_sample": 'SELECT run, job, dataset, side, time, "rows", bytes, files, event FROM io_sample',
    "assertion": 'SELECT asserted_by, job, node, side, facet_set, day, "first", first_event, "last", last_event FROM assertion',
    "facet_set": "SELECT facet_set, key, facet FROM facet_set",
    "facet": "SELECT facet, text FROM facet",
    "run_shape": 'SELECT asserted_by, job, "first", "last" FROM run_shape',
    "job_shape": 'SELECT job, day, "first", "last" FROM job_shape',
    "job_io": "SELECT job, dataset, side FROM job_io",
    "flow": "SELECT source, target, job, evidence FROM flow",
    "job_lineage_set": "SELECT job, carrier, target_field, source, source_field "
    "FROM job_lineage_set JOIN column_statement USING (lineage_set)",
    "current_facet": "SELECT node, job, key, facet, rank, time, event FROM current_facet",
}
_MAPS = (
    "CREATE TEMP TABLE n AS SELECT o.id AS ours, t.id AS id FROM o_node o JOIN node t USING (kind, namespace, name)",
    "INSERT INTO n VALUES (0, 0)",
    "CREATE TEMP TABLE f AS SELECT facet AS ours, md5_number(text) AS id FROM o_facet",
    """CREATE TEMP TABLE c AS SELECT facet_set AS ours, bit_xor(hash(key, f.id)) AS id
    FROM o_facet_set JOIN f ON f.ours = facet GROUP BY facet_set""",
    "INSERT INTO c VALUES (unhex(repeat('00', 16)), 0)",
    """CREATE TEMP TABLE p AS SELECT "offset" AS ours, row_number() OVER (ORDER BY "offset") AS id
    FROM (SELECT "offset" FROM o_event_record UNION ALL SELECT "offset" FROM o_quarantine)""",
)
_RUN = "replace({}::VARCHAR, '-', '')"
_NEVER = -(2**63)
_SIDES = {
    "node": ("SELECT kind, namespace, name FROM o_node", "SELECT kind, namespace, name FROM node"),
    "event": (
        "SELECT time, lower(hex(event)), effective, type, lower(hex(asserted_by)), j.id FROM o_event JOIN n j ON j.ours = job",
        f"SELECT time, event, effective, type, {_RUN.format('asserted_by')}, job FROM event",
    ),
    "event_record": (
        'SELECT time, lower(hex(event)), p.id, arrival FROM o_event_record JOIN p ON p.ours = "offset"',
        'SELECT time, event, "offset", arrival FROM event_record',
    ),
    "quarantine": (
        'SELECT lower(hex(event)), p.id, code, size, arrival FROM o_quarantine JOIN p ON p.ours = "offset"',
        'SELECT event, "offset", code, size, arrival FROM quarantine',
    ),
    "run": (
        f"""SELECT lower(hex(run)), j.id, lower(hex(parent_run)), a.id, nullif(parent_time, {_NEVER}), nullif(lower(hex(parent_event)), ''),
        nominal_start, nullif(nominal_time, {_NEVER}), nullif(lower(hex(nominal_event)), '')
        FROM o_run JOIN n j ON j.ours = job LEFT JOIN n a ON a.ours = parent_job""",
        f"""SELECT {_RUN.format("run")}, job, {_RUN.format("parent.run")}, parent.job, parent.time, parent.event, nominal.start,
        nominal.time, nominal.event FROM run""",
    ),
    "run_event": (
        'SELECT lower(hex(run)), type, "first", "last" FROM o_run_event',
        f'SELECT {_RUN.format("run")}, type, "first", "last" FROM run_event',
    ),
    "run_io": (
        'SELECT lower(hex(run)), j.id, d.id, side, "first", "last" FROM o_run_io JOIN n j ON j.ours = job JOIN n d ON d.ours = dataset',
        f'SELECT {_RUN.format("run")}, job, dataset, side, "first", "last" FROM run_io',
    ),
    "io_sample": (
        """SELECT lower(hex(run)), j.id, d.id, side, time, "rows", bytes, files, lower(hex(event))
        FROM o_io_sample JOIN n j ON j.ours = job JOIN n d ON d.ours = dataset""",
        f"SELECT {_RUN.format('run')}, job, dataset, side, time, sample.rows, sample.bytes, sample.files, sample.event FROM io_sample",
    ),
    "assertion": (
        """SELECT lower(hex(asserted_by)), j.id, a.id, side, c.id, day, "first", lower(hex(first_event)), "last", lower(hex(last_event))
        FROM o_assertion JOIN n j ON j.ours = job JOIN n a ON a.ours = node JOIN c ON c.ours = facet_set""",
        f"""SELECT {_RUN.format("asserted_by")}, job, node, side, facet_set, day, "first".time, "first".event, "last".time, "last".event
        FROM assertion""",
    ),
    "facet_set": (
        "SELECT c.id, key, f.id FROM o_facet_set JOIN c ON c.ours = facet_set JOIN f ON f.ours = facet",
        "SELECT facet_set, key, facet FROM facet_set",
    ),
    "facet": ("SELECT text FROM o_facet", "SELECT text FROM facet"),
    "run_shape": (
        'SELECT lower(hex(asserted_by)), j.id, "first", "last" FROM o_run_shape JOIN n j ON j.ours = job',
        f'SELECT {_RUN.format("run")}, job, "first", "last" FROM run_shape',
    ),
    "job_shape": (
        'SELECT j.id, day, "first", "last" FROM o_job_shape JOIN n j ON j.ours = job',
        'SELECT job, day, "first", "last" FROM job_shape',
    ),
    "job_io": (
        "SELECT j.id, d.id, side FROM o_job_io JOIN n j ON j.ours = job JOIN n d ON d.ours = dataset",
        "SELECT job, dataset, side FROM job_io",
    ),
    "flow": (
        """SELECT s.id, t.id, j.id, evidence
        FROM o_flow JOIN n s ON s.ours = source JOIN n t ON t.ours = target JOIN n j ON j.ours = job""",
        "SELECT source, target, job, evidence FROM flow",
    ),
    "job_lineage_set": (
        """SELECT j.id, d.id, target_field, s.id, source_field FROM o_job_lineage_set
        JOIN n j ON j.ours = job JOIN n d ON d.ours = carrier JOIN n s ON s.ours = source""",
        "SELECT job, carrier, target_field, source, source_field FROM job_lineage_set JOIN column_statement USING (facet)",
    ),
    "current_facet": (
        """SELECT d.id, j.id, key, f.id, rank, time, lower(hex(event)) FROM o_current_facet
        JOIN n d ON d.ours = node JOIN n j ON j.ours = job JOIN f ON f.ours = facet""",
        "SELECT node, job, key, best.facet, best.rank, best.time, best.event FROM current_facet",
    ),
}


def compare(ours: Path, theirs: Path) -> Result:
    """Table to its rows in common, and how many only one of the two has; `equal` names the tables without such rows."""
    connection = duckdb.connect(str(theirs))
    connection.execute("SET enable_progress_bar = false")
    for name, sql in _READ.items():
        _load(connection, ours, f"o_{name}", sql)
    for sql in _MAPS:
        connection.execute(sql)
    found = {name: _difference(connection, *sides) for name, sides in _SIDES.items()}
    connection.close()
    equal = [name for name, difference in found.items() if not difference["only_ours"] and not difference["only_theirs"]]
    return {"equal": equal, "not_equal": {name: difference for name, difference in found.items() if name not in equal}}


def _difference(connection: duckdb.DuckDBPyConnection, ours: str, theirs: str) -> dict[str, Any]:
    only_ours = f"({ours}) EXCEPT ALL ({theirs})"
    only_theirs = f"({theirs}) EXCEPT ALL ({ours})"
    count = [connection.execute(f"SELECT count(*) FROM ({sql})").fetchall()[0][0] for sql in (ours, theirs, only_ours, only_theirs)]
    return dict(zip(("ours", "theirs", "only_ours", "only_theirs"), count, strict=True))


def _load(connection: duckdb.DuckDBPyConnection, store: Path, table: str, sql: str) -> None:
    """Copy the answer of a query to our store into a table of DuckDB's."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as source:
        source.text_factory = str
        cursor = source.execute(sql)
        names = [column[0] for column in cursor.description]
        schema: pa.Schema | None = None
        for rows in _chunks(cursor):
            columns = list(zip(*rows, strict=True))
            arrays = [pa.array(column, schema.field(index).type if schema else None) for index, column in enumerate(columns)]
            chunk = pa.table(arrays, names=names)
            connection.register("chunk", chunk)
            connection.execute(
                f"INSERT INTO {table} SELECT * FROM chunk" if schema else f"CREATE TEMP TABLE {table} AS SELECT * FROM chunk"
            )
            connection.unregister("chunk")
            schema = schema or chunk.schema


def _chunks(cursor: sqlite3.Cursor) -> Iterator[list[tuple[Any, ...]]]:
    while rows := list(islice(cursor, _CHUNK)):
        yield rows
