"""http: how many events a real API process accepts a second, durable before each answer, and what that costs it."""

from itertools import islice
from pathlib import Path
from statistics import median

from bench.generator import Corpus, generate
from bench.load import Answers, batches, fire, is_json, single
from bench.meter import Clock, Result, calibrate, per_event, quantiles
from bench.progress import report
from bench.server import Running, started
from lineage_bridge.config import Settings
from lineage_bridge.model.access import AccessScope, KeyOptions
from lineage_bridge.wiring.access import key_service

CONNECTIONS = (1, 16, 64)
BATCH = 100
TURNS = 7
_INGEST = frozenset({AccessScope.INGEST})


def run(work: Path, *, quick: bool = False) -> Result:
    """One entry for single events and one for arrays of 100, at 1, 16 and 64 connections. No pipeline runs beside it."""
    share = 10 if quick else 1
    bodies = [sent.body for sent in islice(generate(Corpus(60_000 // share)), 60_000 // share)]
    out: Result = {"bytes_per_event": round(sum(map(len, bodies)) / len(bodies))}
    with started("api", work / "data") as api:
        api.wait("/api/v1/health")
        fire(single(bodies[:500], api.port), api.port, 4)
        for connections in CONNECTIONS:
            report(f"http: {connections} connections")
            events = bodies[: (2_000 if connections == 1 else 8_000) // share]
            out[f"single_{connections}"] = _figure(api, single(events, api.port), len(events), connections)
            events = [body for body in bodies[: (20_000 if connections == 1 else 60_000) // share] if is_json(body)]
            out[f"batch_{BATCH}_{connections}"] = _figure(api, batches(events, api.port, BATCH), len(events), connections)
        report("http: with and without an API key")
        out["with_key"] = _with_key(api, bodies[: 4_000 // share])
    return out


def _with_key(api: Running, bodies: list[bytes]) -> Result:
    """Processor microseconds of the API for an event without a key, with one, and with one that is limited to all namespaces, in turns.

    `percent_more` and `percent_more_limited`: by how much the keys make it dearer.
    """
    keys = key_service(Settings(data_dir=api.data_dir))
    texts = [keys.create(KeyOptions(f"bench-{number}", _INGEST, namespaces), "")[1] for number, namespaces in enumerate(((), ("*",)))]
    requests = single(bodies, api.port), *(single(bodies, api.port, text) for text in texts)
    spent: list[list[float]] = [[] for _ in requests]
    for turn in range(TURNS):
        for number in range(len(requests)):
            kind = (turn + number) % len(requests)
            clock = Clock(api.process).start()
            fire(requests[kind], api.port, 16)
            cpu, _ = clock.read()
            spent[kind].append(1e6 * cpu / len(bodies))
    without, with_key, limited = (round(median(values), 1) for values in spent)
    more, more_limited = (round(100 * (found / without - 1), 1) for found in (with_key, limited))
    costs = {"cpu_us_without": without, "cpu_us_with": with_key, "cpu_us_limited": limited}
    return {**costs, "percent_more": more, "percent_more_limited": more_limited}


def _figure(api: Running, requests: list[bytes], events: int, connections: int) -> Result:
    clock = Clock(api.process).start()
    answers: Answers = fire(requests, api.port, connections)
    cpu, _ = clock.read()
    statuses = {str(status): count for status, count in sorted(answers.statuses.items())}
    return {**per_event(events, cpu, answers.wall_s, calibrate()), "answers": statuses, "request": quantiles(answers.seconds)}
