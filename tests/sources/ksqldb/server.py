"""A stand-in of a ksqlDB server, which cannot be had: it answers in the shapes of ksqlDB's published REST API, and refuses as it does."""

from dataclasses import dataclass, field
from typing import Any

from tests.sources.http import Reply, Request

TYPE = "application/vnd.ksql.v1+json"
HOST, OTHER_HOST = "ksql-1:8088", "ksql-2:8088"


def column(name: str, type_: str, *, key: bool = False, member: Any = None, fields: Any = None, **parameters: int) -> dict[str, Any]:
    """A column as DESCRIBE tells it."""
    schema = {"type": type_, "fields": fields, "memberSchema": member, **({"parameters": parameters} if parameters else {})}
    return {"name": name, "schema": schema, **({"type": "KEY"} if key else {})}


@dataclass
class Relation:
    """A stream or table."""

    name: str
    topic: str
    fields: list[dict[str, Any]]
    type: str = "STREAM"
    statement: str = ""
    window: str | None = None
    key_format: str = "KAFKA"
    writers: list[str] = field(default_factory=list)
    readers: list[str] = field(default_factory=list)
    written: dict[str, int] = field(default_factory=dict)
    """Host to messages that it wrote."""
    consumed: dict[str, int] = field(default_factory=dict)
    """Host to messages that it read."""
    offsets: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Group to topic to the committed offsets of its partitions."""

    def body(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "windowType": self.window,
            "readQueries": [{"id": name, "queryType": "PERSISTENT"} for name in self.readers],
            "writeQueries": [{"id": name, "queryType": "PERSISTENT"} for name in self.writers],
            "fields": self.fields,
            "type": self.type,
            "timestamp": "",
            "statistics": "",
            "errorStats": "",
            "extended": True,
            "keyFormat": self.key_format,
            "valueFormat": "JSON",
            "topic": self.topic,
            "partitions": 2,
            "replication": 1,
            "statement": self.statement,
            "queryOffsetSummaries": [
                {"groupId": group, "topicSummaries": [_offsets(topic, committed) for topic, committed in topics.items()]}
                for group, topics in self.offsets.items()
            ],
            "sourceConstraints": [],
            "clusterStatistics": [
                {"name": start + name, "host": host, "value": float(count), "timestamp": 1_700_000_000_000}
                for start, every, width in (("", self.written, 10), ("consumer-", self.consumed, 20))
                for host, messages in every.items()
                for name, count in (("total-messages", messages), ("total-message-bytes", messages * width), ("messages-per-sec", 1))
            ],
            "clusterErrorStats": [],
        }


def _offsets(topic: str, committed: list[int]) -> dict[str, Any]:
    return {
        "kafkaTopic": topic,
        "offsets": [
            {"partition": number, "logStartOffset": 0, "logEndOffset": at + 5, "consumerOffset": at} for number, at in enumerate(committed)
        ],
    }


@dataclass
class Query:
    """A query; `hosts` to its state there."""

    id: str
    text: str
    sources: list[str]
    sinks: list[str]
    hosts: dict[str, str] = field(default_factory=lambda: {HOST: "RUNNING"})
    window: str | None = None
    errors: list[str] = field(default_factory=list)
    type: str = "PERSISTENT"
    topology: str = "Topologies:\n   Sub-topology: 0\n"

    def body(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "statementText": self.text,
            "windowType": self.window,
            "fields": [],
            "sources": self.sources,
            "sinks": self.sinks,
            "topology": self.topology,
            "executionPlan": " > [ SINK ] | Schema: ...\n",
            "overriddenProperties": {},
            "ksqlHostQueryStatus": self.hosts,
            "queryType": self.type,
            "queryErrors": [
                {"timestamp": 1_700_000_000_000 + n, "errorMessage": error, "type": "USER"} for n, error in enumerate(self.errors)
            ],
            "tasksMetadata": [],
            "state": "ERROR" if "ERROR" in self.hosts.values() else "RUNNING",
        }


@dataclass
class Ksql:
    """The server's state."""

    relations: list[Relation] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    service: str = "default_"
    cluster: str = "c1"
    status: str = "RUNNING"

    def entities(self) -> list[dict[str, Any]]:
        """What the statements of an observer answer."""
        return [self._entity(f"SHOW {what} EXTENDED;") for what in ("STREAMS", "TABLES", "QUERIES")]

    def info(self) -> dict[str, Any]:
        return {
            "KsqlServerInfo": {
                "version": "7.9.0",
                "kafkaClusterId": self.cluster,
                "ksqlServiceId": self.service,
                "serverStatus": self.status,
            }
        }

    def __call__(self, request: Request) -> Reply:
        match (request.method, request.parts):
            case ("GET", ("info",)):
                return Reply(200, self.info(), TYPE)
            case ("GET", ("healthcheck",)):
                healthy = {"isHealthy": True}
                return Reply(200, {"isHealthy": True, "details": {"metastore": healthy, "kafka": healthy, "commandRunner": healthy}}, TYPE)
            case ("GET", ("clusterStatus",)):
                return Reply(200, {"clusterStatus": {HOST: {"hostAlive": True, "lastStatusUpdateMs": 1_700_000_000_000}}}, TYPE)
            case ("POST", ("ksql",)):
                return self._ksql(request)
        return Reply(404, {"@type": "generic_error", "error_code": 40400, "message": "HTTP 404 Not Found"}, TYPE)

    def _ksql(self, request: Request) -> Reply:
        if not request.headers.get("content-type", "").startswith(TYPE):
            return Reply(415, {"@type": "generic_error", "error_code": 41500, "message": "HTTP 415 Unsupported Media Type"}, TYPE)
        entities: list[dict[str, Any]] = []
        for statement in filter(None, (part.strip() for part in request.body["ksql"].split(";"))):
            if statement.upper() not in {f"SHOW {what} EXTENDED" for what in ("STREAMS", "TABLES", "QUERIES")}:
                message = f"line 1:1: Syntax error at or near '{statement.split()[-1]}'"
                return Reply(
                    400,
                    {"@type": "statement_error", "error_code": 40001, "message": message, "statementText": statement, "entities": entities},
                    TYPE,
                )
            entities.append(self._entity(statement.upper() + ";"))
        return Reply(200, entities, TYPE)

    def _entity(self, statement: str) -> dict[str, Any]:
        warnings = [{"message": text} for text in self.warnings]
        if "QUERIES" in statement:
            queries = [query.body() for query in self.queries]
            return {"@type": "query_descriptions", "statementText": statement, "queryDescriptions": queries, "warnings": warnings}
        kind = "STREAM" if "STREAMS" in statement else "TABLE"
        listed = [relation.body() for relation in self.relations if relation.type == kind]
        return {"@type": "source_descriptions", "statementText": statement, "sourceDescriptions": listed, "warnings": warnings}


