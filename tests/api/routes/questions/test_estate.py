"""The estate over HTTP."""

from collections.abc import Iterator
from typing import Any

from tests.api.support import Server
from tests.events import RUNS, columns, dataset, dataset_event, facet, run_event

KAFKA, LAKE = "kafka://broker:9092", "s3://lake"
CLOUD = [f"confluent://env-1/lkc-{number}" for number in (1, 2)]
End = tuple[str, str]


def run(number: int, job: str, inputs: list[End], outputs: list[End]) -> bytes:
    return run_event(
        run=f"00000000-0000-4000-8000-{number:012}",
        job=job,
        inputs=[dataset(name, namespace) for namespace, name in inputs],
        outputs=[dataset(name, namespace) for namespace, name in outputs],
    )


def work() -> Iterator[bytes]:
    yield run(1, "produce", [], [(KAFKA, "orders")])
    yield run(2, "enrich", [(KAFKA, "orders"), (KAFKA, "customers")], [(KAFKA, "enriched")])
    yield run(3, "sink", [(KAFKA, "enriched")], [(LAKE, "enriched")])
    yield run(4, "archive", [(KAFKA, "orders"), (CLOUD[0], "payments")], [(LAKE, "archive"), (LAKE, "index")])
    yield run(5, "dashboard", [(LAKE, "index"), (KAFKA, "orders")], [])
    yield run(6, "copy", [(CLOUD[0], "payments")], [(CLOUD[1], "payments")])


def flows(answer: dict[str, Any]) -> dict[tuple[str, str], tuple[int, int]]:
    """(name of the source, name of the target) to (jobs, flows without a job)."""
    names = {node["id"]: node["environment"] or node["system"] for node in answer["nodes"]}
    return {(names[flow["source"]], names[flow["target"]]): (flow["jobs"], flow["direct"]) for flow in answer["flows"]}


def test_environments_have_their_datasets_and_the_jobs_between_them(server: Server) -> None:
    server.send(*work())
    answer = server.ask("/estate")
    assert answer["scale"] == "environment"
    assert answer["others"] == 0
    assert [(node["system"], node["environment"], node["datasets"], node["readers"], node["writers"]) for node in answer["nodes"]] == [
        ("kafka", KAFKA, 3, 1, 1),
        ("s3", LAKE, 3, 1, 0),
        ("confluent", "env-1", 2, 0, 0),
    ]
    assert answer["nodes"][2]["largest"] == [{"namespace": namespace, "datasets": 1} for namespace in CLOUD]
    assert flows(answer) == {(KAFKA, KAFKA): (1, 0), (KAFKA, LAKE): (2, 0), ("env-1", LAKE): (1, 0), ("env-1", "env-1"): (1, 0)}


def test_systems_are_one_node_each(server: Server) -> None:
    server.send(*work(), run(7, "elsewhere", [(LAKE, "index")], [("s3://backup", "index")]))
    answer = server.ask("/estate", scale="system")
    assert [(node["system"], node["environment"], node["namespaces"]) for node in answer["nodes"]] == [
        ("s3", "", 2),
        ("kafka", "", 1),
        ("confluent", "", 2),
    ]
    assert flows(answer) == {
        ("kafka", "kafka"): (1, 0),
        ("kafka", "s3"): (2, 0),
        ("confluent", "s3"): (1, 0),
        ("confluent", "confluent"): (1, 0),
        ("s3", "s3"): (1, 0),
    }


def test_what_has_no_room_is_one_node_and_its_jobs_count(server: Server) -> None:
    server.send(*work())
    answer = server.ask("/estate", limit=1)
    assert answer["others"] == 2
    assert [(node["environment"], node["datasets"]) for node in answer["nodes"]] == [("(others)", 5), (KAFKA, 3)]
    assert flows(answer) == {(KAFKA, KAFKA): (1, 0), (KAFKA, "(others)"): (2, 0), ("(others)", "(others)"): (2, 0)}


def test_the_largest_flows_come_first_and_those_left_out_are_counted(server: Server) -> None:
    server.send(*work())
    whole = server.ask("/estate")
    assert [flow["jobs"] for flow in whole["flows"]] == [2, 1, 1, 1]
    assert whole["flows_left_out"] == 0
    part = server.ask("/estate", flows=3)
    assert part["flows"] == whole["flows"][:3]
    assert part["flows_left_out"] == 1
    assert part["nodes"] == whole["nodes"]


def test_an_id_is_the_same_in_every_answer(server: Server) -> None:
    server.send(*work())
    first = {node["environment"]: node["id"] for node in server.ask("/estate")["nodes"]}
    server.send(run(8, "more", [("a://b", "c")], [(KAFKA, "d")]))
    second = {node["environment"]: node["id"] for node in server.ask("/estate", limit=50)["nodes"]}
    assert first == {name: second[name] for name in first}
    assert len(set(second.values())) == len(second) == 4


def test_what_a_dataset_declares_for_itself_is_no_job(server: Server) -> None:
    lineage = facet(inputs=[{"type": "DATASET", "namespace": KAFKA, "name": "orders"}])
    server.send(dataset_event(dataset("orders", LAKE, lineage=lineage)))
    assert flows(server.ask("/estate")) == {(KAFKA, LAKE): (0, 1)}


def test_an_input_that_only_column_lineage_names_counts(server: Server) -> None:
    """A job that names no input in its events, but from where its output comes."""
    server.send(run_event(job="sink", inputs=[], outputs=[dataset("orders", LAKE, columnLineage=columns(id=[(KAFKA, "orders", "id")]))]))
    answer = server.ask("/estate")
    assert flows(answer) == {(KAFKA, LAKE): (1, 0)}
    assert {node["writers"] for node in answer["nodes"]} == {0}


def test_a_limited_key_gets_its_own_jobs_alone(server: Server) -> None:
    """Not what it sees of the jobs of others at its own datasets: that is one side of them only."""
    copied = dataset("copy", LAKE, columnLineage=columns(id=[(KAFKA, "orders", "id")]))
    foreign = run_event(job="theirs", namespace="their-jobs", inputs=[], outputs=[copied])
    own = dataset("sums", KAFKA, columnLineage=columns(id=[(KAFKA, "orders", "id")]))
    server.send(foreign, run_event(run=RUNS[1], job="ours", namespace="own-jobs", inputs=[], outputs=[own]))
    limited = server.asking_for_keys()
    answer = limited.get("/api/v1/estate", headers=server.key("ours", "read", namespaces=(KAFKA, "own-jobs"))).json()
    assert flows(answer) == {(KAFKA, KAFKA): (1, 0)}
    assert [(node["environment"], node["readers"], node["writers"]) for node in answer["nodes"]] == [(KAFKA, 0, 0)]
