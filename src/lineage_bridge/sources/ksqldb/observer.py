"""The observer of a ksqlDB server."""

from collections.abc import Callable, Iterator

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.ksqldb.client import HEADERS, fetch_state
from lineage_bridge.sources.common.ksqldb.settings import KsqldbSettings
from lineage_bridge.sources.common.ksqldb.translate import shared_metadata, translate
from lineage_bridge.sources.common.observer import Check, Observation, Observer, Snapshot, SourceKind
from lineage_bridge.sources.common.shared_metadata import SharedMetadata


class KsqldbObserver(Observer[KsqldbSettings]):
    """Reports the streams, tables and persistent queries of a ksqlDB server."""

    def __init__(self, name: str, settings: KsqldbSettings) -> None:
        super().__init__(name, settings)
        self._http = HttpClient(settings, HEADERS)

    def test(self) -> Iterator[Check]:
        """Check the server, its health and its listings; then the state of its hosts, which some servers do not report."""
        first = _checked("server", self._server)
        yield first
        if not first.works:
            return
        yield _checked("health", self._health)
        yield _checked("streams, tables and queries", self._listed)
        hosts = _checked("hosts", self._hosts)
        yield (
            hosts
            if hosts.works
            else Check("hosts", True, f"the server does not report its hosts ({hosts.message}); their states are taken from the queries")
        )

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll the server once with two requests: one for its information, one for all listings. Raises SourceError."""
        return translate(fetch_state(self._http), before, shared, now_us, self.settings)

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the schemas that streams declare, and the queries that own consumer groups."""
        return shared_metadata(snapshot)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _server(self) -> str:
        info = self._http.get("/info")["KsqlServerInfo"]
        return f"ksqlDB {info['version']}, service {info['ksqlServiceId']}, on the Kafka cluster {info['kafkaClusterId']}"

    def _health(self) -> str:
        health = self._http.get("/healthcheck")
        if not health["isHealthy"]:
            sick = [part for part, state in sorted((health.get("details") or {}).items()) if not state.get("isHealthy")]
            raise SourceError(f"the server reports itself as unhealthy: {', '.join(sick)}", "check the server's log")
        return "healthy"

    def _listed(self) -> str:
        state = fetch_state(self._http)
        return f"{len(state.relations)} streams and tables, {len(state.queries)} persistent queries"

    def _hosts(self) -> str:
        hosts = self._http.get("/clusterStatus")["clusterStatus"]
        return ", ".join(f"{host} {'alive' if state['hostAlive'] else 'dead'}" for host, state in sorted(hosts.items()))


def _checked(step: str, look: Callable[[], str]) -> Check:
    try:
        return Check(step, True, look())
    except SourceError as error:
        return Check(step, False, str(error), error.hint)
    except (AttributeError, KeyError, TypeError) as error:
        return Check(step, False, f"an answer of the server lacks the member {error}", "check that the address is that of a ksqlDB server")


KIND = SourceKind(KsqldbSettings, KsqldbObserver, "a ksqlDB server: streams, tables, persistent queries")
