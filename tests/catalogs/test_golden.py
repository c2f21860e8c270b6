"""What of one graph each target gets, as files: `REWRITE_GOLDEN=1` writes them anew; read the difference."""

import json
import os
from pathlib import Path

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added
from tests.catalogs.places import LOCAL, Place, make_place
from tests.events import KEY, RUNS, columns, dataset, facet, run_event, schema

from lineage_bridge.catalogs.apply import Publisher
from lineage_bridge.catalogs.desired import desired_state, resolve_objects
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.store.state.targets import PublicationLedger

FOLDER = Path(__file__).parent / "golden"
STREAMING = facet(processingType="STREAMING", integration="FLINK")
EVENTS = [
    run_event(
        "RUNNING",
        run=RUNS[3],
        job="stream",
        namespace="kafka://broker:9092",
        job_facets={"jobType": STREAMING, "documentation": facet(description="a stream"), "sql": facet(query="INSERT INTO t SELECT 1")},
        inputs=[dataset("orders", "kafka://broker:9092", schema=schema("id", "item.price"))],
        outputs=[
            dataset(
                "public.orders",
                "postgres://db:5432",
                schema=schema("id", "price"),
                columnLineage=columns(
                    id=[("kafka://broker:9092", "orders", "id")],
                    price=[("kafka://broker:9092", "orders", "item.price"), ("kafka://broker:9092", "orders", "unknown")],
                ),
            )
        ],
    ),
    run_event(run=RUNS[4], job="odd", inputs=[dataset("t", "{a}, b")], outputs=[dataset("{name}", "s3://bucket")]),
]
"""A stream between systems with columns and facets, and names that few catalogs take."""


@pytest.mark.parametrize("kind", LOCAL)
def test_what_is_published_is_as_the_file_has_it(request: pytest.FixtureRequest, ours: Server, kind: str) -> None:
    check_golden(ours, make_place(kind, request, ours), kind)


def check_golden(ours: Server, place: Place, kind: str) -> None:
    """Compare what a target would get with the file of this name."""
    ours.send(*EVENTS)
    added(ours, place)
    target = ours.targets.target("there")
    try:
        with ours.pool.reader() as reader:
            state = desired_state(reader, target, graph_id(KEY), ours.parts.now_us)
        if target.refers:
            Publisher(target, PublicationLedger(ours.state), graph_id(KEY), lambda: ours.parts.now_us).look_up(state.objects)
            resolve_objects(state, target, state.objects.keys())
    finally:
        target.close()
    found = {
        "objects": [{"key": list(key), "event": made.event()} for key, made in sorted(state.objects.items())],
        "not_expressible": dict(sorted(state.not_expressible.items())),
    }
    path = FOLDER / f"{kind}.json"
    if os.environ.get("REWRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    assert found == json.loads(path.read_text())
