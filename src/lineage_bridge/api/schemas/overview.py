"""Responses with the estate at a glance."""

from msgspec import Struct

from lineage_bridge.api.schemas.names import JobRef
from lineage_bridge.api.schemas.runs import RunItem


class NamespaceCount(Struct, frozen=True):
    """How many datasets a namespace has."""

    namespace: str
    datasets: int


class SystemCount(Struct, frozen=True):
    """How many datasets a system has, in how many namespaces, and the largest of these."""

    system: str
    datasets: int
    namespaces: int
    largest: list[NamespaceCount]


class StateCount(Struct, frozen=True):
    """How many jobs are in a state."""

    state: str
    jobs: int


class JobTypeCount(Struct, frozen=True):
    """How many jobs of a type there are, by their state."""

    job_type: str
    jobs: int
    states: list[StateCount]


class UrgentItem(Struct, frozen=True):
    """A job that needs attention, and the run that says so."""

    job: JobRef
    job_type: str
    state: str
    run: RunItem


class OverviewAnswer(Struct, frozen=True):
    """Datasets by system, jobs by type, and jobs that need attention, the worst first.

    The state of a job is the liveness of a stream that runs, or else the state of its newest run, or `declared` if it never ran.
    `states` counts all jobs; those that need attention are in the states `fail`, `gone`, `silent` and `abort`.
    """

    systems: list[SystemCount]
    job_types: list[JobTypeCount]
    states: list[StateCount]
    urgent: list[UrgentItem]
    settling: bool
    position: str
