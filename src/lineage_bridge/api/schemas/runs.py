"""The responses about runs, their parents and children."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import DatasetRef, JobRef, Text


class RunDependency(Struct, frozen=True, omit_defaults=True):
    """A control-flow dependency of a run. It is a job, perhaps with one of its runs, that the run waits for (`upstream`) or that waits
    for the run (`downstream`).
    """

    direction: Literal["upstream", "downstream"]
    job: JobRef
    run_id: Text = UNSET
    dependency_type: Text = UNSET
    sequence_trigger_rule: Text = UNSET
    status_trigger_rule: Text = UNSET


class RunItem(Struct, frozen=True, omit_defaults=True):
    """A run of a job, as its events describe it. `raw_id` is the id as sent, if it was not a UUID.

    `unobserved`: the run sent no events, but other runs name it. `parent_job` is the job in the parent's own events; `named_parent_job` the
    one that this run names, if it differs. `nominal_...` is the scheduled interval. `streaming`: it runs until it is stopped.
    `failures`: its error message, and the tests and assertions that failed.
    """

    run_id: str
    job: JobRef
    state: str
    last_seen: str
    inputs: list[DatasetRef]
    outputs: list[DatasetRef]
    raw_id: Text = UNSET
    started_at: Text = UNSET
    ended_at: Text = UNSET
    started_inferred: bool = False
    conflict: bool = False
    parent_run_id: Text = UNSET
    parent_job: JobRef | UnsetType = UNSET
    unobserved: bool = False
    streaming: bool = False
    named_parent_job: JobRef | UnsetType = UNSET
    root_run_id: Text = UNSET
    root_job: JobRef | UnsetType = UNSET
    nominal_start: Text = UNSET
    nominal_end: Text = UNSET
    dependencies: list[RunDependency] | UnsetType = UNSET
    liveness: Text = UNSET
    failures: list[str] | UnsetType = UNSET


class RunsAnswer(Struct, frozen=True):
    """Runs, the most recent first. `truncated`: whether there may be more."""

    runs: list[RunItem]
    settling: bool
    position: str
    truncated: bool = False


class DepthRun(RunItem, frozen=True, omit_defaults=True):
    """A run with its depth below the requested run."""

    depth: int = 0


class RunLinkItem(Struct, frozen=True):
    """A link between two runs: the run `consumer` read data in `dataset` that the run `producer` had written. `by` is the evidence."""

    producer: str
    consumer: str
    dataset: DatasetRef
    by: str


class RunLineageAnswer(Struct, frozen=True):
    """The runs up- or downstream of a run, each with its distance as `depth`, and the links between them. `truncated`: whether there
    may be more.
    """

    direction: str
    runs: list[DepthRun]
    links: list[RunLinkItem]
    truncated: bool
    settling: bool
    position: str


class RunTreeAnswer(Struct, frozen=True):
    """A run and all runs inside it, each after the run that contains it. `truncated`: whether there are more."""

    runs: list[DepthRun]
    truncated: bool
    settling: bool
    position: str
