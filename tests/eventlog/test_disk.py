"""The real disk: that it asks the system to write through."""

import errno
import os
from pathlib import Path

import pytest

from lineage_bridge.eventlog.disk import LocalDisk


def test_a_sync_asks_the_system_and_its_failure_is_an_error() -> None:
    """A pipe cannot be written through, which only the system notices."""
    reading, writing = os.pipe()
    try:
        with pytest.raises(OSError, match=os.strerror(errno.EINVAL)):
            LocalDisk().sync(writing)
    finally:
        os.close(reading)
        os.close(writing)


def test_a_folder_that_is_gone_cannot_be_synced(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LocalDisk().sync_directory(tmp_path / "gone")
