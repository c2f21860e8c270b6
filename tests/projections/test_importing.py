"""Nodes and edges as events, without a server."""

from typing import Any

import msgspec
import pytest
from tests.events import T0

from lineage_bridge.errors import RequestError
from lineage_bridge.openlineage.verdict import Clean, judge
from lineage_bridge.projections.importing.events import ImportedGraph, translate_graph
from lineage_bridge.projections.importing.facet import IMPORTED, read_import_facet

TOPIC, JOB, TABLE = "confluent:kafka_topic:env-1:lkc-1/orders", "confluent:connector:env-1:lcc-1", "aws:glue_table:eu:db.t"


def translate(*edges: dict[str, Any], **members: Any) -> ImportedGraph:
    nodes = [{"node_id": id_, **members} for id_ in (TOPIC, JOB, TABLE)]
    return translate_graph(msgspec.json.encode({"nodes": nodes, "edges": list(edges)}), T0)


def edge(src: str, dst: str, type_: str, **members: Any) -> dict[str, Any]:
    return {"src_id": src, "dst_id": dst, "edge_type": type_, **members}


def test_every_event_is_accepted_as_it_is() -> None:
    imported = translate(edge(JOB, TOPIC, "consumes"), edge(JOB, TABLE, "produces", confidence=0.5))
    assert (imported.nodes, imported.edges, imported.skipped) == (3, 2, [])
    assert all(isinstance(judge(event, T0), Clean) for event in imported.events)


def test_a_job_that_consumes_reads_whichever_way_the_edge_points() -> None:
    jobs = []
    for ends in ((JOB, TOPIC), (TOPIC, JOB)):
        events = [msgspec.json.decode(event) for event in translate(edge(*ends, "consumes")).events]
        jobs += [event for event in events if "job" in event]
    assert len(jobs) == 2
    assert [len(job["inputs"]) for job in jobs] == [1, 1]
    assert jobs[0] == jobs[1]


def test_what_an_edge_states_can_be_read_back() -> None:
    events = [msgspec.json.decode(event) for event in translate(edge(JOB, TABLE, "materializes", confidence=0.25)).events]
    (job,) = [event["job"] for event in events if "job" in event]
    facet = read_import_facet({IMPORTED: msgspec.json.encode(job["facets"][IMPORTED]).decode()})
    assert facet is not None
    (stated,) = facet.edges
    assert (stated.type, stated.confidence) == ("materializes", 0.25)
    source, target = ([(end["namespace"], end["name"])] for end in (stated.source, stated.target))
    assert facet.edge(source, target) == stated
    assert facet.edge(target, source) is None


def test_a_node_that_was_seen_before_has_an_event_of_its_first_time() -> None:
    times = {"first_seen": "2026-01-01T00:00:00Z", "last_seen": "2026-02-01T00:00:00Z"}
    events = [msgspec.json.decode(event) for event in translate(**times).events]
    assert len(events) == 6
    assert len({event["eventTime"] for event in events}) == 2


def test_schemas_and_edges_between_jobs_are_left_out_with_a_reason() -> None:
    schema = "confluent:schema:env-1:lsrc-1/orders-value"
    nodes = [{"node_id": id_} for id_ in (TOPIC, JOB, schema)]
    edges = [edge(TOPIC, schema, "has_schema"), edge(JOB, JOB, "produces")]
    imported = translate_graph(msgspec.json.encode({"nodes": nodes, "edges": edges}), T0)
    assert (imported.nodes, imported.edges, len(imported.skipped)) == (2, 0, 3)
    assert all(item.reason for item in imported.skipped)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"nodes": 1}', b'{"nodes": [{}]}', b"[" * 5000])
def test_what_is_not_a_graph_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError, match="invalid graph"):
        translate_graph(body, T0)
