"""What a worker tells of its connectors, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.observer import Unseen

RUNNING, PAUSED, STOPPED, FAILED = "RUNNING", "PAUSED", "STOPPED", "FAILED"
"""States of connectors and tasks; the others are UNASSIGNED, RESTARTING and DESTROYED, and those between states that a service has."""
_GONE = frozenset((STOPPED, "DESTROYED", "DELETED"))
_WAITING = frozenset(("NONE", "UNASSIGNED", "RESTARTING", "PROVISIONING", "CREATING", "UPDATING", "RESUMING", "DELETING"))


class RunStatus(NamedTuple):
    """The state of a connector or of a task, where it is, and why it failed (a Java stack trace)."""

    state: str
    worker: str = ""
    trace: str = ""
    version: str = ""


class ManagedService(NamedTuple):
    """What a service that runs connectors, each by itself, tells of one.

    `servers`: bootstrap servers of its Kafka cluster. `version`: of Kafka Connect. `settings`: what the service knows of settings that
    the configuration does not have. `facts`: members of the connector's facet. `job`: facets of its job. `group`: the consumer group of a
    sink, empty if it is that of Kafka Connect. `sources`: whether what lies outside is told with its system.
    """

    servers: str
    version: str
    settings: Mapping[str, str]
    facts: Mapping[str, object]
    job: Mapping[str, Json] = {}
    group: str = ""
    sources: bool = False


class ConnectorState(NamedTuple):
    """A connector: its configuration in clear text, `direction` source or sink, its own part and its tasks' by number.

    `service`: what the service that runs it tells of it, None if workers of one cluster do.
    """

    name: str
    config: Mapping[str, str]
    direction: str
    status: RunStatus
    tasks: Mapping[int, RunStatus]
    service: ManagedService | None = None

    @property
    def stopped(self) -> bool:
        """Whether somebody stopped it."""
        return self.status.state in _GONE

    @property
    def failed(self) -> bool:
        """Whether nothing of it runs any more since it failed: itself, or all of its tasks."""
        return self.status.state == FAILED or (bool(self.tasks) and all(task.state == FAILED for task in self.tasks.values()))

    @property
    def waiting(self) -> bool:
        """Whether none of its tasks runs yet or again."""
        parts = self.tasks.values() or (self.status,)
        return all(part.state in (*_WAITING, FAILED) for part in parts)

    @property
    def failures(self) -> list[tuple[int | None, str]]:
        """The traces of what failed: the connector's (None) first, then those of tasks."""
        own: list[tuple[int | None, str]] = [(None, self.status.trace)] if self.status.state == FAILED else []
        return [*own, *((number, task.trace) for number, task in sorted(self.tasks.items()) if task.state == FAILED)]


class ConnectorDetail(NamedTuple):
    """What a connector's own calls gave; None: it was not asked for, or could not be had.

    `given`: what each task was given beside the connector's configuration. `offsets`: as the worker answers them.
    """

    given: tuple[Mapping[str, str], ...] | None = None
    topics: tuple[str, ...] | None = None
    offsets: tuple[Mapping[str, Any], ...] | None = None


class Plugin(NamedTuple):
    """A plugin by the name a configuration asks for it with. `passwords`: its settings of type PASSWORD, None if it cannot tell."""

    name: str
    version: str = ""
    passwords: tuple[str, ...] | None = None


@dataclass(frozen=True)
class WorkerState:
    """The answers of one poll.

    `listed`: the names in the plain list of connectors, None if it could not be had. `withheld`: connectors of which the worker told
    nothing. `plugins`: by the name that configurations have. `lacks`: calls that this worker does not have.
    """

    version: str
    cluster: str
    connectors: Mapping[str, ConnectorState]
    listed: frozenset[str] | None
    details: Mapping[str, ConnectorDetail] = field(default_factory=dict)
    plugins: Mapping[str, Plugin] = field(default_factory=dict)
    lacks: frozenset[str] = frozenset()
    unseen: tuple[Unseen, ...] = ()
