"""DataHub's OpenLineage endpoint: what its releases make of a run event, and that they answer 500 without a word to everything else.

After DataHub's source: `LineageApiImpl` takes run events alone; `OpenLineageToDataHub` names entities and takes columns, SQL and properties
from facets; `DatahubJob` writes the aspects. Settings of the endpoint are the usual ones.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

Aspects = dict[tuple[str, str], Any]
PLATFORMS = {"awsathena": "athena", "sqlserver": "mssql"}
OF_PATHS = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gcs", "gcs": "gcs", "abfs": "abs", "abfss": "abs", "wasb": "abs", "wasbs": "abs"}
URI = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>(?:[^\x00-\x20\"<>\\^`{|}%\[\]]|%[0-9A-Fa-f]{2})*)")
"""What Java takes for an address, nearly."""
PRODUCERS = (
    (re.compile(r"https://github.com/OpenLineage/OpenLineage/.*/(.*)"), r"\1"),
    (re.compile(r"https://github.com/apache/airflow/.*"), "airflow"),
    (re.compile(r"https://github.com/trinodb/trino/.*"), "trino"),
)
JOB = re.compile(r"urn:li:dataJob:\(urn:li:dataFlow:\([^,()]+,[^,()]+,[^,()]+\),[^,()]+\)")
DATASET = re.compile(r"urn:li:dataset:\(urn:li:dataPlatform:[^,()]+,[^,()]+,PROD\)")
FIELD = re.compile(rf"urn:li:schemaField:\({DATASET.pattern},[^,()]+\)")


class RefusedError(Exception):
    """An exception in DataHub; the caller learns nothing of it."""


def aspects_of(body: bytes) -> Aspects:
    """The aspects that DataHub writes for an event. Raises RefusedError."""
    try:
        event = json.loads(body)
        found = dict(_aspects(event))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise RefusedError(str(error)) from error
    for urn, name in found:
        pattern = {"dataJob": JOB, "dataset": DATASET}.get(urn.split(":")[2])
        if pattern and not pattern.fullmatch(urn):
            raise RefusedError(f"{name} of {urn}")
    fields = [
        urn for value in found.values() for fine in value.get("fineGrainedLineages", ()) for urn in fine["upstreams"] + fine["downstreams"]
    ]
    if not all(map(FIELD.fullmatch, fields)):
        raise RefusedError(f"fields {fields}")
    return found


def _aspects(event: dict[str, Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    job, run = event["job"], event["run"]
    facets, stated = run.get("facets", {}), job.get("facets", {})
    flow = f"urn:li:dataFlow:({_orchestrator(event)},{_before_point(job['name'])},{job['namespace']})"
    urn, properties = f"urn:li:dataJob:({flow},{job['name']})", _properties(facets)
    described = {"description": stated["documentation"]["description"]} if "documentation" in stated else {}
    shown = job["name"].partition(".")[2] or job["name"]
    yield (flow, "dataFlowInfo"), {"name": _before_point(job["name"]), "customProperties": properties, **described}
    kind = {"string": _orchestrator(event)}
    yield (urn, "dataJobInfo"), {"name": shown, "type": kind, "flowUrn": flow, "customProperties": properties, **described}
    sides: dict[str, Any] = {}
    fine: list[dict[str, Any]] = []
    for side in ("input", "output"):
        datasets = {found: dataset for dataset in event.get(f"{side}s", ()) if (found := dataset_urn(dataset))}
        sides[f"{side}DatasetEdges"] = [{"destinationUrn": found, "lastModified": {"time": 0, "actor": ""}} for found in sorted(datasets)]
        for found, dataset in sorted(datasets.items()):
            platform, name, origin = found[16:-1].split(",")
            yield (found, "datasetKey"), {"platform": platform, "name": name, "origin": origin}
            yield (found, "status"), {"removed": False}
            if fields := dataset.get("facets", {}).get("schema", {}).get("fields"):
                yield (found, "schemaMetadata"), _schema(platform, fields)
            fine += _fine_grained(found, dataset, stated.get("sql", {}).get("query", ""))
    lists: dict[str, list[str]] = {"inputDatasets": [], "outputDatasets": [], "inputDatajobs": []}
    yield (urn, "dataJobInputOutput"), {**lists, **sides, "fineGrainedLineages": fine}
    instance = f"urn:li:dataProcessInstance:{UUID(run['runId'])}"
    result = {"COMPLETE": "SUCCESS", "FAIL": "FAILURE", "ABORT": "FAILURE", "START": "", "RUNNING": ""}[event["eventType"]]
    yield (instance, "dataProcessInstanceRunEvent"), {"status": "COMPLETE" if result else "STARTED", "result": result}


def _orchestrator(event: dict[str, Any]) -> str:
    if name := event["run"].get("facets", {}).get("processing_engine", {}).get("name"):
        return str(name).lower()
    for pattern, orchestrator in PRODUCERS:
        if found := pattern.fullmatch(event.get("producer", "")):
            return found.expand(orchestrator)
    raise RefusedError("Unable to determine orchestrator")


def _before_point(name: str) -> str:
    if not (parts := name.rstrip(".").partition(".")[0]):
        raise RefusedError(f"no flow in {name}")
    return parts


def _properties(facets: dict[str, Any]) -> dict[str, str]:
    engine = facets.get("processing_engine", {})
    kept = {"processingEngine": engine.get("name"), "processingEngineVersion": engine.get("version")}
    kept |= facets.get("spark_properties", {}).get("properties", {})
    return {name: str(value) for name, value in kept.items() if value is not None}


def dataset_urn(dataset: dict[str, Any]) -> str:
    """The URN of a dataset; empty for one that DataHub leaves out without a word."""
    namespace, name = dataset["namespace"], dataset["name"]
    for link in dataset.get("facets", {}).get("symlinks", {}).get("identifiers", ()):
        if link.get("type") == "TABLE":
            namespace = "glue" if re.match("(arn:)?aws:glue:", link["namespace"]) else "hive"
            name = link["name"].removeprefix("table/").replace("/", ".") if link["name"].startswith("table/") else link["name"]
    if "://" not in namespace:
        return f"urn:li:dataset:(urn:li:dataPlatform:{namespace},{name},PROD)"
    found = URI.fullmatch(namespace + ("" if namespace.endswith("/") or name.startswith("/") else "/") + name)
    if not found:
        return ""
    platform = PLATFORMS.get(found["scheme"], found["scheme"])
    path = found["rest"].strip("/") if platform in OF_PATHS else name
    return f"urn:li:dataset:(urn:li:dataPlatform:{OF_PATHS.get(platform, platform)},{path},PROD)"


def _schema(platform: str, fields: Iterable[dict[str, Any]]) -> dict[str, Any]:
    shown = [{"fieldPath": field["name"], "nativeDataType": field.get("type", ""), "type": {"type": {}}} for field in fields]
    return {"schemaName": "", "platform": platform, "version": 1, "hash": "", "platformSchema": {}, "fields": shown}


def _fine_grained(urn: str, dataset: dict[str, Any], sql: str) -> Iterator[dict[str, Any]]:
    for column, stated in dataset.get("facets", {}).get("columnLineage", {}).get("fields", {}).items():
        sources = [(dataset_urn(source), source["field"]) for source in stated["inputFields"]]
        upstreams = sorted(f"urn:li:schemaField:({found},{field})" for found, field in sources if found)
        steps = {
            f"{step['type']}:{step.get('subtype')}" for source in stated["inputFields"] for step in source.get("transformations") or ()
        }
        text = "\n".join(filter(None, (f"-- {','.join(sorted(steps))}" if steps else "", sql)))
        if upstreams:
            downstreams = [f"urn:li:schemaField:({urn},{column})"]
            yield {
                "upstreamType": "FIELD_SET",
                "upstreams": upstreams,
                "downstreamType": "FIELD_SET",
                "downstreams": downstreams,
                "confidenceScore": 0.5,
                "transformOperation": text,
            }
