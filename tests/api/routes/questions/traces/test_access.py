"""Who may read and write the datasets of a trace, and which jobs do."""

import json
from typing import Any

import pytest
from tests.api.support import Server
from tests.events import RUNS, T0, columns, dataset, dataset_event, facet, job_event, run_event

from lineage_bridge.openlineage.times import format_time
from lineage_bridge.projections.traces.access import MOST_JOBS, MOST_PRINCIPALS

KAFKA, CLOUD = "kafka://broker:9092", "confluent://env-1/lkc-1"
HOUR_US = 3_600_000_000
TOPIC: dict[str, Any] = {"namespace": KAFKA, "name": "users"}
TRACE: dict[str, Any] = {**TOPIC, "field": "email", "direction": "downstream"}


OTHER_NAME = facet(identifiers=[{"namespace": KAFKA, "name": "users", "type": "TOPIC"}])


def rights(read: list[str], write: list[str], **more: Any) -> dict[str, Any]:
    return facet(confidence="LOW", mayRead=read, mayWrite=write, **more)


def copied(source: dict[str, Any], target: dict[str, Any], run: str = RUNS[0], job: str = "copy") -> bytes:
    stated = columns(email=[(source["namespace"], source["name"], "email")])
    return run_event(
        run=run, job=job, inputs=[source], outputs=[{**target, "facets": {**target.get("facets", {}), "columnLineage": stated}}]
    )


def of_datasets(answer: Any) -> dict[str, Any]:
    names = {node["id"]: node["name"] for node in answer["nodes"]}
    return {names[item["node"]]: item for item in answer["access"]}


def names(jobs: list[dict[str, Any]]) -> list[str]:
    return [job["name"] for job in jobs]


def test_who_may_read_and_write_each_dataset_and_which_jobs_do(server: Server) -> None:
    access = rights(["User:*", "User:sa-1"], ["User:sa-1"], exceptRead=["User:eve"], names={"User:sa-1": "order service"})
    server.send(
        dataset_event(dataset("users", KAFKA, kafka_access=access)),
        copied(dataset("users", KAFKA), dataset("people", CLOUD)),
        run_event(run=RUNS[1], job="readers of users", inputs=[dataset("users", KAFKA)], outputs=[]),
        copied(dataset("people", CLOUD), dataset("lake", "s3://lake"), RUNS[2], "land"),
        copied(dataset("lake", "s3://lake"), dataset("again", KAFKA), RUNS[3], "back"),
    )
    found = of_datasets(server.ask("/graph/trace", **TRACE, access=True))
    named = {"principal": "User:sa-1", "name": "order service"}
    users = found["users"]
    assert (users["may_read"], users["may_write"]) == ([{"principal": "User:*"}, named], [named])
    assert (users["not_read"], "not_write" in users, users["observed"]) == ([{"principal": "User:eve"}], False, format_time(T0))
    assert (names(users["readers"]), users.get("writers")) == (["copy", "readers of users"], None)
    assert {name: item.get("collector") for name, item in found.items()} == {
        "users": None,
        "people": "confluent",
        "lake": None,
        "again": "kafka",
    }
    assert "may_read" not in found["people"], "what is not known is not nobody"
    assert (names(found["people"]["writers"]), names(found["people"]["readers"])) == (["copy"], ["land"])
    alone = server.ask("/graph/access", **TOPIC)
    assert (alone["dataset"]["name"], alone["access"]) == ("users", users)


def test_the_rights_may_stand_at_another_name_of_the_dataset(server: Server) -> None:
    server.send(
        dataset_event(dataset("people", CLOUD, kafka_access=rights(["User:a"], []), symlinks=OTHER_NAME)),
        copied(dataset("users", KAFKA), dataset("out")),
    )
    found = of_datasets(server.ask("/graph/trace", **TRACE, access=True))
    (users,) = (item for item in found.values() if item.get("readers"))
    assert (users["may_read"], names(users["readers"])) == ([{"principal": "User:a"}], ["copy"])


def test_as_of_a_time_the_answer_is_that_of_then_with_the_same_digest(server: Server) -> None:
    later = server.parts.now_us
    server.send(
        dataset_event(dataset("users", KAFKA, kafka_access=rights(["User:a"], []))),
        copied(dataset("users", KAFKA), dataset("out")),
    )
    then = format_time(later)
    before = server.ask("/graph/trace", **TRACE, access=True, at=then)
    plain = server.ask("/graph/trace", **TRACE, at=then)
    assert "access" not in plain
    assert plain["digest"] != before["digest"], "the rights are part of what is proven"
    server.parts.now_us = later + 2 * HOUR_US
    server.send(
        dataset_event(dataset("users", KAFKA, kafka_access=rights(["User:a", "User:b"], [])), time_us=later + HOUR_US),
        run_event(run=RUNS[4], job="new", inputs=[dataset("users", KAFKA)], outputs=[], time_us=later + HOUR_US),
    )
    again = server.ask("/graph/trace", **TRACE, access=True, at=then)
    assert (again["digest"], again["access"]) == (before["digest"], before["access"])
    now = server.ask("/graph/trace", **TRACE, access=True)
    users = of_datasets(now)["users"]
    assert ([each["principal"] for each in users["may_read"]], names(users["readers"])) == (["User:a", "User:b"], ["copy", "new"])
    assert now["digest"] != before["digest"]
    assert server.ask("/graph/trace", **TRACE, at=then)["digest"] == plain["digest"]
    assert server.ask("/graph/access", **TOPIC, at=then)["access"]["may_read"] == [{"principal": "User:a"}]


