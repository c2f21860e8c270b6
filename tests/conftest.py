"""Fixtures of the whole suite: one Spark session and one server a run, and the servers of `tests.servers`."""

import gc
import os
import signal
from collections.abc import Generator, Iterator

import psutil
import pytest
from hypothesis import HealthCheck, Phase, settings
from pyspark.sql import SparkSession
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from lineage_bridge.pipeline.session import start_session
from lineage_bridge.pipeline.streams.jars import KAFKA, default_cache, fetch_jars, ivy_for
from tests import distribution
from tests.servers import fixtures
from tests.servers.quick_spark import quickly
from tests.serving import Served, serving

# Pytest finds fixtures by the names of this module.
globals().update(fixtures.FIXTURES)

COLLECTED_AFTER = 10_000
"""After how many new objects the garbage collector looks for garbage. As Python comes, after 700, tests of the API spend up to a fifth of
their processor time on that.
"""

# The suite tries the same examples each time; `--hypothesis-profile explore` tries new ones.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Examples may take as long as they do: on a busy machine, slow is no fault."""
settings.register_profile("suite", UNTIMED, derandomize=True)
settings.register_profile("explore", UNTIMED, derandomize=False, print_blob=True)
settings.register_profile("quick", UNTIMED, phases=[Phase.explicit, Phase.reuse, Phase.generate], print_blob=False)
settings.load_profile("suite")


def pytest_configure() -> None:
    """Lets programs that tests start be interrupted, also in a run that a shell started in the background: there SIGINT is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks tests by what they ask for; puts them in the order in which workers take them, if there are workers."""
    fixtures.mark(items)
    distribution.assign_groups(items)
    if hasattr(config, "workerinput"):
        distribution.longest_first(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Ends servers that no further test asks for."""
    yield
    if nextitem is not None:
        distribution.end_servers(item, nextitem)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """How many workers share a run that names no number."""
    return distribution.worker_count(os.cpu_count() or 1, psutil.virtual_memory().available)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    """Divides the tests among workers by `tests.distribution` where groups are asked for."""
    return distribution.scheduler(config, log) if config.getoption("dist") == "loadgroup" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Lets the garbage collector rest while tests are loaded, and pass over what was loaded then: it lives as long as the run. Later it
    looks less often.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(COLLECTED_AFTER, 10, 10)
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Gives time to those that are the first to ask for a server."""
    fixtures.give_time(session.items)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one session of the run."""
    jars = fetch_jars(KAFKA, default_cache(), ivy_for(os.environ))
    with quickly():
        session = start_session(tmp_path_factory.mktemp("spark"), master="local[2]", memory="1g", jars=jars)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The one running LineageBridge of the run. Tests share its graph: each speaks of names of its own."""
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server
