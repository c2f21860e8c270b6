"""How many distinct keys a dataset has, in the ledger of a path."""

from typing import Any

import pytest
from tests.api.support import NOW, Server
from tests.events import RUNS, dataset, facet, run_event

from lineage_bridge.openlineage.times import format_time

MINUTE = 60_000_000


def metrics(**columns: float | None) -> dict[str, Any]:
    counts = {name: {"nullCount": 0} if count is None else {"distinctCount": count} for name, count in columns.items()}
    return facet(rowCount=128, columnMetrics=counts)


def load(minutes_ago: int, read: dict[str, Any], written: dict[str, Any], number: int = 0) -> bytes:
    """A run that counted values of what it read, as an input, and of what it wrote, as a dataset."""
    return run_event(
        run=RUNS[number],
        time_us=NOW - minutes_ago * MINUTE,
        inputs=[dataset("raw", access=("inputFacets", {"dataQualityMetrics": read}))],
        outputs=[dataset("orders", dataQualityMetrics=written)],
    )


def sides(server: Server, **which: Any) -> tuple[Any, Any]:
    (hop,) = server.ask("/graph/ledger", target_namespace="ns", target_name="orders", **which)["hops"]
    return hop["read"].get("distinct"), hop["written"].get("distinct")


def test_the_column_with_the_most_values_counts_as_it_was_stated_last(server: Server) -> None:
    server.send(load(30, metrics(id=90), metrics(id=70)), load(10, metrics(id=100, status=3), metrics(id=99, other=99, rest=None), 1))
    at = format_time(NOW - 10 * MINUTE)
    assert sides(server) == ({"column": "id", "count": 100, "at": at}, {"column": "id", "count": 99, "at": at})
    before: dict[str, Any] = {"since": format_time(NOW - 60 * MINUTE), "until": format_time(NOW - 20 * MINUTE)}
    at = format_time(NOW - 30 * MINUTE)
    assert sides(server, **before) == ({"column": "id", "count": 90, "at": at}, {"column": "id", "count": 70, "at": at})


def test_what_was_stated_outside_of_the_window_does_not_count(server: Server) -> None:
    server.send(load(90, metrics(id=90), metrics(id=70)))
    later: dict[str, Any] = {"since": format_time(NOW - 60 * MINUTE), "until": format_time(NOW)}
    assert sides(server, **later) == (None, None)


NO_COUNTS = metrics(id=-5, half=0.5, vast=1e300, beyond=2**63)


@pytest.mark.parametrize("stated", [metrics(), metrics(id=None), NO_COUNTS, facet(columnMetrics="many"), facet(_deleted=True)])
def test_no_number_is_made_up(server: Server, stated: dict[str, Any]) -> None:
    server.send(load(10, stated, stated))
    assert sides(server) == (None, None)


def test_a_limited_key_sees_the_numbers_of_its_own_datasets(server: Server) -> None:
    ours = run_event(
        run=RUNS[0],
        namespace="ours",
        time_us=NOW - MINUTE,
        inputs=[dataset("raw", "theirs", access=("inputFacets", {"dataQualityMetrics": metrics(id=5)}))],
        outputs=[dataset("orders", "ours", dataQualityMetrics=metrics(id=4))],
    )
    server.send(ours)
    client, key = server.asking_for_keys(), server.key("ours", "read", namespaces=("ours",))
    query = {"target_namespace": "ours", "target_name": "orders"}
    (hop,) = client.get("/api/v1/graph/ledger", params=query, headers=key).json()["hops"]
    assert "distinct" not in hop["read"]
    assert hop["written"]["distinct"]["count"] == 4
