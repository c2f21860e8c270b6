"""The observer of Amazon's MSK Connect."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lineage_bridge.errors import ConfigError, SourceError
from lineage_bridge.sources.common.connect.events.translate import Memos, shared_metadata, translate
from lineage_bridge.sources.common.connect.services import plugins_used
from lineage_bridge.sources.common.connect.worker import ConnectorState, WorkerState
from lineage_bridge.sources.common.observer import Check, Observation, Observer, Snapshot, SourceKind, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.msk_connect.parse import ListedConnector, as_known, owner_of, read_described
from lineage_bridge.sources.msk_connect.settings import MskSettings

if TYPE_CHECKING:
    from lineage_bridge.sources.msk_connect.service import MskService


class MskObserver(Observer[MskSettings]):
    """Observes the connectors of one AWS account in one region."""

    def __init__(self, name: str, settings: MskSettings) -> None:
        super().__init__(name, settings)
        self.service = _service(settings)
        self.classes, self.made = settings.classes, Memos()

    def test(self) -> Iterator[Check]:
        """Check the list of connectors, and the description of the first one."""
        listed, error = self._listed()
        if error is not None:
            yield Check("list connectors", False, str(error), error.hint)
        else:
            yield Check("list connectors", True, f"{len(listed)} connectors")
        for connector, answer in zip(listed[:1], self.service.describe(listed[:1]), strict=True):
            step = f"describe connector {connector.name}"
            if isinstance(answer, SourceError):
                yield Check(step, False, str(answer), answer.hint)
            else:
                seen = read_described(answer, self.classes)
                yield Check(step, seen is not None, f"it is {seen.status.state}" if seen else "the service only reported a part of it")

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll once, and return the events of all connectors. Raises SourceError."""
        listed, error = self._listed()
        if error is not None and not listed:
            raise error
        connectors: dict[str, ConnectorState] = {}
        unseen = [Unseen("list of connectors", str(error))] if error else []
        for connector, answer in zip(listed, self.service.describe(listed), strict=True):
            seen = None if isinstance(answer, SourceError) else read_described(answer, self.classes)
            if seen is not None:
                connectors[connector.name] = as_known(seen, shared)
            else:
                unseen.append(
                    Unseen(
                        f"connector {connector.name}",
                        str(answer) if isinstance(answer, SourceError) else "the service only reported a part of it",
                    )
                )
        names = None if error else frozenset(connector.name for connector in listed)
        fetched = WorkerState("", "", connectors, names, plugins=plugins_used(connectors.values(), self.classes), unseen=tuple(unseen))
        earlier, namespace = before or {}, self._namespace(listed, before or {})
        if earlier.get("namespace") != namespace:  # the credentials belong to another account now
            earlier = {}
        return translate(fetched, earlier, shared, now_us, self.settings, namespace, self.classes, self.made)

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the consumer groups of connectors."""
        return shared_metadata(snapshot)

    def close(self) -> None:
        """Close all connections."""
        self.service.close()

    def _listed(self) -> tuple[list[ListedConnector], SourceError | None]:
        """Fetch the connectors that the settings select, and the error that may have cut the list short."""
        listed: list[ListedConnector] = []
        try:
            for page in self.service.pages():
                listed += (connector for connector in page if self.settings.matters(connector.name))
        except SourceError as error:
            return sorted(listed, key=lambda connector: connector.name), error
        return sorted(listed, key=lambda connector: connector.name), None

    def _namespace(self, listed: list[ListedConnector], before: Snapshot) -> str:
        """Return the namespace of the jobs: region and account of the connectors listed now or, if there are none, of the previous ones."""
        owner = next((owner for connector in listed if (owner := owner_of(connector.arn))), None)
        namespace = f"msk-connect://{owner.region}/{owner.account}" if owner else str(before.get("namespace", ""))
        return self.settings.namespace or namespace


def _service(settings: MskSettings) -> "MskService":
    try:
        from lineage_bridge.sources.msk_connect.service import MskService  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise ConfigError(
            "sources of kind msk-connect require the extra aws", "install it with: pip install 'lineage-bridge[aws]'"
        ) from error
    return MskService(settings)


KIND = SourceKind(
    MskSettings, MskObserver, "MSK Connect, Amazon's managed Kafka Connect: connectors, what they read and write, and their state"
)
