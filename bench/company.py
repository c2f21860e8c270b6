"""The made-up company of the generated events: its datasets and jobs, with the JSON text that its events repeat."""

import json
from dataclasses import dataclass
from functools import cached_property
from random import Random

PRODUCER = "https://acme.example/etl/1.4"
_SPEC = "https://openlineage.io/spec/facets"
_NAMESPACES = (
    "postgres://db1:5432",
    "postgres://db2:5432",
    "kafka://broker1:9092",
    "snowflake://acme",
    "s3://lake-raw",
    "s3://lake",
    "bigquery",
)
_JOB_NAMESPACES = ("spark-etl", "dbt-finance", "airflow-core", "flink-orders", "ingest")
_NOUNS = ("order", "customer", "payment", "click", "stock", "price", "parcel", "invoice", "refund", "session", "device", "region")
_FIELDS = ("id", "key", "amount", "status", "created_at", "updated_at", "country", "email")
_FIELDS_TOO = ("channel", "total", "quantity", "currency", "discount", "source_id", "kind", "note")
_TYPES = ("bigint", "string", "decimal(18,2)", "timestamp", "int", "boolean")


def compact(value: object) -> str:
    """JSON without spaces."""
    return json.dumps(value, separators=(",", ":"))


def facet(kind: str, **members: object) -> dict[str, object]:
    """A facet with the two members every facet has."""
    return {"_producer": PRODUCER, "_schemaURL": f"{_SPEC}/1-0-0/{kind}.json", **members}


@dataclass(frozen=True)
class Table:
    """One dataset: its name and 6 to 12 fields."""

    namespace: str
    name: str
    fields: tuple[tuple[str, str], ...]

    @cached_property
    def head(self) -> str:
        """The members that name it, without the braces."""
        return f'"namespace":{compact(self.namespace)},"name":{compact(self.name)}'

    @cached_property
    def schema(self) -> str:
        """Its schema facet."""
        return compact(facet("SchemaDatasetFacet", fields=[{"name": name, "type": type_} for name, type_ in self.fields]))

    @cached_property
    def as_input(self) -> str:
        """The input that a starting run names."""
        return f'{{{self.head},"facets":{{"schema":{self.schema}}}}}'


@dataclass(frozen=True)
class Work:
    """One job: 1 to 3 inputs, mostly one output, 8 to 16 column pairs an output."""

    namespace: str
    name: str
    streaming: bool
    inputs: tuple[Table, ...]
    outputs: tuple[Table, ...]
    pairs: tuple[tuple[tuple[str, Table, str], ...], ...]
    parent: str

    @cached_property
    def text(self) -> str:
        """The job member of its events."""
        processing = "STREAMING" if self.streaming else "BATCH"
        kind = facet("JobTypeJobFacet", processingType=processing, integration="SPARK", jobType="SQL_JOB")
        members = {"namespace": self.namespace, "name": self.name, "facets": {"jobType": kind}}
        if not self.streaming:
            members["facets"] = {"jobType": kind, "sql": facet("SQLJobFacet", query=self._query())}
        return compact(members)

    def _query(self) -> str:
        output, source = self.outputs[0], self.inputs[0]
        columns = ", ".join(name for name, _ in output.fields[:5])
        return f"INSERT INTO {output.name} SELECT {columns} FROM {source.name}"

    @cached_property
    def started(self) -> str:
        """The inputs member of a starting run."""
        return "[" + ",".join(table.as_input for table in self.inputs) + "]"

    @cached_property
    def bare(self) -> str:
        """The inputs by name alone."""
        return "[" + ",".join(f"{{{table.head}}}" for table in self.inputs) + "]"

    @cached_property
    def going(self) -> tuple[str, ...]:
        """Each output of a run that goes on, up to where its statistics follow."""
        return tuple(f"{{{table.head}" for table in self.outputs)

    @cached_property
    def done(self) -> tuple[str, ...]:
        """Each output of a run that ends, up to where its statistics follow."""
        return tuple(
            f'{{{table.head},"facets":{{"schema":{table.schema},"columnLineage":{self._columns(pairs)}}}'
            for table, pairs in zip(self.outputs, self.pairs, strict=True)
        )

    def _columns(self, pairs: tuple[tuple[str, Table, str], ...]) -> str:
        fields: dict[str, dict[str, list[dict[str, str]]]] = {}
        for target, table, source in pairs:
            named = {"namespace": table.namespace, "name": table.name, "field": source}
            fields.setdefault(target, {"inputFields": []})["inputFields"].append(named)
        return compact(facet("ColumnLineageDatasetFacet", fields=fields))


@dataclass(frozen=True)
class Company:
    """All datasets and jobs; names begin with `prefix`."""

    tables: tuple[Table, ...]
    works: tuple[Work, ...]
    streams: tuple[Work, ...]


def make_company(random: Random, *, datasets: int, jobs: int, streams: int, prefix: str) -> Company:
    """A company of this size; `streams` of its jobs are streaming jobs."""
    tables = tuple(_table(random, f"{prefix}{number}") for number in range(max(datasets, 2)))
    works = tuple(_work(random, f"{prefix}{number}", tables, streaming=number < streams) for number in range(max(jobs, streams + 1)))
    return Company(tables, works[streams:], works[:streams])


def _table(random: Random, number: str) -> Table:
    name = f"{random.choice(_NOUNS)}s.t{number}"
    fields = random.sample(_FIELDS + _FIELDS_TOO, random.randint(6, 12))
    return Table(random.choice(_NAMESPACES), name, tuple((field, random.choice(_TYPES)) for field in fields))


def _work(random: Random, number: str, tables: tuple[Table, ...], *, streaming: bool) -> Work:
    chosen = list({id(table): table for table in random.choices(tables, k=random.choices((2, 3, 4), (6, 3, 1))[0])}.values())
    outputs = tuple(chosen[:1])
    inputs = tuple(chosen[1:]) or (random.choice(tables),)
    pairs = tuple(_pairs(random, output, inputs) for output in outputs)
    name = f"{'stream' if streaming else 'load'}_{outputs[0].name.split('.')[1]}_{number}"
    return Work(random.choice(_JOB_NAMESPACES), name, streaming, inputs, outputs, pairs, f"dag_{random.choice(_NOUNS)}_{number[:-1] or 0}")


def _pairs(random: Random, output: Table, inputs: tuple[Table, ...]) -> tuple[tuple[str, Table, str], ...]:
    """8 to 16 column pairs, each field of the output at most a few times."""
    found: dict[tuple[str, int, str], tuple[str, Table, str]] = {}
    count = random.randint(8, 16)
    while len(found) < count:
        source = random.choice(inputs)
        pair = random.choice(output.fields)[0], source, random.choice(source.fields)[0]
        found[pair[0], id(source), pair[2]] = pair
    return tuple(found.values())
