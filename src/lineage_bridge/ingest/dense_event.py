"""Masks whole facets of an event that is so full of possible secrets that finding each of them would cost too much.

Only what names nothing is masked whole. Names of datasets, jobs and columns, times and ids stay as they are, because other events must
agree about them: `redaction.mask` masks secrets in them, as in any event.
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
_SUBJECTS: Final[Mapping[str, Collection[str]]] = {"run": ("runId",), "job": ("namespace", "name"), "dataset": ("namespace", "name")}
_FACETS: Final = ("facets", "inputFacets", "outputFacets")
_MASKED: Final = Raw(token_of(MASK))
_MOST_MEMBERS: Final = 64
"""A facet with more members than this has none of them when it is masked."""
_MEMBERS, _ELEMENTS = Decoder(dict[str, Raw]), Decoder(list[Raw])


def mask_facets(raw: bytes) -> bytes | None:
    """Mask the facets of an event that may contain a secret, and those of its other members that have no meaning in OpenLineage.

    The result is JSON without repeated members; `raw` itself if there are none of these. None if the bytes are no event.
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
        for key in _SUBJECTS.keys() & members.keys():
            members[key] = self.subject(members[key], _SUBJECTS[key])
        for key in ("inputs", "outputs"):
            text = members.get(key)
            if text is not None and is_list(text):
                members[key] = encoded([self.subject(item, _SUBJECTS["dataset"]) for item in _ELEMENTS.decode(text)])
        return msgspec.json.encode(self.without_others(members, _OF_EVENT))

    def subject(self, text: Raw, known: Collection[str]) -> Raw:
        """Rewrite a run, a job or a dataset."""
        if not is_object(text):
            return text
        members = _MEMBERS.decode(text)
        for key in members.keys() & _FACETS:
            facets = members[key]
            if is_object(facets):
                found = {name: facet if name in _NAMING else self.facet(facet) for name, facet in _MEMBERS.decode(facets).items()}
                members[key] = encoded(found)
        return encoded(self.without_others(members, (*known, *_FACETS)))

    def facet(self, text: Raw) -> Raw:
        """Mask all members of a facet that may contain a secret: one of them may say that another is one."""
        if not is_suspicious(bytes(text)):
            return text
        self.has_masked = True
        if not is_object(text):
            return _MASKED
        members = _MEMBERS.decode(text)
        kept = {key: members[key] for key in members.keys() & _META if not is_suspicious(bytes(members[key]))}
        names = members.keys() - kept.keys() if len(members) <= _MOST_MEMBERS else ()
        masked = {MASK if is_suspicious(token_of(name)) else name: _MASKED for name in names}
        return encoded(dict(sorted({**kept, **(masked or {MASK: _MASKED})}.items())))

    def without_others(self, members: dict[str, Raw], known: Collection[str]) -> dict[str, Raw]:
        """Mask all members without a meaning if one may contain a secret, or say that another is one."""
        others = [key for key in members if key not in known]
        if not any(is_suspicious(token_of(key) + bytes(members[key])) for key in others):
            return members
        self.has_masked = True
        masked = {MASK if is_suspicious(token_of(key)) else key: _MASKED for key in others}
        return {**{key: text for key, text in members.items() if key in known}, **masked}


def is_object(text: Raw) -> bool:
    """Whether a JSON value is an object."""
    return bytes(text).startswith(b"{")


def is_list(text: Raw) -> bool:
    """Whether a JSON value is a list."""
    return bytes(text).startswith(b"[")


def encoded(value: object) -> Raw:
    """Encode a value as JSON."""
    return Raw(msgspec.json.encode(value))
