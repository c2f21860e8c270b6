"""The rows of runs in the relations, and how the rows of one run are combined."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lineage_bridge.graph.relations import Side

RunKey = tuple[bytes, int]
"""The id of a run, and a job under which the run sent events or was named."""


class OneRun(NamedTuple):
    """What the store has about a run of one job, under all names of the job."""

    parent: tuple[Any, ...]
    nominal: tuple[int | None, int | None]
    raw_id: str | None
    last: int
    events: list[tuple[str, int, int]]
    inputs: set[int]
    outputs: set[int]
    failures: tuple[str, ...]


@dataclass
class RunRows:
    """The rows of some runs in the relations, by run and job. Each row is about one name of a job."""

    stated: dict[RunKey, tuple[Any, ...]]
    seen: dict[RunKey, int]
    events: dict[RunKey, list[tuple[str, int, int]]] = field(default_factory=dict)
    named: Mapping[tuple[bytes, int, int], set[int]] = field(default_factory=dict)
    failures: Mapping[RunKey, list[str]] = field(default_factory=dict)

    def run(self, keys: Sequence[RunKey]) -> OneRun:
        """Build one run from its rows under these names of its job. Where rows differ, the newest counts."""
        if len(keys) == 1:
            return self._run_of_one_name(keys[0])
        stated = [self.stated[key] for key in keys if key in self.stated]
        parent = max(stated, key=lambda row: row[0])[1:5] if stated else (None,) * 4
        nominal = max(stated, key=lambda row: row[5])[6:8] if stated else (None, None)
        inputs, outputs = ({id_ for key in keys for id_ in self.named.get((*key, int(side)), ())} for side in (Side.INPUT, Side.OUTPUT))
        raw_id = next((row[8] for row in stated if row[8] is not None), None)
        events = [event for key in keys for event in self.events.get(key, ())]
        reasons = dict.fromkeys(reason for key in keys for reason in self.failures.get(key, ()))
        last = max((self.seen.get(key, 0) for key in keys), default=0)
        return OneRun(parent, nominal, raw_id, last, events, inputs, outputs, tuple(reasons))

    def _run_of_one_name(self, key: RunKey) -> OneRun:
        stated = self.stated.get(key)
        return OneRun(
            stated[1:5] if stated else (None,) * 4,
            stated[6:8] if stated else (None, None),
            stated[8] if stated else None,
            self.seen.get(key, 0),
            self.events.get(key, []),
            self.named.get((*key, 0), set()),
            self.named.get((*key, 1), set()),
            tuple(dict.fromkeys(self.failures.get(key, ()))),
        )
