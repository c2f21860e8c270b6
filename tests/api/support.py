"""An API over a real log and a real store, folded on demand in place of the pipeline."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from secrets import token_bytes
from typing import Any

from starlette.testclient import TestClient
from tests.api.asgi_client import asgi_client
from tests.events import KEY, T0

from lineage_bridge.access.audit import HashChain
from lineage_bridge.access.authentication import KeyAuthenticator
from lineage_bridge.access.keys import ApiKeys
from lineage_bridge.api.app import create_app
from lineage_bridge.api.guard import AccessPolicy
from lineage_bridge.api.services import DiskSpace, LogHealth, Services
from lineage_bridge.catalogs.apply import Publisher
from lineage_bridge.catalogs.continuous.feed import changes_behind
from lineage_bridge.catalogs.continuous.status import Followed
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.catalogs.publish import Publication
from lineage_bridge.catalogs.service import TargetService
from lineage_bridge.errors import StoreMissingError
from lineage_bridge.eventlog.archive.reader import AllRecords, ArchiveReader
from lineage_bridge.eventlog.check import check_log
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import DAY_US, graph_id
from lineage_bridge.graph.log_record import LogRecord, OffsetRange, StoredRecord
from lineage_bridge.inputs.input_ledger import InputLedger
from lineage_bridge.inputs.kinds import KINDS as INPUT_KINDS
from lineage_bridge.inputs.kinds import InputKinds
from lineage_bridge.inputs.service import InputService
from lineage_bridge.model.access import AccessScope, KeyOptions
from lineage_bridge.model.audit import AuditHead
from lineage_bridge.model.tasks import GraphSize
from lineage_bridge.ports.continuous import FollowersReport
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.inputs import InputsReport
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.sources.common.settings import SourceContext
from lineage_bridge.sources.runtime.extraction import ExtractionContext
from lineage_bridge.sources.runtime.kinds import KINDS, SourceKinds
from lineage_bridge.sources.runtime.metadata_cache import MetadataCache
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.sources.runtime.source_locks import SourceLocks
from lineage_bridge.sources.runtime.tasks import TaskService
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.state.audit import AuditRepository
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.followers import FollowRepository
from lineage_bridge.store.state.inputs import InputRepository
from lineage_bridge.store.state.keys import ApiKeyRepository, WatchedKeys
from lineage_bridge.store.state.pins import PinStore
from lineage_bridge.store.state.sources import SourceRepository
from lineage_bridge.store.state.targets import PublicationLedger, TargetRepository
from lineage_bridge.store.state.tasks import TaskRepository
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.erasing.requests import ErasureRequests

NOW = T0 + DAY_US
URL = "http://127.0.0.1:8000"
LINEAGE = "/api/v1/lineage"


@dataclass
class Parts:
    """What a test may change while the server runs."""

    now_us: int = NOW
    pipeline: dict[str, Any] | None = field(default_factory=lambda: {"state": "running", "pid": 7, "beat_us": NOW, "error": None})
    alive: bool = True
    disk: DiskSpace = field(default_factory=lambda: DiskSpace(1000, 1 << 40))
    log_state: str = "ok"
    report: InputsReport | None = None
    followers: FollowersReport | None = None


class Server:
    """A client of the API, with access to what is behind it."""

    def __init__(
        self, folder: Path, log: LogWriter, pool: ReaderPool, empty_store: Path, kinds: SourceKinds, input_kinds: InputKinds
    ) -> None:
        self.folder, self.log, self.pool, self.empty_store, self.kinds = folder, log, pool, empty_store, kinds
        self.records = AllRecords(LogReader(folder / "log"), ArchiveReader(folder / "archive"))
        self.names, self.key_bytes = Names(KEY), KEY
        self.publication_ledger: Callable[[StateDatabase], PublicationLedger] = PublicationLedger
        self.wait: Callable[[float], None] = lambda _: None
        self.parts = Parts()
        self.source_repository = SourceRepository(StateDatabase(folder / "state.db"))
        self.sources = SourceService({}, self.source_repository, kinds=kinds)
        self.state = StateDatabase(folder / "state.db")
        repository = InputRepository(self.state)
        self.ledger = InputLedger(log, self.records.log.read, repository, "session")
        self.inputs = InputService(
            {},
            repository,
            lambda: self.parts.now_us,
            progress=self.ledger.progress,
            report=lambda: self.parts.report,
            kinds=input_kinds,
        )
        self.follow_repository = FollowRepository(self.state)
        self.publishing = PublishingInPlace(self)
        self.targets = TargetService(
            {},
            TargetRepository(self.state),
            PublicationLedger(self.state),
            TargetKinds(folder / "published"),
            self.publishing,
            lambda: self.parts.now_us,
            Followed(self.follow_repository, partial(changes_behind, pool.reader), lambda: self.parts.followers, lambda: self.parts.now_us),
        )
        self.keys = ApiKeys(ApiKeyRepository(self.state), KEY, lambda: self.parts.now_us, token_bytes)
        self.heads: list[AuditHead] = []
        self.audit = HashChain(AuditRepository(self.state), lambda: self.parts.now_us, token_bytes, self.heads.append)
        self.looks: Counter[str] = Counter()
        self.tasks = task_service(self)
        self.services = Services(
            log=log,
            records=self.records,
            graph=pool.reader,
            clock_us=lambda: self.parts.now_us,
            pipeline=lambda: self.parts.pipeline,
            is_alive=lambda _: self.parts.alive,
            disk=lambda: self.parts.disk,
            log_state=lambda: self.parts.log_state,
            log_health=self.log_health,
            store_bytes=lambda: {"graph": 4096, "state": 8192},
            version="1.2.3",
            graph_id=graph_id(KEY),
            key=KEY,
            keys=self.keys,
            audit=self.audit,
            sources=self.sources,
            inputs=self.inputs,
            input_log=self.ledger,
            targets=self.targets,
            tasks=self.tasks,
            pins=PinStore(self.state),
            erasures=ErasureRequests(self.state, folder / "erasing", lambda: self.parts.now_us),
        )

    @cached_property
    def client(self) -> TestClient:
        """A client on the server's own machine. Tests that need another API do not pay for this one."""
        return self.client_of()

    def client_of(self, peer: str = "127.0.0.1", **changes: Any) -> TestClient:
        """A client of an API whose services differ."""
        return asgi_client(create_app(replace(self.services, **changes)), URL, (peer, 50_000))

    def asking_for_keys(self, **changes: Any) -> TestClient:
        """A client of an API that serves nobody without an API key. Each request brings its own."""
        return self.client_of("192.0.2.1", access=self.policy(required=True), **changes)

    def policy(self, *, required: bool) -> AccessPolicy:
        """Recognises the keys of this server; with `required`, it serves nobody without one."""
        return AccessPolicy(KeyAuthenticator(WatchedKeys(self.state), KEY, lambda: self.parts.now_us), required=required)

    def key(self, name: str, *scopes: str, namespaces: tuple[str, ...] = (), expires_us: int | None = None) -> dict[str, str]:
        """The header with a new API key."""
        options = KeyOptions(name, frozenset(map(AccessScope, scopes)), namespaces, "", expires_us)
        return {"authorization": f"Bearer {self.keys.create(options, '')[1]}"}

    def publish(self, name: str, report: PublicationReport) -> None:
        """Publish to a target at once, instead of in a process of its own."""
        target = self.targets.target(name)
        publisher = Publisher(target, self.publication_ledger(self.state), graph_id(self.key_bytes), lambda: self.parts.now_us, self.wait)
        save = partial(TargetRepository(self.state).save_report, name)
        try:
            Publication(publisher, self.pool.reader, report, save).run()
        finally:
            target.close()

    def log_health(self) -> LogHealth:
        """How much of the log can be read now."""
        found = check_log(self.folder / "log")
        return LogHealth(True, len(found.damage), len(found.new), sum(item.size for item in found.damage), str(found))

    def stored(self) -> list[LogRecord]:
        """All records of the log."""
        return [record for _, record in self.records.log.read(0, self.records.durable_end())]

    def fold(self) -> None:
        """Bring the store up to the log's end, as the pipeline does."""
        if not (self.folder / "graph.db").exists():
            # A task that waits in a thread of its own looks for the store meanwhile: half a copy would be a damaged one.
            Path(shutil.copy(self.empty_store, self.folder / "graph.db.copy")).rename(self.folder / "graph.db")
        writer = GraphWriter(self.folder / "graph.db", self.names)
        try:
            start, end = writer.position(LOG_SOURCE).get(0, 0), self.records.durable_end()
            records = [StoredRecord(LOG_SOURCE, 0, offset, record) for offset, record in self.records.log.read(start, end)]
            rows = dict(flat(fold_records(records, self.names)))
            writer.apply(Batch({(LOG_SOURCE, 0): OffsetRange(start, end)}, rows), Budget(1))
            while writer.settle(Budget(1000)):
                pass
        finally:
            writer.close()

    def send(self, *events: bytes) -> str:
        """Send events, fold them, and return the position of the answer."""
        answer = self.client.post(LINEAGE, content=b"[" + b",".join(events) + b"]")
        assert answer.status_code == 201, answer.text
        self.fold()
        return str(answer.json()["position"])

    def ask(self, path: str, status: int = 200, **query: Any) -> Any:
        """The JSON of an answer to a GET under /api/v1."""
        answer = self.client.get("/api/v1" + path, params=query)
        assert answer.status_code == status, answer.text
        return answer.json()


