"""Masks whole facets of an event that is so full of possible secrets that finding each of them would cost too much.

A facet is only masked whole if it names nothing. Names of datasets, jobs and columns, times and ids stay as they are, because other events
must agree about them: `redaction.mask` masks secrets in them, as in any event.
"""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from lineage_bridge.openlineage.facets import KINDS
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.openlineage.json_text import token_of
from lineage_bridge.openlineage.secret_rules.values import MASK
from lineage_bridge.openlineage.suspicion.search import is_suspicious

PROSE: Final = frozenset(
    (
        "documentation",
        "environmentVariables",
        "errorMessage",
        "executionParameters",
        "extractionError",
        "ownership",
        "sourceCode",
        "sourceCodeLocation",
        "sql",
        "tags",
    )
)
"""The standard facets that name no node and no column, so that they may be masked whole."""
_NAMING: Final = frozenset((PUBLICATION, *(key for _, key in KINDS))) - PROSE
_META: Final = frozenset(("_producer", "_schemaURL", "_deleted"))
_OF_EVENT: Final = frozenset(("eventType", "eventTime", "producer", "schemaURL", "run", "job", "dataset", "inputs", "outputs"))
_NAMES: Final = frozenset(("namespace", "name"))
_SUBJECTS: Final[Mapping[str, frozenset[str]]] = {"run": frozenset(("runId",)), "job": _NAMES, "dataset": _NAMES}
_DATASETS: Final = frozenset(("inputs", "outputs"))
_FACETS: Final = frozenset(("facets", "inputFacets", "outputFacets"))
_MASKED: Final = Raw(token_of(MASK))
_MOST_MEMBERS: Final = 64
"""Of more members than this that are masked together, a single one is left."""
_MEMBERS, _ELEMENTS = Decoder(dict[str, Raw]), Decoder(list[Raw])


def mask_facets(raw: bytes) -> bytes | None:
    """Mask the facets of an event that may contain a secret, and those of its other members that have no meaning in OpenLineage.

    The result is JSON without repeated members; `raw` itself if there are none of these. None if the bytes are not an event.
    """
    masker = _FacetMasker()
    try:
        masked = masker.event(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return masked if masker.has_masked else raw


class _FacetMasker:
    """Rewrites an event level by level. `has_masked`: something was masked."""

    def __init__(self) -> None:
        self.has_masked = False

    def event(self, raw: bytes) -> bytes:
        members = _MEMBERS.decode(raw)
        known = _OF_EVENT & {key for key, text in members.items() if not is_list(text) and not is_object(text)}
        for key in _SUBJECTS.keys() & members.keys():
            if is_object(members[key]):
                members[key] = self.subject(members[key], _SUBJECTS[key])
                known |= {key}
        for key in _DATASETS & members.keys():
            items = _ELEMENTS.decode(members[key]) if is_list(members[key]) else [members[key]]
            if all(map(is_object, items)):
                members[key] = encoded([self.subject(item, _SUBJECTS["dataset"]) for item in items])
                known |= {key}
        return msgspec.json.encode(self.without_others(members, known))

    def subject(self, text: Raw, known: frozenset[str]) -> Raw:
        """Rewrite a run, a job or a dataset."""
        members = _MEMBERS.decode(text)
        if members.keys() <= known:
            return encoded(members)
        facets = {key: self.facets(_MEMBERS.decode(members[key])) for key in _FACETS & members.keys() if is_object(members[key])}
        members.update({key: encoded(found) for key, found in facets.items()})
        return encoded(self.without_others(members, (*known, *facets)))

    def facets(self, found: dict[str, Raw]) -> dict[str, Raw]:
        """Mask the facets that may contain a secret. If a value that is not an object may contain one, mask all facets: it could be the
        name under which another value is a secret.
        """
        others = {name: text for name, text in found.items() if name not in _NAMING}
        if is_suspicious(b",".join(bytes(text) for text in others.values() if not is_object(text))):
            return self.without_others(found, _NAMING)
        return {**found, **{name: self.facet(text) for name, text in others.items() if is_object(text)}}

    def facet(self, text: Raw) -> Raw:
        """If a facet may contain a secret, mask all of its members, because one of them may say that another is a secret."""
        if not is_suspicious(bytes(text)):
            return text
        self.has_masked = True
        members = _MEMBERS.decode(text)
        kept = {key: members[key] for key in members.keys() & _META if not is_suspicious(bytes(members[key]))}
        masked = masked_members(members.keys() - kept.keys())
        return encoded(dict(sorted({**kept, **(masked or {MASK: _MASKED})}.items())))

    def without_others(self, members: dict[str, Raw], known: Collection[str]) -> dict[str, Raw]:
        """Mask all members without a meaning if one may contain a secret, or say that another is one."""
        others = {key: text for key, text in members.items() if key not in known}
        if not others or not is_suspicious(msgspec.json.encode(others)):
            return members
        self.has_masked = True
        return {**{key: text for key, text in members.items() if key in known}, **masked_members(others)}


def masked_members(names: Collection[str]) -> dict[str, Raw]:
    """Members with these names, each with a masked value. Too many names are replaced by a single member."""
    if len(names) > _MOST_MEMBERS:
        return {MASK: _MASKED}
    return {MASK if is_suspicious(token_of(name)) else name: _MASKED for name in names}


def is_object(text: Raw) -> bool:
    """Whether a JSON value is an object."""
    return bytes(text).startswith(b"{")


def is_list(text: Raw) -> bool:
    """Whether a JSON value is a list."""
    return bytes(text).startswith(b"[")


def encoded(value: object) -> Raw:
    """Encode a value as JSON."""
    return Raw(msgspec.json.encode(value))
