"""Builds the events of one connector. Changes of its state, configuration and tasks start and end runs."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote
from uuid import UUID

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, run_id
from lineage_bridge.openlineage.facets.console import CONSOLE
from lineage_bridge.openlineage.facets.rebalance import KAFKA_REBALANCE
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.connect.events.memory import ALIVE, ENDED, ConnectorMemory, TaskRun
from lineage_bridge.sources.common.connect.events.memory import FAILED as FAILED_RUN
from lineage_bridge.sources.common.connect.generation import digest
from lineage_bridge.sources.common.connect.lineage.content import ConnectorContent
from lineage_bridge.sources.common.connect.worker import FAILED, PAUSED, RUNNING, ConnectorState, RunStatus

INTEGRATION = "KAFKA_CONNECT"
LONGEST_TRACE = 16_000
"""Maximum characters of a stack trace."""
LONGEST_MESSAGE = 1_000
MOST_FAILURES = 20
"""Maximum failed tasks in the health facet; each task's own run has its trace."""


class EventContext(NamedTuple):
    """What all events of a poll have in common.

    `cluster`: the Kafka cluster's id. `space`: the namespace of its topics. `version`: that of Kafka Connect. `period_s`: seconds
    between heartbeats. `now_us`: the time of the poll. `workers`: the address of their REST API, where workers of one cluster are observed.
    """

    cluster: str
    space: str
    version: str
    period_s: int
    now_us: int
    workers: str = ""


