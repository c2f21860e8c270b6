"""A plane: one listing of one scope, with one credential. What fails in one plane changes nothing in the others."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from lineage_bridge.sources.common.observer import Observation, Snapshot
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.organization import Estate
from lineage_bridge.sources.confluent.settings import ConfluentSettings

FetchedT = TypeVar("FetchedT")


@dataclass(frozen=True)
class Around:
    """What planes are made of. `estate`: the part of the organization that is observed; `whole`: all of it that is known."""

    estate: Estate
    whole: Estate
    clients: Clients
    settings: ConfluentSettings


class Plane(ABC, Generic[FetchedT]):
    """One plane of one scope. Made anew for each poll; what lives longer lies in the snapshot and in `Clients`."""

    name: ClassVar[str]
    """Which plane: one of settings.PLANES."""
    stage: ClassVar[int]
    """When it is told, after lesser: 0 names and tags, 1 topics, 2 registries, 3 SQL, 4 connectors, 5 the rest, 6 figures and changes."""

    def __init__(self, around: Around, scope: str) -> None:
        self.around, self.scope = around, scope
        self.settings, self.clients = around.settings, around.clients

    @property
    def key(self) -> str:
        """What it is called in snapshots, tasks and reports."""
        return f"{self.name} {self.scope}"

    def lacks(self) -> str:
        """Why it cannot be observed at all, such as that no credential is set; empty if it can."""
        return ""

    @abstractmethod
    def fetch(self, before: Snapshot | None, now_us: int) -> FetchedT:
        """Ask. Raises SourceError if nothing can be said; parts that failed lie in the value. Runs beside other planes' fetches."""

    @abstractmethod
    def tell(self, fetched: FetchedT, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """What is to be told of what was fetched. Pure. `before`: this plane's snapshot; `around`: what is known of all other planes."""

    @abstractmethod
    def nothing(self) -> FetchedT:
        """A complete answer in which there is nothing: what is told of once the whole scope is gone."""

    def know(self, snapshot: Snapshot) -> SharedMetadata:
        """What other planes and sources may use of a snapshot. Pure."""
        del snapshot
        return NO_METADATA


AnyPlane = Plane[Any]
Planes = Iterator[AnyPlane]