@dataclass
class PublishingInPlace:
    """Publishes at once, instead of in a process of its own. With `stays`, a publication is said to be under way when it has ended."""

    server: Server
    stays: bool = False
    under_way: set[str] = field(default_factory=set)

    def begin(self, name: str, report: PublicationReport) -> None:
        self.server.publish(name, report)
        if self.stays:
            self.under_way.add(name)

    def cancel(self, name: str) -> None:
        self.under_way.discard(name)

    def is_publishing(self, _: int) -> bool:
        return self.server.parts.alive

    def targets(self) -> frozenset[str]:
        return frozenset(self.under_way)


class FailingLog:
    """An event log that fails: at once with `refusal`, or later with `failure`."""

    def __init__(self, refusal: Exception | None = None, failure: Exception | None = None) -> None:
        self.refusal, self.failure = refusal, failure

    def submit(self, records: Sequence[LogRecord]) -> "Future[list[int]]":
        if self.refusal:
            raise self.refusal
        future: Future[list[int]] = Future()
        future.set_exception(self.failure or RuntimeError(len(records)))
        return future

    def end(self) -> int:
        return 0


class CountingTaskRepository(TaskRepository):
    """A repository of tasks that counts how often it is asked whether a task's events were delivered."""

    def __init__(self, state: StateDatabase, looks: Counter[str]) -> None:
        super().__init__(state)
        self.looks = looks

    def count_pending(self, source: str, newest: int) -> int:
        self.looks["delivered"] += 1
        return super().count_pending(source, newest)


