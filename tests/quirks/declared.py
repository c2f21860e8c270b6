"""Lineage stated at design time: JobEvents and DatasetEvents, replaced by newer ones, with explicit lineage and without."""

from typing import Any

from tests.events import T0, columns, dataset, dataset_event, facet, job_event, schema
from tests.quirks.builders import MINUTE_US, Quirk, quirk

CATALOG = "https://example.org/catalog/v1.2.0"
CATALOG_NEWER = "https://example.org/catalog/v1.3.0"
SCANNER = "https://example.org/scanner"


def declares(job: str, minute: float, reads: list[Any] | None, writes: list[Any] | None, producer: str = CATALOG, **facets: Any) -> bytes:
    """A JobEvent about one of the corpus's declared jobs."""
    members: dict[str, Any] = {}
    if reads is not None:
        members["inputs"] = [dataset(name, "declared") if isinstance(name, str) else name for name in reads]
    if writes is not None:
        members["outputs"] = [dataset(name, "declared") if isinstance(name, str) else name for name in writes]
    return job_event(f"declared {job}", T0 + int(minute * MINUTE_US), producer, job_facets=facets or None, **members)


def source(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "DATASET", "namespace": "declared", "name": name, **more}


def describes(name: str, minute: float, **facets: Any) -> bytes:
    return dataset_event(dataset(name, "declared", **facets), T0 + int(minute * MINUTE_US))


DECLARED = quirk(
    "JobEvent and DatasetEvent with declared lineage",
    [
        declares("plain", 0, ["a"], ["b"]),
        declares("plain", 1, ["c"], ["b"], CATALOG_NEWER),
        declares("plain", 2, None, None, SCANNER, documentation=facet(description="says nothing of flow")),
        declares("two producers", 3, ["a"], ["d"]),
        declares("two producers", 4, ["e"], ["d"], SCANNER),
        declares("back and forth", 5, ["a"], ["f"]),
        declares("back and forth", 6, ["g"], ["f"]),
        declares("back and forth", 7, ["a"], ["f"]),
        declares("columns", 8, ["a"], [dataset("h", "declared", columnLineage=columns(id=[("declared", "a", "id")]))]),
        describes("m", 20, schema=schema("id"), ownership=facet(owners=[{"name": "team:data", "type": "OWNER"}])),
        describes("m", 21, schema=schema("id", "x"), lineage=facet(inputs=[source("a")])),
        describes("m", 22, lineage=facet(inputs=[source("n")], fields={"id": {"inputs": [source("n", field="key")]}})),
        describes("o", 23, lineage=facet(fields={"id": {"inputs": [source("a", field="id")]}})),
        describes("m", 24, ownership=facet(_deleted=True)),
    ],
    "c > b",
    "a > d",
    "e > d",
    "a > f",
    "a > h",
    "n > m",
    "a > o",
)
EXPLICIT_JOB_EVENTS = quirk(
    "JobEvent with explicit lineage, replaced by the newest",
    [
        declares("explicit", 10, ["a"], ["i"], lineage=facet(entries=[{**source("i"), "inputs": [source("a")]}])),
        declares("explicit", 11, ["a"], ["i"], lineage=facet(entries=[{**source("i"), "inputs": [source("j"), {"type": "JOB"}]}])),
        declares("generator", 12, None, ["k"], lineage=facet(entries=[{**source("k"), "inputs": []}])),
        declares(
            "hands over",
            13,
            None,
            None,
            lineage=facet(
                entries=[
                    {"type": "JOB", "namespace": "jobs", "name": "declared taker", "inputs": [{"type": "JOB"}]},
                    {"type": "JOB", "inputs": [source("l", field="id", transformations=[{"type": "INDIRECT", "subtype": "FILTER"}])]},
                ]
            ),
        ),
    ],
    "j > i",
    "declared explicit > i",
    "a > declared explicit",
    "declared hands over > declared taker",
    "l > declared hands over",
)
SHOWN: tuple[Quirk, ...] = (DECLARED, EXPLICIT_JOB_EVENTS)