def shop() -> Ksql:
    """A stream of orders, a table of customers, and a query that joins them."""
    orders = Relation(
        "ORDERS",
        "orders",
        [column("ID", "BIGINT", key=True), column("CUSTOMER", "STRING"), column("AMOUNT", "DECIMAL", precision=10, scale=2)],
        statement="CREATE STREAM ORDERS (ID BIGINT KEY, CUSTOMER STRING, AMOUNT DECIMAL(10, 2)) WITH (KAFKA_TOPIC='orders');",
        readers=["CSAS_RICH_3"],
    )
    customers = Relation(
        "CUSTOMERS", "customers", [column("NAME", "STRING", key=True), column("CITY", "STRING")], "TABLE", readers=["CSAS_RICH_3"]
    )
    rich = Relation(
        "RICH",
        "rich-orders",
        [column("CUSTOMER", "STRING", key=True), column("GROSS", "DECIMAL", precision=10, scale=2), column("CITY", "STRING")],
        writers=["CSAS_RICH_3"],
        written={HOST: 100, OTHER_HOST: 50},
        offsets={"_confluent-ksql-default_query_CSAS_RICH_3": {"orders": [100, 60], "customers": [7]}},
    )
    text = """CREATE STREAM RICH WITH (KAFKA_TOPIC='rich-orders', PARTITIONS=2, REPLICAS=1) AS SELECT
  O.CUSTOMER CUSTOMER,
  (O.AMOUNT * 1.2) GROSS,
  C.CITY CITY
FROM ORDERS O
INNER JOIN CUSTOMERS C ON ((O.CUSTOMER = C.NAME))
PARTITION BY O.CUSTOMER
EMIT CHANGES;"""
    return Ksql([orders, customers, rich], [Query("CSAS_RICH_3", text, ["ORDERS", "CUSTOMERS"], ["RICH"])])
