"""An OpenLineage event as LineageBridge reads it: checked, normalised, with the exact text of every facet.

The values are frozen. Events with equal facets share the mapping, so it must never be changed in place.
"""

from typing import Literal

from msgspec import Struct

Facets = dict[str, bytes]
"""Facet key -> exact JSON text of the facet's value."""

EventKind = Literal["run", "job", "dataset"]


class Dataset(Struct, frozen=True, gc=False):
    """A dataset of an event. `access` are its inputFacets or outputFacets, which describe how one run accessed the dataset."""

    namespace: str
    name: str
    facets: Facets
    access: Facets


class Job(Struct, frozen=True, gc=False):
    """A job of an event."""

    namespace: str
    name: str
    facets: Facets


class Run(Struct, frozen=True, gc=False):
    """The run of an event: the 16 bytes of its UUID, and the id as received."""

    id: bytes
    raw_id: str
    facets: Facets


class Event(Struct, frozen=True, gc=False):
    """An OpenLineage event. `time_us` is the event time in UTC microseconds since the epoch.

    `type` is START, RUNNING, COMPLETE, FAIL, ABORT, OTHER, or None if the event has none; `raw_type` is the value as received. A run
    event has a run and a job, a job event has a job, and either may also have a dataset. A dataset event has only a dataset.

    `producer` and `schema_url` are empty if the event has none.
    """

    kind: EventKind
    time_us: int
    type: str | None
    raw_type: str | None
    run: Run | None
    job: Job | None
    dataset: Dataset | None
    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]
    producer: str
    schema_url: str
