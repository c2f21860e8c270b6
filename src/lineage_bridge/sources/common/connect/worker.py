"""Values for the state of a Kafka Connect worker's connectors, as one poll found it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.observer import Unseen

RUNNING, PAUSED, STOPPED, FAILED = "RUNNING", "PAUSED", "STOPPED", "FAILED"
"""States of connectors and tasks; others are UNASSIGNED, RESTARTING and DESTROYED, and the transitional states of managed services."""
_GONE = frozenset((STOPPED, "DESTROYED", "DELETED"))
_WAITING = frozenset(("NONE", "UNASSIGNED", "RESTARTING", "PROVISIONING", "CREATING", "UPDATING", "RESUMING", "DELETING"))


class RunStatus(NamedTuple):
    """The state of a connector or task, the worker that runs it, and the Java stack trace if it failed."""

    state: str
    worker: str = ""
    trace: str = ""
    version: str = ""


class ManagedService(NamedTuple):
    """What a managed Kafka Connect service reports about a connector.

    `servers`: the bootstrap servers of the Kafka cluster. `version`: the version of Kafka Connect. `settings`: values of settings that the
    configuration lacks. `facts`: members of the connector's facet. `job`: facets of its job. `group`: the consumer group of a sink, empty
    if it has the name that Kafka Connect gives it. `sources`: whether external datasets get a data source facet.
    """

    servers: str
    version: str
    settings: Mapping[str, str]
    facts: Mapping[str, object]
    job: Mapping[str, Json] = {}
    group: str = ""
    sources: bool = False


class ConnectorState(NamedTuple):
    """A connector as a poll found it.

    `config`: its configuration, unmasked. `direction`: source or sink. `status`: its own status; `tasks`: the status of its tasks, by
    number. `service`: what a managed service reports about it; None if workers of one cluster run it.
    """

    name: str
    config: Mapping[str, str]
    direction: str
    status: RunStatus
    tasks: Mapping[int, RunStatus]
    service: ManagedService | None = None

    @property
    def stopped(self) -> bool:
        """Whether the connector's state ends its run: a user stopped it, or it was deleted. A paused connector does not count."""
        return self.status.state in _GONE

    @property
    def failed(self) -> bool:
        """Whether the connector as a whole has failed: it has failed itself, or all of its tasks have."""
        return self.status.state == FAILED or (bool(self.tasks) and all(task.state == FAILED for task in self.tasks.values()))

    @property
    def waiting(self) -> bool:
        """Whether no task of the connector runs: its tasks have not started yet or, after a failure, not again."""
        statuses = self.tasks.values() or (self.status,)
        return all(status.state in (*_WAITING, FAILED) for status in statuses)

    @property
    def failures(self) -> list[tuple[int | None, str]]:
        """The stack traces of failures: first the connector's own, under None, then those of its tasks, under their numbers."""
        own: list[tuple[int | None, str]] = [(None, self.status.trace)] if self.status.state == FAILED else []
        return [*own, *((number, task.trace) for number, task in sorted(self.tasks.items()) if task.state == FAILED)]


class ConnectorDetail(NamedTuple):
    """The answers to the calls for one connector; None if a call was not made or failed.

    `given`: for each task, its settings that are not in the connector's configuration. `offsets`: the offsets in the form that the worker
    returns.
    """

    given: tuple[Mapping[str, str], ...] | None = None
    topics: tuple[str, ...] | None = None
    offsets: tuple[Mapping[str, Any], ...] | None = None


class Plugin(NamedTuple):
    """A plugin of Kafka Connect, under its name in configurations. `passwords`: its settings of type PASSWORD, None if they are unknown."""

    name: str
    version: str = ""
    passwords: tuple[str, ...] | None = None


@dataclass(frozen=True)
class WorkerState:
    """All answers of a worker in one poll.

    `listed`: the names in the plain list of connectors, None if that failed. `details`: by connector. `plugins`: by the names in
    configurations. `unsupported`: calls that this worker does not support.
    """

    version: str
    cluster: str
    connectors: Mapping[str, ConnectorState]
    listed: frozenset[str] | None
    details: Mapping[str, ConnectorDetail] = field(default_factory=dict)
    plugins: Mapping[str, Plugin] = field(default_factory=dict)
    unsupported: frozenset[str] = frozenset()
    unseen: tuple[Unseen, ...] = ()
