"""The overview over HTTP, and the lists behind its counts."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.events import RUNS, T0, dataset, facet, job_event, run_event

from lineage_bridge.openlineage.times import format_time
from lineage_bridge.projections import overview
from lineage_bridge.store.whole import inventory

FLINK = {"jobType": facet(processingType="STREAMING", integration="FLINK", jobType="JOB")}


@pytest.fixture
def worked(server: Server) -> Server:
    """Three jobs that ran, one of them twice, one that runs, and one that was only declared."""
    server.send(
        run_event(run=RUNS[0], job="a", time_us=T0, outputs=[dataset("x")]),
        run_event("FAIL", run=RUNS[1], job="a", time_us=T0 + 1),
        run_event(run=RUNS[2], job="b", namespace="other"),
        run_event("START", run=RUNS[3], job="c", job_facets=FLINK),
        job_event(job="d", inputs=[dataset("x")]),
    )
    return server


def jobs(server: Server, **query: Any) -> list[str]:
    return [job["name"] for job in server.ask("/lineage/jobs", **query)]


def test_each_count_of_the_overview_is_as_long_as_the_list_behind_it(worked: Server) -> None:
    found = worked.ask("/overview")
    assert len(found["job_types"]) == 2
    for type_ in found["job_types"]:
        assert len(jobs(worked, type=type_["job_type"])) == type_["jobs"]
        for state in type_["states"]:
            assert len(jobs(worked, type=type_["job_type"], state=state["state"])) == state["jobs"]
    for state in found["states"]:
        assert len(jobs(worked, state=state["state"])) == state["jobs"]


def test_jobs_are_listed_by_type_state_and_globs_page_by_page(worked: Server) -> None:
    assert jobs(worked, state="fail") == ["a"]
    assert jobs(worked, type="job") == ["a", "d", "b"]
    assert jobs(worked, type="job", namespace="o*") == ["b"]
    assert jobs(worked, type="job", name="[ab]") == ["a", "b"]
    assert jobs(worked, type="job", name="[^a]") == ["d", "b"]
    assert jobs(worked, type="job", name="!a") == jobs(worked, name="!a") == []
    assert jobs(worked, type="job", limit=1, offset=1) == ["d"]
    # The offset counts all jobs, whatever their type.
    assert jobs(worked, type="job", limit=1, offset=2) == ["d"]
    link = worked.client.get("/api/v1/lineage/jobs", params={"type": "job", "limit": 2}).headers["link"]
    assert [job["name"] for job in worked.client.get(link.split(">")[0].lstrip("<")).json()] == ["b"]


def test_a_job_of_several_names_is_listed_once(worked: Server) -> None:
    ends = {"a": {"namespace": "jobs", "name": "a"}, "b": {"namespace": "other", "name": "b"}}
    answer = worked.client.post("/api/v1/operations/alias", json={"aliases": [{"entity": "job", **ends}]})
    assert answer.status_code == 202, answer.text
    worked.fold()
    assert sorted(jobs(worked, type="job")) == ["a", "d"]
    assert jobs(worked, type="job", name="b") == ["a"]
    assert jobs(worked, type="job", namespace="o*") == ["a"]


def test_a_page_of_jobs_is_looked_for_in_so_many_and_the_link_leads_on(worked: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "PORTION", 1)
    monkeypatch.setattr(overview, "MOST_JOBS", 2)
    found, address, pages = [], "/api/v1/lineage/jobs?type=job&limit=9", 0
    while address:
        answer = worked.client.get(address)
        found += [job["name"] for job in answer.json()]
        address, pages = answer.headers.get("link", "").partition(">")[0].lstrip("<"), pages + 1
    assert (found, pages) == (["a", "d", "b"], 3)


@pytest.mark.parametrize("query", [{"type": "cron"}, {"state": "tired"}])
def test_an_unknown_type_or_state_is_refused_with_the_known_ones(server: Server, query: dict[str, str]) -> None:
    answer = server.client.get("/api/v1/lineage/jobs", params=query)
    assert answer.status_code == 422
    assert "use one of" in answer.json()["detail"]


def test_lists_say_what_each_node_is_if_asked(worked: Server) -> None:
    found = {job["name"]: job["details"] for job in worked.ask("/lineage/jobs", details=True)}
    assert {name: (item["node_type"], item["state"]) for name, item in found.items()} == {
        "a": ("job", "fail"),
        "b": ("job", "complete"),
        "c": ("flink_job", "silent"),
        "d": ("job", "declared"),
    }
    assert [job["details"]["state"] for job in worked.ask("/lineage/jobs", details=True, state="fail")] == ["fail"]
    (x,) = worked.ask("/lineage/datasets", details=True)
    assert (x["details"]["node_type"], x["details"]["last_written"]) == ("external_dataset", format_time(T0))
    assert not any("details" in item for item in worked.ask("/lineage/datasets") + worked.ask("/lineage/jobs", state="fail"))
