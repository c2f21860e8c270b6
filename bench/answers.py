"""answers: the processor time of questions to a real API process over HTTP, and whether it grows with the graph."""

import http.client
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from statistics import median
from urllib.parse import urlencode

import psutil

from bench.components import COLUMNS, JOBS, LAYERS, NAMESPACE, WIDTH, events, source_name, table_name
from bench.meter import Result, alone, calibrate, quantiles, tree
from bench.progress import report
from bench.server import Running, started
from bench.synthetic import Folder

SIZES = 1_000, 10_000
QUICK_SIZES = 100, 1_000
REFERENCE = 600.0
"""The calibration to which `scaled` figures are converted."""
_WARM = 5
_NS = 1e-9
Ask = Callable[[Random, int], str]


def run(work: Path, *, quick: bool = False) -> Result:
    """Processor milliseconds of each question by size of the graph, with all processes of the server; `larger` is the ratio of the two."""
    sizes = QUICK_SIZES if quick else SIZES
    for size in sizes:
        (work / str(size)).mkdir()
        alone(build, work / str(size) / "graph.db", size)
    with started("api", work / str(sizes[0])) as small, started("api", work / str(sizes[1])) as large:
        return measure(dict(zip(sizes, (small, large), strict=True)), 10 if quick else 100)


def build(path: Path, jobs: int) -> Result:
    """Make a graph of this many jobs."""
    report(f"answers: building {jobs} jobs")
    folder = Folder(path)
    folder.fold(events(jobs))
    folder.close()
    return {"bytes": path.stat().st_size}


def measure(servers: dict[int, Running], samples: int) -> Result:
    """Ask all servers each question, in turns."""
    out: Result = {}
    for name, ask in QUESTIONS.items():
        report(f"answers: {name}")
        figures = _figure(servers, name, ask, samples)
        costs = [figure["scaled"]["p50_ms"] for figure in figures.values()]
        out[name] = {**{f"jobs_{jobs}": figure for jobs, figure in figures.items()}, "larger": round(costs[-1] / costs[0], 2)}
    return out


def _figure(servers: dict[int, Running], name: str, ask: Ask, samples: int) -> dict[int, Result]:
    rates: list[float] = []
    spent: dict[int, list[float]] = {jobs: [] for jobs in servers}
    sizes: dict[int, list[int]] = {jobs: [] for jobs in servers}
    with _connections(servers) as connections:
        random = Random(name)
        for turn in range(_WARM + samples):
            rates += [calibrate(0.05)] if turn % 10 == 0 else []
            for jobs, server in servers.items():
                before = cpu_ns(server.process)
                size = _asked(connections[jobs], ask(random, jobs // JOBS))
                cost = (cpu_ns(server.process) - before) * _NS
                if turn >= _WARM:
                    spent[jobs].append(cost)
                    sizes[jobs].append(size)
    rate = median(rates)
    return {
        jobs: {
            "cpu": quantiles(spent[jobs]),
            "scaled": quantiles([cost * rate / REFERENCE for cost in spent[jobs]]),
            "bytes_p50": median(sizes[jobs]),
            "calibration": rate,
        }
        for jobs in servers
    }


@contextmanager
def _connections(servers: dict[int, Running]) -> Iterator[dict[int, http.client.HTTPConnection]]:
    found = {}
    for jobs, server in servers.items():
        server.wait("/api/v1/health")
        server.wait("/api/v1/lineage/datasets?limit=1")
        found[jobs] = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        yield found
    finally:
        for connection in found.values():
            connection.close()


def _asked(connection: http.client.HTTPConnection, path: str) -> int:
    """Ask a question, and return the size of its answer."""
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise AssertionError(f"{path}: {answer.status} {body[:300]!r}")
    return len(body)


def cpu_ns(process: psutil.Process) -> int:
    """Nanoseconds that the running threads of a process and of its descendants have spent, as the kernel's scheduler counts them."""
    spent = 0
    for member in tree(process):
        for thread in Path(f"/proc/{member.pid}/task").iterdir():
            with suppress(OSError):
                spent += int((thread / "schedstat").read_text().split()[0])
    return spent


def _middle(random: Random, components: int, layer: int = LAYERS // 2) -> str:
    return table_name(random.randrange(components), layer, random.randrange(WIDTH))


def _neighbourhood(name: str) -> str:
    return f"/api/v1/graph/neighbourhood?{urlencode({'namespace': NAMESPACE, 'name': name, 'direction': 'both', 'depth': 20})}"


def _lineage(name: str) -> str:
    return f"/api/v1/lineage/datasets/lineage?{urlencode({'namespace': NAMESPACE, 'name': name, 'direction': 'both', 'depth': 20})}"


def _trace(name: str, column: int) -> str:
    return f"/api/v1/graph/trace?{urlencode({'namespace': NAMESPACE, 'name': name, 'field': f'c{column}', 'depth': 20})}"


def _search(text: str, limit: int) -> str:
    return f"/api/v1/search?{urlencode({'q': text, 'limit': limit})}"


QUESTIONS: dict[str, Ask] = {
    "neighbourhood_181": lambda random, components: _neighbourhood(source_name(random.randrange(components))),
    "neighbourhood_middle": lambda random, components: _neighbourhood(_middle(random, components)),
    "lineage_181": lambda random, components: _lineage(source_name(random.randrange(components))),
    "lineage_middle": lambda random, components: _lineage(_middle(random, components)),
    "trace": lambda random, components: _trace(_middle(random, components), random.randrange(COLUMNS)),
    "trace_last": lambda random, components: _trace(_middle(random, components, LAYERS - 1), random.randrange(COLUMNS)),
    "search_exact": lambda random, components: _search(_middle(random, components), 10),
    "search_broad": lambda random, _: _search(random.choice(("load_orders", "join_sessions", "score_pricing", "orders")), 25),
}
