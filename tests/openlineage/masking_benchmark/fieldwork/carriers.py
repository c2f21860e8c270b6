"""The places of an OpenLineage event in which the texts stand: for plain texts, for a name with its value, and for addresses."""

import json
from collections.abc import Callable
from typing import Any

_SPEC = "https://openlineage.io/spec"
_PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.40.0/integration/spark"


def _event(**parts: Any) -> bytes:
    run = {"runId": "0195a7b2-6f3e-7c51-9d2e-3f1f5a0c7b11", "facets": parts.get("run", {})}
    job = {"namespace": parts.get("namespace", "spark"), "name": "load.daily", "facets": parts.get("job", {})}
    dataset = {"namespace": "postgres://pg:5432", "name": "shop.public.target", "facets": parts.get("dataset", {})}
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-01T10:00:00.000Z",
        "producer": _PRODUCER,
        "schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": run,
        "job": job,
        "inputs": [],
        "outputs": [parts.get("output", dataset)],
    }
    return json.dumps(event).encode()


def _facet(_name: str, **members: Any) -> dict[str, Any]:
    return {"_producer": _PRODUCER, "_schemaURL": f"{_SPEC}/facets/1-0-0/{_name}.json#/$defs/{_name}", **members}


def _custom(name: str, **members: Any) -> bytes:
    return _event(run={name: _facet("RunFacet", **members)})


def _sql(text: str) -> bytes:
    return _event(job={"sql": _facet("SQLJobFacet", query=text)})


def _source(text: str) -> bytes:
    return _event(job={"sourceCode": _facet("SourceCodeJobFacet", language="python", sourceCode=text)})


def _error(text: str) -> bytes:
    return _event(run={"errorMessage": _facet("ErrorMessageRunFacet", message=text, programmingLanguage="JAVA")})


def _trace(text: str) -> bytes:
    trace = f"java.lang.RuntimeException: {text}\n\tat io.acme.Load.main(Load.java:17)\n"
    return _event(run={"errorMessage": _facet("ErrorMessageRunFacet", message="failed", programmingLanguage="JAVA", stackTrace=trace)})


def _job_text(text: str) -> bytes:
    return _event(job={"documentation": _facet("DocumentationJobFacet", description=text)})


def _dataset_text(text: str) -> bytes:
    return _event(dataset={"documentation": _facet("DocumentationDatasetFacet", description=text)})


def _column_text(text: str) -> bytes:
    return _event(dataset={"schema": _facet("SchemaDatasetFacet", fields=[{"name": "id", "type": "bigint", "description": text}])})


def _command(text: str) -> bytes:
    return _custom("acme_task", operator="BashOperator", bash_command=text)


def _lines(text: str) -> bytes:
    return _custom("acme_log", lines=["starting", *text.split("\n"), "done"])


def _json_text(text: str) -> bytes:
    return _custom("acme_plan", plan=json.dumps({"step": 3, "detail": text}))


def _transform(text: str) -> bytes:
    field = {"namespace": "postgres://pg:5432", "name": "shop.public.source", "field": "id"}
    how = {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": text, "masking": False}
    fields = {"id": {"inputFields": [{**field, "transformations": [how]}]}}
    return _event(dataset={"columnLineage": _facet("ColumnLineageDatasetFacet", fields=fields)})


def _properties(key: str, value: str) -> bytes:
    return _custom("spark_properties", properties={"spark.app.name": "load", key: value, "spark.master": "yarn"})


def _pairs(key: str, value: str) -> bytes:
    listed = [{"name": "TZ", "value": "UTC"}, {"name": key, "value": value}]
    return _custom("environmentVariables", environmentVariables=listed)


def _options(key: str, value: str) -> bytes:
    return _event(dataset={"acme_options": _facet("DatasetFacet", options={"mode": "append", key: value})})


def _parameters(key: str, value: str) -> bytes:
    return _event(run={"jobParameters": _facet("RunFacet", parameters=[{"key": key, "value": value}])})


def _setting_line(key: str, value: str) -> bytes:
    return _command(f"--conf {key}={value}" if " " not in value and "\n" not in value else f"--conf '{key}={value}'")


def _yaml_line(key: str, value: str) -> bytes:
    return _custom("acme_config", config=f"name: load\n{key}: {json.dumps(value)}\nretries: 3\n")


def _json_member(key: str, value: str) -> bytes:
    return _custom("acme_config", config=json.dumps({"name": "load", key: value}))


def _tag(key: str, value: str) -> bytes:
    return _event(job={"tags": _facet("TagsJobFacet", tags=[{"key": key, "value": value, "source": "CONFIG"}])})


def dataset(namespace: str, name: str) -> bytes:
    """An event that writes a dataset of a namespace and a name."""
    return _event(output={"namespace": namespace, "name": name, "facets": {}})


def _namespace(uri: str) -> bytes:
    return dataset(uri, "shop.public.target")


def _dataset_name(uri: str) -> bytes:
    return dataset("file", uri)


def _job_namespace(uri: str) -> bytes:
    return _event(namespace=uri)


def _data_source(uri: str) -> bytes:
    return _event(dataset={"dataSource": _facet("DatasourceDatasetFacet", name="main", uri=uri)})


def _location(uri: str) -> bytes:
    return _event(job={"sourceCodeLocation": _facet("SourceCodeLocationJobFacet", type="git", url=uri)})


def _symlink(uri: str) -> bytes:
    others = [{"namespace": uri, "name": "shop.t", "type": "TABLE"}]
    return _event(dataset={"symlinks": _facet("SymlinksDatasetFacet", identifiers=others)})


TEXT: dict[str, Callable[[str], bytes]] = {
    "sql query": _sql,
    "source code": _source,
    "error message": _error,
    "stack trace": _trace,
    "job documentation": _job_text,
    "dataset documentation": _dataset_text,
    "column description": _column_text,
    "command": _command,
    "log lines": _lines,
    "json in a string": _json_text,
    "transformation": _transform,
}
KEYED: dict[str, Callable[[str, str], bytes]] = {
    "properties": _properties,
    "environment variables": _pairs,
    "dataset options": _options,
    "job parameters": _parameters,
    "command setting": _setting_line,
    "yaml in a string": _yaml_line,
    "json member in a string": _json_member,
    "tag": _tag,
}
URI: dict[str, Callable[[str], bytes]] = {
    "dataset namespace": _namespace,
    "dataset name": _dataset_name,
    "job namespace": _job_namespace,
    "data source": _data_source,
    "code location": _location,
    "symlink": _symlink,
}
