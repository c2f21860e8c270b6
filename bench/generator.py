"""OpenLineage events as bytes, as a company's jobs would send them: seeded, the same every time, in the order they arrive.

Runs start one after another over `days`; each sends START, up to two RUNNING, and an end; streaming jobs send heartbeats. Some events come
late, some twice, some damaged.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from math import sqrt
from random import Random
from typing import Literal, NamedTuple

from bench.company import PRODUCER, Company, Work, compact, facet, make_company

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
HOUR_US = 60 * MINUTE_US
DAY_US = 24 * HOUR_US
BASE_US = 1_767_225_600_000_000
"""2026-01-01T00:00:00Z."""
MILLION = 1_000_000
JOBS_PER_MILLION = 20_000
DATASETS_PER_MILLION = 50_000
EVENTS_PER_RUN = 2.95

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SCHEMA_URL = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_TAIL = f'"producer":{compact(PRODUCER)},"schemaURL":{compact(_SCHEMA_URL)}}}'
_ENGINE = compact(facet("ProcessingEngineRunFacet", version="3.5.4", name="spark", openlineageAdapterVersion="1.40.0"))
_ERROR = compact(facet("ErrorMessageRunFacet", message="Task failed while writing rows", programmingLanguage="JAVA"))
_NOMINAL, _PARENT, _WRITTEN = (
    compact(facet(kind))[:-1] for kind in ("NominalTimeRunFacet", "ParentRunFacet", "OutputStatisticsOutputDatasetFacet")
)

Scale = Literal["linear", "sqrt", "fixed"]
Pending = tuple[int, int, "Sent"]
"""When it arrives, a number that makes the order total, and the event."""


class Sent(NamedTuple):
    """One event on the wire. `arrival_us` is UTC microseconds; `fate` is what was done to it on the way."""

    arrival_us: int
    body: bytes
    fate: str


@dataclass(frozen=True)
class Corpus:
    """What to generate. Shares are of all events.

    Jobs and datasets grow with the number of events (`linear`: the same number of events a job at every size), with its square root, or
    not at all.
    """

    events: int
    seed: int = 20260101
    scale: Scale = "linear"
    duplicates: float = 0.03
    late: float = 0.07
    damaged: float = 0.01
    heartbeats: float = 0.04
    version_4: float = 0.2
    days: int = 30
    prefix: str = ""

    @property
    def jobs(self) -> int:
        """How many jobs send them."""
        return max(5, int(JOBS_PER_MILLION * self._factor()))

    @property
    def datasets(self) -> int:
        """How many datasets there are."""
        return max(10, int(DATASETS_PER_MILLION * self._factor()))

    def _factor(self) -> float:
        share = self.events / MILLION
        return {"linear": share, "sqrt": sqrt(share), "fixed": 1.0}[self.scale]


def generate(corpus: Corpus) -> Iterator[Sent]:
    """Exactly `corpus.events` events, in the order of their arrival. Memory grows with the jobs and what is under way alone."""
    return _Feed(corpus).sent()


class _Feed:
    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.random = Random(corpus.seed)
        streams = max(1, corpus.jobs // 2000)
        self.company: Company = make_company(self.random, datasets=corpus.datasets, jobs=corpus.jobs, streams=streams, prefix=corpus.prefix)
        self.pending: list[Pending] = []
        self.number = 0

    def sent(self) -> Iterator[Sent]:
        left = self.corpus.events
        for start in self._starts():
            self._run(start)
            while left and self.pending and self.pending[0][0] <= start:
                yield heapq.heappop(self.pending)[2]
                left -= 1
            if not left:
                return

    def _starts(self) -> Iterator[int]:
        """When the next run starts. More runs are on offer than the events need."""
        span = self.corpus.days * DAY_US
        self._heartbeats(span)
        runs = self.corpus.events * (1 - self.corpus.heartbeats) / (EVENTS_PER_RUN * (1 + self.corpus.duplicates))
        step = span / max(runs, 1)
        at = float(BASE_US)
        while True:
            at += step * self.random.uniform(0.2, 1.8)
            yield int(at)

    def _heartbeats(self, span: int) -> None:
        beats = max(2, int(self.corpus.events * self.corpus.heartbeats / len(self.company.streams)))
        for work in self.company.streams:
            run = self._run_id(BASE_US)
            for beat in range(beats):
                at = BASE_US + beat * span // beats
                self._send(at, _event("RUNNING" if beat else "START", at, run, "{}", work, work.bare, self._outputs(work.done)))

    def _run(self, start: int) -> None:
        """All events of one run of some job; few jobs run often."""
        random, works = self.random, self.company.works
        work = works[int(len(works) * random.random() ** 1.5)]
        run, end = self._run_id(start), start + random.randint(10, 5400) * SECOND_US
        above = (
            f'"parent":{_PARENT},"run":{{"runId":"{self._run_id(start)}"}},"job":{{"namespace":"airflow-core","name":"{work.parent}"}}}}'
        )
        nominal = f'"nominalTime":{_NOMINAL},"nominalStartTime":"{_time(start // HOUR_US * HOUR_US)}"}}'
        engine = f'"processing_engine":{_ENGINE}'
        self._send(start, _event("START", start, run, f"{{{above},{nominal},{engine}}}", work, work.started, "[]"))
        for step in range(random.choices((0, 1, 2), (30, 50, 20))[0]):
            at = start + (end - start) * (step + 1) // 4
            self._send(at, _event("RUNNING", at, run, f"{{{above}}}", work, work.bare, self._outputs(work.going)))
        kind = random.choices(("COMPLETE", "FAIL", "ABORT"), (93, 5.5, 1.5))[0]
        facets = f'{{{above},"errorMessage":{_ERROR}}}' if kind == "FAIL" else f"{{{above}}}"
        self._send(end, _event(kind, end, run, facets, work, work.bare, self._outputs(work.done)))

    def _outputs(self, heads: tuple[str, ...]) -> str:
        rows = self.random.randint(1, 10_000_000)
        stated = f',"outputFacets":{{"outputStatistics":{_WRITTEN},"rowCount":{rows},"size":{rows * 113},"fileCount":{rows % 64 + 1}}}}}}}'
        return "[" + ",".join(head + stated for head in heads) + "]"

    def _send(self, at: int, body: str) -> None:
        """Put one event on its way, as the wire may treat it."""
        random, corpus = self.random, self.corpus
        sent = Sent(at + random.randint(5_000, 2 * SECOND_US), body.encode(), "")
        luck = random.random()
        if luck < corpus.damaged:
            sent = sent._replace(body=_damaged(random, body), fate="damaged")
        elif luck < corpus.damaged + corpus.late:
            sent = sent._replace(arrival_us=at + random.randint(2 * MINUTE_US, 6 * HOUR_US), fate="late")
        self._push(sent)
        if random.random() < corpus.duplicates / (1 - corpus.duplicates):
            self._push(Sent(sent.arrival_us + random.randint(SECOND_US, HOUR_US), sent.body, "duplicate"))

    def _push(self, sent: Sent) -> None:
        self.number += 1
        heapq.heappush(self.pending, (sent.arrival_us, self.number, sent))

    def _run_id(self, at: int) -> str:
        random = self.random
        low = random.getrandbits(128)
        version = 4 if random.random() < self.corpus.version_4 else 7
        number = low if version == 4 else (at // 1000) << 80 | low & (1 << 80) - 1
        number = number & ~(0xF << 76) & ~(0x3 << 62) | version << 76 | 0x2 << 62
        text = f"{number:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _event(kind: str, at: int, run: str, facets: str, work: Work, inputs: str, outputs: str) -> str:
    return (
        f'{{"eventType":"{kind}","eventTime":"{_time(at)}","run":{{"runId":"{run}","facets":{facets}}},"job":{work.text},'
        f'"inputs":{inputs},"outputs":{outputs},{_TAIL}'
    )


def _time(us: int) -> str:
    moment = _EPOCH + timedelta(microseconds=us)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _damaged(random: Random, body: str) -> bytes:
    """The event cut off, or with a member of the wrong type, or without one that it needs."""
    way = random.randrange(5)
    if way == 0:
        return body[: random.randint(40, len(body) - 2)].encode()
    if way == 1:
        return body.replace('"runId":', '"run_id":', 1).encode()
    if way == 2:
        return body.replace('"inputs":[', '"inputs":{"0":[', 1).replace('],"outputs":', ']},"outputs":', 1).encode()
    if way == 3:
        return body.replace('"eventTime":"', '"eventTime":"not ', 1).encode()
    return body.replace('}},"job":{"namespace":', '}},"job":{"namespace":7,"was":', 1).encode()
