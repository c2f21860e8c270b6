"""Fixtures of the whole suite: one Spark session a run."""

from collections.abc import Iterator

import pytest
from hypothesis import Phase, settings
from pyspark.sql import SparkSession

from lineage_bridge.pipeline.session import start_session

settings.register_profile("quick", phases=[Phase.explicit, Phase.reuse, Phase.generate], print_blob=False)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one session of the run."""
    session = start_session(tmp_path_factory.mktemp("spark"), master="local[2]", memory="1g")
    yield session
    session.stop()
