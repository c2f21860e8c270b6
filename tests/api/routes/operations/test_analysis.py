"""The last analysis over HTTP."""

from dataclasses import replace
from typing import NoReturn

from starlette.testclient import TestClient
from tests.api.answering.test_lanes import limits
from tests.api.support import NOW, URL, Server

from lineage_bridge.api.answering.lanes import Limit
from lineage_bridge.api.app import create_app
from lineage_bridge.api.position_tokens import decode
from lineage_bridge.errors import NotFoundError
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.analysis import Analysis, NodeMeasure
from lineage_bridge.model.graph import Node
from lineage_bridge.store.whole.analysis import Findings, write_findings


def test_there_is_nothing_before_the_first_analysis(server: Server) -> None:
    error = server.ask("/analysis", 404)["error"]
    assert error["code"] == "not_found"


def test_the_last_analysis_is_read_by_part_and_page(server: Server) -> None:
    path = server.folder / "analysis.ndjson"
    nodes = [Node(n, NodeKind.DATASET, "ns", f"d{n}") for n in range(5)]
    measures = tuple(NodeMeasure(node, node.id, 0, 1) for node in nodes)
    write_findings(path, Analysis(measures, (), tuple(nodes[:2]), (), 9, exact=True), {("log", 0): 12}, NOW, 30)
    client = TestClient(create_app(replace(server.services, findings=lambda: Findings(path))), base_url=URL)
    answer = client.get("/api/v1/analysis", params={"limit": 2})
    body = answer.json()
    assert [item["downstream"] for item in body["items"]] == [4, 3]
    assert body["counts"] == {"impact": 5, "cycle": 0, "orphan": 2, "unused": 0}
    assert decode(body["position"]) == {("log", 0): 12}
    following = answer.headers["link"].split(">")[0][1:]
    assert [item["name"] for item in client.get(following).json()["items"]] == ["d2", "d1"]
    assert [item["name"] for item in client.get("/api/v1/analysis", params={"part": "orphan"}).json()["items"]] == ["d0", "d1"]
    assert client.get("/api/v1/analysis", params={"part": "other"}).status_code == 422


def test_an_analysis_is_read_in_the_lane_of_long_lists(server: Server) -> None:
    lanes = limits(heavy=Limit(1, 0, 0.0))

    def read_while_another_asks() -> NoReturn:
        if not asked:
            asked.append("another")
            answers.append(client.get("/api/v1/analysis").json()["error"]["code"])
        raise NotFoundError("there is none")

    asked, answers = list[str](), list[str]()
    client = server.client_of(findings=read_while_another_asks, lanes=lanes)
    assert client.get("/api/v1/analysis").status_code == 404
    assert answers == ["overloaded"]
