"""Impact, paths and traces over HTTP."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.events import RUNS, T0, columns, dataset, dataset_event, facet, job_event, run_event

from lineage_bridge.api.routes.questions.traces import trace as trace_route
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.model.lineage import ImpactFlow
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.store.lineage import impact, reached
from lineage_bridge.store.runs import statistics

CHAIN = [
    run_event(run=RUNS[0], job="j1", inputs=[dataset("a")], outputs=[dataset("b", columnLineage=columns(mail=[("ns", "a", "email")]))]),
    run_event(run=RUNS[1], job="j2", inputs=[dataset("b")], outputs=[dataset("c", columnLineage=columns(contact=[("ns", "b", "mail")]))]),
    run_event(run=RUNS[2], job="j3", inputs=[dataset("b"), dataset("z")], outputs=[dataset("d")]),
]


def test_impact_is_paged_and_counted_as_a_whole(server: Server) -> None:
    server.send(*CHAIN)
    answer = server.ask("/graph/impact", namespace="ns", name="a", limit=2)
    assert answer["counts"] == {"datasets": 3, "jobs": 3, "all": 4, "some": 2}
    assert [(node["node"]["name"], node["distance"], node["extent"], node.get("paths")) for node in answer["affected"]] == [
        ("b", 1, "all", 1),
        ("j1", 1, "all", None),
    ]
    pages = [
        node
        for offset in range(0, 6, 2)
        for node in server.ask("/graph/impact", namespace="ns", name="a", limit=2, offset=offset)["affected"]
    ]
    assert pages == server.ask("/graph/impact", namespace="ns", name="a")["affected"]
    assert len(pages) == 6
    answer = server.client.get("/api/v1/graph/impact", params={"namespace": "ns", "name": "a", "limit": 2})
    assert 'rel="next"' in answer.headers["link"]


def test_the_flows_of_an_impact_come_with_its_first_page_only(server: Server) -> None:
    server.send(*CHAIN)
    first, second = (server.ask("/graph/impact", namespace="ns", name="a", flows=True, limit=2, offset=offset) for offset in (0, 2))
    assert len(first["flows"]) == 3
    assert len(second["affected"]) == 2
    assert "flows" not in second


def test_an_impact_of_namespaces_is_of_everything_in_them(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they affect lies outside of them. Origins come with the first page, and their limit is said."""
    cluster, lake = "kafka://broker:9092", "s3://lake"
    server.send(
        run_event(run=RUNS[0], job="j1", namespace="flink", inputs=[dataset("a", cluster)], outputs=[dataset("b", cluster)]),
        run_event(run=RUNS[1], job="j2", namespace="load", inputs=[dataset("b", cluster), dataset("z")], outputs=[dataset("c", lake)]),
        run_event(run=RUNS[2], job="j3", namespace="load", inputs=[dataset("c", lake)], outputs=[dataset("d", lake)]),
    )

    def ask(**query: Any) -> Any:
        return server.ask("/graph/impact", **query)

    def names(items: list[Any]) -> list[str]:
        return sorted(item["name"] for item in items)

    whole = ask(namespace="kafka://*", flows=True, details=True)
    assert names(whole["origins"]) == ["a", "b"]
    assert names([item["node"] for item in whole["affected"]]) == ["c", "d", "j1", "j2", "j3"]
    assert whole["truncated"] == ""
    assert {origin["details"]["system"] for origin in whole["origins"]} == {"kafka"}
    assert names(ask(namespace=[cluster, "flink"])["origins"]) == ["a", "b", "j1"]
    assert names([item["node"] for item in ask(namespace=[cluster, "flink"])["affected"]]) == ["c", "d", "j2", "j3"]
    assert names(ask(namespace=[cluster, "flink"], kind="job")["origins"]) == ["j1"]
    assert names([item["node"] for item in ask(namespace=lake, direction="upstream")["affected"]]) == ["a", "b", "j1", "j2", "j3", "z"]
    first, second = (ask(namespace="kafka://*", limit=3, offset=offset) for offset in (0, 3))
    assert [item["node"]["id"] for page in (first, second) for item in page["affected"]] == [
        item["node"]["id"] for item in whole["affected"]
    ]
    assert (names(first["origins"]), second["origins"]) == (["a", "b"], [])
    answer = server.client.get("/api/v1/graph/impact", params={"namespace": "nats://*"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    monkeypatch.setattr("lineage_bridge.api.routes.questions.impact.MOST_MATCHING", 1)
    cut = ask(namespace="kafka://*")
    assert (names(cut["origins"]), cut["truncated"]) == (["a"], "origins")


def test_details_have_the_promised_freshness_and_when_runs_wrote_and_read_a_dataset(server: Server) -> None:
    promised = dataset("b", tags=facet(tags=[{"key": "freshness", "value": "15 minutes"}]))
    server.send(
        run_event(run=RUNS[0], job="j1", time_us=T0, inputs=[dataset("a")], outputs=[promised]),
        run_event(run=RUNS[1], job="j1", time_us=T0 + 2_000_000, inputs=[dataset("a")], outputs=[promised]),
        run_event(run=RUNS[2], job="j2", time_us=T0 + 5_000_000, inputs=[dataset("b")], outputs=[dataset("c")]),
        job_event(job="j3", time_us=T0 + 9_000_000, inputs=[dataset("b")], outputs=[]),
    )
    affected = server.ask("/graph/impact", namespace="ns", name="a", details=True)["affected"]
    found = {item["node"]["name"]: item["details"] for item in affected}
    keys = ("freshness", "last_written", "last_read")
    assert [found["b"].get(key) for key in keys] == ["15 minutes", format_time(T0 + 2_000_000), format_time(T0 + 5_000_000)]
    assert [found["c"].get(key) for key in keys] == [None, format_time(T0 + 5_000_000), None]
    assert not {"last_written", "last_read"} & found["j1"].keys()


def test_an_impact_of_several_nodes_is_one_answer(server: Server) -> None:
    server.send(*CHAIN)
    about: dict[str, Any] = {"namespace": ["ns", "ns"], "name": ["a", "z"]}
    answer = server.ask("/graph/impact", **about, limit=2, flows=True, details=True)
    assert [origin["name"] for origin in answer["origins"]] == ["a", "z"]
    assert answer["origin"]["name"] == "a"
    assert answer["counts"] == {"datasets": 3, "jobs": 3, "all": 6, "some": 0}
    names = {item["node"]["id"]: item["node"]["name"] for item in server.ask("/graph/impact", **about)["affected"]}
    names |= {origin["id"]: origin["name"] for origin in answer["origins"]}
    assert sorted((names[flow["source"]], names[flow["target"]], names[flow["job"]]) for flow in answer["flows"]) == [
        ("a", "b", "j1"),
        ("b", "c", "j2"),
        ("b", "d", "j3"),
        ("z", "d", "j3"),
    ]
    assert [item["details"]["display_name"] for item in answer["affected"]] == ["b", "d"]
    assert {origin["details"]["system"] for origin in answer["origins"]} == {"ns"}
    following = server.client.get("/api/v1/graph/impact", params={**about, "limit": 2}).headers["link"]
    assert (following.count("namespace=ns"), following.count("name=")) == (2, 2)
    plain = server.ask("/graph/impact", **about)
    assert "flows" not in plain
    assert all("details" not in item for item in plain["affected"])
    mixed = server.ask("/graph/impact", namespace=["jobs", "ns"], name=["j1", "z"], kind=["job", "dataset"])
    assert [(origin["kind"], origin["name"]) for origin in mixed["origins"]] == [("job", "j1"), ("dataset", "z")]


def test_an_impact_names_its_nodes_in_pairs_and_not_too_many(server: Server) -> None:
    server.send(*CHAIN)
    for about in (
        {"namespace": ["ns", "ns"], "name": ["a"]},
        {"namespace": ["ns", "ns", "ns"], "name": ["a", "b", "c"], "kind": ["job", "dataset"]},
    ):
        refused = server.ask("/graph/impact", 422, **about)["error"]
        assert "repeat `namespace` and `name` for each node" in refused["hint"]
    server.ask("/graph/impact", 422, namespace=["ns"] * 51, name=["a"] * 51)
    assert len(server.ask("/graph/impact", namespace=["ns"] * 50, name=["a"] * 50)["origins"]) == 1
    assert server.ask("/graph/impact", 404, namespace=["ns", "ns"], name=["a", "nowhere"])["error"]["code"] == "not_found"


def test_paths(server: Server) -> None:
    server.send(*CHAIN)
    ends: dict[str, Any] = {"source_namespace": "ns", "source_name": "a", "target_namespace": "ns", "target_name": "c"}
    answer = server.ask("/graph/paths", 200, **ends)
    assert [[node["name"] for node in path["nodes"]] for path in answer["paths"]] == [["a", "b", "c"]]
    assert [[job["name"] for job in jobs] for jobs in answer["paths"][0]["jobs"]] == [["j1"], ["j2"]]
    assert answer["more"] is False
    assert server.ask("/graph/paths", 404, **{**ends, "target_name": "nowhere"})["error"]


def test_a_trace_names_columns_proofs_and_gaps(server: Server) -> None:
    server.send(*CHAIN)
    answer = server.ask("/graph/trace", namespace="ns", name="a", field="email", direction="downstream")
    names = {node["id"]: node["name"] for node in answer["nodes"]}
    assert [(names[f["source"]], f["source_field"], names[f["target"]], f["target_field"]) for f in answer["flows"]] == [
        ("a", "email", "b", "mail"),
        ("b", "mail", "c", "contact"),
    ]
    assert {f["proof"]["run_id"] for f in answer["flows"]} == {RUNS[0], RUNS[1]}
    assert (answer["coverage"]["told"], answer["coverage"]["untold"]) == (2, 1)
    assert [(names[gap["source"]], names[gap["target"]]) for gap in answer["coverage"]["gaps"]] == [("b", "d")]
    assert server.ask("/graph/trace", 404, namespace="ns", name="nowhere")["error"]


def test_traces_as_of_one_time_have_one_digest_until_something_of_before_is_reported(server: Server) -> None:
    server.send(*CHAIN)
    about: dict[str, Any] = {"namespace": "ns", "name": "a", "field": "email", "direction": "downstream"}
    then = format_time(server.parts.now_us)
    first = server.ask("/graph/trace", **about, at=then)
    assert len(first["flows"]) == 2
    server.parts.now_us += DAY_US
    further = dataset("e", columnLineage=columns(contact=[("ns", "c", "contact")]))
    server.send(run_event(run=RUNS[3], job="j4", time_us=server.parts.now_us, inputs=[dataset("c")], outputs=[further]))
    assert server.ask("/graph/trace", **about, at=then)["digest"] == first["digest"]
    lately = dataset("f", columnLineage=columns(contact=[("ns", "c", "contact")]))
    server.send(run_event(run=RUNS[4], job="j5", time_us=T0 + DAY_US // 2, inputs=[dataset("c")], outputs=[lately]))
    late = server.ask("/graph/trace", **about, at=then)
    assert (len(late["flows"]), late["digest"] == first["digest"]) == (3, False)
    now = server.ask("/graph/trace", **about)
    assert (len(now["flows"]), len(now["digest"])) == (4, 64)
    digests = {server.ask("/graph/trace", **about, **more)["digest"] for more in ({}, {"indirect": True}, {"depth": 1}, {"gaps": 50})}
    assert len(digests | {first["digest"]}) == 5


def test_a_trace_has_stewardship_of_its_datasets_as_of_its_time(server: Server) -> None:
    def owned(owner: str, ms: str) -> bytes:
        config = facet(clusterId="c", partitions=1, replicationFactor=1, purpose="DATA", config={"retention.ms": ms})
        return dataset_event(dataset("b", ownership=facet(owners=[{"name": owner}]), kafka_topic=config), time_us=server.parts.now_us)

    server.send(*CHAIN, owned("team:a", "604800000"))
    about: dict[str, Any] = {"namespace": "ns", "name": "a", "field": "email", "direction": "downstream"}
    then = format_time(server.parts.now_us)
    server.parts.now_us += DAY_US
    server.send(owned("team:b", "-1"))

    def kept(**more: Any) -> dict[str, Any]:
        answer = server.ask("/graph/trace", **about, **more)
        names = {node["id"]: node["name"] for node in answer["nodes"]}
        return {names[item.pop("node")]: item for item in answer["kept"]}

    assert kept() == {"a": {}, "b": {"owners": ["team:b"], "retention": "without limit"}, "c": {}, "d": {}}
    assert kept(at=then) == {"a": {}, "b": {"owners": ["team:a"], "retention": "7 days"}, "c": {}, "d": {}}
    assert server.ask("/graph/trace", **about)["digest"] != server.ask("/graph/trace", **about, at=then)["digest"]


def test_a_trace_says_that_there_was_no_time_for_stewardship(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.send(*CHAIN)
    about: dict[str, Any] = {"namespace": "ns", "name": "a", "field": "email", "direction": "downstream"}
    whole = server.ask("/graph/trace", **about)
    monkeypatch.setattr(trace_route, "READING_SECONDS", 0)
    cut = server.ask("/graph/trace", **about)
    assert (whole["truncated"], len(whole["kept"])) == ("", 4)
    assert (cut["truncated"], cut["kept"], cut["flows"]) == ("time", [], whole["flows"])
    assert cut["digest"] != whole["digest"]


def test_flows_of_an_impact_are_made_only_if_they_are_asked_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.send(*CHAIN)
    made: list[int] = []

    def counted(*args: Any) -> tuple[ImpactFlow, ...]:
        found = reached.impact_flows(*args)
        made.append(len(found))
        return found

    monkeypatch.setattr(impact, "impact_flows", counted)
    assert "flows" not in server.ask("/graph/impact", namespace="ns", name="a")
    assert made == []
    flows = server.ask("/graph/impact", namespace="ns", name="a", flows=True)["flows"]
    assert made == [len(flows)]


def test_every_call_is_described(server: Server) -> None:
    document = server.client.get("/openapi.json").json()
    for path in ("impact", "paths", "trace"):
        assert f"/api/v1/graph/{path}" in document["paths"]
    assert "TraceAnswer" in document["components"]["schemas"]


def copied(run: str, job: str, source: str, target: str, read: int, written: int, day: int) -> bytes:
    stats = facet(rowCount=read), facet(rowCount=written)
    return run_event(
        run=run,
        job=job,
        time_us=T0 + day * DAY_US,
        inputs=[dataset(source, access=("inputFacets", {"inputStatistics": stats[0]}))],
        outputs=[dataset(target, access=("outputFacets", {"outputStatistics": stats[1]}))],
    )


def test_a_ledger_shows_where_a_change_began(server: Server) -> None:
    for day, kept in ((0, 100), (1, 10)):
        server.send(
            copied(f"1 {day}", "j1", "a", "b", 100, 100, day),
            copied(f"2 {day}", "j2", "b", "c", 100, kept, day),
            copied(f"3 {day}", "j3", "c", "d", kept, kept, day),
        )
    ends: dict[str, Any] = {"source_namespace": "ns", "source_name": "a", "target_namespace": "ns", "target_name": "d"}
    since = format_time(T0 + DAY_US // 2)
    answer = server.ask("/graph/ledger", 200, **ends, since=since)
    assert [node["name"] for node in answer["path"]] == ["a", "b", "c", "d"]
    assert [(hop["job"]["name"], hop["read"]["change"], hop["written"]["change"], hop.get("began", False)) for hop in answer["hops"]] == [
        ("j1", "steady", "steady", False),
        ("j2", "steady", "less", True),
        ("j3", "less", "less", False),
    ]
    assert answer["hops"][1]["written"] == {"window": {"runs": 1, "rows": 10}, "baseline": {"runs": 1, "rows": 100}, "change": "less"}
    assert answer["baseline"] == {"since": format_time(T0 - DAY_US // 2), "until": since}
    good, bad = (answer[key] for key in ("last_good", "first_bad"))
    assert format_time(T0 - 60_000_000) < good <= format_time(T0) < bad <= format_time(T0 + DAY_US)
    assert bad > format_time(T0 + DAY_US - 60_000_000)
    assert "last_good" not in server.ask("/graph/ledger", **{**ends, "target_name": "b"}, since=since)
    server.ask("/graph/ledger", 404, **ends, way=9)
    server.ask("/graph/ledger", 422, **ends, since=since, until=since)


def test_an_output_was_right_as_long_as_one_of_its_inputs_explained_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    amounts = [(100, 100, 100), *[(100, 300, 100)] * 4, (100, 300, 60), (100, 100, 100)]
    for day, (orders, customers, written) in enumerate(amounts, start=-5):
        read = {name: facet(rowCount=rows) for name, rows in (("orders", orders), ("customers", customers))}
        server.send(
            run_event(
                run=f"joined {day}",
                job="join",
                time_us=T0 + day * DAY_US,
                inputs=[dataset(name, access=("inputFacets", {"inputStatistics": stats})) for name, stats in read.items()],
                outputs=[dataset("joined", access=("outputFacets", {"outputStatistics": facet(rowCount=written)}))],
            )
        )

    def ledger_of(days: tuple[int, int], baseline: int) -> dict[str, Any]:
        since, until, *before = (format_time(T0 + at * DAY_US - DAY_US // 2) for at in (*days, baseline, baseline + 1))
        ends = {"target_namespace": "ns", "target_name": "joined", "baseline_since": before[0], "baseline_until": before[1]}
        found: dict[str, Any] = server.ask("/graph/ledger", 200, **ends, since=since, until=until)
        assert [hop.get("diverged", False) for hop in found["hops"]] == [True, True]
        return found

    assert format_time(T0 - DAY_US - 60_000_000) < ledger_of((0, 1), -5)["last_good"] <= format_time(T0 - DAY_US)
    # A baseline behind the window does not show when something left it.
    assert "last_good" not in ledger_of((-5, 1), 1)
    # Nor do runs of which some are not read.
    monkeypatch.setattr(statistics, "_RUNS", 3)
    assert "last_good" not in ledger_of((0, 1), -5)