def task_service(server: Server, first: int = 1) -> TaskService:
    """Tasks whose messages the test delivers, and whose log it folds. `server.looks` counts how often they look for what they wait for."""
    looks, locks = server.looks, SourceLocks(server.folder / "observing")

    def folded(offset: int) -> bool:
        looks["folded"] += 1
        try:
            with server.pool.reader() as reader:
                return reader.progress.position().get((LOG_SOURCE, 0), 0) >= offset
        except StoreMissingError:
            return False

    def take(source: str) -> AbstractContextManager[bool]:
        looks["turn"] += 1
        return locks.hold(source)

    allowed = SourceContext()
    ids = (f"task-{number}" for number in count(first))
    context = ExtractionContext(
        CountingTaskRepository(StateDatabase(server.folder / "state.db"), looks),
        server.source_repository,
        MetadataCache(server.sources.records, server.source_repository, allowed, server.kinds),
        allowed,
        take,
        lambda: NOW,
        server.log.end,
        folded,
        lambda: GraphSize("g", 3, 2),
        server.kinds,
    )
    return TaskService(server.sources, context, lambda: next(ids), server.targets.configured)


@contextmanager
def running(folder: Path, empty_store: Path, kinds: SourceKinds = KINDS, input_kinds: InputKinds = INPUT_KINDS) -> Iterator[Server]:
    """A server in `folder`, without a store until something is folded."""
    pool = ReaderPool(folder / "graph.db")
    with LogWriter(folder / "log") as log:
        server = Server(folder, log, pool, empty_store, kinds, input_kinds)
        try:
            yield server
        finally:
            server.tasks.close()
            pool.close()


def changed(event: bytes, **members: Any) -> bytes:
    """An event with members replaced; a member that is `...` is left out."""
    value = {**json.loads(event), **members}
    return json.dumps({key: member for key, member in value.items() if member is not ...}).encode()
