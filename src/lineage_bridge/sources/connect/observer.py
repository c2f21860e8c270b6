"""The observer of a cluster of Kafka Connect workers."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.connect.client import OFFSETS, TASKS, TOPICS, ConnectClient, fetch_state
from lineage_bridge.sources.common.connect.events.translate import Memos, shared_metadata, translate
from lineage_bridge.sources.common.connect.generation import plugins_of
from lineage_bridge.sources.common.connect.settings import ConnectSettings
from lineage_bridge.sources.common.observer import Check, Observation, Observer, Snapshot, SourceKind
from lineage_bridge.sources.common.shared_metadata import SharedMetadata


class ConnectObserver(Observer[ConnectSettings]):
    """Observes the connectors of one cluster of workers through the REST API of one worker."""

    def __init__(self, name: str, settings: ConnectSettings) -> None:
        super().__init__(name, settings)
        self.worker = ConnectClient(settings)
        self.classes, self.made = settings.classes, Memos()
        self.namespace = settings.namespace or f"kafka-connect://{_address(settings.url)}"

    def test(self) -> Iterator[Check]:
        """Check the worker, the list of connectors, and, for the first connector, each call that a poll makes."""
        self.worker.begin()
        try:
            version, cluster = self.worker.root()
        except SourceError as error:
            yield Check("reach the worker", False, str(error), error.hint)
            return
        yield Check("reach the worker", True, f"Kafka Connect {version}, of the Kafka cluster {cluster or '(not reported)'}")
        try:
            connectors, withheld = self.worker.connectors()
        except SourceError as error:
            yield Check("list connectors", False, str(error), error.hint)
            return
        message = f"{len(connectors)} connectors" + (f", and {len(withheld)} without configuration or status" if withheld else "")
        yield Check("list connectors", not withheld, message, "try again later: the workers may be rebalancing" if withheld else "")
        first = next(iter(connectors.values()), None)
        for what in (TASKS, TOPICS, OFFSETS) if first else ():
            yield self._tried(f"{what} of connector {first.name}", first.name, what) if first else Check(what, False, "")
        yield self._tried_plugins(sorted({name for connector in connectors.values() for name in plugins_of(connector.config).values()}))

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll once, and return the events of all connectors. Raises SourceError."""
        fetched = fetch_state(self.worker, before or {})
        return translate(fetched, before, shared, now_us, self.settings, self.namespace, self.classes, self.made)

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the consumer groups of connectors."""
        return shared_metadata(snapshot)

    def close(self) -> None:
        """Close all connections."""
        self.worker.http.close()

    def _tried(self, step: str, name: str, what: str) -> Check:
        try:
            answer: Any = self.worker.ask(name, what)
        except SourceError as error:
            return Check(step, False, str(error), error.hint or "everything else is still observed")
        return Check(step, True, f"{len(answer)} entries" if isinstance(answer, list) else "answered")

    def _tried_plugins(self, used: list[str]) -> Check:
        try:
            installed = self.worker.plugins()
        except SourceError as error:
            return Check(
                "list plugins",
                False,
                str(error),
                "without plugins, secrets are only recognized by name, so configurations are not reported",
            )
        unknown = [name for name in used if self.classes.lookup(name) is None and name.endswith("Connector")]
        message = f"{len(installed)} plugins, {len(used)} used"
        return Check("list plugins", True, message + (f"; not in the catalogue: {', '.join(unknown)}" if unknown else ""))


def _address(url: str) -> str:
    """Return `host:port` from the address of a worker."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


KIND = SourceKind(ConnectSettings, ConnectObserver, "Kafka Connect: connectors, what they read and write, and their state")
