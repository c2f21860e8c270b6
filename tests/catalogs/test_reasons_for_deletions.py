"""Each deletion says why: what has left the graph, and what is still there and not published any more."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import published
from tests.events import T0, dataset, job_event

FILTERED = "is left out by the target's filters"


def _deletions(ours: Server, **settings: Any) -> dict[str, str]:
    """Why each object is deleted after a change of the settings, by its name."""
    ours.targets.add("there", "files", settings, replace=True)
    report = published(ours, plan_only=True, prune=True)
    return {operation.name: operation.reason for operation in report.operations if operation.action == "delete"}


@pytest.fixture
def first(ours: Server) -> Server:
    ours.targets.add("there", "files", {"events": "jobs"}, replace=False)
    assert published(ours).outcomes == {"done": 4}
    return ours


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"exclude_namespaces": ["*"]}, {"clean", "load", "declared", "alone"}),
        ({"exclude_namespaces": ["ns"]}, {"alone"}),
        ({"systems": ["confluent"]}, {"clean", "load", "declared", "alone"}),
    ],
)
def test_what_a_filter_leaves_out(first: Server, settings: dict[str, Any], names: set[str]) -> None:
    assert _deletions(first, events="jobs", **settings) == dict.fromkeys(names, FILTERED)


def test_what_has_another_name_there(first: Server) -> None:
    assert _deletions(first, events="jobs", map_names={"clean": "washed"}) == {"clean": "is no longer in the graph under this name"}
    assert published(first, prune=True).outcomes == {"done": 2}
    mapped = {"map_names": {"clean": "washed"}, "exclude_namespaces": ["jobs"]}
    assert _deletions(first, events="jobs", **mapped) == dict.fromkeys(("washed", "load", "declared"), FILTERED)


def test_what_has_another_name_there_where_a_filter_is_set(first: Server) -> None:
    why = "is no longer in the graph under this name, or is left out by the target's filters"
    assert _deletions(first, events="jobs", map_names={"clean": "washed"}, namespaces=["*"]) == {"clean": why}


def test_a_dataset_that_a_job_names_now(first: Server) -> None:
    first.send(job_event("reader", time_us=T0 + 9, inputs=[dataset("alone")]))
    assert _deletions(first, events="jobs") == {"alone": "is described by the jobs that name it now"}


def test_what_cannot_be_expressed_any_more(first: Server) -> None:
    why = "can no longer be expressed there; counted as: datasets that no job reads or writes"
    assert _deletions(first, events="runs") == {"alone": why}
    assert _deletions(first, events="jobs", max_bytes=1024).items() >= {
        ("clean", "can no longer be expressed there; counted as: events that are too large")
    }
