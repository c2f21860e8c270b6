"""Builds events with a text in one place: a name, an address, a facet."""

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any, Final

_PRODUCER: Final = "https://pipelines.corp.example/loader/2.4"
_SPEC: Final = "https://openlineage.io/spec"


def _facet(kind: str, **members: object) -> dict[str, object]:
    return {"_producer": _PRODUCER, "_schemaURL": f"{_SPEC}/facets/1-0-0/{kind}.json#/$defs/{kind}", **members}


def _event(
    *,
    producer: str = _PRODUCER,
    job: str = "load_orders",
    run: Mapping[str, object] | None = None,
    job_facets: Mapping[str, object] | None = None,
    dataset: tuple[str, str] = ("kafka://kafka-1:9092", "shop.orders"),
    dataset_facets: Mapping[str, object] | None = None,
) -> bytes:
    namespace, name = dataset
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-01T10:00:00Z",
        "producer": producer,
        "schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "0195b7c4-5a00-7c00-8000-0a1b2c3d4e5f", "facets": run or {}},
        "job": {"namespace": "corp", "name": job, "facets": job_facets or {}},
        "inputs": [],
        "outputs": [{"namespace": namespace, "name": name, "facets": dataset_facets or {}}],
    }
    return json.dumps(event, ensure_ascii=False).encode()


def _error(text: str) -> bytes:
    facet = _facet("ErrorMessageRunFacet", message=text.splitlines()[0], programmingLanguage="JAVA", stackTrace=text)
    return _event(run={"errorMessage": facet})


def _custom(member: str, value: object) -> bytes:
    return _event(run={"corp_environment": _facet("EnvironmentRunFacet", **{member: value})})


def _properties(text: str) -> bytes:
    key, _, value = text.partition("=")
    return _event(run={"spark_properties": _facet("SparkPropertiesRunFacet", properties={"spark.app.name": "load", key: value})})


def _dataset(text: str) -> bytes:
    namespace, _, name = text.partition(" ;; ")
    return _event(dataset=(namespace, name))


def _address(text: str) -> bytes:
    return _event(dataset_facets={"dataSource": _facet("DatasourceDatasetFacet", name="source", uri=text)})


def _tag(text: str) -> bytes:
    key, _, value = text.partition("=")
    return _event(job_facets={"tags": _facet("TagsJobFacet", tags=[{"key": key, "value": value, "source": "CORP"}])})


def _column(text: str) -> bytes:
    fields: list[dict[str, Any]] = [{"name": "id", "type": "bigint", "description": text}]
    return _event(dataset_facets={"schema": _facet("SchemaDatasetFacet", fields=fields)})


CARRIERS: Final[Mapping[str, Callable[[str], bytes]]] = {
    "job": lambda text: _event(job=text),
    "sql": lambda text: _event(job_facets={"sql": _facet("SQLJobFacet", query=text)}),
    "source": lambda text: _event(
        job_facets={"sourceCode": _facet("SourceCodeJobFacet", language="other", sourceCode=text)},
    ),
    "error": _error,
    "facet": lambda text: _custom("settings", json.loads(text)),
    "json": lambda text: _custom("payload", text),
    "text": lambda text: _custom("content", text),
    "args": lambda text: _custom("arguments", shlex.split(text)),
    "spark": _properties,
    "dataset": _dataset,
    "uri": _address,
    "producer": lambda text: _event(producer=text),
    "tags": _tag,
    "description": _column,
}
"""Builds an event with the given text. `facet` takes JSON, `args` a command line, `spark` and `tags` take `key=value`, and `dataset` a
namespace and a name.
"""

SECOND: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "args": ("text", lambda text: f"+ {text}"),
    "dataset": ("error", lambda text: "Table not found: " + text.replace(" ;; ", "/")),
    "description": ("job", lambda text: text),
    "error": ("text", lambda text: f"2026-03-01 10:00:00 ERROR {text}"),
    "facet": ("json", lambda text: text),
    "job": ("tags", lambda text: f"job={text}"),
    "json": ("source", lambda text: f"cat > config.json <<EOF\n{text}\nEOF"),
    "producer": ("uri", lambda text: text),
    "source": ("description", lambda text: f"Written by\n{text}"),
    "spark": ("args", lambda text: f"spark-submit --conf {shlex.quote(text)} load.py"),
    "sql": ("error", lambda text: f"java.sql.SQLException: syntax error in statement: {text}"),
    "tags": ("text", lambda text: text),
    "text": ("source", lambda text: f"cat <<EOF\n{text}\nEOF"),
    "uri": ("sql", lambda text: f"-- loaded from {text}\nSELECT 1"),
}
"""The carrier in which each text is tried for the second time, and what is put around the text there."""

QUOTED: Final = frozenset({"facet", "json"})
"""The carriers whose text is JSON: a value that is put into it is escaped."""
