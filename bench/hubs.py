"""hubs: whether a batch costs more because what it touches is already very large."""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median

from bench.meter import Result, alone, calibrate
from bench.progress import report
from bench.synthetic import Folder, complete

READERS = 50_000
INPUTS = 10_000
RUNS = 100_000
BATCH = 1_000
_FIRST_FREE = 10_000_000


def run(work: Path, *, quick: bool = False) -> Result:
    """For each hub: a batch of 1,000 events that touch it, the same batch elsewhere, their ratio, and the hub's own next event."""
    share = 50 if quick else 1
    out = {}
    for name, work_on in (("dataset_with_readers", _readers), ("job_with_inputs", _inputs), ("job_with_runs", _runs)):
        report(f"hubs: {name}")
        out[name] = alone(work_on, work / f"{name}.db", share)
    return out


def _readers(path: Path, share: int) -> Result:
    folder, count = Folder(path), READERS // share
    built = _cost(folder.fold, _ordinary(0, count, "reader", "hub"))
    return {
        "readers": count,
        "build_cpu_s": round(built, 2),
        "calibration": calibrate(),
        **_against(folder, "hub", "plain"),
        "one_event_of_the_hub_cpu_ms": _one_event(
            folder, lambda turn: complete("writer of the hub", _FIRST_FREE * 2 + turn, [f"in{turn}"], ["hub"])
        ),
    }


def _inputs(path: Path, share: int) -> Result:
    folder, count = Folder(path), INPUTS // share
    names = [f"source{number}" for number in range(count)]
    built = _cost(folder.fold, [complete("wide", 1, names, ["wide out"])])
    _cost(folder.fold, _ordinary(0, 20_000 // share, "other", "elsewhere"))
    return {
        "inputs": count,
        "build_cpu_s": round(built, 2),
        "calibration": calibrate(),
        **_against(folder, "source7", "plain"),
        "one_event_of_the_hub_cpu_ms": _one_event(folder, lambda turn: complete("wide", _FIRST_FREE * 2 + turn, names, ["wide out"])),
        "one_event_of_the_hub_with_one_input_more_cpu_ms": _one_event(
            folder, lambda turn: complete("wide", _FIRST_FREE * 3 + turn, [*names, f"new{turn}"], ["wide out"])
        ),
    }


def _runs(path: Path, share: int) -> Result:
    folder, count = Folder(path), RUNS // share
    built = _cost(folder.fold, (complete("busy", number, ["busy in"], ["busy out"]) for number in range(count)))
    hub = _batches(folder, lambda turn, number: complete("busy", _at(turn, number, 0), ["busy in"], ["busy out"]))
    folder.fold(_ordinary(_FIRST_FREE * 4, _FIRST_FREE * 4 + 1, "calm", "calm in"))
    calm = _batches(folder, lambda turn, number: complete("calm", _at(turn, number, 5), ["calm in"], ["calm out"]))
    return {
        "runs": count,
        "build_cpu_s": round(built, 2),
        "calibration": calibrate(),
        **_ratio(hub, calm),
        "one_event_of_the_hub_cpu_ms": _one_event(folder, lambda turn: complete("busy", _FIRST_FREE * 2 + turn, ["busy in"], ["busy out"])),
        "one_event_of_the_hub_with_another_input_cpu_ms": _one_event(
            folder, lambda turn: complete("busy", _FIRST_FREE * 3 + turn, ["busy in", f"new{turn}"], ["busy out"])
        ),
        "a_run_that_grows_cpu_ms": _one_event(folder, lambda turn: complete("busy", turn, ["busy in", f"late{turn}"], ["busy out"])),
    }


def _ordinary(first: int, end: int, job: str, source: str) -> Iterator[bytes]:
    """Jobs that read `source` and something of their own, and write something of their own."""
    for number in range(first, end):
        yield complete(f"{job}{number}", number, [source, f"{job}{number} in"], [f"{job}{number} out"])


def _against(folder: Folder, hub: str, other: str) -> Result:
    """Batches of new jobs that read the hub, against batches of new jobs that read a dataset of their batch alone."""
    touching = _batches(folder, lambda turn, number: next(_ordinary(_at(turn, number, 0), _at(turn, number, 0) + 1, "touching", hub)))
    elsewhere = _batches(
        folder, lambda turn, number: next(_ordinary(_at(turn, number, 5), _at(turn, number, 5) + 1, "apart", f"{other}{turn}"))
    )
    return _ratio(touching, elsewhere)


def _at(turn: int, number: int, lane: int) -> int:
    return _FIRST_FREE + (lane * 10 + turn) * BATCH + number


def _ratio(touching: float, elsewhere: float) -> Result:
    return {
        "batch_touching_cpu_ms": round(1000 * touching, 1),
        "batch_elsewhere_cpu_ms": round(1000 * elsewhere, 1),
        "ratio": round(touching / elsewhere, 3),
    }


def _batches(folder: Folder, make: Callable[[int, int], bytes], turns: int = 5) -> float:
    """The median processor seconds of a batch of 1,000 events and of deriving all it left."""
    return median(_cost(folder.fold, [make(turn, number) for number in range(BATCH)]) for turn in range(turns))


def _one_event(folder: Folder, make: Callable[[int], bytes], turns: int = 5) -> float:
    """The median processor milliseconds of a batch of one event."""
    return round(1000 * median(_cost(folder.fold, [make(turn)]) for turn in range(turns)), 2)


def _cost(fold: Callable[[Iterable[bytes]], None], bodies: Iterable[bytes]) -> float:
    began = time.process_time()
    fold(bodies)
    return time.process_time() - began
