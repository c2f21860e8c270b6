"""Places in OpenLineage events that carry a JSON value of any form, as it is or as text."""

import json
from collections.abc import Callable
from typing import Any

from tests.openlineage.masking_benchmark.carriers import Event, event

_FACET = {"_producer": "https://example.com/producer", "_schemaURL": "https://example.com/facet.json#/$defs/Facet"}

JSON: dict[str, Callable[[Any], Event]] = {
    "run: custom facet, JSON": lambda value: event(run={"acme_context": {**_FACET, "state": value}}),
    "run: airflow, op_kwargs": lambda value: event(
        run={
            "airflow": {
                **_FACET,
                "task": {"task_id": "load", "op_kwargs": {"settings": value}},
                "dag": {"dag_id": "shop"},
                "dagRun": {"conf": {}},
            }
        }
    ),
    "run: custom facet, JSON as text": lambda value: event(run={"acme_context": {**_FACET, "dump": json.dumps(value)}}),
    "run: custom facet, indented JSON as text": lambda value: event(run={"acme_context": {**_FACET, "dump": json.dumps(value, indent=2)}}),
    "job: sourceCode, assigned JSON": lambda value: event(
        job={"sourceCode": {**_FACET, "language": "python", "sourceCode": f"settings = {json.dumps(value)}\nrun(settings)"}}
    ),
    "job: sourceCode, Python's repr": lambda value: event(
        job={"sourceCode": {**_FACET, "language": "python", "sourceCode": f"run({value!r})"}}
    ),
    "run: errorMessage, JSON in a sentence": lambda value: event(
        run={"errorMessage": {**_FACET, "message": f"bad state: {json.dumps(value)}", "programmingLanguage": "JAVA"}}
    ),
}
