"""publish: 10,000 edges to targets that limit how often they are called, and then the unchanged graph once more."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import httpx
from tests.catalogs.standins.marquez import Marquez
from tests.catalogs.standins.server import Answer, Request, answering

from bench.load import batches, fire
from bench.meter import Result
from bench.progress import report
from bench.server import Running, started
from bench.synthetic import complete

CALLS_PER_S: Final = 50
"""What the targets allow: so many calls in each second, and those of one second at once."""
JOBS, QUICK_JOBS, EDGES_OF_JOB = 2_500, 250, 4
PATIENCE_S = 900.0
_OVER: Final = frozenset({"done", "failed", "cancelled", "interrupted"})


class Limited:
    """A server behind a limit of calls: what exceeds it is refused with 429 and the time until the next call is allowed."""

    def __init__(self, handle: Callable[[Request], Answer]) -> None:
        self._handle, self._left, self._at = handle, float(CALLS_PER_S), time.monotonic()
        self.answered = self.refused = 0

    def handle(self, request: Request) -> Answer:
        """Answer a request, or refuse it."""
        now = time.monotonic()
        self._left, self._at = min(float(CALLS_PER_S), self._left + (now - self._at) * CALLS_PER_S), now
        if self._left < 1:
            self.refused += 1
            return Answer(429, {"message": "too many requests"}, {"Retry-After": "1"})
        self._left -= 1
        self.answered += 1
        return self._handle(request)


def _accepts(_: Request) -> Answer:
    return Answer(201)


KINDS: Final[Mapping[str, Callable[[], Callable[[Request], Answer]]]] = MappingProxyType(
    {"openlineage": lambda: _accepts, "marquez": lambda: Marquez().handle}
)
"""One target that cannot be read, and one that is read before each publication."""


def run(work: Path, *, quick: bool = False) -> Result:
    """Each target with `calls_per_s` as it allows, and without, so that it has to refuse; each is empty at first."""
    count = QUICK_JOBS if quick else JOBS
    out: Result = {"jobs": count, "edges": count * EDGES_OF_JOB, "calls_per_s": CALLS_PER_S}
    with started("serve", work / "data") as server:
        server.wait("/api/v1/ready", 0.1)
        report(f"publish: {count} jobs into the graph")
        _fill(server, count)
        with httpx.Client(base_url=f"{server.url}/api/v1", timeout=75.0) as client:
            for kind in KINDS:
                for how, settings in (("paced", {"calls_per_s": CALLS_PER_S}), ("refused", {})):
                    report(f"publish: {kind}, {how}")
                    out[f"{kind}_{how}"] = _measured(client, f"{kind}-{how}", kind, settings, count)
    return out


def _fill(server: Running, count: int) -> None:
    """Send events of jobs with two inputs and two outputs each, and wait until the graph has them."""
    events = [complete(f"job{job}", job, (f"t{job}", f"t{job + 1}"), (f"t{job + 2}", f"t{job + 3}")) for job in range(count)]
    answers = fire(batches(events, server.port, 100), server.port, 4)
    if failed := {status: number for status, number in answers.statuses.items() if status >= 400}:
        raise RuntimeError(f"the server answered {failed}")
    last: dict[str, str | int] = {"namespace": "bench", "name": f"job{count - 1}", "wait": 60}
    server.until(lambda: httpx.get(f"{server.url}/api/v1/lineage/jobs/detail", params=last, timeout=75).is_success, "the graph", 0.5)


def _measured(client: httpx.Client, name: str, kind: str, settings: Mapping[str, float], count: int) -> Result:
    """To a new target: how long a first publication takes beside the shortest time that the limit allows, and what the second one calls."""
    limited = Limited(KINDS[kind]())
    with answering(limited.handle) as url:
        _ask(client, "POST", "/targets", {"name": name, "kind": kind, "settings": {"url": url, **settings}})
        seconds, published = _published(client, name)
        floor_s = max(0, limited.answered - CALLS_PER_S) / CALLS_PER_S
        first = {"calls": limited.answered, "refused": limited.refused, "objects": sum(published.values())}
        limited.answered = limited.refused = 0
        again_s, changed = _published(client, name)
    if first["objects"] < count or changed:
        raise RuntimeError(f"published {published} of {count} jobs, then {changed}")
    again = {"calls": limited.answered, "refused": limited.refused, "wall_s": round(again_s, 1)}
    return {**first, "wall_s": round(seconds, 1), "floor_s": round(floor_s, 1), "to_floor": round(seconds / floor_s, 2), "unchanged": again}


def _published(client: httpx.Client, name: str) -> tuple[float, dict[str, int]]:
    """Seconds of a publication from its request to its end, and its outcomes. Raises RuntimeError unless all of it is done."""
    began = time.monotonic()
    _ask(client, "POST", f"/targets/{name}/publish", {})
    while (found := _ask(client, "GET", f"/targets/{name}/publication"))["state"] not in _OVER:
        if time.monotonic() - began > PATIENCE_S:
            raise TimeoutError("the publication does not end")
        time.sleep(0.1)
    if found["state"] != "done" or set(found["outcomes"]) - {"done"}:
        raise RuntimeError(f"the publication ended as {found['state']}: {found['outcomes']}, {found.get('error')}")
    return time.monotonic() - began, found["outcomes"]


def _ask(client: httpx.Client, method: str, path: str, body: Mapping[str, object] | None = None) -> Result:
    answer = client.request(method, path, json=body)
    answer.raise_for_status()
    found: Result = answer.json()
    return found