def test_rights_that_were_withdrawn_or_are_unreadable_are_not_known(server: Server) -> None:
    server.send(dataset_event(dataset("users", KAFKA, kafka_access=rights(["User:a"], []))))
    gone = {**facet(), "_deleted": True}
    for time_us, access in ((T0 + HOUR_US, gone), (T0 + 2 * HOUR_US, facet(mayRead="everybody"))):
        server.send(dataset_event(dataset("users", KAFKA, kafka_access=access), time_us=time_us))
        found = server.ask("/graph/access", **TOPIC)["access"]
        assert ("may_read" in found, found["collector"], "observed" in found) == (False, "kafka", False)
    server.send(dataset_event(dataset("users", KAFKA, kafka_access=rights([], [], rules=1)), time_us=T0 + 3 * HOUR_US))
    assert server.ask("/graph/access", **TOPIC)["access"]["may_read"] == []


def test_nobody_without_a_rule_may_be_everybody_in_what_was_stored_earlier(server: Server) -> None:
    server.send(dataset_event(dataset("users", KAFKA, kafka_access=rights([], []))))
    assert "may_read" not in server.ask("/graph/access", **TOPIC)["access"]


@pytest.mark.parametrize(
    ("namespace", "rules", "others"),
    [
        (KAFKA, 1, ["super_users", "policies"]),
        (KAFKA, 0, ["super_users", "policies", "default"]),
        (CLOUD, 1, ["role_bindings"]),
        (CLOUD, 0, ["role_bindings"]),
    ],
)
def test_rights_that_no_rule_gives_are_named(server: Server, namespace: str, rules: int, others: list[str]) -> None:
    server.send(dataset_event(dataset("users", namespace, kafka_access=rights([], [], rules=rules))))
    found = server.ask("/graph/access", namespace=namespace, name="users")["access"]
    assert (found["may_read"], found["not_observed"], found.get("no_rules", False)) == ([], others, rules == 0)


def test_long_lists_are_cut_and_it_is_said(server: Server) -> None:
    many = [f"User:{number:04}" for number in range(MOST_PRINCIPALS + 1)]
    server.send(dataset_event(dataset("users", KAFKA, kafka_access=rights(many, [], names={many[-1]: "last"}))))
    found = server.ask("/graph/access", **TOPIC)["access"]
    assert (len(found["may_read"]), found["cut"]) == (MOST_PRINCIPALS, True)
    other: dict[str, Any] = {"namespace": KAFKA, "name": "other"}
    server.send(*(job_event(job=f"job {number}", inputs=[dataset("other", KAFKA)]) for number in range(MOST_JOBS + 1)))
    found = server.ask("/graph/access", **other)["access"]
    assert (len(found["readers"]), found["cut"]) == (MOST_JOBS, True)


def test_what_a_limited_key_may_not_see_stays_hidden(server: Server) -> None:
    server.send(
        dataset_event(dataset("users", KAFKA, kafka_access=rights(["User:ours"], []))),
        dataset_event(dataset("theirs", CLOUD, kafka_access=rights(["User:theirs"], []))),
        copied(dataset("users", KAFKA), dataset("theirs", CLOUD)),
        run_event(run=RUNS[1], job="secret reader", namespace="their-jobs", inputs=[dataset("theirs", CLOUD)], outputs=[]),
    )
    client, headers = server.asking_for_keys(), server.key("ours", "read", namespaces=(KAFKA,))
    answer = client.get("/api/v1/graph/trace", params={**TRACE, "access": True}, headers=headers)
    assert answer.status_code == 200, answer.text
    found = of_datasets(answer.json())
    assert found["users"]["may_read"] == [{"principal": "User:ours"}]
    assert [set(item) for name, item in found.items() if name != "users"] == [{"node", "hidden"}]
    assert not {"User:theirs", "secret reader"} & set(json.dumps(answer.json()).split('"'))
    assert client.get("/api/v1/graph/access", params={"namespace": CLOUD, "name": "theirs"}, headers=headers).status_code == 404
