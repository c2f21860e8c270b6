"""Measuring: processor seconds and memory of process trees, work in a separate process, and the current speed of the machine."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from multiprocessing.connection import Connection
from statistics import mean
from threading import Event, Thread
from typing import Any

import psutil
from typing_extensions import Self

SAMPLE_S = 0.25
_LOOPS = 2_000
Result = dict[str, Any]


def calibrate(seconds: float = 0.5) -> float:
    """Rounds of a fixed piece of Python per processor second of this machine, measured for about `seconds`."""
    began, rounds = time.process_time(), 0
    while (spent := time.process_time() - began) < seconds:
        table: dict[bytes, int] = {}
        for number in range(_LOOPS):
            table[blake2b(b"%d" % number, digest_size=16).digest()] = number
        rounds += 1
    return round(rounds / spent, 1)


def tree(process: psutil.Process) -> list[psutil.Process]:
    """A process and its running descendants."""
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def kinds(process: psutil.Process) -> Iterator[tuple[str, psutil.Process]]:
    """The processes of a tree by what they are: `java`, `worker` (below a Java process), `python` (any other)."""
    below_java: set[int] = set()
    for member in tree(process):
        with suppress(psutil.NoSuchProcess):
            name, parent = member.name(), member.ppid()
            kind = "java" if name == "java" else "worker" if parent in below_java else "python"
            if kind != "python":
                below_java.add(member.pid)
            yield kind, member


def cpu_by_kind(process: psutil.Process) -> dict[str, float]:
    """User and system seconds of a process, of what it started, and of what those have waited for after it ended."""
    spent: dict[str, float] = {}
    for kind, member in kinds(process):
        with suppress(psutil.NoSuchProcess):
            spent[kind] = spent.get(kind, 0.0) + sum(member.cpu_times()[:4])
    return spent


def cpu_seconds(process: psutil.Process) -> float:
    """The same, in total."""
    return sum(cpu_by_kind(process).values())


def resident(process: psutil.Process) -> dict[str, int]:
    """Resident bytes by kind, and of `all`. Workers share pages with each other, which count for each."""
    sizes = {"all": 0}
    for kind, member in kinds(process):
        with suppress(psutil.NoSuchProcess):
            size = member.memory_info().rss
            sizes[kind] = sizes.get(kind, 0) + size
            sizes["all"] += size
    return sizes


@dataclass
class Clock:
    """Processor and wall seconds of this process and all below it since `start`."""

    process: psutil.Process = field(default_factory=psutil.Process)
    cpu: float = 0.0
    wall: float = 0.0
    rates: list[float] = field(default_factory=list)

    def start(self) -> "Clock":
        """Start measuring."""
        self.cpu, self.wall = cpu_seconds(self.process), time.monotonic()
        return self

    def read(self) -> tuple[float, float]:
        """(processor seconds, wall seconds) since `start`."""
        return cpu_seconds(self.process) - self.cpu, time.monotonic() - self.wall

    def calibrate(self, seconds: float = 0.1) -> float:
        """Measure the machine between two pieces of the work, without counting it as work."""
        cpu, wall = time.process_time(), time.monotonic()
        self.rates.append(calibrate(seconds))
        self.cpu += time.process_time() - cpu
        self.wall += time.monotonic() - wall
        return self.rates[-1]

    @property
    def calibration(self) -> float:
        """The mean of the rates measured so far."""
        return mean(self.rates)


def per_event(events: int, cpu: float, wall: float, calibration: float) -> Result:
    """A cost in the forms that are printed: `rounds_per_event` is the processor time in rounds of the calibration loop."""
    return {
        "events": events,
        "cpu_s": round(cpu, 3),
        "wall_s": round(wall, 3),
        "cpu_us_per_event": round(cpu / events * 1e6, 1),
        "events_per_cpu_s": round(events / cpu) if cpu else None,
        "events_per_s": round(events / wall) if wall else None,
        "calibration": round(calibration, 1),
        "rounds_per_event": round(cpu / events * calibration, 4),
    }


def alone(work: Callable[..., Result], *arguments: object) -> Result:
    """Run `work` in a separate process and return its result, with the peak memory of its process tree (`peak_rss_mb`).

    Raises RuntimeError when it fails.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=_deliver, args=(theirs, work, arguments))
    child.start()
    theirs.close()
    with _Watch(psutil.Process(child.pid)) as watch:
        try:
            result: Result = ours.recv()
        except EOFError:
            result = {}
        child.join()
    if child.exitcode or "failed" in result:
        raise RuntimeError(f"{work.__name__} failed: {result.get('failed', child.exitcode)}")
    return {**result, "peak_rss_mb": {kind: round(size / 2**20) for kind, size in sorted(watch.peak.items())}}


def _deliver(pipe: "Connection[Result, Result]", work: Callable[..., Result], arguments: tuple[object, ...]) -> None:
    try:
        pipe.send(work(*arguments))
    except BaseException as error:
        pipe.send({"failed": f"{type(error).__name__}: {error}"})
        raise


class _Watch(Thread):
    """Samples the memory of a process tree while it lasts."""

    def __init__(self, process: psutil.Process) -> None:
        super().__init__(daemon=True)
        self.process, self.ended, self.peak = process, Event(), dict[str, int]()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.join()

    def run(self) -> None:
        """Run until stopped."""
        while not self.ended.wait(SAMPLE_S):
            for kind, size in resident(self.process).items():
                self.peak[kind] = max(self.peak.get(kind, 0), size)


def quantiles(values: list[float]) -> dict[str, float]:
    """p50, p95, p99 and the greatest, in milliseconds, of seconds."""
    ordered = sorted(values)
    at = {f"p{share}": ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for share in (50, 95, 99)}
    return {f"{name}_ms": round(1000 * value, 2) for name, value in {**at, "max": ordered[-1]}.items()}
