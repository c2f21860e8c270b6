"""Further places in OpenLineage events that carry text, and those that the second set's shapes of text are put into."""

import json
from collections.abc import Callable

from tests.openlineage.masking_benchmark.carriers import CARRIERS, TEXTS, Event, carry, event
from tests.openlineage.masking_benchmark.json_carriers import JSON
from tests.openlineage.masking_benchmark.templates import Shape

_FACET = {"_producer": "https://example.com/producer", "_schemaURL": "https://example.com/facet.json#/$defs/Facet"}
_DATASET = {"namespace": "kafka://broker.internal:9092", "name": "orders"}

MORE_TEXTS: dict[str, Callable[[str], Event]] = {
    "run: member's name": lambda text: event(run={"acme_context": {**_FACET, "counts": {text: 7}}}),
    "run: Python's repr in a string": lambda text: event(run={"acme_context": {**_FACET, "dump": repr({"note": text, "retries": 3})}}),
    "run: JSON in JSON in a string": lambda text: event(
        run={"acme_context": {**_FACET, "dump": json.dumps({"step": json.dumps({"note": text})})}}
    ),
    "run: unknown operator, properties": lambda text: event(
        run={
            "unknownSourceAttribute": {
                **_FACET,
                "unknownItems": [{"name": "LoadOperator", "type": "operator", "properties": {"task_id": "load", "command": text}}],
            }
        }
    ),
    "run: externalQuery": lambda text: event(run={"externalQuery": {**_FACET, "externalQueryId": text, "source": "shop"}}),
    "run: parent, job's name": lambda text: event(
        run={
            "parent": {
                **_FACET,
                "run": {"runId": "0198c0de-0000-7000-8000-000000000002"},
                "job": {"namespace": "shop", "name": text},
            }
        }
    ),
    "run: tags": lambda text: event(run={"tags": {**_FACET, "tags": [{"key": "note", "value": text}]}}),
    "run: spark.logicalPlan": lambda text: event(
        run={"spark.logicalPlan": {**_FACET, "plan": [{"class": "LogicalRelation", "num-children": 0, "relation": {"details": text}}]}}
    ),
    "job: name": lambda text: {**event(), "job": {"namespace": "shop", "name": text}},
    "job: namespace": lambda text: {**event(), "job": {"namespace": text, "name": "load-orders"}},
    "dataset: dataQualityAssertions": lambda text: event(
        inputs=[
            {
                **_DATASET,
                "inputFacets": {"dataQualityAssertions": {**_FACET, "assertions": [{"assertion": text, "success": False, "column": "id"}]}},
            }
        ]
    ),
    "dataset: version": lambda text: event(outputs=[{**_DATASET, "facets": {"version": {**_FACET, "datasetVersion": text}}}]),
    "dataset: columnLineage, input's name": lambda text: event(
        outputs=[
            {
                **_DATASET,
                "facets": {
                    "columnLineage": {
                        **_FACET,
                        "fields": {"id": {"inputFields": [{"namespace": "links", "name": text, "field": "id"}]}},
                    }
                },
            }
        ]
    ),
    "dataset: lifecycleStateChange, previous name": lambda text: event(
        outputs=[
            {
                **_DATASET,
                "facets": {
                    "lifecycleStateChange": {
                        **_FACET,
                        "lifecycleStateChange": "RENAME",
                        "previousIdentifier": {"namespace": "links", "name": text},
                    }
                },
            }
        ]
    ),
    "dataset: catalog": lambda text: event(
        outputs=[
            {**_DATASET, "facets": {"catalog": {**_FACET, "framework": "iceberg", "type": "jdbc", "name": "lake", "warehouseUri": text}}}
        ]
    ),
}

_ALL: dict[Shape, tuple[str, ...]] = {
    "T": (
        "run: Python's repr in a string",
        "run: JSON in JSON in a string",
        "run: tags",
        "run: member's name",
        "dataset: dataQualityAssertions",
    ),
    "Q": ("run: Python's repr in a string", "run: spark.logicalPlan", "run: unknown operator, properties", "run: JSON in JSON in a string"),
    "S": ("run: Python's repr in a string", "run: unknown operator, properties", "run: tags"),
    "C": ("run: Python's repr in a string", "run: JSON in JSON in a string"),
    "P": (),
    "U": (
        "run: externalQuery",
        "run: parent, job's name",
        "job: name",
        "job: namespace",
        "dataset: version",
        "dataset: columnLineage, input's name",
        "dataset: lifecycleStateChange, previous name",
        "dataset: catalog",
        "run: member's name",
    ),
    "A": (),
    "J": tuple(JSON),
}
SECOND_CARRIERS: dict[Shape, tuple[str, ...]] = {shape: (*CARRIERS[shape], *more) for shape, more in _ALL.items()}
"""Where each shape of the second set's texts is found."""


def carry_further(carrier: str, shape: Shape, text: str, setting: str = "") -> Event:
    """As `carry`, of the further places too."""
    if shape == "J":
        return JSON[carrier](json.loads(text))
    if carrier in MORE_TEXTS and carrier not in TEXTS:
        return MORE_TEXTS[carrier](text)
    return carry(carrier, shape, text, setting)
