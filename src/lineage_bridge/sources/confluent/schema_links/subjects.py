"""Decides which subjects an exporter copies, and under which names. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from lineage_bridge.sources.common.registry.subjects import context_of

_ANY, _ANY_CONTEXT = "*", ":*:"


def patterns_of(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the patterns of subjects that an exporter copies; all subjects if it names none."""
    listed = info.get("subjects")
    return tuple(map(str, listed)) if isinstance(listed, list) and listed else (_ANY,)


def has_pattern(info: Mapping[str, Any]) -> bool:
    """Whether an exporter has a pattern, so that all subjects must be listed to know which it copies."""
    return any(_ANY in pattern for pattern in patterns_of(info))


def matching_subjects(pattern: str, subjects: Iterable[str]) -> Iterable[str]:
    """Return the subjects that a pattern matches: the one with this name, or all with the prefix before the star.

    A pattern without a context matches subjects of the default context.
    """
    if not pattern.endswith(_ANY) and pattern != _ANY_CONTEXT:
        return (pattern,)
    if pattern.startswith(_ANY_CONTEXT):
        start = pattern.removeprefix(_ANY_CONTEXT).removesuffix(_ANY)
        return [subject for subject in subjects if context_of(subject)[1].startswith(start)]
    context, start = context_of(pattern.removesuffix(_ANY))
    return [subject for subject in subjects if context_of(subject)[0] == context and context_of(subject)[1].startswith(start)]


def renamed_subject(subject: str, kind: str, context: str, rename: str) -> str:
    """Return a subject's name in the destination. The exporter's format may rename it, and its context may be placed below that of the
    exporter.
    """
    subject_context, name = context_of(subject)
    new_name = rename.replace("${subject}", name)
    if kind in ("AUTO", "CUSTOM") and context.strip(".:"):
        subject_context = f".{context.strip('.:')}{subject_context}"
    return f":{subject_context}:{new_name}" if subject_context else new_name
