"""Fixtures of the whole suite: one Spark session and one server a run, and the servers of `tests.servers`."""

from collections.abc import Iterator

import pytest
from hypothesis import Phase, settings
from pyspark.sql import SparkSession

from lineage_bridge.pipeline.session import start_session
from tests.servers import fixtures
from tests.serving import Served, serving

# Pytest finds fixtures by the names of this module.
globals().update(fixtures.FIXTURES)

# The suite tries the same examples each time; `--hypothesis-profile explore` tries new ones.
settings.register_profile("suite", derandomize=True)
settings.register_profile("explore", derandomize=False, print_blob=True)
settings.register_profile("quick", phases=[Phase.explicit, Phase.reuse, Phase.generate], print_blob=False)
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests by what they ask for."""
    fixtures.mark(items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Gives time to those that are the first to ask for a server."""
    fixtures.give_time(session.items)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one session of the run."""
    session = start_session(tmp_path_factory.mktemp("spark"), master="local[2]", memory="1g")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The one running LineageBridge of the run. Tests share its graph: each speaks of names of its own."""
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server
