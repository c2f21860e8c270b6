"""OpenMetadata by its entities: edges and pipelines that belong to others, or that somebody changed."""

from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.places import Place
from tests.catalogs.targets.openmetadata.conftest import WAREHOUSE, edge_of, put_edge, server_of
from tests.events import RUNS, dataset, facet, job_event, run_event


def test_an_edge_of_somebody_else_is_left_as_it_is_and_the_job_becomes_a_node(ours: Server, there: Place) -> None:
    server = server_of(there)
    theirs = {"source": "DbtLineage", "sqlQuery": "select 1", "columnsLineage": [], "description": "theirs"}
    put_edge(server, "a", "b", **theirs)
    report = published(ours)
    assert report.outcomes == {"done": 3}
    assert report.not_expressible["columns between datasets whose lineage in OpenMetadata is not the job's"] == 1
    assert edge_of(server, "a", "b") == theirs
    assert server.edges() == EDGES
    assert published(ours).counts == {}
    added(ours, there, exclude_namespaces=["*"])
    assert published(ours, prune=True).outcomes == {"done": 3}
    assert list(server.lineage.values()) == [theirs]


def test_an_edge_that_somebody_takes_over_is_drift_and_is_never_taken_back(ours: Server, there: Place) -> None:
    server = server_of(there)
    published(ours)
    put_edge(server, "a", "b", source="QueryLineage")
    report = published(ours)
    assert ([(found.name, found.finding) for found in report.drift], report.counts) == ([("clean", "was changed there")], {})
    assert published(ours, overwrite=True).counts == {"update": 1}
    assert edge_of(server, "a", "b") == {"source": "QueryLineage"}
    assert server.edges() == EDGES
    again = published(ours)
    assert (again.counts, again.drift) == ({}, [])


def test_an_edge_that_is_made_while_the_job_is_written_is_not_replaced(ours: Server, there: Place) -> None:
    server = server_of(there)
    server.meanwhile = lambda: put_edge(server, "a", "b", source="QueryLineage")
    report = published(ours)
    assert report.outcomes == {"done": 2, "failed": 1}
    assert "somebody has made the edge" in report.error
    assert edge_of(server, "a", "b") == {"source": "QueryLineage"}
    assert published(ours).outcomes == {"done": 1}
    assert server.edges() == EDGES


def test_two_jobs_between_the_same_datasets_have_one_edge_and_one_is_a_node(ours: Server, there: Place) -> None:
    ours.send(job_event("cleans again", inputs=[dataset("a")], outputs=[dataset("b")]))
    assert published(ours).outcomes == {"done": 4}
    server = server_of(there)
    assert server.edges() == EDGES | {("cleans again", "a", "b")}
    owner = edge_of(server, "a", "b")
    assert owner
    assert published(ours).counts == {}
    added(ours, there, exclude_namespaces=["jobs"])
    assert published(ours, prune=True).outcomes == {"done": 4}
    assert server.lineage == {}


def test_what_others_wrote_on_an_edge_of_ours_stays_when_it_changes(ours: Server, there: Place) -> None:
    published(ours)
    server = server_of(there)
    edge = edge_of(server, "a", "b")
    assert edge
    edge["description"] = "what a user wrote"
    ours.send(
        run_event(run=RUNS[4], job="clean", job_facets={"sql": facet(query="SELECT 2")}, inputs=[dataset("a")], outputs=[dataset("b")])
    )
    assert published(ours).counts == {"update": 1}
    changed = edge_of(server, "a", "b")
    assert changed
    assert (changed["description"], changed["sqlQuery"]) == ("what a user wrote", "SELECT 2")


def test_an_edge_that_somebody_removed_is_drift(ours: Server, there: Place) -> None:
    ours.send(job_event("many", inputs=[dataset("a"), dataset("b")], outputs=[dataset("d"), dataset("e")]))
    published(ours)
    server = server_of(there)
    ids = {made["fullyQualifiedName"]: id_ for id_, made in server.entities.items()}
    del server.lineage[ids[WAREHOUSE + "a"], ids[WAREHOUSE + "d"]]
    assert [(found.name, found.finding) for found in published(ours).drift] == [("many", "was changed there")]
    assert published(ours, overwrite=True).counts == {"update": 1}
    assert ("many", "a", "d") in server.edges()


def test_an_edge_of_ours_that_somebody_makes_anew_is_drift(ours: Server, there: Place) -> None:
    server = server_of(there)
    published(ours)
    edge = edge_of(server, "a", "b")
    assert edge
    edge["source"] = "Manual"
    report = published(ours)
    assert ([(found.name, found.finding) for found in report.drift], report.counts) == ([("clean", "was changed there")], {})
    added(ours, there, exclude_namespaces=["*"])
    left = published(ours, prune=True)
    assert (left.outcomes, [found.name for found in left.drift]) == ({"done": 2}, ["clean"])
    assert edge_of(server, "a", "b") == edge
    added(ours, there)
    assert published(ours, overwrite=True).counts == {"create": 2, "update": 1}
    assert edge_of(server, "a", "b") == {**edge, "source": "OpenLineage"}
    assert published(ours).counts == {}


def test_an_edge_that_a_user_draws_to_a_pipeline_of_ours_is_drift_and_stays(ours: Server, there: Place) -> None:
    server = server_of(there)
    published(ours)
    pipeline = next(id_ for id_, made in server.entities.items() if made["displayName" if made["type"] == "pipeline" else "id"] == "clean")
    table = server.put("table", WAREHOUSE + "users_own")
    server.lineage[table["id"], pipeline] = {"source": "Manual"}
    added(ours, there, exclude_namespaces=["*"])
    report = published(ours, prune=True)
    assert ([(found.name, found.finding) for found in report.drift], report.outcomes) == ([("clean", "was changed there")], {"done": 2})
    assert server.lineage[table["id"], pipeline] == {"source": "Manual"}
