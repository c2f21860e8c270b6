"""`kill -9` of API and pipeline, over and over, while producers go on: what was acknowledged is in the store once."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.crash.support import (
    SOON_S,
    SPARK_S,
    Asking,
    Process,
    all_told,
    audit,
    is_running,
    nothing_left,
    processes_of,
    producing,
    settings_in,
    until,
)

from lineage_bridge.config import Settings

pytestmark = pytest.mark.spark

ROUNDS = (
    ("api", "part"),
    ("pipeline", "commit"),
    ("api", "written"),
    ("api", "synced"),
    ("pipeline", "commit"),
    ("api", "shown"),
    ("api", "create"),
    ("pipeline", "committed"),
    ("api", "part"),
    ("api", "any"),
    ("pipeline", "commit"),
    ("api", "written"),
    ("api", "create"),
    ("pipeline", "any"),
    ("api", "synced"),
    ("api", "any"),
    ("pipeline", "commit"),
    ("api", "shown"),
    ("api", "part"),
    ("pipeline", "commit"),
)
"""Who is killed and where. The API is killed while the pipeline starts again, which takes longest."""
IN_AN_APPEND = frozenset({"part", "written", "synced", "shown", "create"})


class Rounds:
    """The two processes over one data folder, and a hand that kills them."""

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        self.settings, self.say = settings, say
        self.running = {part: Process(part, settings) for part in ("api", "pipeline")}
        self.asking = Asking(settings)
        self.chance = random.Random(20)

    def kill(self, part: str, point: str) -> None:
        """Kill one of the two at a point, and start it again."""
        victim = self.running[part]
        where = self._at_any_moment(victim) if point == "any" else self._standing_at(victim, point)
        victim.kill()
        self.say(f"killed {part} (pid {victim.pid}) {where}")
        self.running[part] = Process(part, self.settings)

    def _standing_at(self, victim: Process, point: str) -> str:
        self.wait_for(victim, batches=self.chance.randrange(4))
        victim.tell(point)
        where = victim.reached(point)
        return f"in {where}" if victim.part == "api" else f"between {where}"

    def _at_any_moment(self, victim: Process) -> str:
        if victim.part == "api":
            self.wait_for(victim)
        began = time.monotonic()
        time.sleep(self.chance.random())
        return f"at a random moment, after {time.monotonic() - began:.3f} s"

    def wait_for(self, process: Process, batches: int = 0) -> None:
        """Until it works; until a pipeline has applied so many batches."""
        if process.part == "api":
            until(self.asking.answers, SOON_S, "the API")
        else:
            until(lambda: is_running(self.settings, process.pid, batches) or not process.alive, SPARK_S, "the pipeline")
        assert process.alive, process.said.read_text()

    def settle(self) -> None:
        """Until the store has all of the log."""
        self.wait_for(self.running["pipeline"])
        until(self.asking.caught_up, SPARK_S, "the store")
        self.asking.close()

    def stop(self) -> None:
        for process in self.running.values():
            process.stop()


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Speak past the capture: where a process was killed is to be read of a run that passes, too."""

    def to_terminal(line: str) -> None:
        with capsys.disabled():
            print(f"\n{line}", end="", flush=True)  # noqa: T201 - the point of it

    return to_terminal


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with nothing_left(tmp_path):
        yield tmp_path


def test_kill_9_in_20_rounds(folder: Path, say: Callable[[str], None]):
    settings = settings_in(folder)
    reached: Counter[tuple[str, str]] = Counter()
    began = time.monotonic()
    with ExitStack() as stack:
        rounds = Rounds(settings, lambda line: say(f"round {reached.total() + 1}: {line}"))
        producers = stack.enter_context(producing(settings, threads=3, pause_s=0.3))
        for part, point in ROUNDS:
            rounds.kill(part, point)
            reached[part, point] += 1
        told = all_told(producers)
        rounds.settle()
        rounds.stop()
    until(lambda: not processes_of(folder), SOON_S, "the end of all processes")
    frames = audit(settings, told)
    say(f"{len(told.events)} events acknowledged, {told.unanswered} posts sent again, {len(frames)} frames in the log")
    say(f"20 rounds in {time.monotonic() - began:.0f} s\n")
    assert reached.total() == 20
    assert reached["pipeline", "commit"] >= 5
    assert sum(reached["api", point] for point in IN_AN_APPEND) >= 5
    twice = [event for event, times in Counter(frame.event_id for frame in frames.values()).items() if times > 1]
    assert twice, "no event was sent again after it had become durable"
