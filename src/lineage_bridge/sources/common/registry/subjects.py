"""Subjects in the form in which the snapshot has them, and the parts of topics that they describe. Pure."""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import msgspec

from lineage_bridge.errors import RequestError
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.secret_rules.names import names_secret
from lineage_bridge.openlineage.secret_rules.values import MASK
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.registry.answers import RegisteredSchema, SchemaReference
from lineage_bridge.sources.common.registry.fields.fields import fields_of
from lineage_bridge.sources.common.registry.fields.texts import SchemaDocumentation, Tagged, read_documentation
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, ClusterMetadata

TOPIC, RECORD, TOPIC_RECORD = "TopicNameStrategy", "RecordNameStrategy", "TopicRecordNameStrategy"
_CONTEXT = re.compile(r":(?P<context>\.[^:]*):(?P<subject>.*)", re.DOTALL)
_RULE = ("name", "doc", "kind", "mode", "type", "tags", "onSuccess", "onFailure", "disabled")
"""The reported members of a rule; its parameters and expression may contain secrets."""

Packed = tuple[Any, ...]
"""A field as (name, type, description, fields)."""


class Subject(msgspec.Struct, frozen=True, omit_defaults=True):
    """The newest version of a subject, with the schema ids of all its versions seen so far.

    `fields` is None if the schema cannot be read; `why` is the reason.
    """

    version: int
    id: int
    kind: str
    ids: tuple[int, ...] = ()
    fields: tuple[Packed, ...] | None = None
    why: str = ""
    record: str = ""
    doc: str = ""
    tags: tuple[Tagged, ...] = ()
    references: tuple[SchemaReference, ...] = ()
    rules: tuple[dict[str, Any], ...] = ()
    properties: dict[str, str] = {}
    level: str = ""
    mode: str = ""
    deleted: bool = False

    def columns(self) -> tuple[SchemaField, ...]:
        """The fields of the subject's schema; empty if they are unknown."""
        return tuple(map(_unpacked, self.fields or ()))


class SubjectTopic(NamedTuple):
    """The topic whose keys or values (`part`) a subject describes, and the naming strategy by which its name means this topic."""

    topic: str
    part: str
    strategy: str


def context_of(subject: str) -> tuple[str, str]:
    """Split the name of a subject into its context (empty: the default one) and its name in that context."""
    found = _CONTEXT.fullmatch(subject)
    return (found["context"] if found["context"] != "." else "", found["subject"]) if found else ("", subject)


def subject_of(registered: RegisteredSchema, texts: Mapping[tuple[str, int], RegisteredSchema]) -> Subject:
    """Convert a registered version to the form in which the snapshot has it. `texts`: the versions to which it refers, directly or
    indirectly.
    """
    why, documentation, fields = "", SchemaDocumentation(), None
    try:
        fields = tuple(map(_packed, fields_of(registered.kind, registered.text, _referred(registered, texts))))
        documentation = read_documentation(registered.kind, registered.text)
    except RequestError as error:
        fields, why = None, str(error)
    paths = {path for field in fields or () for path in _paths(field, "")}
    return Subject(
        version=registered.version,
        id=registered.id,
        kind=registered.kind,
        fields=fields,
        why=why,
        record=documentation.record,
        doc=documentation.doc,
        tags=tuple(sorted({*documentation.tags, *_tagged(registered, documentation.record, paths)})),
        references=registered.references,
        rules=_rules(registered.rules),
        properties=_properties(registered.metadata),
    )


def _referred(registered: RegisteredSchema, texts: Mapping[tuple[str, int], RegisteredSchema]) -> dict[str, str]:
    found: dict[str, str] = {}
    waiting = list(registered.references)
    while waiting:
        reference = waiting.pop()
        other = texts.get((reference.subject, reference.version))
        if other is not None and reference.name not in found:
            found[reference.name] = other.text
            waiting += other.references
    return found


def _tagged(registered: RegisteredSchema, record: str, paths: Iterable[str]) -> list[Tagged]:
    """Return the tags that are not in the schema's text: tags in its metadata, which apply to fields by patterns of their names, and tags
    of the stream catalog.
    """
    by_pattern = [(pattern, tags) for pattern, tags in _object(registered.metadata.get("tags")).items() if isinstance(tags, list)]
    for entry in registered.tags:
        entity, tags = _object(_object(entry).get("schemaEntity")), _object(entry).get("tags")
        if isinstance(tags, list):
            by_pattern.append((str(entity.get("entityPath", "")).lstrip("."), tags))
    found = []
    for pattern, tags in by_pattern:
        matching = [path for path in paths if _matches(str(pattern), f"{record}.{path}")]
        found += [(path, str(tag)) for path in matching or ["" if pattern == record else str(pattern)] for tag in tags]
    return found


