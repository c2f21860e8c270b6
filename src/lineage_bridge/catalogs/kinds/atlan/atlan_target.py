"""The target Atlan: sends each job as a completed run, waits until Atlan shows the run, and reads it back. Jobs to delete are archived."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from lineage_bridge.catalogs.events import digest
from lineage_bridge.catalogs.http import outcome_of
from lineage_bridge.catalogs.kinds.atlan.api import MOST, AtlanApi, attributes_of
from lineage_bridge.catalogs.kinds.atlan.runs import bodies, content_of, content_of_run, expressed, named
from lineage_bridge.catalogs.kinds.atlan.settings import AtlanSettings
from lineage_bridge.catalogs.pace import Quota
from lineage_bridge.catalogs.target import DELETE, DONE, AnswerT, Expressed, Json, ObjectKey, Operation, Outcome, Target, TargetKind
from lineage_bridge.errors import ForbiddenError, MissingError
from lineage_bridge.model.sources import SourceCheck

_JOB: Final = "FlowControlOperation"
"""The type of the asset that a job becomes; its lineage is in processes that it refers to as `flowDataResults`."""
_CALLS: Final = "calls"


class AtlanTarget(Target[AtlanSettings]):
    """Sends each new state of a job to Atlan as a completed run. Deleting a job archives it in Atlan.

    Atlan answers before it processes events, and does not report events that it drops, so runs are read back if the
    settings allow it.
    """

    batch = 10
    read_batch = MOST
    paces_itself = True
    quotas = MappingProxyType(
        {_CALLS: Quota(400, 60)}
    )  # docs.atlan.com/product/capabilities/build-apps/references/api-limits-and-automation

    def __init__(self, name: str, settings: AtlanSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._silent = 0
        self._api = AtlanApi(settings, self._counted)
        self.reads = self.deletes = settings.is_readable

    def _counted(self, request: Callable[[], AnswerT], _: str = "", /) -> AnswerT:
        return self.repeated(request, _CALLS)

    def express(self, event: Json) -> Expressed:
        """Convert an event to a completed run, under the name that the job has in Atlan. Raises InexpressibleError."""
        return expressed(event, self.settings)

    def visible(self, event: Json) -> str:
        """The digest that the run id of the event contains, by which the run is recognised; if jobs are not read back, the digest
        of the whole event.
        """
        return content_of(event) if self.reads else digest(event)

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """The jobs that Atlan has, each with the digest that the id of its newest run contains."""
        return {key: content_of_run(run) for key, run in self._runs(list(keys)).items()}

    def _runs(self, keys: Sequence[ObjectKey]) -> dict[ObjectKey, str]:
        """The id of the newest run of each job that Atlan has."""
        names = {self._qualified(key): key for key in keys}
        found = {}
        for asset in self._api.search(_JOB, {"qualifiedName": list(names)}, ("qualifiedName", "flowRunId")) if names else ():
            attributes = attributes_of(asset)
            if (key := names.get(str(attributes.get("qualifiedName")))) is not None:
                found[key] = str(attributes.get("flowRunId"))
        return found

    def _qualified(self, key: ObjectKey) -> str:
        there = named(key, self.settings)
        return f"{self._api.connection(there.connection)}/{there.name}"

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Archive the jobs to delete, send the runs of the others, and wait until Atlan shows these runs."""
        if self.reads:
            for operation in operations:
                self._qualified(operation.key)  # events of a connection that is not there are dropped
        outcomes, sent = dict[ObjectKey, Outcome](), dict[ObjectKey, str]()
        for operation in operations:
            if operation.action == DELETE:
                outcomes[operation.key] = self._archive(operation.key)
                continue
            run, events = bodies(operation.body, operation.key, self.settings)
            outcomes[operation.key] = self._send(events)
            if outcomes[operation.key].done:
                sent[operation.key] = run
        if self.reads:
            outcomes |= dict.fromkeys(self._unsettled(sent), _LATER)
        return [outcomes[operation.key] for operation in operations]

    def _send(self, events: Iterable[bytes]) -> Outcome:
        for event in events:
            outcome = outcome_of(self._api.send(event))
            if not outcome.done:
                return outcome
        return DONE

    def _unsettled(self, sent: Mapping[ObjectKey, str]) -> list[ObjectKey]:
        """Poll for at most `settle_s` seconds. Returns the jobs whose newest run is still not the one that was sent.

        If nothing of a portion was shown, the next portion is polled half as long, until something is shown. So polling in vain
        takes at most twice `settle_s` in total.
        """
        left = list(sent)
        most = int(self.settings.settle_s / self.settings.poll_s) >> self._silent
        for question in range(1 + most):
            if not left:
                break
            if question:
                self.wait(self.settings.poll_s)
            shown = self._runs(left)
            left = [key for key in left if shown.get(key, "").lower() != sent[key]]
        if sent:
            self._silent = self._silent + 1 if len(left) == len(sent) else 0
        return left

    def _archive(self, key: ObjectKey) -> Outcome:
        """Archive a job, and the processes with its lineage in the job's connection."""
        attributes = ("connectionQualifiedName", "columnProcesses")
        guids = list[str]()
        for job in self._api.search(_JOB, {"qualifiedName": [self._qualified(key)]}, ("flowDataResults",)):
            guids.append(str(job.get("guid")))
            if results := _guids(attributes_of(job).get("flowDataResults")):
                for process in self._api.search("Process", {"__guid": results}, attributes):
                    found = attributes_of(process)
                    if found.get("connectionQualifiedName") == self._api.connection(named(key, self.settings).connection):
                        guids += [str(process.get("guid")), *_guids(found.get("columnProcesses"))]
        for at in range(0, len(guids), MOST):
            outcome = outcome_of(self._api.archive(guids[at : at + MOST]))
            if not outcome.done:
                return outcome
        return DONE

    def test(self) -> list[SourceCheck]:
        """Check whether the tenant accepts the credentials and has the connections. Whether it accepts events only shows when one
        is sent.
        """
        connections = (self.settings.connection, *self.settings.connections.values())
        try:
            if not self.reads:
                status = self._api.is_answering().status
                text = f"the server answers {status} to a GET; whether it takes events shows when one is sent"
                return [SourceCheck("connect", works=True, message=text)]
            found = [f"{name} is {self._api.connection(name)}" for name in connections]
        except ForbiddenError as error:
            return [SourceCheck("connect", True, "the server answers"), SourceCheck("authenticate", False, str(error), error.hint)]
        except MissingError as error:
            checks = [SourceCheck("connect", True, "the server answers"), SourceCheck("authenticate", True, "assets can be searched")]
            return [*checks, SourceCheck("connections", False, str(error), error.hint)]
        return [
            SourceCheck("connect", works=True, message="the server answers"),
            SourceCheck("authenticate", works=True, message="assets can be searched"),
            SourceCheck("connections", works=True, message="; ".join(found)),
        ]

    def close(self) -> None:
        """Close connections."""
        self._api.close()


_LATER: Final = Outcome(
    False, "was taken, but its run is not shown yet; settle_s says how long to wait, Atlan's event logs what became of it", later=True
)


def _guids(references: object) -> list[str]:
    """The ids of related assets."""
    found = references if isinstance(references, list) else []
    return [reference["guid"] for reference in found if isinstance(reference, dict) and isinstance(reference.get("guid"), str)]


KIND = TargetKind(AtlanSettings, AtlanTarget, "Atlan, by the OpenLineage endpoint of a connector")
