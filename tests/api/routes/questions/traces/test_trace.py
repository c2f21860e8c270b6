"""What a trace answers beside its flows: where the values are now."""

from typing import Any

from tests.api.support import Server
from tests.events import RUNS, T0, columns, dataset, dataset_event, facet, run_event

from lineage_bridge.openlineage.times import format_time

MASKED = facet(
    fields={
        "hash": {
            "inputFields": [
                {
                    "namespace": "ns",
                    "name": "b",
                    "field": "mail",
                    "transformations": [{"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}],
                }
            ]
        }
    }
)
CHAIN = [
    run_event(run=RUNS[0], job="j1", inputs=[dataset("a")], outputs=[dataset("b", columnLineage=columns(mail=[("ns", "a", "email")]))]),
    run_event(run=RUNS[1], job="j2", inputs=[dataset("b")], outputs=[dataset("c", columnLineage=MASKED)]),
    run_event(run=RUNS[2], job="j3", inputs=[dataset("b")], outputs=[dataset("d", columnLineage=columns(mail=[("ns", "b", "mail")]))]),
]
ABOUT: dict[str, Any] = {"namespace": "ns", "name": "a", "field": "email", "direction": "downstream"}
DROP = facet(lifecycleStateChange="DROP")
HOUR_US = 3_600_000_000


def named(answer: Any, member: str) -> dict[str, Any]:
    """The items of a member, by the names of their datasets."""
    names = {node["id"]: node["name"] for node in answer["nodes"]}
    return {names[item["node"]]: {key: value for key, value in item.items() if key != "node"} for item in answer[member]}


def test_where_the_values_are_and_why_they_are_not_elsewhere(server: Server) -> None:
    server.send(*CHAIN)
    answer = server.ask("/graph/trace", **ABOUT, held=True)
    written = {"system": "ns", "last_written": format_time(T0)}
    assert named(answer, "held") == {
        "a": {"system": "ns", "fields": ["email"]},
        "b": {**written, "fields": ["mail"]},
        "c": {**written, "left_out": "masked"},
        "d": {**written, "fields": ["mail"]},
    }
    through = server.ask("/graph/trace", **ABOUT, held=True, through_masking=True)
    assert named(through, "held")["c"]["left_out"] == "masked", "values stay masked behind the mask"
    plain = server.ask("/graph/trace", **ABOUT)
    assert ("held" in plain, plain["digest"]) == (False, answer["digest"])


def test_a_dropped_dataset_on_the_way_holds_nothing_and_ended_flows_are_counted(server: Server) -> None:
    server.send(*CHAIN)
    before = format_time(server.parts.now_us)
    first = server.ask("/graph/trace", **ABOUT, at=before, held=True)
    server.parts.now_us += HOUR_US
    gone = [dataset_event(dataset(name, lifecycleStateChange=DROP), time_us=server.parts.now_us) for name in ("b",)]
    server.send(*gone)
    answer = server.ask("/graph/trace", **ABOUT, held=True)
    assert named(answer, "held")["b"]["left_out"] == "dropped"
    assert named(answer, "held")["d"]["fields"] == ["mail"]
    assert [node["name"] for node in answer["nodes"] if node.get("dropped")] == ["b"]
    assert answer["digest"] != first["digest"]
    server.send(dataset_event(dataset("d", lifecycleStateChange=DROP), time_us=server.parts.now_us))
    ended = server.ask("/graph/trace", **ABOUT, held=True)
    assert ("d" in named(ended, "held"), ended["hidden_ended"]) == (False, 1)
    then = server.ask("/graph/trace", **ABOUT, at=before, held=True)
    assert (then["digest"], named(then, "held")) == (first["digest"], named(first, "held"))


def test_upstream_of_a_mask_the_values_are_as_they_were(server: Server) -> None:
    server.send(*CHAIN)
    answer = server.ask("/graph/trace", namespace="ns", name="c", field="hash", held=True, through_masking=True)
    assert {name: item.get("fields") for name, item in named(answer, "held").items()} == {"a": ["email"], "b": ["mail"], "c": ["hash"]}


def test_filters_alone_bring_no_values(server: Server) -> None:
    filtered = facet(fields={}, dataset=[{"namespace": "ns", "name": "a", "field": "email", "transformations": [{"type": "INDIRECT"}]}])
    server.send(run_event(job="j", inputs=[dataset("a")], outputs=[dataset("b", columnLineage=filtered)]))
    answer = server.ask("/graph/trace", **ABOUT, indirect=True, held=True)
    assert named(answer, "held")["b"]["left_out"] == "indirect"
