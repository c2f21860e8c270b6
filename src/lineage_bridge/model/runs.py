"""Runs, what they wait for, and which of them fed which."""

from dataclasses import dataclass

from lineage_bridge.model.graph import Node


@dataclass(frozen=True)
class RunRecord:
    """A run of a job, as far as its events told. Times are UTC microseconds.

    `observed` is false for a run that only others name. `parent_job` is the job the parent run itself spoke under; where a child
    names another, `named_parent_job` is that. `nominal` is the scheduled interval. `heartbeat_us` is the period of a stream's heartbeats.
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


@dataclass(frozen=True)
class RunFilter:
    """Which runs to list: of a job, of a parent (a run's 16 bytes), or both; `state` one of the states of a run.

    Times in UTC microseconds: runs that spoke at or after `since` and began before `until`.
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
    """Runs, the one that spoke last first. `truncated` says that the search for a state gave up after very many runs."""

    runs: tuple[RunRecord, ...]
    truncated: bool = False


@dataclass(frozen=True)
class RunTree:
    """A run and what runs inside it, in the order of a walk from the top; each with its depth. `truncated`: there is more."""

    runs: tuple[tuple[int, RunRecord], ...]
    truncated: bool


@dataclass(frozen=True)
class Dependency:
    """Control flow, no data flow: `job`, perhaps a run of it, that a run waits for (`upstream`) or that waits for it (`downstream`).

    `words` are (dependency type, sequence rule, status rule), empty where not told.
    """

    direction: str
    job: Node
    run_id: str | None
    words: tuple[str, str, str]


@dataclass(frozen=True)
class RunLink:
    """The run `consumer` read of `dataset` what the run `producer` had written.

    `by` is what says so: the same `version`, the writer that shares a parent or root (`same_root`), else the `latest` before, or `overlap`
    in time.
    """

    producer: str
    consumer: str
    dataset: Node
    by: str


@dataclass(frozen=True)
class RunLineage:
    """Runs up- or downstream of a run, each with its distance in hops, and their links. `truncated`: there may be more."""

    runs: tuple[tuple[int, RunRecord], ...]
    links: tuple[RunLink, ...]
    truncated: bool
