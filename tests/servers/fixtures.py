"""The servers as fixtures: one of each per run, started by the first test that requests it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import pytest

from tests.distribution import shared_by
from tests.servers import broker, connect, flink, kinesis, postgres, registry, sink, stores
from tests.servers.web import faulty, openid

# What has to be fetched once may take longer than any test may.
FIRST_TIME_S = 1800


@pytest.fixture(scope="session", name="event_sink")
def _event_sink() -> Iterator[sink.EventSink]:
    with sink.started() as started:
        yield started


@pytest.fixture(scope="session", name="kafka")
def _kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[broker.Kafka]:
    with broker.started(tmp_path_factory.mktemp("kafka")) as started:
        yield started


@pytest.fixture(scope="session", name="connect")
def _connect(tmp_path_factory: pytest.TempPathFactory, kafka: broker.Kafka) -> Iterator[connect.Connect]:
    with connect.started(tmp_path_factory.mktemp("connect"), kafka) as started:
        yield started


@pytest.fixture(scope="session", name="postgres")
def _postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[postgres.Postgres]:
    with postgres.started(tmp_path_factory.mktemp("postgres")) as started:
        yield started


@pytest.fixture(scope="session", name="registry")
def _registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[registry.Registry]:
    with registry.started(tmp_path_factory.mktemp("registry")) as started:
        yield started


@pytest.fixture(scope="session", name="flink")
def _flink(tmp_path_factory: pytest.TempPathFactory, event_sink: sink.EventSink) -> Iterator[flink.FlinkCluster]:
    with flink.started(tmp_path_factory.mktemp("flink"), event_sink) as started:
        yield started


@pytest.fixture(scope="session", name="openid")
def _openid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[openid.OpenIdProvider]:
    with openid.started(tmp_path_factory.mktemp("openid")) as started:
        yield started


@pytest.fixture(scope="session", name="s3_store")
def _s3_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[stores.ObjectStore]:
    with stores.s3(tmp_path_factory.mktemp("s3")) as started:
        yield started


@pytest.fixture(scope="session", name="gcs_store")
def _gcs_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[stores.ObjectStore]:
    with stores.gcs(tmp_path_factory.mktemp("gcs")) as started:
        yield started


@pytest.fixture(scope="session", name="azure_store")
def _azure_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[stores.ObjectStore]:
    with stores.azure(tmp_path_factory.mktemp("azure")) as started:
        yield started


@pytest.fixture(scope="session", name="moto")
def _moto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kinesis.Kinesis]:
    with kinesis.moto_started(tmp_path_factory.mktemp("moto")) as started:
        yield started


@pytest.fixture(scope="session", name="kinesis_local")
def _kinesis_local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kinesis.Kinesis]:
    with kinesis.local_started(tmp_path_factory.mktemp("kinesis-local")) as started:
        yield started


@pytest.fixture(name="faulty")
def _faulty() -> Iterator[Callable[[str], faulty.Faulty]]:
    with ExitStack() as proxies:
        yield lambda target: proxies.enter_context(faulty.before(target))


SERVERS = {"kafka": _kafka, "connect": _connect, "postgres": _postgres, "registry": _registry, "flink": _flink, "openid": _openid}
SERVERS |= {"s3_store": _s3_store, "gcs_store": _gcs_store, "azure_store": _azure_store}
SERVERS |= {"moto": _moto, "kinesis_local": _kinesis_local}
FIXTURES = {**SERVERS, "event_sink": _event_sink, "faulty": _faulty}


def mark(items: Sequence[pytest.Item]) -> None:
    """Marks the tests that ask for a server."""
    for item in items:
        if _requested_by(item):
            item.add_marker("servers")


def give_time(items: Sequence[pytest.Item]) -> None:
    """Gives the first test that asks for a server the time that fetching it takes."""
    seen: set[str] = set()
    for item in items:
        if not _requested_by(item) <= seen:
            item.add_marker(pytest.mark.timeout(FIRST_TIME_S))
            seen |= _requested_by(item)


def _requested_by(item: pytest.Item) -> set[str]:
    return SERVERS.keys() & shared_by(item)
