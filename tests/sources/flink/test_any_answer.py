"""Answers of any shape: the poll fails as a whole with an error of its own, or tells what it could not see, and never more than that."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sources.flink.orders import DDL, FAILED, NOW_US, ORDERS, answer_orders, overview
from tests.sources.flink.stand import Stand, recorded, standing

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.flink.observer import FlinkObserver
from lineage_bridge.sources.flink.settings import FlinkSettings

LEAF = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "x", "RUNNING", "NaN", "72910c00e628d2f29f5bb5a54a3ff72b"])
JSON = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "jobs", "x"]), inner, max_size=2)
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all that is inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner_path for key, dataset in inner for inner_path in places(dataset, (*path, key)))]


def put(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """The value with another at a place."""
    if not path:
        return other
    made = copy.copy(value)
    made[path[0]] = put(value[path[0]], path[1:], other)
    return made


def recorded_answers(stand: Stand) -> dict[str, Any]:
    """A running job and one that failed."""
    answer_orders(stand)
    for vertex, sums in list(stand.metrics.items()):
        stand.answers[vertex] = [{"id": id_, "sum": count, "value": str(count)} for id_, count in sums.items()]
    failed = {f"/jobs/{FAILED}": "flink_job_failed", f"/jobs/{FAILED}/exceptions": "flink_job_exceptions_failed"}
    stand.answers |= {path: recorded(name) for path, name in failed.items()}
    stand.answers["/jobs/overview"] = overview(ORDERS, FAILED)
    return dict(stand.answers)


@pytest.fixture(scope="module")
def one_stand() -> Iterator[Stand]:
    with standing() as started:
        yield started


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_any_answer_is_answered_for(one_stand: Stand, data: st.DataObject):
    answers = recorded_answers(one_stand)
    path = data.draw(st.sampled_from(sorted(answers)))
    path_inside = data.draw(st.sampled_from(places(answers[path])))
    observer = FlinkObserver("flink", FlinkSettings(url=one_stand.url, init_sql=DDL, timeout_s=2))
    before = observer.observe(None, NO_METADATA, NOW_US).snapshot if data.draw(st.booleans()) else None
    one_stand.answers[path] = put(answers[path], path_inside, data.draw(JSON))
    try:
        seen = observer.observe(before, NO_METADATA, NOW_US)
    except SourceError:
        return
    finally:
        observer.close()
    assert encode({"": list(seen.events), "snapshot": dict(seen.snapshot)})
