"""Principals that are limited to namespaces: single questions, and how limits travel."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.api.access.test_teams import clients
from tests.api.answering.test_relay import answering
from tests.api.support import NOW, Server, changed
from tests.events import dataset, facet, run_event, schema

from lineage_bridge.api.app import create_question_app
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.model.analysis import Analysis, NodeMeasure
from lineage_bridge.model.graph import Node
from lineage_bridge.store.whole.analysis import Findings, write_findings
from lineage_bridge.visibility.border import BEYOND

OURS, THEIRS, LAKE = "kafka://own", "kafka://theirs", "s3://lake"


def job(number: int, inputs: list[Any], outputs: list[Any], *, own: bool) -> bytes:
    run = f"00000000-0000-4000-8000-{number:012x}"
    return run_event(
        run=run, job=f"j{number}", namespace="own-jobs" if own else "their-jobs", inputs=inputs, outputs=outputs, time_us=NOW - number
    )


CHAIN = (
    job(1, [dataset("a", OURS)], [dataset("b", THEIRS)], own=True),
    job(
        2,
        [dataset("b", THEIRS, ownership=facet(owners=[{"name": "their team"}]))],
        [dataset("c", THEIRS, ("outputFacets", {"outputStatistics": facet(rowCount=7)}))],
        own=False,
    ),
    job(3, [dataset("c", THEIRS)], [dataset("d", OURS)], own=False),
    job(4, [dataset("c", THEIRS)], [dataset("e", THEIRS)], own=False),
)
"""One's own dataset a goes by way of others into d, and from there into e, which leads nowhere."""
A = {"namespace": OURS, "name": "a"}


@pytest.fixture
def chain(server: Server) -> Server:
    server.send(*CHAIN)
    return server


