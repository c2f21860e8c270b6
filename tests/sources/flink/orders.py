"""The pipeline whose answers are recorded: one statement set, from one topic to two."""

from typing import Any

from tests.sources.flink.stand import Stand, recorded

ORDERS, GEN, FINISHED, FAILED = (
    "72910c00e628d2f29f5bb5a54a3ff72b",
    "aafdfde8a5e05a3e66886b7342942027",
    "d52d90ca16d1acb3109fc58d084b5f0c",
    "02d4ffd3c92089889823ea8b63753c65",
)
START_MS = 1795219561838
NOW_US = 1795219609_000_000
READER, AGGREGATE = "e3dfc0d7e9ecd8a43f85f0b68ebf3b80", "c82105323f1a61713019c6d1da10336c"
SOURCE = "Source__KafkaSource-default_catalog_default_database_orders_src"
DDL = (
    (
        "CREATE TABLE orders_src (id INT, customer_id INT, amount DECIMAL(10,2), ts TIMESTAMP(3) METADATA FROM 'timestamp') WITH ("
        "'connector'='kafka','topic'='orders','properties.bootstrap.servers'='b1.example.com:9092','properties.group.id'='flink-orders',"
        "'format'='json')"
    ),
    (
        "CREATE TABLE orders_out (id INT, doubled DECIMAL(12,2)) WITH ("
        "'connector'='kafka','topic'='orders-doubled','properties.bootstrap.servers'='b1.example.com:9092','format'='json')"
    ),
    (
        "CREATE TABLE orders_agg (id INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ("
        "'connector'='upsert-kafka','topic'='orders-agg','properties.bootstrap.servers'='b1.example.com:9092')"
    ),
)
SCRIPT = """SET 'pipeline.name' = 'orders_pipeline';
EXECUTE STATEMENT SET BEGIN
INSERT INTO orders_out SELECT id, amount*2 FROM orders_src WHERE id > 1;
INSERT INTO orders_agg SELECT id, COUNT(*) FROM orders_src GROUP BY id;
END;
"""
TOPICS = "kafka://b1.example.com:9092"


def overview(*jids: str, **changes: Any) -> dict[str, Any]:
    """The list of jobs: of these, with `changes` to the first."""
    known = {job["jid"]: job for name in ("flink_jobs_overview_running", "flink_jobs_overview") for job in recorded(name)["jobs"]}
    jobs = [known[jid] for jid in jids]
    return {"jobs": [{**jobs[0], **changes}, *jobs[1:]] if jobs else []}


def answer_orders(stand: Stand, rows: int = 30) -> None:
    """What a JobManager says while the pipeline runs."""
    path = f"/jobs/{ORDERS}"
    stand.answers |= {
        "/overview": recorded("flink_overview"),
        "/jobs/overview": overview(ORDERS),
        "/jobmanager/config": [],
        path: recorded("flink_job"),
        f"{path}/config": recorded("flink_job_config"),
        f"{path}/exceptions": recorded("flink_job_exceptions"),
        f"{path}/checkpoints": recorded("flink_job_checkpoints"),
    }
    count(stand, rows)


def count(stand: Stand, rows: int, restarts: int = 0) -> None:
    """What the counters are after so many records."""
    path = f"/jobs/{ORDERS}"
    stand.metrics = {
        f"{path}/metrics": {"numRestarts": restarts},
        f"{path}/vertices/{READER}/subtasks/metrics": {
            f"{SOURCE}.numRecordsIn": rows,
            f"{SOURCE}.numRecordsOut": rows,
            f"{SOURCE}.numBytesIn": rows * 40,
            f"{SOURCE}.KafkaSourceReader.topic.orders.partition.0.currentOffset": rows,
            f"{SOURCE}.KafkaSourceReader.topic.orders.partition.1.currentOffset": 0,
            "orders_out[11]__Writer.numRecordsSend": rows - 10,
            "orders_out[11]__Writer.numBytesSend": (rows - 10) * 20,
            "orders_out[11]__Writer.numRecordsIn": rows - 10,
        },
        f"{path}/vertices/{AGGREGATE}/subtasks/metrics": {
            "orders_agg[15]__Writer.numRecordsSend": rows,
            "orders_agg[15]__Writer.numBytesSend": rows * 15,
        },
    }
