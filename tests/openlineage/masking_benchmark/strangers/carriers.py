"""Where in an OpenLineage event a text stands: each carrier makes a whole event around one text."""

import json
from collections.abc import Callable, Mapping
from typing import Any

Event = dict[str, Any]

_PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.40.0/integration/spark"
_URL = "https://openlineage.io/spec/facets/1-0-0/Facet.json"
_RUN = "0199c0de-0000-7000-8000-000000000001"


def _facet(**members: Any) -> Event:
    return {"_producer": _PRODUCER, "_schemaURL": _URL, **members}


def _dataset(namespace: str = "postgres://db:5432", name: str = "shop.sales.orders", **facets: Event) -> Event:
    return {"namespace": namespace, "name": name, "facets": facets}


def _event(
    *,
    run: Mapping[str, Event] | None = None,
    job: Mapping[str, Event] | None = None,
    name: str = "load.orders",
    inputs: tuple[Event, ...] = (),
    outputs: tuple[Event, ...] = (),
) -> Event:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-31T02:00:00Z",
        "producer": _PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": _RUN, "facets": dict(run or {})},
        "job": {"namespace": "etl", "name": name, "facets": dict(job or {})},
        "inputs": list(inputs),
        "outputs": list(outputs),
    }


def _custom(text: str) -> Event:
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if isinstance(value, dict):
        return _event(run={"acme_settings": _facet(settings=value, text=text)})
    return _event(run={"acme_settings": _facet(settings={"line": text, "lines": ["first", text]})})


def _items(key: str, text: str) -> Event:
    operator = {"name": "LoadOperator", "type": "operator", "properties": {"task_id": "load", key: text}}
    return _event(run={"unknownSourceAttribute": _facet(unknownItems=[operator]), "airflow": _facet(task={"args": {key: text}})})


def _plan(key: str, text: str) -> Event:
    node = {"class": "org.apache.spark.sql.execution.datasources.SaveIntoDataSourceCommand", "num-children": 0, "options": {key: text}}
    return _event(run={"spark.logicalPlan": _facet(plan=[node])})


def _symlink(text: str) -> Event:
    identifiers = [{"namespace": text, "name": "sales.orders", "type": "TABLE"}]
    return _event(outputs=(_dataset(symlinks=_facet(identifiers=identifiers)),))


def _schema(name: str, description: str) -> Event:
    fields = [{"name": "order_id", "type": "bigint"}, {"name": name, "type": "string", "description": description}]
    return _event(outputs=(_dataset(schema=_facet(fields=fields)),))


_PLAIN: dict[str, Callable[[str], Event]] = {
    "sql": lambda text: _event(job={"sql": _facet(query=text, dialect="ansi")}),
    "error": lambda text: _event(run={"errorMessage": _facet(message=text, programmingLanguage="PYTHON")}),
    "trace": lambda text: _event(run={"errorMessage": _facet(message="failed", programmingLanguage="JVM", stackTrace=text)}),
    "extraction": lambda text: _event(run={"extractionError": _facet(totalTasks=1, failedTasks=1, errors=[{"errorMessage": text}])}),
    "documentation": lambda text: _event(job={"documentation": _facet(description=text)}),
    "source": lambda text: _event(job={"sourceCode": _facet(language="python", sourceCode=text)}),
    "repository": lambda text: _event(job={"sourceCodeLocation": _facet(type="git", url=text, repoUrl=text)}),
    "command": lambda text: _event(run={"airflow": _facet(task={"operator_class": "BashOperator", "args": {"bash_command": text}})}),
    "custom": _custom,
    "uri": lambda text: _event(inputs=(_dataset(dataSource=_facet(name="source", uri=text)),)),
    "dataset-name": lambda text: _event(inputs=(_dataset(namespace="s3://lake", name=text),)),
    "dataset-namespace": lambda text: _event(outputs=(_dataset(namespace=text),)),
    "job-name": lambda text: _event(name=text),
    "parent": lambda text: _event(run={"parent": _facet(run={"runId": _RUN[:-1] + "2"}, job={"namespace": "etl", "name": text})}),
    "owner": lambda text: _event(job={"ownership": _facet(owners=[{"name": text, "type": "MAINTAINER"}])}),
    "field": lambda text: _schema("total", text),
    "column": lambda text: _schema(text, "as in the source"),
    "symlink": _symlink,
}
_KEYED: dict[str, Callable[[str, str], Event]] = {
    "environment": lambda key, text: _event(run={"environmentVariables": _variables(key, text)}),
    "spark": lambda key, text: _event(run={"spark_properties": _facet(properties={"spark.master": "yarn", key: text})}),
    "connector": lambda key, text: _event(job={"acme_connector": _facet(config={"connector.class": "io.example.Source", key: text})}),
    "parameter": lambda key, text: _event(run={"executionParameters": _facet(parameters=[{"key": key, "name": key, "value": text}])}),
    "tag": lambda key, text: _event(job={"tags": _facet(tags=[{"key": key, "value": text, "source": "USER"}])}),
    "plan": _plan,
    "items": _items,
    "debezium": lambda key, text: _event(run={"debezium_config": _facet(configs=[f"{key}={text}", "name=cdc"])}),
    "catalog": lambda key, text: _event(
        outputs=(_dataset(catalog=_facet(framework="iceberg", type="rest", name="lake", catalogProperties={key: text})),)
    ),
    "storage": lambda key, text: _event(outputs=(_dataset(storage=_facet(storageLayer="iceberg", fileFormat="parquet", **{key: text})),)),
}


def _variables(key: str, text: str) -> Event:
    return _facet(environmentVariables=[{"name": "TZ", "value": "UTC"}, {"name": key, "value": text}])


def event_with(carrier: str, text: str) -> Event:
    """An event that holds the text in the carrier, which is a name or `name:key`."""
    name, _, key = carrier.partition(":")
    return _KEYED[name](key, text) if key else _PLAIN[name](text)


def event_between(source: tuple[str, str]) -> Event:
    """An event that reads one dataset of this namespace and name."""
    return _event(inputs=(_dataset(*source),))