def get(client: TestClient, path: str, **query: Any) -> Any:
    answer = client.get(f"/api/v1{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def names(items: list[dict[str, Any]]) -> list[str]:
    return sorted(f"{item['namespace']} {item['name']}" for item in items)


@pytest.mark.parametrize(
    ("neighbours", "seen"),
    [
        (True, [f"{BEYOND} 1", f"{BEYOND} 2", f"{OURS} a", f"{OURS} d", f"{THEIRS} b", "own-jobs j1", "their-jobs j3"]),
        (False, [f"{BEYOND} 1", f"{BEYOND} 2", f"{BEYOND} 3", f"{BEYOND} 4", f"{OURS} a", f"{OURS} d", "own-jobs j1"]),
    ],
)
def test_a_walk_crosses_others_and_goes_on_into_ones_own(chain: Server, neighbours: bool, seen: list[str]) -> None:
    """What leads nowhere, the job j4 and the dataset e, is not part of it."""
    ours, _ = clients(chain, neighbours=neighbours)
    walk = get(ours, "/graph/neighbourhood", **A, direction="downstream", depth=20)
    assert names(walk["nodes"]) == seen
    of_others = [edge for edge in walk["edges"] if "last_seen" not in edge]
    assert len(walk["edges"]) == 3
    assert len(of_others) == 1


@pytest.mark.parametrize(("neighbours", "beyond"), [(True, (2, 2)), (False, (3, 3))])
def test_an_impact_counts_what_lies_beyond(chain: Server, neighbours: bool, beyond: tuple[int, int]) -> None:
    ours, everybody = clients(chain, neighbours=neighbours)
    limited, whole = (get(client, "/graph/impact", **A) for client in (ours, everybody))
    assert (limited["beyond"]["datasets"], limited["beyond"]["jobs"]) == beyond
    assert "beyond" not in whole
    assert len(limited["affected"]) + sum(beyond) == len(whole["affected"])
    assert f"{OURS} d" in names([item["node"] for item in limited["affected"]])


def test_an_impact_has_the_flows_at_ones_own_whose_ends_have_names(chain: Server) -> None:
    ours, everybody = clients(chain, neighbours=True)
    limited, whole = (get(client, "/graph/impact", **A, flows="true", details="true") for client in (ours, everybody))
    named = {node["id"]: node["name"] for node in (*limited["origins"], *(item["node"] for item in limited["affected"]))}
    assert [[named[flow[end]] for end in ("source", "job", "target")] for flow in limited["flows"]] == [["a", "j1", "b"]]
    assert len(whole["flows"]) == 4
    assert {item["node"]["name"]: item["details"].get("owners") for item in limited["affected"]} == {
        "d": None,
        "j1": None,
        "b": None,
        "j3": None,
    }
    assert next(item["details"]["owners"] for item in whole["affected"] if item["node"]["name"] == "b") == ["their team"]


@pytest.mark.parametrize("neighbours", [True, False])
def test_when_others_read_ones_own_dataset_is_known_as_far_as_from_the_flow_between_them(chain: Server, neighbours: bool) -> None:
    """When others' jobs write or read one's own dataset is done to it, as flows say; of others' datasets nothing is known."""
    ours, everybody = clients(chain, neighbours=neighbours)
    limited, whole = (get(client, "/graph/impact", **A, details="true") for client in (ours, everybody))
    of_ours, of_all = (
        {item["node"]["name"]: item["details"] for item in answer["affected"] if "details" in item} for answer in (limited, whole)
    )
    around = get(ours, "/graph/neighbourhood", namespace=OURS, name="d", direction="upstream", depth=1)
    (last_seen,) = {edge["last_seen"] for edge in around["edges"]}
    assert of_ours["d"]["last_written"] == of_all["d"]["last_written"] == last_seen
    assert {"last_read", "last_written"}.isdisjoint(key for name, details in of_ours.items() if name != "d" for key in details)
    assert {"last_read", "last_written"} <= of_all["c"].keys()


def test_an_impact_of_several_is_refused_if_one_of_them_is_not_ones_own(chain: Server) -> None:
    ours, everybody = clients(chain, neighbours=True)
    both = {"namespace": [OURS, THEIRS], "name": ["a", "c"]}
    assert ours.get("/api/v1/graph/impact", params=both).status_code == 404
    assert everybody.get("/api/v1/graph/impact", params=both).status_code == 200


def test_a_path_leads_through_places(chain: Server) -> None:
    ours, everybody = clients(chain, neighbours=True)
    ends = {"source_namespace": OURS, "source_name": "a", "target_namespace": OURS, "target_name": "d"}
    (path,) = get(ours, "/graph/paths", **ends)["paths"]
    assert [node["name"] for node in path["nodes"]] == ["a", "b", "2", "d"]
    assert [[node["name"] for node in jobs] for jobs in path["jobs"]] == [["j1"], ["1"], ["j3"]]
    hops = get(ours, "/graph/ledger", **ends)["hops"]
    assert [hop["job"]["name"] for hop in hops] == ["j1", "1", "j3"]
    assert "rows" not in hops[1]["written"]["window"]
    assert get(everybody, "/graph/ledger", **ends)["hops"][1]["written"]["window"]["rows"] == 7


def test_when_a_job_of_others_went_wrong_is_shown_to_who_may_see_it(chain: Server) -> None:
    for age, (began_us, kept) in enumerate(((NOW - 1_000_000, 10), (NOW - DAY_US - 1_000_000, 100))):
        read, wrote = (facet(rowCount=rows) for rows in (100, kept))
        source = dataset("b", THEIRS, ("inputFacets", {"inputStatistics": read}))
        target = dataset("c", THEIRS, ("outputFacets", {"outputStatistics": wrote}))
        run = f"00000000-0000-4000-8000-{10 + age:012x}"
        chain.send(run_event(run=run, job="j2", namespace="their-jobs", inputs=[source], outputs=[target], time_us=began_us))
    ours, everybody = clients(chain, neighbours=True)
    limited, whole = (get(client, "/graph/ledger", target_namespace=OURS, target_name="d") for client in (ours, everybody))
    assert "diverged" in [key for hop in whole["hops"] for key in hop]
    assert whole["last_good"] < whole["first_bad"]
    assert not {"last_good", "first_bad"} & limited.keys()


def test_what_is_foreign_is_not_there(chain: Server) -> None:
    """An answer about what belongs to others is the one about what does not exist."""
    ours, _ = clients(chain, neighbours=True)
    for name in ("b", "nothing"):
        error = ours.get("/api/v1/lineage/datasets/detail", params={"namespace": THEIRS, "name": name}).json()["error"]
        assert error["message"] == f"there is no dataset {name!r} in the namespace {THEIRS!r}"
        assert error["near"] == []


def test_names_of_ones_own_are_ones_own_wherever_they_are(server: Server) -> None:
    link = facet(identifiers=[{"namespace": LAKE, "name": "files", "type": "LOCATION"}])
    server.send(
        job(1, [], [dataset("t", OURS, symlinks=link)], own=True),
        job(2, [dataset("files", LAKE, documentation=facet(description="of the lake"))], [], own=False),
    )
    ours, _ = clients(server, neighbours=False)
    detail = get(ours, "/lineage/datasets/detail", namespace=LAKE, name="files")
    assert detail["facets"]["documentation"]["description"] == "of the lake"
    assert names(detail["aliases"]) == [f"{OURS} t"]
    (alias,) = get(ours, "/aliases")["aliases"]
    assert (alias["a"]["name"], alias["b"]["name"]) == ("t", "files")
    nodes = get(ours, f"/graphs/{server.services.graph_id}/nodes")["nodes"]
    assert [node["kind"] for node in nodes] == ["dataset", "job"]


def test_history_names_neighbours_only(server: Server) -> None:
    """A dataset came from another team under another name; what that was called before is no neighbour's name."""
    for new, old in (((OURS, "new"), (THEIRS, "old")), ((THEIRS, "old"), (THEIRS, "older"))):
        renamed = facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": old[0], "name": old[1]})
        columns_ = schema(f"column_of_{new[1]}")
        number = 1 if new[0] == OURS else 2
        server.send(job(number, [], [dataset(new[1], new[0], lifecycleStateChange=renamed, schema=columns_)], own=False))
    about = {"namespace": OURS, "name": "new"}
    for neighbours in (True, False):
        ours, _ = clients(server, neighbours=neighbours)
        life, schemas = get(ours, "/graph/life", **about), get(ours, "/graph/schemas", **about)
        assert life["life"][0]["previous"]["namespace"] == (THEIRS if neighbours else BEYOND)
        assert schemas["versions"][0]["jobs"][0]["namespace"] == ("their-jobs" if neighbours else BEYOND)
        answers = [ours.get(f"/api/v1{path}", params=about).text for path in ("/graph/life", "/graph/schemas", "/graph/schemas/diff")]
        answers.append(ours.get("/api/v1/graph/neighbourhood", params={**about, "depth": 9}).text)
        assert not any("older" in answer or "column_of_old" in answer for answer in answers)
        assert ours.get("/api/v1/graph/life", params={"namespace": THEIRS, "name": "old"}).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/inputs",
        "/api/v1/inputs/x",
        "/api/v1/push/providers",
        "/api/v1/sources",
        "/api/v1/sources/x",
        "/api/v1/tasks",
        "/api/v1/tasks/x",
        "/metrics",
    ],
)
def test_what_is_of_all_is_refused(server: Server, path: str) -> None:
    ours, everybody = clients(server, neighbours=True)
    answer = ours.get(path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "limited")
    assert everybody.get(path).status_code != 403


