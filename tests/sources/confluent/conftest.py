from collections.abc import Iterator

import pytest
import tenacity
from tests.confluent.cloud import Cloud, running

from lineage_bridge.sources.common import rate_limiter


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    """The stand-in with the whole organization, without rate limits. Tests heal the failures that they set."""
    with running() as cloud, pytest.MonkeyPatch.context() as patch:
        cloud.limits.scale = 1000
        patch.setattr(rate_limiter, "LONGEST_WAIT_S", 0.01)
        patch.setattr(tenacity.nap, "sleep", lambda _: None)
        for name, secret in cloud.environment().items():
            patch.setenv(name, secret)
        yield cloud
