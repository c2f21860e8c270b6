"""What the benchmark of the page draws: events of lineages, and a graph to lay out."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.events import dataset, facet, run_event

from bench.meter import Result
from lineage_bridge.openlineage.times import format_time

NAMESPACE = "kafka://broker:9092"
COLUMNS = 10
FAN_OUT = 3


def events(jobs: int, generation: int, time_us: int) -> Iterator[bytes]:
    """Jobs that each read two datasets and write one of their own, with rows that differ from generation to generation."""
    random = Random(jobs)
    fields = [{"name": f"column_{number}", "type": "STRING"} for number in range(COLUMNS)]

    def described(number: int) -> dict[str, Any]:
        return dataset(f"s{jobs}.t{number}", NAMESPACE, schema=facet(fields=fields))

    for number in range(1, jobs):
        first = (number - 1) // FAN_OUT
        second = random.randrange(max(1, first + 1))
        rows = facet(rowCount=1000 * (generation + 1) + number)
        written = described(number)
        written["outputFacets"] = {"outputStatistics": rows}
        yield run_event(
            run=f"00000000-0000-4000-8000-{jobs:04}{generation:03}{number:05}",
            job=f"job{jobs}.{number}",
            time_us=time_us - 60_000_000 + generation * 1_000_000,
            inputs=[described(first), described(second)],
            outputs=[written],
            job_facets={"sql": facet(query=f"INSERT INTO t{number} SELECT 1")},
        )


def changed_event(jobs: int, time_us: int) -> bytes:
    """A run of the last job of `events` with another statement, after which what it writes has one more column."""
    *_, event = events(jobs, 1, time_us)
    changed = json.loads(event)
    changed["eventTime"] = format_time(time_us)
    changed["job"]["facets"]["sql"] = facet(query="INSERT INTO t SELECT * FROM s")
    changed["outputs"][0]["facets"]["schema"]["fields"].append({"name": "added", "type": "STRING"})
    return json.dumps(changed).encode()


def layout_request(boxes: int, links: int) -> Result:
    """The layout of a graph in ranks, the same each time: most links lead to one of the next twelve boxes."""
    random = Random(boxes)
    ends = [
        (source, source + 1 + random.randrange(min(12, boxes - source - 1)))
        for source in (random.randrange(boxes - 1) for _ in range(links))
    ]
    return {
        "boxes": [{"id": f"n{number}", "width": 220, "height": 67 + number % 3 * 19} for number in range(boxes)],
        "links": [{"source": f"n{source}", "target": f"n{target}"} for source, target in ends],
        "before": {},
    }