class ConnectorLifecycle:
    """Builds the events of one connector at one poll. `job`: the name of its job; `memory`: the connector's part of the snapshot, which
    is updated.
    """

    def __init__(self, out: EventBuilder, context: EventContext, job: DatasetName, memory: ConnectorMemory) -> None:
        self.out, self.context, self.job, self.memory = out, context, job, memory
        self.job_facets: Mapping[str, Json] = {}

    def existing(
        self, connector: ConnectorState, same: bool, described: Json, content: ConnectorContent, counts: Mapping[str, int]
    ) -> list[Json]:
        """Return the events of a connector that exists.

        `same`: whether its configuration is that of the previous poll. `described`: the connector's own facet. `counts`: the rows
        of the current run, by topic.
        """
        self.memory.ids = sorted(connector.tasks)
        described_job = connector.service.job if connector.service else self._console(connector.name)
        self.job_facets = {**described_job, **self._rebalance(connector, same)}
        stated = self._health(connector)
        if connector.stopped:
            return self._stopped({**({"kafka_connect": described} if same else {}), **stated}, content, counts)
        facets = {"kafka_connect": described, **stated}
        if self._begins(connector, same):
            ended = self._ends("COMPLETE", {}, content, counts)
            # After a change of configuration, the failed tasks may belong to the old configuration: wait for the next poll.
            if not same and connector.failed and self.memory.failure == _failure(connector):
                return [*ended, self._starts(facets, content)]
            start = self._starts(facets, content)
            return [
                *ended,
                start,
                self._fails(connector, facets, content, {}) if connector.failed else self._event("RUNNING"),
                *self._tasks(connector),
            ]
        if self.memory.state == ALIVE:
            event = self._fails(connector, facets, content, counts) if connector.failed else self._moves(facets, content, counts)
            return [event, *self._tasks(connector)]
        if connector.failed and self.memory.failure != _failure(connector):
            return [self._fails(connector, facets, content, counts), *self._tasks(connector)]
        return [*self._report_new_facts(content), *self._tasks(connector)]

    def deleted(self) -> list[Json]:
        """Return the events of a connector that was deleted."""
        return self._ends("ABORT", {}, None, {})

    # the connector's runs

    def _begins(self, connector: ConnectorState, same: bool) -> bool:
        """Whether a new run begins now: the connector has none, its configuration changed, its run has ended, or, after a failure,
        one of its tasks runs again.
        """
        if not same or self.memory.state in ("", ENDED):
            return True
        return self.memory.state == FAILED_RUN and not connector.failed and not connector.waiting

    def _starts(self, facets: Mapping[str, Json], content: ConnectorContent) -> Json:
        number = self.memory.number + 1
        parts = (self.context.cluster, *self.job, number, self.memory.config)
        self.memory.begin(str(run_id("connect", *parts)), number)
        engine = {"processing_engine": self.out.processing_engine("Kafka Connect", self.context.version)}
        return self._event("START", {**self._new_facets(facets), **engine}, self._new_content(content, {}), self._all_job_facets())

    def _moves(self, facets: Mapping[str, Json], content: ConnectorContent, counts: Mapping[str, int]) -> Json:
        return self._event("RUNNING", self._new_facets(facets), self._new_content(content, counts), self._new_job_facets())

    def _fails(self, connector: ConnectorState, facets: Mapping[str, Json], content: ConnectorContent, counts: Mapping[str, int]) -> Json:
        self.memory.state, self.memory.failure = FAILED_RUN, _failure(connector)
        error = {"errorMessage": self._error(connector.failures[0][1])}
        return self._event("FAIL", {**self._new_facets(facets), **error}, self._counted(content, counts))

    def _report_new_facts(self, content: ConnectorContent) -> list[Json]:
        """Return an event with new facts about the datasets of a failed run, which stays failed."""
        new = self._new_content(content, {})
        return [self._event("OTHER", datasets=new)] if any(new) else []

    def _stopped(self, facets: Mapping[str, Json], content: ConnectorContent, counts: Mapping[str, int]) -> list[Json]:
        if not self.memory.number and not self.memory.facets:
            self._new_facets(facets)
            return [self.out.job_event(self.context.now_us, self.job, job_facets=self._all_job_facets())]
        return self._ends("ABORT", facets, content, counts)

    def _ends(self, how: str, facets: Mapping[str, Json], content: ConnectorContent | None, counts: Mapping[str, int]) -> list[Json]:
        """Return the events that end the run, and the runs of its tasks, unless they have already ended."""
        alive = self.memory.state == ALIVE
        datasets = self._counted(content, counts) if content else _Datasets({}, {})
        own = [self._event(how, self._new_facets(facets), datasets)] if alive else []
        self.memory.state = ENDED if self.memory.state else ""
        return [*own, *self._ends_tasks(how, list(self.memory.children))]

    # the tasks' runs

    def _tasks(self, connector: ConnectorState) -> list[Json]:
        """Return the events of the runs of tasks if there are several tasks. A single task has no run of its own."""
        if not self.memory.run:
            return []
        tasks = connector.tasks if len(connector.tasks) > 1 else {}
        events = self._ends_tasks("COMPLETE", [number for number in self.memory.children if int(number) not in tasks])
        for number, task in sorted(tasks.items()):
            events += self._task(str(number), task)
        return events

    def _task(self, number: str, task: RunStatus) -> list[Json]:
        child = self.memory.children.get(number)
        starts = child is None or child.state == ENDED or (child.state == FAILED_RUN and task.state in (RUNNING, PAUSED))
        if child is not None and child.state == FAILED_RUN and not starts:
            return []
        events: list[Json] = []
        if starts:
            child = self.memory.children[number] = TaskRun(child.number + 1 if child else 1)
            kind = {"jobType": self.out.job_type("STREAMING", INTEGRATION, "TASK", self.context.period_s)}
            events.append(self._task_event("START", number, {"parent": self._parent()}, kind))
        if task.state == FAILED:
            self.memory.children[number].state = FAILED_RUN
            return [*events, self._task_event("FAIL", number, {"errorMessage": self._error(task.trace)})]
        return [*events, self._task_event("RUNNING", number)]

    def _ends_tasks(self, how: str, numbers: list[str]) -> list[Json]:
        ordered = sorted(numbers, key=int)
        events = [self._task_event(how, number) for number in ordered if self.memory.children[number].state == ALIVE]
        for number in numbers:
            self.memory.children[number].state = ENDED
        return events

    def _task_event(
        self, kind: str, number: str, run_facets: Mapping[str, Json] | None = None, job_facets: Mapping[str, Json] | None = None
    ) -> Json:
        job, run = (self.job[0], f"{self.job[1]}.{number}"), run_id(self.memory.run, number, self.memory.children[number].number)
        return self.out.run_event(kind, self.context.now_us, run, job, run_facets=run_facets, job_facets=job_facets)

    def _parent(self) -> Json:
        return self.out.parent(self.memory.run, {"namespace": self.job[0], "name": self.job[1]})

    # the content of events

    def _event(
        self,
        kind: str,
        run_facets: Mapping[str, Json] | None = None,
        datasets: "_Datasets | None" = None,
        job_facets: Mapping[str, Json] | None = None,
    ) -> Json:
        stated = datasets or _Datasets({}, {})
        return self.out.run_event(
            kind,
            self.context.now_us,
            UUID(self.memory.run),
            self.job,
            run_facets=run_facets,
            job_facets={**(job_facets or {}), **stated.job_facets},
            inputs=[self.out.dataset(name, facets, inputFacets=access) for name, (facets, access) in sorted(stated.inputs.items())],
            outputs=[self.out.dataset(name, facets, outputFacets=access) for name, (facets, access) in sorted(stated.outputs.items())],
        )

    def _console(self, name: str) -> dict[str, Json]:
        """Return the page of the workers' REST API about a connector."""
        return {CONSOLE: self.out.console("Kafka Connect", f"{self.context.workers}/connectors/{quote(name, safe='')}/status")}

    def _rebalance(self, connector: ConnectorState, same: bool) -> dict[str, Json]:
        """Return the facet of a rebalance, if tasks of a connector whose configuration is the same are on other workers than at the
        previous poll.
        """
        earlier = {task: worker for task, worker in self.memory.workers.items() if int(task) in connector.tasks}
        moved, since_us = self.memory.assign(
            {**earlier, **{str(number): task.worker for number, task in connector.tasks.items() if task.worker}}, self.context.now_us
        )
        if not moved or not same or since_us >= self.context.now_us:
            return {}
        return {KAFKA_REBALANCE: self.out.rebalance(since_us, self.context.now_us, "TASKS", moved=moved)}

    def _health(self, connector: ConnectorState) -> dict[str, Json]:
        shown = connector.failures[:MOST_FAILURES]
        failures = [{**({} if task is None else {"task": task}), "message": _message(trace)} for task, trace in shown]
        states = [task.state for task in connector.tasks.values()]
        facet = self.out.own_facet(
            "1-0-0",
            "KafkaConnectHealthRunFacet",
            state=connector.status.state,
            tasks=len(states),
            running=states.count(RUNNING),
            failed=states.count(FAILED),
            failures=failures,
        )
        return {"kafka_connect_health": facet}

    def _all_job_facets(self) -> dict[str, Json]:
        """Return all facets of the job."""
        kind = self.out.job_type("STREAMING", INTEGRATION, "CONNECTOR", self.context.period_s)
        return {"jobType": kind, **self._new_job_facets()}

    def _new_job_facets(self) -> dict[str, Json]:
        """Return the service's job facets that this run has not reported yet."""
        new = self._new_facets({f"job {key}": facet for key, facet in self.job_facets.items()})
        return {key.removeprefix("job "): facet for key, facet in new.items()}

    def _new_facets(self, facets: Mapping[str, Json]) -> dict[str, Json]:
        """Return the facets that this run has not reported yet."""
        digests = {key: digest(facet) for key, facet in facets.items()}
        new = {key: facets[key] for key, facet_digest in digests.items() if self.memory.facets.get(key) != facet_digest}
        self.memory.facets |= digests
        return new

    def _new_content(self, content: ConnectorContent, counts: Mapping[str, int]) -> "_Datasets":
        """Return the datasets and lineage that this run has not reported yet, with the counts."""
        new = self._counted(content, counts)
        for side, stated in ((content.inputs, new.inputs), (content.outputs, new.outputs)):
            for name, facets in side.items():
                key, mark = content.marks[side is content.inputs, name]
                if self.memory.datasets.get(key) != mark:
                    stated[name] = (facets, stated[name][1] if name in stated else {})
                    self.memory.datasets[key] = mark
        if not content.entries or self.memory.facets.get("lineage") == content.entries_mark:
            return new
        self.memory.facets["lineage"] = content.entries_mark
        return new._replace(job_facets={"lineage": self.out.lineage(content.entries)})

    def _counted(self, content: ConnectorContent, counts: Mapping[str, int]) -> "_Datasets":
        """Return the topics, each with the number of rows written to it or read from it."""
        name, facet = ("outputStatistics", self.out.output_statistics) if content.writes else ("inputStatistics", self.out.input_statistics)
        counted: dict[DatasetName, _Access] = {
            (self.context.space, topic): ({}, {name: facet(rows)}) for topic, rows in sorted(counts.items())
        }
        return _Datasets({}, counted) if content.writes else _Datasets(counted, {})

    def _error(self, trace: str) -> Json:
        return self.out.error_message(_message(trace), mask_text(trace)[:LONGEST_TRACE])


_Access = tuple[Mapping[str, Json], Mapping[str, Json]]


class _Datasets(NamedTuple):
    """The datasets of an event, each with its facets and its input or output facets, and those facets of the job that concern datasets."""

    inputs: dict[DatasetName, _Access]
    outputs: dict[DatasetName, _Access]
    job_facets: Mapping[str, Json] = {}


def _message(trace: str) -> str:
    """The first line of a stack trace."""
    return mask_text(next(iter(trace.strip().splitlines()), "it failed; the worker does not report why"))[:LONGEST_MESSAGE]


def _failure(connector: ConnectorState) -> str:
    return digest([[task, trace] for task, trace in connector.failures])
