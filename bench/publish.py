"""publish: 10,000 edges to targets that limit how often they are called, and then the unchanged graph once more."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import httpx
from tests.catalogs import google_login
from tests.catalogs.costs.quotas import Limited, QuotaThere, WindowThere
from tests.catalogs.standins import datazone, google
from tests.catalogs.standins.dataplex import Dataplex
from tests.catalogs.standins.marquez import Marquez
from tests.catalogs.standins.server import Answer, Request, answering

from bench.load import batches, fire
from bench.meter import Result
from bench.progress import report
from bench.server import Running, started
from bench.synthetic import complete

CALLS_PER_S: Final = 50
"""What targets without a documented limit allow: so many calls in each second, and those of one second at once."""
JOBS, QUICK_JOBS, EDGES_OF_JOB = 2_500, 250, 4
PATIENCE_S = 900.0
_OVER: Final = frozenset({"done", "failed", "cancelled", "interrupted"})
_WRITES: Final = frozenset({"POST", "PATCH", "DELETE"})
_KEYS: Final = {"access_key_id": "AKIATEST", "secret_access_key": "${env:PATH}"}


@dataclass(frozen=True)
class Limits:
    """A target: its kind and settings, and a new stand-in of it behind its limits. `address` is the setting with its address."""

    kind: str
    made: Callable[[], Limited]
    settings: Mapping[str, Any] = field(default_factory=dict)
    address: str = "url"


def _accepts(_: Request) -> Answer:
    return Answer(201)


def _datazone() -> Limited:
    """20 PostLineageEvent a second of an account and region: <https://docs.aws.amazon.com/datazone/latest/userguide/datazone-limits.html>."""
    return Limited(datazone.DataZone().handle, [QuotaThere(20, methods=frozenset({"POST"}))], {"x-amzn-errortype": "ThrottlingException"})


def _dataplex() -> Limited:
    """6,000 reads and 1,500 writes of entries a minute: <https://cloud.google.com/dataplex/docs/quotas>.

    Google does not say there how a minute is counted. For one of its services it documents minutes of the clock, at whose beginning the
    whole quota is there again (<https://cloud.google.com/compute/api-quota>), for another the last minute at any time
    (<https://developers.google.com/workspace/calendar/api/guides/quota>). So the stand-in takes the stricter one, and no call is refused
    by the other either.
    """
    return Limited(Dataplex().handle, [WindowThere(6000, 60, frozenset({"GET"})), WindowThere(1500, 60, _WRITES)], {})


_PACED: Final = {"calls_per_s": CALLS_PER_S}
_LOCATION: Final = {"project": google.PROJECT, "location": google.LOCATION, "token": "${env:BENCH_GOOGLE_TOKEN}", "create_types": True}
TARGETS: Final[Mapping[str, Limits]] = MappingProxyType(
    {
        "openlineage_paced": Limits("openlineage", lambda: Limited(_accepts, [QuotaThere(CALLS_PER_S)]), _PACED),
        "openlineage_refused": Limits("openlineage", lambda: Limited(_accepts, [QuotaThere(CALLS_PER_S)])),
        "marquez_paced": Limits("marquez", lambda: Limited(Marquez().handle, [QuotaThere(CALLS_PER_S)]), _PACED),
        "marquez_refused": Limits("marquez", lambda: Limited(Marquez().handle, [QuotaThere(CALLS_PER_S)])),
        "datazone": Limits("datazone", _datazone, {"region": datazone.REGION, "domain": datazone.DOMAIN, **_KEYS}, "endpoint_url"),
        "dataplex": Limits("dataplex", _dataplex, {**_LOCATION, "topics": ["bench://*"]}),
    }
)
"""One target that cannot be read, and one that is read before each publication, both with `calls_per_s` as they allow and without, so that
they have to refuse; and those whose vendors document their limits. Each is empty at first.
"""


def run(work: Path, *, quick: bool = False) -> Result:
    """Publish the same graph to each target."""
    count = QUICK_JOBS if quick else JOBS
    out: Result = {"jobs": count, "edges": count * EDGES_OF_JOB, "calls_per_s": CALLS_PER_S}
    with started("serve", work / "data", BENCH_GOOGLE_TOKEN=google_login.TOKEN) as server:
        server.wait("/api/v1/ready", 0.1)
        report(f"publish: {count} jobs into the graph")
        _fill(server, count)
        with httpx.Client(base_url=f"{server.url}/api/v1", timeout=75.0) as client:
            for name, limits in TARGETS.items():
                report(f"publish: {name}")
                out[name] = _measured(client, name.replace("_", "-"), limits, count)
    return out


def _fill(server: Running, count: int) -> None:
    """Send events of jobs with two inputs and two outputs each, and wait until the graph has them."""
    events = [complete(f"job{job}", job, (f"t{job}", f"t{job + 1}"), (f"t{job + 2}", f"t{job + 3}")) for job in range(count)]
    answers = fire(batches(events, server.port, 100), server.port, 4)
    if failed := {status: number for status, number in answers.statuses.items() if status >= 400}:
        raise RuntimeError(f"the server answered {failed}")
    last: dict[str, str | int] = {"namespace": "bench", "name": f"job{count - 1}", "wait": 60}
    server.until(lambda: httpx.get(f"{server.url}/api/v1/lineage/jobs/detail", params=last, timeout=75).is_success, "the graph", 0.5)


def _measured(client: httpx.Client, name: str, limits: Limits, count: int) -> Result:
    """To a new target: how long a first publication takes beside the shortest time that the limits allow, and what the second one calls."""
    limited = limits.made()
    with answering(limited.handle) as url:
        settings = {**limits.settings, limits.address: url}
        _ask(client, "POST", "/targets", {"name": name, "kind": limits.kind, "settings": settings})
        seconds, published = _published(client, name)
        first = {"calls": limited.answered, "refused": limited.refused, "objects": sum(published.values())}
        floor_s = limited.floor_s
        limited.forget()
        again_s, changed = _published(client, name)
    if first["objects"] < count or changed:
        raise RuntimeError(f"published {published} of {count} jobs, then {changed}")
    again = {"calls": limited.answered, "refused": limited.refused, "wall_s": round(again_s, 1)}
    to_floor = round(seconds / floor_s, 2) if floor_s else None
    return {**first, "wall_s": round(seconds, 1), "floor_s": round(floor_s, 1), "to_floor": to_floor, "unchanged": again}


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
