from collections.abc import Iterator

import pytest
import tenacity
from tests.confluent.cloud import Cloud, running

from lineage_bridge.sources.common import rate_limiter


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    """The stand-in with the whole organization, at which nobody waits. Tests heal what they break."""
    with running() as cloud, pytest.MonkeyPatch.context() as patch:
        cloud.limits.scale = 1000
        patch.setattr(rate_limiter, "LONGEST_WAIT_S", 0.01)
        patch.setattr(tenacity.nap, "sleep", lambda _: None)
        for name, secret in cloud.environment().items():
            patch.setenv(name, secret)
        yield cloud
