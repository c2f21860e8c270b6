"""Sends events by DataZone's API, and waits until they are processed. Requires botocore, an optional dependency."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from lineage_bridge.catalogs.events import digest, in_form
from lineage_bridge.catalogs.kinds.datazone.settings import DataZoneSettings
from lineage_bridge.catalogs.pace import Quota
from lineage_bridge.catalogs.target import DONE, Expressed, InexpressibleError, Json, Operation, Outcome, Target
from lineage_bridge.errors import SourceError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.openlineage.event_builder import digest_of
from lineage_bridge.sources.common.aws.client import AmazonClient
from lineage_bridge.sources.common.aws.session import error_code

LONGEST_IDENTIFIER: Final = 2086
"""The maximum length, in characters, of the identifier of a job (`namespace.name`) or dataset (`namespace/name`)."""
_RIGHTS: Final = "grant datazone:PostLineageEvent and datazone:GetLineageEvent on the domain"
_INVALID: Final = frozenset(("ConflictException", "ValidationException"))
_OPEN: Final = frozenset(("PROCESSING", "REQUESTED"))


class DataZoneTarget(Target[DataZoneSettings]):
    """Sends each job as a completed run. DataZone accepts events first and processes them later; the target polls for the outcome."""

    batch = 20
    paces_itself = True
    quotas = MappingProxyType({"PostLineageEvent": Quota(20)})  # docs.aws.amazon.com/datazone/latest/userguide/datazone-limits.html

    def __init__(self, name: str, settings: DataZoneSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._client = AmazonClient(settings, "datazone", connections=settings.at_once, tries=1)

    def express(self, event: Json) -> Expressed:
        """Convert an event to a completed run with those datasets whose names are short enough. Raises InexpressibleError."""
        made, lost = in_form(event, "runs").event, Counter[str]()
        if _is_too_long(made["job"]):
            raise InexpressibleError("jobs whose names are too long")
        for side in ("inputs", "outputs"):
            datasets = made.get(side, ())
            made[side] = [dataset for dataset in datasets if not _is_too_long(dataset)]
            lost["datasets whose names are too long"] += len(datasets) - len(made[side])
        return Expressed(made, +lost)

    def visible(self, event: Json) -> str:
        """The digest of the whole event, because nothing can be read back."""
        return digest(event)

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Send each event by itself, then poll until all are processed."""
        posted = [self._post(operation) for operation in operations]
        states = self._settled([answer for answer in posted if isinstance(answer, str)])
        return [answer if isinstance(answer, Outcome) else _outcome(states[answer]) for answer in posted]

    def _post(self, operation: Operation) -> str | Outcome:
        """Send an event. Returns its id in DataZone, or the reason why it is refused. The same bytes have the same token, so
        sending them twice creates one event.
        """
        token = digest_of([operation.idempotency_key, operation.body.decode()])
        try:
            made = {"domainIdentifier": self.settings.domain, "event": operation.body, "clientToken": token}
            answer = self._called("post_lineage_event", "PostLineageEvent", made)
        except SourceError as error:
            if error_code(error.__cause__) in _INVALID:
                return Outcome(False, str(error))
            raise
        return str(answer["id"])

    def _settled(self, ids: Sequence[str]) -> dict[str, str]:
        """The status of each event, after as many polls as fit in `settle_s`."""
        states = dict.fromkeys(ids, "REQUESTED")
        for question in range(1 + int(self.settings.settle_s / self.settings.poll_s)):
            unsettled = [event for event, state in states.items() if state in _OPEN]
            if not unsettled:
                break
            if question:
                self.wait(self.settings.poll_s)
            states |= {event: self._state(event) for event in unsettled}
        return states

    def _state(self, event: str) -> str:
        asked = {"domainIdentifier": self.settings.domain, "identifier": event}
        return str(self._called("get_lineage_event", "GetLineageEvent", asked).get("processingStatus", "REQUESTED"))

    def _called(self, method: str, named: str, asked: Json) -> Any:  # noqa: ANN401  # botocore creates its client classes at run time
        return self.repeated(lambda: self._client.call(method, named, _RIGHTS, asked), named)

    def test(self) -> list[SourceCheck]:
        """Check whether the domain's events can be listed. Whether it accepts events only shows when one is sent."""
        asked = {"domainIdentifier": self.settings.domain, "maxResults": 1}
        answer = self._client.call("list_lineage_events", "ListLineageEvents", "grant datazone:ListLineageEvents on the domain", asked)
        return [SourceCheck("connect", isinstance(answer.get("items"), list), f"the domain {self.settings.domain} answers")]

    def close(self) -> None:
        """Close connections."""
        self._client.close()


def _is_too_long(subject: Json) -> bool:
    return len(subject["namespace"]) + 1 + len(subject["name"]) > LONGEST_IDENTIFIER


def _outcome(state: str) -> Outcome:
    if state in _OPEN:
        return Outcome(False, "was accepted, but is not processed yet; raise settle_s to wait longer", later=True)
    return DONE if state == "SUCCESS" else Outcome(False, f"was accepted, but its processing ended as {state}")
