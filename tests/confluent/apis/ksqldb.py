"""The servers of ksqlDB clusters: what each runs, in the shapes of ksqlDB's own API."""

from typing import TYPE_CHECKING

from tests.confluent.apis.messages import Answer, Request, error
from tests.confluent.organization.values import Json
from tests.sources.http import Request as Plain
from tests.sources.ksqldb.server import Ksql, Query, Relation, column

if TYPE_CHECKING:
    from tests.confluent.cloud import Cloud

HOST = "ksql-0:8088"
STATES = {"RUNNING": "RUNNING", "PAUSED": "PAUSED", "ERROR": "ERROR"}


def answer(cloud: "Cloud", request: Request) -> Answer:
    """A request below `ksql/{lksqlc}`."""
    id_, *rest = request.parts
    cluster = next((cluster for cluster in cloud.organization["ksqldb_clusters"] if cluster["id"] == id_), None)
    if cluster is None:
        return error(404, "HTTP 404 Not Found", "ksqldb")
    response = server(cluster)(
        Plain(request.method, tuple(rest), {key: values[-1] for key, values in request.query.items()}, request.body, request.headers)
    )
    return Answer(response.status, response.body, response.content_type)


def server(cluster: Json) -> Ksql:
    """A cluster's server."""
    relations = [
        Relation(
            relation["name"],
            relation["topic"],
            [
                column(each["name"], each["type"], key=each["key"], fields=[] if each["type"] == "STRUCT" else None)
                for each in relation["columns"]
            ],
            relation["type"],
            relation["statement"],
            relation["window"],
            readers=[query["id"] for query in cluster["queries"] if relation["name"] in query["sources"]],
            writers=[query["id"] for query in cluster["queries"] if relation["name"] in query["sinks"]],
            written={HOST: 1000},
        )
        for relation in cluster["relations"]
    ]
    queries = [
        Query(
            query["id"], query["text"], query["sources"], query["sinks"], {HOST: STATES[query["state"]]}, query["window"], query["errors"]
        )
        for query in cluster["queries"]
    ]
    return Ksql(relations, queries, service=cluster["service_id"], cluster=cluster["kafka_cluster"])
