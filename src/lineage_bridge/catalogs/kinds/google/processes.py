"""Converts a job to the form of Google Data Lineage: a process with attributes, one run of it, and lineage events with links. Pure.

A link leads from an input to an output, or from a column of one to a column of the other. Links of datasets and links of columns are in
separate events, a hundred in each. Events cannot be changed, so an event's id is a digest of its links.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from lineage_bridge.catalogs.events import column_fields, in_form, with_held
from lineage_bridge.catalogs.target import Expressed, InexpressibleError, Json
from lineage_bridge.openlineage.event_builder import digest_of
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.sources.common.google.entity_names import LONGEST_NAME, displayed, entity_name, field_path

LINKS_OF_EVENT: Final = 100
MOST_LINKS_OF_MESSAGE: Final = 1000
"""Links of one OpenLineage event, all together."""
MOST_LINKS: Final = 10_000
"""Links of a process."""
LONGEST_TEXT: Final = 4000
"""Characters of an attribute."""
EXACT_COPY, OTHER = 1, 3
"""How a column depends on another one, in the numbers of the API; 0 is unknown."""
_HELD_OF_JOBS: Final = frozenset(("documentation", "jobType", "sql", PUBLICATION))
_NOT_HELD: Final = "facets that Google Data Lineage does not hold"


class LinkedEntity(NamedTuple):
    """A dataset by its fully qualified name, or one of its columns."""

    name: str
    field: tuple[str, ...] = ()

    @property
    def as_json(self) -> Json:
        """The entity in the form of the API."""
        return {"fully_qualified_name": self.name, "field": list(self.field)}


class DataLink(NamedTuple):
    """A link: data flows from one entity to another."""

    source: LinkedEntity
    target: LinkedEntity
    dependency: int = 0

    @property
    def as_json(self) -> Json:
        """The link in the form of the API."""
        how = {"dependency_info": {"dependency_type": self.dependency}} if self.dependency else {}
        return {"source": self.source.as_json, "target": self.target.as_json, **how}


@dataclass(frozen=True)
class JobLineage:
    """The process of a job in the form of the API, without its name; whether it never ends; and the links by the id of their event."""

    process: Json
    is_stream: bool
    events: Mapping[str, Sequence[DataLink]]


def express_process(event: Json) -> Expressed:
    """Convert an event to a completed run with only those parts that a process can represent. Raises InexpressibleError."""
    made, lost = in_form(event, "runs").event, Counter[str]()
    made["job"] = with_held(made["job"], _HELD_OF_JOBS, lost, _NOT_HELD)
    for side in ("inputs", "outputs"):
        made[side] = [with_held(found, ("columnLineage",), lost, _NOT_HELD) for found in _named(made.get(side, ()), lost)]
    if not (made["inputs"] and made["outputs"]):
        lost["datasets of jobs that only read or only write"] += len(made["inputs"]) + len(made["outputs"])
    for dataset in made["outputs"]:
        for column, sources in column_fields(dataset):
            lost["transformations of columns"] -= sum(_dependency(found) == EXACT_COPY for found in sources)
            too_long = sum(field_path(column) is None or field_path(found["field"]) is None for found in sources)
            lost["columns whose names are too long"] += too_long
    if sum(1 for _ in _links(made)) > MOST_LINKS:
        raise InexpressibleError(f"jobs with more than {MOST_LINKS:,} links")
    for text in _texts(made["job"]):
        lost["ends of descriptions and statements that are too long"] += len(text) > LONGEST_TEXT
    return Expressed(made, +lost)


def express_event(event: Json) -> Expressed:
    """Convert an event to a completed run with datasets whose namespace and name are the parts of their fully qualified name. Raises
    InexpressibleError.
    """
    made, lost = in_form(event, "runs").event, Counter[str]()
    for side in ("inputs", "outputs"):
        made[side] = [_of_message(with_held(found, (), lost, _NOT_HELD)) for found in _named(made.get(side, ()), lost)]
    if len(made["inputs"]) * len(made["outputs"]) > MOST_LINKS_OF_MESSAGE:
        raise InexpressibleError(f"jobs with more than {MOST_LINKS_OF_MESSAGE:,} links")
    return Expressed(made, +lost)


def job_lineage(event: Json, prefix: str) -> JobLineage:
    """The process and the links of a job, from an event that `express_process` returned."""
    links = sorted(set(_links(event)))
    of_datasets, of_columns = ([link for link in links if bool(link.target.field) is has] for has in (False, True))
    portions = [of[at : at + LINKS_OF_EVENT] for of in (of_datasets, of_columns) for at in range(0, len(of), LINKS_OF_EVENT)]
    job = event["job"]
    facets = job.get("facets", {})
    process = {
        "display_name": displayed(f"{job['namespace']}:{job['name']}"),
        "attributes": {name: text[:LONGEST_TEXT] for name, text in _attributes(job).items() if text},
        "origin": {"source_type": 1, "name": prefix},
    }
    is_stream = str(facets.get("jobType", {}).get("processingType", "")).upper() == "STREAMING"
    return JobLineage(process, is_stream, {digest_of(portion): portion for portion in portions})


def digest_of_links(links: Iterable[DataLink], others: Iterable[str] = ()) -> str:
    """A digest of links, which does not depend on their order or events, and of the ids of runs that were not published from here."""
    found, runs = sorted(set(links)), sorted(others)
    return digest_of([found, runs] if runs else found)


def _named(datasets: Iterable[Json], lost: Counter[str]) -> list[Json]:
    """The datasets whose names Google accepts."""
    found = list(datasets)
    kept = [dataset for dataset in found if len(entity_name(dataset["namespace"], dataset["name"])) <= LONGEST_NAME]
    lost["datasets whose names are too long"] += len(found) - len(kept)
    return kept


def _of_message(dataset: Json) -> Json:
    namespace, _, name = entity_name(dataset["namespace"], dataset["name"]).partition(":")
    return {**dataset, "namespace": namespace, "name": name}


def _links(event: Json) -> Iterator[DataLink]:
    for output in event.get("outputs", ()):
        target = entity_name(output["namespace"], output["name"])
        for dataset in event.get("inputs", ()):
            yield DataLink(LinkedEntity(entity_name(dataset["namespace"], dataset["name"])), LinkedEntity(target))
        for column, sources in column_fields(output):
            for found in sources:
                name = entity_name(found["namespace"], found["name"])
                path, of = field_path(column), field_path(found["field"])
                if path and of and len(name) <= LONGEST_NAME:
                    yield DataLink(LinkedEntity(name, of), LinkedEntity(target, path), _dependency(found))


def _dependency(source: Json) -> int:
    """How one column depends on another: an exact copy, if only that is stated; another dependency; or unknown."""
    stated = [found for found in source.get("transformations") or () if isinstance(found, dict)]
    if not stated:
        return 0
    is_copy = len(stated) == 1 and stated[0].get("subtype") == "IDENTITY" and not stated[0].get("description")
    return EXACT_COPY if is_copy and not stated[0].get("masking") else OTHER


def _attributes(job: Json) -> dict[str, str]:
    facets = job.get("facets", {})
    stated: dict[str, Any] = {name: facets.get("jobType", {}).get(name) for name in ("jobType", "processingType", "integration")}
    stated |= {"description": facets.get("documentation", {}).get("description"), "sql": facets.get("sql", {}).get("query")}
    texts = {name: value for name, value in stated.items() if isinstance(value, str)}
    installations = ",".join(map(str, facets.get(PUBLICATION, {}).get("installations", ())))
    return {"namespace": job["namespace"], "name": job["name"], "installations": installations, **texts}


def _texts(job: Json) -> list[str]:
    attributes = _attributes(job)
    return [attributes[name] for name in ("description", "sql") if name in attributes]
