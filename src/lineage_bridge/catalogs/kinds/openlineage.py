"""The target for any server that accepts OpenLineage events over HTTP, one in each request."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from lineage_bridge.catalogs.events import digest, in_form
from lineage_bridge.catalogs.http import TargetClient, outcome_of
from lineage_bridge.catalogs.settings import EventSettings, HttpTargetSettings
from lineage_bridge.catalogs.target import Expressed, Json, Operation, Outcome, Target, TargetKind
from lineage_bridge.errors import ForbiddenError
from lineage_bridge.model.sources import SourceCheck


def _path(path: str) -> str:
    path = "/" + path.strip("/")
    if any(character in path for character in "?# ") or not path.isascii():
        raise ValueError("use a path without a query (without ? and what follows it)")
    return path


class OpenLineageSettings(HttpTargetSettings, EventSettings):
    """Settings of a target: the address to which events are sent, and how they are sent."""

    endpoint: Annotated[str, AfterValidator(_path)] = Field(
        default="/api/v1/lineage", description="path of the calls that take one event, below url"
    )
    compress: bool = Field(default=False, description="send events with Content-Encoding: gzip")

    @property
    def destination(self) -> str:
        """The text that identifies the target: the address to which events are sent."""
        return self.url + self.endpoint


class OpenLineageTarget(Target[OpenLineageSettings]):
    """Sends events to a server. They cannot be deleted or read back: OpenLineage has no call for either."""

    paces_itself = True

    def __init__(self, name: str, settings: OpenLineageSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._client = TargetClient(settings, self.repeated)

    def express(self, event: Json) -> Expressed:
        """Convert an event to the form that the server accepts: unchanged or, depending on the settings, as a completed run."""
        return in_form(event, self.settings.events)

    def visible(self, event: Json) -> str:
        """The digest of the whole event, because nothing can be read back."""
        return digest(event)

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Send each event in a request of its own."""
        return [self._send(operation) for operation in operations]

    def _send(self, operation: Operation) -> Outcome:
        headers = {"Idempotency-Key": operation.idempotency_key}
        body = operation.body
        if self.settings.compress:
            body, headers["Content-Encoding"] = gzip.compress(body, 6, mtime=0), "gzip"
        return outcome_of(self._client.call("POST", self.settings.endpoint, body, headers))

    def test(self) -> list[SourceCheck]:
        """Check whether the address answers. Whether it accepts events only shows when one is sent."""
        try:
            answer = self._client.call("GET", self.settings.endpoint)
        except ForbiddenError as error:
            return [SourceCheck("connect", True, "the server answers"), SourceCheck("authenticate", False, str(error), error.hint)]
        message = f"the server answers {answer.status} to a GET; whether it takes events shows when one is sent"
        return [SourceCheck("connect", works=True, message=message)]

    def close(self) -> None:
        """Close connections."""
        self._client.close()


KIND = TargetKind(OpenLineageSettings, OpenLineageTarget, "any server that takes OpenLineage events over HTTP")
