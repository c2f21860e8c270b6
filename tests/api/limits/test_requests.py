"""Limits of callers, as the API keeps them."""

import gzip
from typing import Any

from tests.api.support import LINEAGE, Server
from tests.events import run_event

from lineage_bridge.api.limits.body_memory import BodyMemory
from lineage_bridge.api.limits.rates import BURST_S, IngestRates

EVENT = run_event()


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_who_sends_too_many_requests_is_told_when_to_send_again_and_others_are_not_affected(server: Server) -> None:
    client = server.asking_for_keys(rates=IngestRates(requests_per_s=0.1))
    greedy, modest = server.key("greedy", "ingest", "read"), server.key("modest", "ingest")
    statuses = [client.post(LINEAGE, content=EVENT, headers=greedy).status_code for _ in range(int(0.1 * BURST_S) + 1)]
    assert set(statuses) == {201}
    refused = client.post(LINEAGE, content=EVENT, headers=greedy)
    assert (*code_of(refused), refused.headers["retry-after"]) == (503, "too_many_requests", "10")
    assert "greedy" in refused.text
    assert client.post(f"{LINEAGE}/batch", content=EVENT, headers=greedy).status_code == 503
    assert client.get("/api/v1/sources", headers=greedy).status_code == 200, "questions are not counted"
    assert client.post(LINEAGE, content=EVENT, headers=modest).status_code == 201
    server.parts.now_us += 10_000_000
    assert client.post(LINEAGE, content=EVENT, headers=greedy).status_code == 201


def test_bytes_are_counted_as_they_are_when_unpacked(server: Server) -> None:
    big = run_event(job="x" * 3000)
    packed = gzip.compress(big)
    assert len(packed) < 1000
    for body, headers in ((big, {}), (packed, {"content-encoding": "gzip"})):
        client = server.asking_for_keys(rates=IngestRates(bytes_per_s=300))
        key = server.key(f"key{len(body)}", "ingest")
        assert client.post(LINEAGE, content=body, headers={**key, **headers}).status_code == 201
        assert code_of(client.post(LINEAGE, content=body, headers={**key, **headers})) == (503, "too_many_bytes")


def test_programs_of_this_machine_are_not_counted_where_nobody_is_asked(server: Server) -> None:
    client = server.client_of(rates=IngestRates(0.001, 0.001))
    assert {client.post(LINEAGE, content=EVENT).status_code for _ in range(5)} == {201}
    other = server.client_of("192.0.2.1", rates=IngestRates(0.001, 0.001))
    assert [other.post(LINEAGE, content=EVENT).status_code for _ in range(2)] == [201, 503]


def test_bodies_that_would_take_all_memory_are_refused_and_give_it_back(server: Server) -> None:
    memory = BodyMemory(2 * len(EVENT))
    client = server.asking_for_keys(bodies=memory)
    key = server.key("etl", "ingest")
    for _ in range(3):
        refused = client.post(LINEAGE, content=EVENT + b" ", headers=key)
        assert code_of(refused) == (503, "too_many_bytes_at_once")
        assert "etl" in refused.text
        assert client.post(LINEAGE, content=EVENT, headers=key).status_code == 201


def test_the_body_of_a_question_is_dropped_and_takes_no_memory(server: Server) -> None:
    server.send(EVENT)
    client = server.asking_for_keys(bodies=BodyMemory(100))
    answer = client.request("GET", "/api/v1/lineage/jobs", content=b"x" * 1000, headers=server.key("reader", "read"))
    assert answer.status_code == 200
