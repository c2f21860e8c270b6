"""Runs the benchmark through the function that takes every transport's events in, and counts."""

import json
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, cast

from tests.openlineage.masking_benchmark.carriers import Event, event
from tests.openlineage.masking_benchmark.corpus import Innocent, Planted, innocents, planted
from tests.openlineage.masking_benchmark.datasets import Dataset, Pair, different, same
from tests.openlineage.masking_benchmark.judge import leaked, lost

from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.ingest.ingest import Sender, ingest
from lineage_bridge.ingest.payload import Payload
from lineage_bridge.ports.log import EventLog

_ARRIVAL_US = 1_767_604_500_000_000


class _NoLog:
    """A log that forgets."""

    def submit(self, records: list[LogRecord]) -> "Future[list[int]]":
        done: Future[list[int]] = Future()
        done.set_result([0] * len(records))
        return done


def accepted(body: Event) -> Any:
    """The event as the log would hold it."""
    taken = ingest(Payload(json.dumps(body).encode()), Sender("http"), cast("EventLog", _NoLog()), _ARRIVAL_US)
    return json.loads(taken.events[0].record.body)


@dataclass
class Secrets:
    """How many secrets were planted in each kind and carrier, and which leaked or took text with them."""

    planted: Counter[tuple[str, str]] = field(default_factory=Counter)
    leaked: list[tuple[Planted, str]] = field(default_factory=list)
    lost: list[Planted] = field(default_factory=list)

    @property
    def masked_share(self) -> float:
        """1 if all are masked."""
        return 1 - len(self.leaked) / self.planted.total()

    def by(self, member: int) -> dict[str, tuple[int, int]]:
        """Masked and planted secrets, by kind (0) or by carrier (1)."""
        total: Counter[str] = Counter()
        for key, count in self.planted.items():
            total[key[member]] += count
        missed = Counter((case.kind, case.carrier)[member] for case, _ in self.leaked)
        return {name: (count - missed[name], count) for name, count in total.items()}


def measure_secrets(cases: Iterable[Planted] | None = None) -> Secrets:
    """Planted secrets through ingest: those of the first set if none are given."""
    found = Secrets()
    for case in planted() if cases is None else cases:
        found.planted[case.kind, case.carrier] += 1
        kept = accepted(case.event)
        if fragment := leaked(case, kept):
            found.leaked.append((case, fragment))
        elif lost(case, kept):
            found.lost.append(case)
    return found


def changed(texts: Iterable[Innocent]) -> list[tuple[str, str, Any]]:
    """The innocent texts that are not as they were: carrier, text, and the event as it was taken."""
    cases = ((case, accepted(case.event)) for case in texts)
    return [(case.carrier, case.text, kept) for case, kept in cases if kept != case.event]


def changed_innocents() -> list[tuple[str, str, Any]]:
    """Those of the first set."""
    return changed(innocents())


def stored(dataset: Dataset) -> Dataset:
    kept = accepted(event(inputs=[{"namespace": dataset[0], "name": dataset[1]}]))["inputs"][0]
    return kept["namespace"], kept["name"]


def are_joined(pair: Pair) -> bool:
    """Whether two datasets became one."""
    return stored(pair[0]) == stored(pair[1])


def joined_datasets() -> list[tuple[str, Pair]]:
    """Pairs of different datasets that became one."""
    return [(family, pair) for family, pair in different() if are_joined(pair)]


def parted_datasets() -> list[tuple[str, Pair]]:
    """Pairs that differ in a credential only and became two."""
    return [(family, pair) for family, pair in same() if not are_joined(pair)]
