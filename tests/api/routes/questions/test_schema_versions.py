"""Questions about schema versions, facets over time and the life of datasets over HTTP."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.events import RUNS, T0, dataset, facet, run_event, schema

from lineage_bridge.openlineage.times import format_time
from lineage_bridge.projections import timeline

HOUR = 3_600_000_000
B: dict[str, Any] = {"namespace": "ns", "name": "b"}


def wrote(hour: int, *names: str, **more: Any) -> bytes:
    return run_event("RUNNING", time_us=T0 + hour * HOUR, outputs=[dataset("b", schema=schema(*names, **more))])


def test_versions_and_their_difference(server: Server) -> None:
    server.send(wrote(0, "id", "x"), wrote(1, "id", "y"), wrote(2, "id", "y", type_="LONG"))
    answer = server.ask("/graph/schemas", **B)
    assert answer["evidence"] == "output"
    assert [[field["name"] for field in version["fields"]] for version in answer["versions"]] == [["id", "y"], ["id", "y"], ["id", "x"]]
    assert [version.get("current", False) for version in answer["versions"]] == [True, False, False]
    newest, middle, oldest = answer["versions"]
    assert (newest["first"]["at"], newest["jobs"]) == (format_time(T0 + 2 * HOUR), [{"namespace": "jobs", "name": "job"}])
    assert [v["version"] for v in server.ask("/graph/schemas", **B, limit=1, offset=1)["versions"]] == [middle["version"]]
    assert "fields" not in server.ask("/graph/schemas", **B, fields=False)["versions"][0]
    assert len(server.ask("/graph/schemas", **B, at=format_time(T0 + HOUR))["versions"]) == 2

    change = server.ask("/graph/schemas/diff", **B)
    assert (change["before"], change["after"], change["added"], change["removed"]) == (middle["version"], newest["version"], [], [])
    assert change["changed"] == [{"path": [name], "before": "INT", "after": "LONG"} for name in ("id", "y")]
    picked = server.ask("/graph/schemas/diff", **B, before=oldest["version"][:8], after=format_time(T0 + HOUR))
    assert (picked["added"], picked["removed"]) == ([{"path": ["y"], "type": "INT"}], [{"path": ["x"], "type": "INT"}])
    assert server.ask("/graph/schemas/diff", 404, **B, before="0" * 32)
    assert server.ask("/graph/schemas/diff", 422, **B, before="last week")
    assert server.ask("/graph/schemas/diff", 422, **B, before=format_time(T0 - 1))


def changes(server: Server, since: int = T0, **query: Any) -> list[tuple[str, int, list[str], list[str], list[str]]]:
    """Of each change: the dataset, the hour, and the names of the fields that were added, removed and changed."""
    answer = server.ask("/graph/schemas/changes", since=format_time(since), **query)
    hours = {format_time(T0 + hour * HOUR): hour for hour in range(10)}
    words = ("added", "removed", "changed")
    return [(c["dataset"]["name"], hours[c["at"]], *(["/".join(f["path"]) for f in c[word]] for word in words)) for c in answer["changes"]]


def test_the_latest_changes_of_schemas_of_all_datasets(server: Server) -> None:
    def other(hour: int, *names: str) -> bytes:
        return run_event("RUNNING", run=RUNS[1], job="j", time_us=T0 + hour * HOUR, outputs=[dataset("c", schema=schema(*names))])

    server.send(wrote(0, "id", "x"), other(0, "a"), run_event(run=RUNS[2], outputs=[dataset("steady", schema=schema("id"))]))
    assert changes(server) == []
    assert server.ask("/graph/schemas/changes")["exhaustive"] is True
    server.send(wrote(2, "id", "y"))
    server.send(other(3, "a", "b"))
    server.send(wrote(4, "id", "y", type_="LONG"))
    every = [("b", 4, [], [], ["id", "y"]), ("c", 3, ["b"], [], []), ("b", 2, ["y"], ["x"], [])]
    assert changes(server) == every
    assert changes(server, T0 + 3 * HOUR) == every[:2]
    assert changes(server, limit=2) == every[:2]
    assert server.ask("/graph/schemas/changes", since=format_time(T0), limit=2)["truncated"] is True
    assert server.ask("/graph/schemas/changes", since=format_time(T0))["truncated"] is False
    assert server.ask("/graph/schemas/changes", 422, since="last week")


def test_of_many_datasets_those_whose_schema_was_replaced_are_compared(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_DATASETS", 1)
    server.send(wrote(0, "id", "x"), wrote(1, "id"), run_event(run=RUNS[2], outputs=[dataset("steady", schema=schema("id"))]))
    assert (changes(server), server.ask("/graph/schemas/changes")["exhaustive"]) == ([], False)
    server.send(wrote(2, "id", "y"))
    assert [(name, hour) for name, hour, *_ in changes(server)] == [("b", 2), ("b", 1)]
    # Anybody may state a schema of a job, which is no dataset.
    for hour in (4, 5):
        server.send(run_event("RUNNING", run=RUNS[3], job="odd", time_us=T0 + hour * HOUR, job_facets={"schema": schema(f"c{hour}")}))
    assert [(name, hour) for name, hour, *_ in changes(server)] == [("b", 2), ("b", 1)]
    for hour in (1, 3):
        server.send(run_event("RUNNING", run=RUNS[1], time_us=T0 + hour * HOUR, outputs=[dataset("c", schema=schema(f"c{hour}"))]))
    answer = server.ask("/graph/schemas/changes", since=format_time(T0))
    assert [(c["dataset"]["name"], answer["truncated"]) for c in answer["changes"]] == [("c", True)]


def test_a_change_of_hundreds_of_fields_names_some_of_them(server: Server) -> None:
    server.send(wrote(0, "id"))
    server.send(wrote(1, "id", *(f"f{number:03}" for number in range(300))))
    ((_, _, added, removed, changed),) = changes(server)
    assert (added[0], len(added), removed, changed) == ("f000", 20, [], [])


def test_changes_are_found_under_every_name_of_a_dataset_once(server: Server) -> None:
    symlinks = facet(identifiers=[{"namespace": "ns", "name": "b", "type": "TABLE"}])
    server.send(wrote(0, "id"))
    server.send(run_event(run=RUNS[3], time_us=T0 + HOUR, outputs=[dataset("other", schema=schema("id", "x"), symlinks=symlinks)]))
    server.send(wrote(2, "id", "y"))
    assert [(hour, added, removed) for _, hour, added, removed, _ in changes(server)] == [(2, ["y"], ["x"]), (1, ["x"], [])]


def test_a_renamed_dataset_is_compared_with_its_earlier_name(server: Server) -> None:
    state = facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": "ns", "name": "old"})
    server.send(
        run_event(run=RUNS[1], outputs=[dataset("old", schema=schema("id"))]),
        run_event(time_us=T0 + HOUR, outputs=[dataset("b", schema=schema("id", "x"), lifecycleStateChange=state)]),
    )
    assert server.ask("/graph/schemas", **B)["renamed_from"] == [{"namespace": "ns", "name": "old"}]
    change = server.ask("/graph/schemas/diff", **B)
    assert (change["renamed"], change["added"]) == ([{"namespace": "ns", "name": "old"}], [{"path": ["x"], "type": "INT"}])
    (event,) = server.ask("/graph/life", **B)["life"]
    assert (event["change"], event["previous"], event["job"]["name"]) == ("RENAME", {"namespace": "ns", "name": "old"}, "job")
    assert server.ask("/graph/life", namespace="ns", name="old")["life"] == [event]


def test_a_single_version_has_no_difference(server: Server) -> None:
    server.send(wrote(0, "id"), run_event(inputs=[dataset("silent")]))
    assert server.ask("/graph/schemas/diff", 404, **B)
    assert server.ask("/graph/schemas/diff", 404, namespace="ns", name="silent")
    assert server.ask("/graph/schemas", namespace="ns", name="silent")["versions"] == []


def test_facets_over_time(server: Server) -> None:
    facets = [facet(description=text) for text in ("first", "second")]
    server.send(
        *(run_event(time_us=T0 + n * HOUR, inputs=[dataset("b", documentation=documentation)]) for n, documentation in enumerate(facets))
    )
    answer = server.ask("/graph/facets/history", **B, key="documentation")
    assert [version["facet"] for version in answer["history"]] == facets[::-1]
    assert [version["first"]["at"] for version in answer["history"]] == [format_time(T0 + HOUR), format_time(T0)]
    assert "facet" not in server.ask("/graph/facets/history", **B, key="documentation", texts=False)["history"][0]
    assert server.ask("/graph/facets/history", **B, key="sql")["history"] == []