def test_an_analysis_is_of_ones_own(server: Server) -> None:
    nodes = [Node(n, NodeKind.DATASET, space, f"d{n}") for n, space in enumerate((OURS, THEIRS, OURS, THEIRS))]
    found = Analysis(
        tuple(NodeMeasure(node, 4 - node.id, 0, 1) for node in nodes), ((nodes[0], nodes[1]), (nodes[3],)), (nodes[3],), (), 9, True
    )
    write_findings(server.folder / "analysis.ndjson", found, {}, NOW, 30)
    server.services = replace(server.services, findings=lambda: Findings(server.folder / "analysis.ndjson"))
    ours, everybody = clients(server, neighbours=True)
    limited, whole = (get(client, "/analysis", limit=1, offset=1) for client in (ours, everybody))
    assert (names(limited["items"]), names(whole["items"])) == ([f"{OURS} d2"], [f"{THEIRS} d1"])
    assert (limited["counts"], limited["nodes"]) == ({"impact": 2, "cycle": 1, "orphan": 0, "unused": 0}, 2)
    assert (whole["counts"]["impact"], whole["flows"], "flows" in limited) == (4, 9, False)
    (cycle,) = get(ours, "/analysis", part="cycle")["items"]
    assert names(cycle["nodes"]) == [f"{BEYOND} 2", f"{OURS} d0"]


