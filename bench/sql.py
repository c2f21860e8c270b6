"""sql: statements a processor second, of the answer book's scripts and of one long script."""

import time
from collections import Counter

from tests.sql.cases import Case, cases

from bench.meter import Clock, Result, alone
from bench.progress import report
from lineage_bridge.sql.reading import lineage_of
from lineage_bridge.sql.script import FLINK
from lineage_bridge.sql.text.tokens import TokenError, tokens

_TABLE = (
    "CREATE TABLE t{0} (id BIGINT, customer_id BIGINT, amount DECIMAL(10, 2), note STRING, at TIMESTAMP(3), WATERMARK FOR at AS at)"
    " WITH ('connector' = 'kafka', 'topic' = 'topic-{0}', 'properties.bootstrap.servers' = 'b1:9092', 'format' = 'json');\n"
)
_INSERT = (
    "INSERT INTO t{0} SELECT a.id, a.customer_id, SUM(b.amount), MAX(CASE WHEN b.note IS NULL THEN a.note ELSE b.note END), a.window_end"
    " FROM TABLE(TUMBLE(TABLE t{1}, DESCRIPTOR(at), INTERVAL '1' HOUR)) a JOIN t{2} b ON a.id = b.id WHERE b.amount > 0"
    " GROUP BY a.id, a.customer_id, a.window_start, a.window_end;\n"
)


def run(*, quick: bool = False) -> Result:
    """Costs a statement: of each dialect of the answer book, read over and over, and of a script that gets longer."""
    rounds, lengths = (1, (100, 200)) if quick else (10, (500, 1_000, 2_000))
    return alone(_read, rounds, lengths)


def _read(rounds: int, lengths: tuple[int, ...]) -> Result:
    scripts = list(cases())
    counts = Counter(case.dialect for case in scripts)
    # Loading and compiling at first use is not part of a statement's cost.
    _read_all(scripts)
    return {
        "answer_book": {
            dialect: _timed([case for case in scripts if case.dialect == dialect], rounds) for dialect, _ in counts.most_common()
        },
        "long_script": {str(length): _long(length) for length in lengths},
    }


def _timed(scripts: list[Case], rounds: int) -> Result:
    clock = Clock().start()
    clock.calibrate()
    costs = list(map(min, zip(*(_read_all(scripts) for _ in range(rounds)), strict=True)))
    cpu, wall = clock.read()
    clock.calibrate()
    counts = list(map(_statements, scripts))
    of_each = sorted(cost / count for cost, count in zip(costs, counts, strict=True) for _ in range(count))
    half, most = (of_each[int(share * (len(of_each) - 1))] for share in (0.5, 0.99))
    return {"scripts": len(scripts), **_cost(rounds * sum(counts), cpu, wall, clock.calibration), "p99_to_median": round(most / half, 2)}


def _read_all(scripts: list[Case]) -> list[float]:
    """Read each script. Returns what each cost, in seconds of processor time."""
    costs = []
    for case in scripts:
        began = time.process_time()
        lineage_of(case.sql, case.dialect, {tuple(name.split(".")): columns for name, columns in case.schema.items()})
        costs.append(time.process_time() - began)
    return costs


def _statements(case: Case) -> int:
    """How many there are, by their semicolons; a text that cannot be cut up is one."""
    try:
        found = [token.upper for token in tokens(case.sql)]
    except TokenError:
        return 1
    return sum(mark == ";" and at and found[at - 1] != ";" for at, mark in enumerate(found)) + (found[-1:] != [";"])


def _long(statements: int) -> Result:
    """Half of it defines tables, half fills each from two that stand before it."""
    half = statements // 2
    text = "".join(map(_TABLE.format, range(half)))
    text += "".join(_INSERT.format(number, (number + 1) % half, (number + 7) % half) for number in range(half))
    clock = Clock().start()
    clock.calibrate()
    columns = len(lineage_of(text, FLINK).columns)
    cpu, wall = clock.read()
    clock.calibrate()
    report(f"{statements} statements: {cpu:.1f} s")
    return {"column_flows": columns, **_cost(statements, cpu, wall, clock.calibration)}


def _cost(statements: int, cpu: float, wall: float, calibration: float) -> Result:
    return {
        "statements": statements,
        "cpu_ms_per_statement": round(cpu / statements * 1e3, 3),
        "statements_per_cpu_s": round(statements / cpu),
        "statements_per_s": round(statements / wall),
        "calibration": round(calibration, 1),
        "rounds_per_statement": round(cpu / statements * calibration, 4),
    }
