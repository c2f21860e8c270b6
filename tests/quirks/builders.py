"""How the corpus is written: a row of quirks, each with the events that show it, and builders for what one producer sends."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.events import T0, dataset, facet, run_event

SAMPLES = Path(__file__).parents[1] / "samples"
MINUTE_US = 60_000_000
DAY_MINUTES = 1440

Named = str | dict[str, Any]
"""A dataset of the producer's own namespace by its name, or one spelt out."""


@dataclass(frozen=True)
class Quirk:
    """`clause` quotes what is shown. `flows` are all flows of the jobs in `bodies`, as "source > target" by name.

    Without `flows` the events are recorded ones, and the tests of recordings state what they mean.
    """

    clause: str
    bodies: list[bytes]
    flows: frozenset[str] | None


@dataclass(frozen=True)
class Row:
    """A producer: what it emits, and what a consumer of it must bear, clause by clause."""

    producer: str
    emission: Quirk
    quirks: tuple[Quirk, ...]

    @property
    def shown(self) -> tuple[Quirk, ...]:
        """Everything, the emission first."""
        return self.emission, *self.quirks


def quirk(clause: str, bodies: Iterable[bytes], *flows: str) -> Quirk:
    """A quirk written by hand."""
    return Quirk(clause, list(bodies), frozenset(flows))


def recorded(clause: str, *files: str) -> Quirk:
    """A quirk that real events show."""
    return Quirk(clause, [line for file in files for line in (SAMPLES / file).read_bytes().splitlines()], None)


def run_id(*about: str) -> str:
    """A run's id, made from what it is about."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(about)))


@dataclass(frozen=True)
class Producer:
    """What one producer puts in all its events: its URI, and the namespaces of its jobs and datasets."""

    uri: str
    jobs: str
    data: str

    def event(
        self,
        type_: str | None,
        job: str,
        minute: float = 0,
        reads: Sequence[Named] | None = None,
        writes: Sequence[Named] | None = None,
        *,
        run: str | None = None,
        **more: Any,
    ) -> bytes:
        """A run event, `minute` minutes after the corpus begins. Without `run` a job has one run."""
        return run_event(
            type_,
            run or run_id(self.jobs, job),
            job,
            T0 + int(minute * MINUTE_US),
            self.named(reads),
            self.named(writes),
            namespace=self.jobs,
            producer=self.uri,
            **more,
        )

    def named(self, datasets: Sequence[Named] | None) -> list[dict[str, Any]] | None:
        """Datasets as an event lists them; None is no list at all."""
        return None if datasets is None else [dataset(name, self.data) if isinstance(name, str) else name for name in datasets]

    def data_set(self, name: str, **facets: Any) -> dict[str, Any]:
        """A dataset of the producer's own namespace, with facets."""
        return dataset(name, self.data, **facets)

    def parent(self, job: str, run: str | None = None, root: str | None = None) -> dict[str, Any]:
        """The parent facet of a run under another job of the producer."""
        above: dict[str, Any] = {"run": {"runId": run or run_id(self.jobs, job)}, "job": {"namespace": self.jobs, "name": job}}
        if root:
            above["root"] = {"run": {"runId": run_id(self.jobs, root)}, "job": {"namespace": self.jobs, "name": root}}
        return {"parent": facet(**above)}


def job_type(integration: str, processing: str = "BATCH", **more: Any) -> dict[str, Any]:
    """The jobType facet, as job facets."""
    return {"jobType": facet(processingType=processing, integration=integration, **more)}


def statistics(rows: int | None = None, size: int | None = None) -> tuple[str, dict[str, Any]]:
    """What an output's access says of its amount; absent numbers are left out."""
    counters = {"rowCount": rows, "size": size}
    return "outputFacets", {"outputStatistics": facet(**{key: value for key, value in counters.items() if value is not None})}


def link(namespace: str, name: str, type_: str = "TABLE") -> dict[str, Any]:
    """A symlinks facet with one name."""
    return facet(identifiers=[{"namespace": namespace, "name": name, "type": type_}])