def test_rejected_events_are_listed_and_counted_for_their_jobs(server: Server) -> None:
    bad = changed(run_event(), eventTime="never")
    for namespace in ("own-jobs", "their-jobs", "their-jobs"):
        server.client.post("/api/v1/lineage", content=changed(bad, job={"namespace": namespace, "name": str(len(server.stored()))}))
    server.client.post("/api/v1/lineage", content=b"of nobody knows whom")
    server.fold()
    ours, everybody = clients(server, neighbours=True)
    limited, whole = get(ours, "/quarantine"), get(everybody, "/quarantine")
    assert [item["job"]["namespace"] for item in limited["items"]] == ["own-jobs"]
    assert sum(limited["counts"].values()) == 1
    assert sum(whole["counts"].values()) == 4
    for item in whole["items"]:
        answer = ours.get(f"/api/v1/quarantine/{item['event_id']}/body")
        assert answer.status_code == (200 if item["event_id"] == limited["items"][0]["event_id"] else 404)


def test_changes_of_others_are_passed_over(server: Server) -> None:
    server.send(*(job(number, [dataset(f"x{number}", THEIRS)], [], own=False) for number in range(1, 40)))
    server.send(job(99, [dataset("a", OURS)], [dataset("b", THEIRS)], own=True))
    ours, _ = clients(server, neighbours=True)
    feed = get(ours, "/changes", kind="node", limit=1)
    seen = []
    while feed["changes"]:
        seen += [change["node"] for change in feed["changes"]]
        feed = get(ours, "/changes", kind="node", limit=1, after=feed["next"])
    assert names(seen) == [f"{OURS} a", "own-jobs j99"]


# how limits travel


@pytest.fixture
def elsewhere(chain: Server) -> Iterator[tuple[TestClient, TestClient]]:
    """Clients of an API that has its questions answered by another process."""
    with answering(chain) as relay:
        chain.services = replace(chain.services, questions=relay)
        yield clients(chain, neighbours=True)


def test_limits_travel_to_the_process_that_answers(elsewhere: tuple[TestClient, TestClient]) -> None:
    ours, everybody = elsewhere
    assert names(get(ours, "/lineage/datasets")) == [f"{OURS} a", f"{OURS} d"]
    assert len(get(everybody, "/lineage/datasets")) == 5
    assert names(get(ours, "/lineage/datasets")) == [f"{OURS} a", f"{OURS} d"]


def test_a_question_of_nobody_knows_whom_sees_nothing(chain: Server) -> None:
    """An application that no guard stands before, and no relay."""
    client = TestClient(create_question_app(chain.services))
    assert get(client, "/lineage/datasets") == []


def test_who_has_no_limits_reads_the_store_itself(chain: Server) -> None:
    opened = []

    def graph() -> Any:
        opened.append(chain.pool.reader())
        return opened[-1]

    chain.services = replace(chain.services, graph=graph)
    ours, everybody = clients(chain, neighbours=True)
    get(everybody, "/search", q="a")
    assert len(opened) == 1
    assert {item["namespace"] for item in get(ours, "/search", q="a")["results"]} == {OURS}
