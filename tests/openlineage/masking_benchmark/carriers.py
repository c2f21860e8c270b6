"""The places in OpenLineage events that carry text: each puts a text, or a setting and its value, into an event."""

import json
from collections.abc import Callable
from typing import Any

from tests.openlineage.masking_benchmark.templates import Shape

Event = dict[str, Any]
Setting = tuple[str, str]

_PRODUCER = "https://example.com/producer"
_SCHEMA = "https://example.com/facet.json#/$defs/Facet"


def _facet(**members: Any) -> dict[str, Any]:
    return {"_producer": _PRODUCER, "_schemaURL": _SCHEMA, **members}


def _dataset(namespace: str = "kafka://broker.internal:9092", name: str = "orders", **facets: Any) -> dict[str, Any]:
    return {"namespace": namespace, "name": name, "facets": facets}


def event(
    *, run: Event | None = None, job: Event | None = None, inputs: list[Event] | None = None, outputs: list[Event] | None = None
) -> Event:
    """A valid event of a run with the facets and datasets."""
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-05T09:00:00Z",
        "producer": _PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "0198c0de-0000-7000-8000-000000000001", "facets": run or {}},
        "job": {"namespace": "shop", "name": "load-orders", "facets": job or {}},
        "inputs": inputs or [],
        "outputs": outputs or [],
    }


