from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.api.support import Server, running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path) as started:
        yield started
