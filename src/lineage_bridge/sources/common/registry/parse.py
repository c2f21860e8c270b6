"""Reads the answers of a registry and its catalog into plain values. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.registry.answers import RegisteredSchema, SchemaReference, Tagging
from lineage_bridge.sources.common.registry.subjects import context_of


def parse_version(answer: Any, subject: str) -> RegisteredSchema:  # noqa: ANN401  # JSON
    """Parse an answer that contains a version of a subject. Without a type, it is Avro. Raises SourceError."""
    try:
        found = RegisteredSchema(
            str(answer.get("subject") or subject),
            int(answer["version"]),
            int(answer["id"]),
            str(answer.get("schemaType") or "AVRO"),
            text_of(answer["schema"]),
            tuple(_reference(reference, subject) for reference in answer.get("references") or ()),
            dict(answer.get("metadata") or {}),
            dict(answer.get("ruleSet") or {}),
            tuple(answer.get("schemaTags") or ()),
        )
        at_ms = answer.get("createTs") or answer.get("ts")
        return found._replace(at_us=at_ms * 1000) if isinstance(at_ms, int) else found
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SourceError(f"subject {subject} has a shape that cannot be read", "check that the registry has Confluent's API") from error


def try_to_parse_version(answer: object, subject: str) -> RegisteredSchema | SourceError:
    """Parse an answer that contains a version of a subject. Returns the version, or the reason why it cannot be read."""
    try:
        return parse_version(answer, subject)
    except SourceError as error:
        return error


def text_of(value: object) -> str:
    """Return a value that must be a string. Raises TypeError if it is not."""
    if not isinstance(value, str):
        raise TypeError("a value is not a string")
    return value


def _reference(answer: Mapping[str, Any], subject: str) -> SchemaReference:
    """Parse a reference of a schema. If its name has no context, it is in the context of the subject."""
    context, name = context_of(subject)[0], str(answer["subject"])
    qualified = f":{context}:{name}" if context and not name.startswith(":") else name
    return SchemaReference(str(answer["name"]), qualified, int(answer["version"]))


def taggings_of(kind: str, entity: Mapping[str, Any]) -> Iterator[Tagging]:
    """The tags of an entity in the stream catalog. Its name is `registry:context:id`, optionally followed by `:record.field`, or
    `registry:cluster:topic`.
    """
    parts = str(entity["attributes"]["qualifiedName"]).split(":", 3)
    if len(parts) > 2:
        for tag in entity.get("classificationNames") or ():
            yield Tagging(kind, ":".join(parts[1:3]), parts[3] if len(parts) > 3 else "", str(tag))