TEXTS: dict[str, Callable[[str], Event]] = {
    "job: sql": lambda text: event(job={"sql": _facet(query=text)}),
    "job: sourceCode": lambda text: event(job={"sourceCode": _facet(language="bash", sourceCode=text)}),
    "job: documentation": lambda text: event(job={"documentation": _facet(description=text)}),
    "job: sourceCodeLocation": lambda text: event(job={"sourceCodeLocation": _facet(type="git", url=text)}),
    "job: tags": lambda text: event(job={"tags": _facet(tags=[{"key": "note", "value": text, "source": "CONFIG"}])}),
    "job: ownership": lambda text: event(job={"ownership": _facet(owners=[{"name": text, "type": "MAINTAINER"}])}),
    "run: errorMessage, message": lambda text: event(run={"errorMessage": _facet(message=text, programmingLanguage="JAVA")}),
    "run: errorMessage, stackTrace": lambda text: event(
        run={
            "errorMessage": _facet(
                message="failed", programmingLanguage="JAVA", stackTrace=f"java.lang.Error: {text}\n\tat com.acme.Load.run(Load.java:7)"
            )
        }
    ),
    "run: extractionError": lambda text: event(
        run={"extractionError": _facet(totalTasks=1, failedTasks=1, errors=[{"errorMessage": text, "task": text, "taskNumber": 0}])}
    ),
    "run: airflow, bash_command": lambda text: event(
        run={"airflow": _facet(task={"task_id": "load", "bash_command": text}, dag={"dag_id": "shop"}, dagRun={"conf": {}})}
    ),
    "run: spark_properties, value": lambda text: event(run={"spark_properties": _facet(properties={"spark.app.comment": text})}),
    "run: environmentVariables, value": lambda text: event(
        run={"environmentVariables": _facet(environmentVariables=[{"name": "LOAD_NOTE", "value": text}])}
    ),
    "run: custom facet, nested": lambda text: event(run={"acme_context": _facet(layers=[{"steps": [{"note": text}]}])}),
    "run: JSON in a string": lambda text: event(run={"acme_context": _facet(dump=json.dumps({"step": {"note": text}, "retries": 3}))}),
    "dataset: documentation": lambda text: event(inputs=[_dataset(documentation=_facet(description=text))]),
    "dataset: schema, description": lambda text: event(
        inputs=[_dataset(schema=_facet(fields=[{"name": "id", "type": "BIGINT", "description": text}]))]
    ),
    "dataset: columnLineage, transformation": lambda text: event(
        outputs=[
            _dataset(
                columnLineage=_facet(
                    fields={
                        "id": {
                            "inputFields": [
                                {
                                    "namespace": "kafka://broker.internal:9092",
                                    "name": "orders",
                                    "field": "id",
                                    "transformations": [
                                        {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": text, "masking": False}
                                    ],
                                }
                            ]
                        }
                    }
                )
            )
        ]
    ),
    "dataset: dataSource, uri": lambda text: event(inputs=[_dataset(dataSource=_facet(name="shop", uri=text))]),
    "dataset: symlinks": lambda text: event(
        inputs=[_dataset(symlinks=_facet(identifiers=[{"namespace": "links", "name": text, "type": "LOCATION"}]))]
    ),
    "dataset: name": lambda text: event(inputs=[_dataset(namespace="links", name=text)]),
    "dataset: namespace": lambda text: event(outputs=[_dataset(namespace=text, name="orders")]),
    "output: custom facet": lambda text: event(outputs=[{**_dataset(), "outputFacets": {"acme_load": _facet(report={"lines": [text]})}}]),
}

SETTINGS: dict[str, Callable[[Setting], Event]] = {
    "run: spark_properties": lambda pair: event(run={"spark_properties": _facet(properties={"spark.master": "yarn", pair[0]: pair[1]})}),
    "run: environmentVariables": lambda pair: event(
        run={"environmentVariables": _facet(environmentVariables=[{"name": pair[0], "value": pair[1]}])}
    ),
    "run: airflow, params": lambda pair: event(
        run={"airflow": _facet(task={"task_id": "load", "params": {pair[0]: pair[1]}}, dag={"dag_id": "shop"}, dagRun={"conf": {}})}
    ),
    "job: connector configuration": lambda pair: event(job={"acme_connector": _facet(config={"tasks.max": "1", pair[0]: pair[1]})}),
    "run: custom facet, deep": lambda pair: event(run={"acme_context": _facet(layers=[{"steps": [{"settings": {pair[0]: pair[1]}}]}])}),
    "run: JSON in a string, member": lambda pair: event(
        run={"acme_context": _facet(dump=json.dumps({"step": {pair[0]: pair[1]}, "retries": 3}))}
    ),
    "run: list of keys and values": lambda pair: event(run={"acme_context": _facet(settings=[{"key": pair[0], "value": pair[1]}])}),
    "dataset: tags": lambda pair: event(inputs=[_dataset(tags=_facet(tags=[{"key": pair[0], "value": pair[1], "source": "CONFIG"}]))]),
    "input: custom facet": lambda pair: event(inputs=[{**_dataset(), "inputFacets": {"acme_scan": _facet(options={pair[0]: pair[1]})}}]),
}

LISTS: dict[str, Callable[[list[str]], Event]] = {
    "run: airflow, list of arguments": lambda words: event(
        run={"airflow": _facet(task={"task_id": "load", "arguments": words}, dag={"dag_id": "shop"}, dagRun={"conf": {}})}
    ),
    "run: custom facet, list": lambda words: event(run={"acme_context": _facet(command={"argv": words})}),
}

_PROSE = (
    "job: documentation",
    "job: tags",
    "run: errorMessage, message",
    "run: errorMessage, stackTrace",
    "run: extractionError",
    "run: custom facet, nested",
    "run: JSON in a string",
    "dataset: documentation",
    "dataset: schema, description",
    "output: custom facet",
)
_CODE = (
    "job: sourceCode",
    "job: documentation",
    "run: errorMessage, message",
    "run: airflow, bash_command",
    "run: custom facet, nested",
    "run: JSON in a string",
)
CARRIERS: dict[Shape, tuple[str, ...]] = {
    "T": _PROSE,
    "Q": (
        "job: sql",
        "job: sourceCode",
        "run: errorMessage, message",
        "run: extractionError",
        "run: JSON in a string",
        "dataset: columnLineage, transformation",
    ),
    "S": _CODE,
    "C": (*_CODE, "run: environmentVariables, value", "run: spark_properties, value"),
    "P": tuple(SETTINGS),
    "U": (
        "dataset: name",
        "dataset: namespace",
        "dataset: dataSource, uri",
        "dataset: symlinks",
        "job: sourceCodeLocation",
        "job: ownership",
        "run: errorMessage, message",
        "run: spark_properties, value",
        "run: environmentVariables, value",
        "run: custom facet, nested",
    ),
    "A": tuple(LISTS),
    "J": (),
}
"""Where each shape of text is found."""


def carry(carrier: str, shape: Shape, text: str, setting: str = "") -> Event:
    """An event with the text in the carrier. Of the shape `A`, the text's arguments are separated by ` | `."""
    if shape == "P":
        return SETTINGS[carrier]((setting, text))
    return LISTS[carrier](text.split(" | ")) if shape == "A" else TEXTS[carrier](text)
