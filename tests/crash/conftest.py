from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.crash.running.support import nothing_left


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Speak past the capture: where a process was killed is to be read of a run that passes, too."""

    def to_terminal(line: str) -> None:
        with capsys.disabled():
            print(f"\n{line}", end="", flush=True)  # noqa: T201 - the point of it

    return to_terminal


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A data folder; no process that runs over it outlives the test."""
    with nothing_left(tmp_path):
        yield tmp_path
