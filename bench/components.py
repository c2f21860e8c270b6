"""Events of graphs that consist of alike components, in which the same questions have answers of the same size at every size of the graph.

A component has ten layers of nine jobs. Each job writes one table, and reads two of the layer before; those of the first layer read one
source. So 90 jobs and 91 tables are downstream of the source. Tables have ten columns, each derived from two.
"""

from collections.abc import Iterator
from typing import Final
from uuid import UUID

from lineage_bridge.openlineage.times import format_time

LAYERS: Final = 10
WIDTH: Final = 9
JOBS: Final = LAYERS * WIDTH
NODES: Final = 2 * JOBS + 1
"""How many nodes are downstream of a component's source, with itself."""
COLUMNS: Final = 10
NAMESPACE: Final = "s3://components"
FIRST_US: Final = 1_767_225_600_000_000
RUN_US: Final = 3_600_000_000
_FACET: Final = '"_producer":"https://example.org/bench","_schemaURL":"https://openlineage.io/spec/facets/{}.json"'
_NOUNS: Final = ("orders", "customers", "payments", "shipments", "sessions", "inventory", "returns", "pricing", "invoices")
_VERBS: Final = ("load", "clean", "join", "enrich", "aggregate", "score", "publish")


def source_name(component: int) -> str:
    """The name of the table that a component begins with."""
    return f"c{component:05d}/source"


def table_name(component: int, layer: int, number: int) -> str:
    """The name of the table that a job writes."""
    return f"c{component:05d}/l{layer:02d}/{_NOUNS[number]}"


def job_name(component: int, layer: int, number: int) -> str:
    """The name of a job."""
    return f"c{component:05d}.l{layer:02d}.{_VERBS[layer % len(_VERBS)]}_{_NOUNS[number]}"


def events(jobs: int) -> Iterator[bytes]:
    """START and COMPLETE of one run of each job of as many whole components as `jobs` fill."""
    for component in range(jobs // JOBS):
        for layer in range(LAYERS):
            for number in range(WIDTH):
                run = (component * LAYERS + layer) * WIDTH + number + 1
                for event, at_us in (("START", FIRST_US), ("COMPLETE", FIRST_US + RUN_US)):
                    yield _event(event, at_us, run, component, layer, number)


def _inputs(component: int, layer: int, number: int) -> list[str]:
    if layer == 0:
        return [source_name(component)]
    return [table_name(component, layer - 1, (number + step) % WIDTH) for step in range(2)]


def _event(event: str, at_us: int, run: int, component: int, layer: int, number: int) -> bytes:
    inputs, is_complete = _inputs(component, layer, number), event == "COMPLETE"
    columns = f',"columnLineage":{_columns(inputs)}' if is_complete else ""
    output = _dataset(table_name(component, layer, number), columns)
    job = job_name(component, layer, number)
    facets = f'"jobType":{{{_FACET.format("2-0-3/JobTypeJobFacet")},"processingType":"BATCH","integration":"SPARK","jobType":"JOB"}}'
    return (
        f'{{"eventType":"{event}","eventTime":"{format_time(at_us)}","run":{{"runId":"{UUID(int=run, version=4)}","facets":{{'
        f'"processing_engine":{{{_FACET.format("1-1-1/ProcessingEngineRunFacet")},"version":"3.5.1","name":"spark"}}}}}},'
        f'"job":{{"namespace":"components","name":"{job}","facets":{{{facets}}}}},"inputs":[{",".join(map(_dataset, inputs))}],'
        f'"outputs":[{output}],"producer":"https://example.org/bench","schemaURL":"https://example.org/bench"}}'
    ).encode()


def _dataset(name: str, facets: str = "") -> str:
    fields = ",".join(f'{{"name":"c{column}","type":"BIGINT","description":"column {column}"}}' for column in range(COLUMNS))
    schema = f'"schema":{{{_FACET.format("1-1-1/SchemaDatasetFacet")},"fields":[{fields}]}}'
    return f'{{"namespace":"{NAMESPACE}","name":"{name}","facets":{{{schema}{facets}}}}}'


def _columns(inputs: list[str]) -> str:
    def sources(column: int) -> str:
        return ",".join(
            f'{{"namespace":"{NAMESPACE}","name":"{name}","field":"c{(column + step) % COLUMNS}"}}' for step, name in enumerate(inputs)
        )

    fields = ",".join(f'"c{column}":{{"inputFields":[{sources(column)}]}}' for column in range(COLUMNS))
    return f'{{{_FACET.format("1-2-0/ColumnLineageDatasetFacet")},"fields":{{{fields}}}}}'
