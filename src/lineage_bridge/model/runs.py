"""Runs, their dependencies, and the lineage between them."""

from dataclasses import dataclass

from lineage_bridge.model.graph import Node


@dataclass(frozen=True)
class RunRecord:
    """A run of a job, as far as its events describe it. Times are UTC microseconds.

    `observed` is false for a run that only other runs mention. `parent_job` is the job in the parent run's own events; if this run names
    another job for its parent, that is `named_parent_job`. `nominal` is the scheduled interval (start, end). `heartbeat_us` is the interval
    between the heartbeats of a streaming run that has not ended. `failures` are the reasons that its events give for a failure: its error
    message, and the tests and assertions that failed. `declared`: it is not a run but a design-time statement about a job that never ran.
    """

    run_id: str
    raw_id: str | None
    job: Node
    state: str
    started: int | None
    ended: int | None
    started_inferred: bool
    conflict: bool
    last: int
    parent_run_id: str | None
    parent_job: Node | None
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]
    observed: bool = True
    streaming: bool = False
    named_parent_job: Node | None = None
    root_run_id: str | None = None
    root_job: Node | None = None
    nominal: tuple[int | None, int | None] = (None, None)
    heartbeat_us: int | None = None
    failures: tuple[str, ...] = ()
    declared: bool = False


@dataclass(frozen=True)
class RunFilter:
    """Which runs to list. Conditions that are None are left out; of `job` and `parent`, at least one is given.

    `job`: runs of the job with this node id. `parent`: children of the run with this id (16 bytes). `state`: runs in this state, such as
    COMPLETE. `since`, `until`: runs with an event at or after `since` that began before `until` (UTC microseconds).
    """

    job: int | None = None
    parent: bytes | None = None
    state: str | None = None
    since: int | None = None
    until: int | None = None
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class RunPage:
    """Runs, the one with the latest event first. `truncated`: the search for a state gave up after very many runs."""

    runs: tuple[RunRecord, ...]
    truncated: bool = False


@dataclass(frozen=True)
class RunTree:
    """A run and all runs inside it, each with its depth and after the run that contains it. `truncated`: there are more."""

    runs: tuple[tuple[int, RunRecord], ...]
    truncated: bool


@dataclass(frozen=True)
class Dependency:
    """A control-flow dependency of a run. It is a job, perhaps with one of its runs, that the run waits for (`upstream`) or that waits
    for the run (`downstream`).

    It is not a data flow. `rules` are (dependency type, sequence rule, status rule), each empty if it was not stated.
    """

    direction: str
    job: Node
    run_id: str | None
    rules: tuple[str, str, str]


@dataclass(frozen=True)
class RunLink:
    """A link between runs: the run `consumer` read from `dataset` what the run `producer` had written.

    `by` is the evidence: `version` (both runs name the same version of the dataset), `same_root` (the runs have the same parent or root),
    else `latest` (the producer is the last writer before the consumer) or `overlap` (the runs overlap in time).
    """

    producer: str
    consumer: str
    dataset: Node
    by: str


@dataclass(frozen=True)
class RunLineage:
    """Runs up- or downstream of a run, each with its distance in hops, and the links between them. `truncated`: there may be more."""

    runs: tuple[tuple[int, RunRecord], ...]
    links: tuple[RunLink, ...]
    truncated: bool
