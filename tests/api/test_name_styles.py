"""Names in answers: as producers wrote them, with the name they go by in the spelling that is asked for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.routes.questions.test_aliases import CONFLUENT, KAFKA, order
from tests.api.support import Server, running
from tests.corpora.aliases import between_namespaces
from tests.events import RUNS, T0, columns, dataset, facet, job_event, run_event, schema

from lineage_bridge.openlineage.times import format_time

STREAMED = {"source_namespace": KAFKA, "source_name": "orders", "target_namespace": "ns", "target_name": "b"}
TOPIC = {"namespace": KAFKA, "name": "orders"}
JOB = {"namespace": "jobs", "name": "job"}
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("/graph/neighbourhood", TOPIC),
    ("/graph/impact", {**TOPIC, "direction": "downstream"}),
    ("/graph/paths", STREAMED),
    ("/graph/ledger", STREAMED),
    ("/graph/ledger", {"target_namespace": "ns", "target_name": "b"}),
    ("/graph/trace", {**TOPIC, "direction": "downstream", "access": "true"}),
    ("/graph/access", TOPIC),
    ("/graph/diff", {**TOPIC, "since": "2020-01-01"}),
    ("/graph/diff", {"since": "2020-01-01"}),
    ("/graph/drift", {}),
    ("/search", {"q": "orders"}),
    ("/graph/runs", JOB),
    (f"/graph/runs/{RUNS[0]}", {}),
    (f"/graph/runs/{RUNS[0]}/tree", {}),
    (f"/graph/runs/{RUNS[0]}/lineage", {}),
    ("/graph/schemas", TOPIC),
    ("/graph/life", TOPIC),
    ("/graph/statistics", {"run": RUNS[0]}),
    ("/graph/timeline", TOPIC),
    ("/graph/pulse", {**TOPIC, "window_s": 86_400, "until": format_time(T0 + 1)}),
    ("/lineage/jobs/detail", JOB),
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("spelling"), empty_store) as server:
        _fill(server)
        yield server


def _fill(server: Server) -> None:
    topic = dataset("orders", KAFKA, access=("inputFacets", {"inputStatistics": facet(rowCount=5)}), schema=schema("x"))
    server.send(
        job_event(outputs=[dataset("else")]),
        run_event(run=RUNS[1], job="writer", time_us=T0 - 3_600_000_000, outputs=[dataset("orders", KAFKA, schema=schema("w"))]),
        run_event(
            run=RUNS[1],
            job="writer",
            time_us=T0 - 1,
            outputs=[dataset("orders", KAFKA, schema=schema("x"), lifecycleStateChange=facet(lifecycleStateChange="CREATE"))],
        ),
        run_event(inputs=[topic], outputs=[dataset("b", columnLineage=columns(y=[(KAFKA, "orders", "x")]))]),
    )
    order(server, "alias", between_namespaces(CONFLUENT, KAFKA))


def goes_by(answer: Any) -> Iterator[dict[str, str]]:
    """All that an answer says names go by."""
    if isinstance(answer, list):
        for item in answer:
            yield from goes_by(item)
    elif isinstance(answer, dict):
        yield from [answer["goes_by"]] if "goes_by" in answer else []
        yield from goes_by(list(answer.values()))


@pytest.mark.parametrize(("path", "query"), QUESTIONS, ids=[path for path, _ in QUESTIONS])
def test_every_answer_names_nodes_in_the_requested_style(filled: Server, path: str, query: dict[str, Any]) -> None:
    assert list(goes_by(filled.ask(path, **query))) == []
    answer = list(goes_by(filled.ask(path, names="lineagebridge", **query)))
    assert answer
    assert all(name == {"namespace": CONFLUENT, "name": "orders"} for name in answer)


def test_every_question_that_answers_with_nodes_accepts_a_name_style(server: Server) -> None:
    described = server.client.get("/openapi.json").json()
    shapes = described["components"]["schemas"]

    def holds(shape: Any, seen: frozenset[str] = frozenset()) -> bool:
        if isinstance(shape, list):
            return any(holds(item, seen) for item in shape)
        if not isinstance(shape, dict):
            return False
        name = str(shape.get("$ref", "")).rsplit("/", 1)[-1]
        if name in seen:
            return False
        return name in {"GraphNode", "DatasetRef", "JobRef"} or holds(shapes.get(name), seen | {name}) or holds(list(shape.values()), seen)

    asking = {path: call["get"] for path, call in described["paths"].items() if "get" in call and holds(call["get"]["responses"]["200"])}
    assert len(asking) > 12
    assert [path for path, call in asking.items() if "names" not in {parameter["name"] for parameter in call["parameters"]}] == []
