"""A plane: it fetches one kind of listing of one scope with one credential. A failure of one plane does not affect the others."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from lineage_bridge.sources.common.observer import Observation, Snapshot
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.hints import missing_key_hint
from lineage_bridge.sources.confluent.organization import Organization
from lineage_bridge.sources.confluent.settings import ConfluentSettings

FetchedT = TypeVar("FetchedT")


@dataclass(frozen=True)
class PlaneContext:
    """The context for creating planes. `observed`: the part of the organization that this poll observes; `organization`: the whole
    organization.
    """

    observed: Organization
    organization: Organization
    clients: Clients
    settings: ConfluentSettings


class Plane(ABC, Generic[FetchedT]):
    """A plane of one scope. It is created for each poll; what must last longer is in the snapshot and in `Clients`."""

    name: ClassVar[str]
    """One of settings.PLANES."""
    stage: ClassVar[int]
    """Planes are translated in the order of their stages, each with the metadata of the stages before it: 0 names and tags, 1 topics,
    2 registries, 3 SQL, 4 connectors, 5 links, groups and Tableflow, 6 metrics and the audit log."""

    def __init__(self, context: PlaneContext, scope: str) -> None:
        self.context, self.scope = context, scope
        self.settings, self.clients = context.settings, context.clients

    @property
    def key(self) -> str:
        """The plane's key in snapshots, tasks and reports."""
        return f"{self.name} {self.scope}"

    def unavailable_reason(self) -> str:
        """Why this plane cannot be observed, for example because it has no credential; empty if it can."""
        return ""

    def unavailable_hint(self) -> str:
        """A hint: what the user can do about `unavailable_reason`."""
        return missing_key_hint(self.settings, self.name, self.scope)

    @abstractmethod
    def fetch(self, before: Snapshot | None, now_us: int) -> FetchedT:
        """Fetch the answers of the system. Runs in a thread, in parallel to other planes.

        Raises SourceError if nothing could be fetched. If only parts failed, the value lists them as `unseen`.
        """

    @abstractmethod
    def translate(self, fetched: FetchedT, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Convert fetched answers to events and a snapshot. Pure.

        `before` is this plane's previous snapshot; `shared` is the metadata of all other planes and sources.
        """

    @abstractmethod
    def empty_answer(self) -> FetchedT:
        """Return the answer of a scope without resources. It is translated once when the whole scope no longer exists."""

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the metadata in this plane's snapshot for other planes and sources. Pure."""
        del snapshot
        return NO_METADATA


AnyPlane = Plane[Any]
Planes = Iterator[AnyPlane]
