"""Checks our own facets against their published schemas."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from lineage_bridge import openlineage
from lineage_bridge.openlineage.event_builder import OWN_FACETS, SPECIFICATION

FOLDER = Path(str(openlineage.__path__[0])) / "spec" / "facets"
BASE: dict[str, Any] = {
    "type": "object",
    "properties": {"_producer": {"type": "string"}, "_schemaURL": {"type": "string"}, "_deleted": {"type": "boolean"}},
    "required": ["_producer", "_schemaURL"],
}
"""The specification's base of facets without its permission for more members: a member that we do not publish is a fault here."""
KINDS = ("DatasetFacet", "JobFacet", "RunFacet", "InputDatasetFacet", "OutputDatasetFacet")
_SPECIFICATION = Resource.from_contents({"$defs": dict.fromkeys(KINDS, BASE)}, DRAFT202012)


def schemas() -> Iterator[tuple[str, dict[str, Any]]]:
    """The address and text of each schema that is published."""
    for path in sorted(FOLDER.rglob("*.json")):
        yield OWN_FACETS + path.relative_to(FOLDER).as_posix(), json.loads(path.read_bytes())


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, without permission for members that it does not name."""
    definitions = {}
    for name, facet in schema["$defs"].items():
        base, own = facet["allOf"]
        closed = {**own, "properties": {**own["properties"], **BASE["properties"]}, "additionalProperties": False}
        definitions[name] = {**facet, "allOf": [base, closed]}
    return {**schema, "$defs": definitions}


_SCHEMAS = {url: _strict(schema) for url, schema in schemas()}
_REGISTRY: Any = Registry().with_resource(SPECIFICATION.partition("#")[0], _SPECIFICATION)


def facets(event: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Key and value of each facet of an event, whatever it belongs to."""
    entities = [event.get("run"), event.get("job"), event.get("dataset"), *event.get("inputs", ()), *event.get("outputs", ())]
    for entity in entities:
        for member in ("facets", "inputFacets", "outputFacets"):
            yield from (entity or {}).get(member, {}).items()


def faults(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """The differences between our own facets and their published schemas, sorted."""
    found = set()
    for key, facet in (entry for event in events for entry in facets(event)):
        url, _, name = facet["_schemaURL"].partition("#/$defs/")
        if not url.startswith(OWN_FACETS):
            continue
        schema = _SCHEMAS.get(url)
        if schema is None or schema["properties"].get(key) != {"$ref": f"#/$defs/{name}"}:
            found.add(f"{key}: {facet['_schemaURL']} is not published")
            continue
        for error in Draft202012Validator(schema, registry=_REGISTRY).iter_errors({key: facet}):
            found.add(f"{error.json_path}: {error.message}")
    return sorted(found)
