"""Marquez 0.51.1 as far as publications meet it: what it validates, how it derives edges, and what it hides.

Its answers are those in `tests/samples/marquez`, which a real one gave; it treats edges as its `OpenLineageDao` and `JobVersionDao` do.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import uuid4

from tests.catalogs.standins.server import Answer, Request

Key = tuple[str, str]
NAMESPACE = re.compile(r"[a-zA-Z:;=/0-9_\-.@+]{1,1024}")
_SIDES = ("input", "output")
FACETS = {
    "job": {"documentation": ["description"], "sql": ["query"], "jobType": ["processingType", "integration", "jobType"]},
    "dataset": {"documentation": ["description"]},
}
KNOWN = {"job": {*FACETS["job"], "sourceCodeLocation"}, "dataset": {"documentation", "schema", "dataSource", "symlinks", "columnLineage"}}


class Marquez:
    """Jobs and datasets, the versions of jobs, and which of them is current."""

    def __init__(self) -> None:
        self.jobs: dict[Key, dict[str, Any]] = {}
        self.datasets: dict[Key, dict[str, Any]] = {}
        self.columns: set[tuple[str, ...]] = set()
        self.hidden: set[tuple[str, Key]] = set()
        self.events: list[dict[str, Any]] = []
        self.runs: dict[str, dict[str, Any]] = {}

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        match request.method, *request.parts:
            case "POST", "api", "v1", "lineage":
                return self._take(request.body)
            case "GET", "api", "v1", "namespaces":
                return Answer(200, {"namespaces": [{"name": name} for name in sorted({key[0] for key in self.jobs | self.datasets})]})
            case ("GET" | "DELETE") as method, "api", "v1", "namespaces", namespace, ("jobs" | "datasets") as kind, name:
                return self._item(method, kind[:-1], (namespace, name))
        return Answer(404, {"code": 404, "message": "HTTP 404 Not Found"})

    def _item(self, method: str, kind: str, key: Key) -> Answer:
        every = self.jobs if kind == "job" else self.datasets
        if not NAMESPACE.fullmatch(key[0]):
            return Answer(500, {"code": 400, "message": f"namespace '{key[0]}' must contain only letters"})
        if key not in every or (kind, key) in self.hidden:
            return Answer(404, {"code": 404, "message": f"{kind.title()} '{key[1]}' not found."})
        if method == "DELETE":
            self.hidden.add((kind, key))
        named = {"id": {"namespace": key[0], "name": key[1]}, "name": key[1], "namespace": key[0]}
        if kind == "dataset":
            fields = [{"name": name, "type": type_, "tags": [], "description": None} for name, type_ in every[key]["fields"].items()]
            return Answer(200, {**named, "type": "DB_TABLE", "fields": fields, "deleted": False})
        sides = {
            f"{side}s": [{"namespace": n, "name": name} for n, name in sorted(self.current(key, side))] for side in ("input", "output")
        }
        return Answer(200, {**named, "type": every[key]["type"], **sides})

    def current(self, job: Key, side: str) -> set[Key]:
        """The datasets on a side of a job, by the flags of its mapping."""
        return {dataset for (_, at, dataset), is_current in self.jobs[job]["mapping"].items() if at == side and is_current}

    # events

    def _take(self, body: bytes) -> Answer:
        try:
            event = json.loads(body)
            is_time = datetime.fromisoformat(event.get("eventTime") or "2020-01-01T00:00:00+00:00").tzinfo is not None
        except (ValueError, AttributeError):
            is_time = False
        if not is_time:
            return Answer(500, {"code": 400, "message": "it cannot be read"})
        kind = str(event.get("schemaURL", "")).rsplit("/", 1)[-1]
        errors = list(_errors(event, kind))
        if errors:
            return Answer(422, {"errors": errors})
        datasets = [*event.get("inputs", ()), *event.get("outputs", ())]
        if not all(NAMESPACE.fullmatch(dataset["namespace"]) for dataset in datasets):
            return Answer(400)
        self.events.append(event)
        for dataset in [event["dataset"]] if kind == "DatasetEvent" else datasets:
            self._dataset(dataset)
        if kind == "JobEvent":
            self._job(event)
            self._version(event)
        elif kind != "DatasetEvent":
            self._run(event)
        return Answer(201)

    def _dataset(self, dataset: dict[str, Any]) -> None:
        key = (dataset["namespace"], dataset["name"])
        self.hidden.discard(("dataset", key))
        fields = dataset.get("facets", {}).get("schema", {}).get("fields") or ()
        known = self.datasets.setdefault(key, {"fields": {}})
        if fields:
            known["fields"] = {field["name"]: field.get("type") for field in fields}

    def _job(self, event: dict[str, Any]) -> dict[str, Any]:
        key = (event["job"]["namespace"], event["job"]["name"])
        self.hidden.discard(("job", key))
        job = self.jobs.setdefault(key, {"mapping": {}, "versions": set()})
        job["type"] = "STREAM" if _is_streaming(event) else "BATCH"
        return job

    def _run(self, event: dict[str, Any]) -> None:
        job, is_streaming = self._job(event), _is_streaming(event)
        is_terminal = str(event.get("eventType")).upper() in ("COMPLETE", "FAIL")
        is_excused = is_terminal and is_streaming and not event.get("inputs") and not event.get("outputs")
        for side in _SIDES:
            if not event.get(f"{side}s") and not is_excused:
                _flag(job, side, None)
        self._column_edges(event)
        event = self._with_earlier(event)
        is_done = is_terminal or str(event.get("eventType")).upper() == "ABORT"
        if is_streaming:
            if _version_of(event) not in job["versions"]:
                self._version(event)
        elif is_done:
            self._version(event)

    def _with_earlier(self, event: dict[str, Any]) -> dict[str, Any]:
        """The event with all datasets of its run."""
        run = self.runs.setdefault(event["run"]["runId"], {"inputs": [], "outputs": []})
        for side, datasets in run.items():
            datasets.extend(event.get(side, ()))
        return {**event, **run}

    def _version(self, event: dict[str, Any]) -> None:
        job = self.jobs[event["job"]["namespace"], event["job"]["name"]]
        version = _version_of(event)
        job["versions"].add(version)
        for side in _SIDES:
            for dataset in event.get(f"{side}s", ()):
                _flag(job, side, version)
                job["mapping"][version, side, (dataset["namespace"], dataset["name"])] = True

    def _column_edges(self, event: dict[str, Any]) -> None:
        known = {(d["namespace"], d["name"], f["name"]) for d in event.get("inputs", ()) for f in _fields(d)}
        for dataset in event.get("outputs", ()):
            columns = {field["name"] for field in _fields(dataset)}
            for column, stated in dataset.get("facets", {}).get("columnLineage", {}).get("fields", {}).items():
                for source in stated["inputFields"]:
                    at = (source["namespace"], source["name"], source["field"])
                    if column in columns and at in known:
                        self.columns.add((*at, dataset["namespace"], dataset["name"], column))


def _flag(job: dict[str, Any], side: str, version: object) -> None:
    """Marks the mapping of all other versions as previous."""
    for key in job["mapping"]:
        if key[1] == side and key[0] != version:
            job["mapping"][key] = False


def _version_of(event: dict[str, Any]) -> object:
    return tuple(frozenset((d["namespace"], d["name"]) for d in event.get(side, ())) for side in ("inputs", "outputs"))


def _is_streaming(event: dict[str, Any]) -> bool:
    return str(event["job"].get("facets", {}).get("jobType", {}).get("processingType", "")).upper() == "STREAMING"


def _fields(dataset: dict[str, Any]) -> list[dict[str, Any]]:
    return dataset.get("facets", {}).get("schema", {}).get("fields") or []


def _errors(event: dict[str, Any], kind: str) -> Iterator[str]:
    required = {"JobEvent": ["job"], "DatasetEvent": ["dataset"]}.get(kind, ["run", "job"])
    for member in ("eventTime", *required, "producer"):
        if event.get(member) is None:
            yield f"{member} must not be null"
    if event.get("run") is not None and event["run"].get("runId") is None:
        yield "run.runId must not be null"
    subjects: list[tuple[str, dict[str, Any]]] = [(member, event[member]) for member in ("job", "dataset") if event.get(member)]
    subjects += [(side, dataset) for side in ("inputs", "outputs") for dataset in event.get(side, ())]
    for at, subject in subjects:
        what = "job" if at == "job" else "dataset"
        for member in ("namespace", "name"):
            if subject.get(member) is None:
                yield f"{at}.{member} must not be null"
        for name, facet in subject.get("facets", {}).items():
            members = [*(("_producer", "_schemaURL") if name in KNOWN[what] else ()), *FACETS[what].get(name, ())]
            yield from (f"{at}.facets.{name}.{member} must not be null" for member in members if facet.get(member) is None)


def new_run_event(job: str, inputs: list[str], outputs: list[str], namespace: str = "jobs") -> bytes:
    """A completed run of somebody else's job, between datasets in `ns`."""
    sides = {side: [{"namespace": "ns", "name": name} for name in names] for side, names in (("inputs", inputs), ("outputs", outputs))}
    run = {"runId": str(uuid4())}
    head = {"eventType": "COMPLETE", "eventTime": "2026-11-20T09:00:00Z", "producer": "https://example.com/other", "run": run}
    return json.dumps({**head, "job": {"namespace": namespace, "name": job}, **sides}).encode()
