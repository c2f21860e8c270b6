"""Twelve rounds of `make torture`: each fault once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.crash.torture import torture

pytestmark = [pytest.mark.spark, pytest.mark.servers, pytest.mark.long]


def test_nothing_is_lost_or_doubled_whatever_breaks(tmp_path: Path, report: Callable[[str], None]) -> None:
    torture(tmp_path, 12, 16, report)
