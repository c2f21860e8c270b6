"""The observer of a Flink cluster."""

from collections.abc import Callable, Iterator
from typing import TypeVar
from urllib.parse import urlsplit

from lineage_bridge.errors import ConfigError, SourceError
from lineage_bridge.sources.common.flink.tables import read_declarations
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Check, Observation, Observer, Snapshot, SourceKind
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.flink import gateway
from lineage_bridge.sources.flink.fetch import JobManager
from lineage_bridge.sources.flink.poll import FlinkClients, Poll
from lineage_bridge.sources.flink.settings import FlinkSettings
from lineage_bridge.sources.flink.shared_metadata import shared_metadata

_T = TypeVar("_T")


class FlinkObserver(Observer[FlinkSettings]):
    """Observes the jobs of one JobManager."""

    def __init__(self, name: str, settings: FlinkSettings) -> None:
        super().__init__(name, settings)
        self._clients = FlinkClients(HttpClient(settings), _client(settings, settings.gateway_url), _client(settings, settings.history_url))
        parts = urlsplit(settings.url)
        self.namespace = settings.namespace or f"flink://{parts.netloc}{parts.path}"

    @property
    def requests(self) -> int:
        """The number of requests sent to all servers."""
        return sum(http.requests for http in self._clients if http is not None)

    def test(self) -> Iterator[Check]:
        """Try each step of a poll, and report how it went."""
        settings, (http, sql, history) = self.settings, self._clients
        manager = JobManager(http)
        yield _check("reach the JobManager", manager.version, lambda version: f"Flink {version}")
        yield _check("list its jobs", manager.jobs, lambda jobs: f"{sum(map(settings.wants, jobs))} of {len(jobs)} jobs are observed")
        yield _check(
            "read its configuration", manager.listener, lambda count: f"OpenLineage's own listener {'runs' if count else 'does not run'}"
        )
        if sql is not None:
            yield _check(
                "open a session of the SQL gateway", lambda: gateway.tables(sql, "", ()), lambda _: "the SQL gateway can look up tables"
            )
        if history is not None:
            yield _check("list the history server's jobs", JobManager(history).jobs, lambda jobs: f"{len(jobs)} jobs")
        yield _check("read init_sql", settings.ddl, lambda text: f"{len(read_declarations(text, ()).tables)} tables")
        yield _check(
            "read statements", settings.scripts, lambda texts: f"{sum(map(len, read_declarations('', texts).named.values()))} jobs"
        )
        yield _check("read annotations", settings.read_annotations, lambda found: f"{len(found)} jobs or patterns of jobs are annotated")

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll the jobs. Raises SourceError if the JobManager does not list them."""
        return Poll(self.settings, self._clients, self.namespace, before or {}, shared, now_us).observation()

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the consumer groups of jobs, and the schemas of topics that DDL declares."""
        return shared_metadata(snapshot)

    def close(self) -> None:
        """Close all connections."""
        for http in self._clients:
            if http is not None:
                http.close()


def _client(settings: FlinkSettings, url: str | None) -> HttpClient | None:
    return HttpClient(settings.model_copy(update={"url": url})) if url else None


def _check(step: str, ask: Callable[[], _T], describe: Callable[[_T], str]) -> Check:
    try:
        return Check(step, True, describe(ask()))
    except (SourceError, ConfigError) as error:
        return Check(step, False, str(error), error.hint)


KIND = SourceKind(FlinkSettings, FlinkObserver, "Apache Flink: the jobs of a JobManager, by its REST API and the SQL gateway")
