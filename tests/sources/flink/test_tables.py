"""DDL to datasets and columns, and statements to the jobs they start."""

import pytest

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.flink.formats import of_topic
from lineage_bridge.sources.common.flink.tables import read_declarations
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, ClusterMetadata, SharedMetadata
from lineage_bridge.sql.jobs import jobs_of
from lineage_bridge.sql.script import FLINK, StreamingScript

ID, AMOUNT = SchemaField("id", "INT"), SchemaField("amount", "DECIMAL(10, 2)")
DEFAULT = ("default_catalog", "default_database")
TABLE = (*DEFAULT, "t")


def kafka(name: str, **options: str) -> str:
    all_options = {"connector": "kafka", "properties.bootstrap.servers": "b2:9092", **options}
    written = ", ".join(f"'{key}' = '{value}'" for key, value in all_options.items())
    return f"CREATE TABLE {name} (id INT, amount DECIMAL(10,2)) WITH ({written});"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"topic": "a"}, {"a"}),
        ({"topic": "a;b"}, {"a", "b"}),
        ({"topic-pattern": "sales\\..*"}, {"sales.de", "sales.fr"}),
        ({"topic-pattern": "("}, set()),
    ],
)
def test_topics_of_a_table(options: dict[str, str], expected: set[str]):
    topics = frozenset({"sales.de", "sales.fr", "salesmen"})
    around = SharedMetadata((ClusterMetadata("one", "kafka://b1:9092", frozenset({"b1:9092", "b2:9092"}), topics),))
    table = read_declarations(kafka("t", **options), ()).table(TABLE)

    assert table is not None
    assert set(table.datasets(around)) == {("kafka://b1:9092", name) for name in expected}


@pytest.mark.parametrize(
    ("options", "columns", "called"),
    [
        ({"format": "json"}, (ID, AMOUNT), {}),
        (
            {"key.format": "json", "key.fields": "id", "value.format": "json", "value.fields-include": "EXCEPT_KEY"},
            (AMOUNT, SchemaField("_key", "record", fields=(ID,))),
            {"id": "_key.id"},
        ),
        ({"key.format": "json", "key.fields": "id", "value.format": "json"}, (ID, AMOUNT), {}),
        (
            {"key.format": "raw", "key.fields": "id", "value.format": "raw", "value.fields-include": "EXCEPT_KEY"},
            (SchemaField("_value", "DECIMAL(10, 2)"), SchemaField("_key", "INT")),
            {"id": "_key", "amount": "_value"},
        ),
        (
            {"format": "debezium-json"},
            (SchemaField("before", "record", fields=(ID, AMOUNT)), SchemaField("after", "record", fields=(ID, AMOUNT))),
            {"id": "after.id", "amount": "after.amount"},
        ),
    ],
)
def test_where_columns_lie_in_records(options: dict[str, str], columns: tuple[SchemaField, ...], called: dict[str, str]):
    found, names = of_topic((ID, AMOUNT), options)

    assert found == columns
    assert dict(names) == called


def test_a_table_that_scripts_define_otherwise_is_known_to_their_own_jobs_only():
    first, other, same = (kafka("t", topic=topic) for topic in ("a", "b", "a"))
    insert = "INSERT INTO t SELECT * FROM s;"

    assert read_declarations("", (first, same)).table(TABLE) is not None
    both = read_declarations("", (first + insert, other + insert))
    assert both.table(TABLE) is None
    assert [path.tables[TABLE].topics for ones in both.named.values() for path in ones] == [("a",), ("b",)]


def test_a_table_by_its_last_part():
    two = read_declarations(kafka("a.b.t", topic="x") + kafka("c.d.t", topic="y") + kafka("a.b.u", topic="z"), ())

    assert two.table(("t",)) is None
    assert two.table(("u",)) == two.table(("a", "b", "u"))
    assert two.table(("u",)) is not None


def test_the_jobs_of_a_script():
    script = """
        SET 'pipeline.name' = 'first';
        CREATE TABLE made WITH ('connector' = 'kafka') AS SELECT * FROM a;
        EXECUTE STATEMENT SET BEGIN INSERT INTO x SELECT * FROM a; INSERT INTO y SELECT * FROM b; END;
        RESET 'pipeline.name';
        USE CATALOG lake;
        USE sales;
        BEGIN STATEMENT SET; INSERT INTO x SELECT * FROM a; INSERT INTO c.d.z VALUES (1); END;
        SELECT * FROM a;
        INSERT INTO x SELECT * FROM 'never closed
    """
    jobs = list(jobs_of(StreamingScript(FLINK), script))

    assert [job.name for job in jobs] == ["first", "first", "insert-into_lake.sales.x,c.d.z", "insert-into_lake.sales.x"]
    assert jobs[1].reads == {("x",): (("a",),), ("y",): (("b",),)}
    assert jobs[1].text == "EXECUTE STATEMENT SET BEGIN\nINSERT INTO x SELECT * FROM a;\nINSERT INTO y SELECT * FROM b;\nEND"
    assert jobs[2].tables == (frozenset({("lake", "sales", "a")}), frozenset({("lake", "sales", "x"), ("c", "d", "z")}))
    assert jobs[3].lineage.errors


@pytest.mark.parametrize(
    ("name", "read", "written", "expected"),
    [
        ("first", ["a"], ["x"], ["first x"]),
        ("first", ["b"], ["y"], ["first y"]),
        ("first", ["else"], ["y"], []),
        ("other", ["a"], ["z"], ["other z"]),
        ("other", ["a"], [], ["other z"]),
        ("other", ["unknown"], [], []),
        ("renamed", ["a"], ["z"], ["other z"]),
        ("renamed", [], [], []),
    ],
)
def test_the_statement_that_a_job_was_started_from(name: str, read: list[str], written: list[str], expected: list[str]):
    """Two jobs have one name: then the tables decide. One alone is found by its name, or where no name fits by its tables."""
    script = """SET 'pipeline.name' = 'first'; INSERT INTO x SELECT * FROM a; INSERT INTO y SELECT * FROM b;
        SET 'pipeline.name' = 'other'; INSERT INTO z SELECT * FROM a;"""
    found = read_declarations("", (script,)).origins(name, [(*DEFAULT, table) for table in read], [(table,) for table in written])

    assert [f"{name.job.name} {next(iter(name.job.reads))[0]}" for name in found] == expected


def test_a_topic_without_its_servers_is_none():
    table = read_declarations("CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'topic' = 'a');", ()).table(TABLE)

    assert table is not None
    assert table.datasets(NO_METADATA) == ()