def _matches(pattern: str, path: str) -> bool:
    wild = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", r"[^.]*").replace(r"\?", ".")
    return re.fullmatch(wild, path) is not None


def _properties(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The properties that users attached to a schema. A property that is declared sensitive, or whose name suggests it, is masked."""
    listed = metadata.get("sensitive")
    sensitive = set(map(str, listed)) if isinstance(listed, list) else set()
    noted = {str(key): str(value) for key, value in _object(metadata.get("properties")).items()}
    return {key: MASK if key in sensitive or names_secret(key) else mask_text(value) for key, value in noted.items()}


def _rules(rules: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    found = []
    for when in ("migration", "domain", "encoding"):
        listed = rules.get(f"{when}Rules")
        for rule in listed if isinstance(listed, list) else ():
            rule_members = {key: rule[key] for key in _RULE if rule.get(key)} if isinstance(rule, dict) else {}
            found += [{**rule_members, "when": when}] if rule_members else []
    return tuple(found)


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _packed(field: SchemaField) -> Packed:
    members: list[Any] = [field.name, field.type, field.description, [*map(_packed, field.fields)] if field.fields else None]
    while members[-1] is None:
        members.pop()
    return tuple(members)


def _unpacked(packed: Packed) -> SchemaField:
    members: list[Any] = [*packed, None, None, None]
    name, kind, description, inner = members[:4]
    return SchemaField(name=name, type=kind, description=description, fields=tuple(map(_unpacked, inner)) if inner else None)


def _paths(packed: Packed, above: str) -> Iterable[str]:
    path = f"{above}.{packed[0]}" if above else str(packed[0])
    yield path
    for inner in packed[3] if len(packed) > 3 and packed[3] else ():
        yield from _paths(inner, path)


# topics


def topics_of_subjects(
    subjects: Mapping[str, Subject], cluster: ClusterMetadata | None, strategies: Mapping[str, str]
) -> dict[str, tuple[SubjectTopic, ...]]:
    """Return the parts of topics that each subject describes; empty for a subject without a topic.

    If the cluster's topics are unknown, subjects' names are trusted. If subjects in several contexts describe the same part, the default
    context is used, else the first. If no subject has the name of a part, subjects named after a record describe it, provided that some of
    the topic's records have their schema ids.
    """
    found: dict[str, tuple[SubjectTopic, ...]] = {}
    taken: dict[tuple[SubjectTopic, str], str] = {}
    for subject in sorted(subjects, key=lambda name: (context_of(name)[0], name)):
        context = context_of(subject)[0]
        target = _topic_of(subject, subjects[subject], cluster, strategies)
        record = subjects[subject].record if target and target.strategy != TOPIC else ""
        mine = target is not None and taken.setdefault((target, record), context) == context
        found[subject] = (target,) if target and mine else ()
    named = {(target.topic, target.part) for target, _ in taken}
    for part, ids in sorted(cluster.sampled.items()) if cluster else ():
        for subject in () if part in named else sorted(subjects):
            known = subjects[subject]
            if known.record and context_of(subject)[1] == known.record and not ids.isdisjoint(known.ids):
                found[subject] = (*found[subject], SubjectTopic(*part, RECORD))
    return found


def _topic_of(subject: str, known: Subject, cluster: ClusterMetadata | None, strategies: Mapping[str, str]) -> SubjectTopic | None:
    topics = cluster.topics if cluster else None
    stated = next((topic for pattern, topic in strategies.items() if fnmatchcase(subject, pattern)), None)
    bare = context_of(subject)[1]
    guesses = [(bare.removesuffix(f"-{part}"), part, TOPIC) for part in (VALUE, KEY)]
    guesses += [(bare.removesuffix(f"-{known.record}"), VALUE, TOPIC_RECORD)] if known.record else []
    if stated is not None:
        topic, _, part = stated.partition("#")
        guesses = [(topic, KEY if part == KEY else VALUE, RECORD)]
    for topic, part, strategy in guesses:
        if topic and (topic != bare or stated is not None) and (topics is None or topic in topics):
            return SubjectTopic(topic, part, strategy)
    return None
