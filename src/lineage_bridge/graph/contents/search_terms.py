"""The searchable text of a node besides its name: the words of its current facets, by search field."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from lineage_bridge.openlineage.facets import (
    DocumentationFacet,
    ErrorMessageRunFacet,
    Facet,
    OwnershipFacet,
    SchemaDatasetFacet,
    SchemaField,
    SQLJobFacet,
    TagsFacet,
    Where,
    read,
)

FIELDS = ("title", "columns", "owners", "tags", "description", "sql", "failure")
"""The fields of a search text, in order; `title` is the node's own name."""
SEARCHED_OF_RUNS = frozenset({"errorMessage"})
"""Keys of run facets. For each job, the newest such facet of any of its runs is searched."""
SEARCHED: dict[str, Where] = {
    "documentation": "dataset",
    "ownership": "dataset",
    "schema": "dataset",
    "sql": "job",
    "tags": "dataset",
    "errorMessage": "run",
}
"""The keys of the facets that are searched, each with the kind of object under which OpenLineage defines its type."""
MAX_TEXT = 32_768
"""The maximum length of one field in characters; the rest is not searched."""
_WORD = re.compile(r"[^\W_]+")

SearchText = tuple[str, str, str, str, str, str, str]


@lru_cache(8_192)
def facet_words(key: str, text: bytes) -> tuple[tuple[str, str], ...]:
    """The text that a facet adds to the search, as (field, text with one line per item). Empty if the facet is a tombstone or
    unreadable.
    """
    facet = read(SEARCHED[key], key, text)
    found: dict[str, list[str]] = {}
    for field, line in _lines(facet) if facet else ():
        found.setdefault(field, []).append(line)
    return tuple((field, "\n".join(lines)[:MAX_TEXT]) for field, lines in found.items())


def _lines(facet: Facet) -> Iterator[tuple[str, str]]:
    if isinstance(facet, SchemaDatasetFacet):
        yield from _columns(facet.fields or (), "")
    elif isinstance(facet, OwnershipFacet):
        yield from (("owners", owner.name) for owner in facet.owners or ())
    elif isinstance(facet, TagsFacet):
        yield from (("tags", f"{tag.key}={tag.value}") for tag in facet.tags or ())
    elif isinstance(facet, DocumentationFacet):
        yield "description", facet.description
    elif isinstance(facet, SQLJobFacet):
        yield "sql", facet.query
    elif isinstance(facet, ErrorMessageRunFacet):
        yield "failure", facet.message


def _columns(fields: Iterable[SchemaField], above: str) -> Iterator[tuple[str, str]]:
    for field in fields:
        path = f"{above}{field.name}"
        yield "columns", path
        if field.description:
            yield "description", field.description
        yield from _columns(field.fields or (), f"{path}.")


def search_text(namespace: str, name: str, facets: Mapping[str, bytes]) -> SearchText | None:
    """The search text of a node from its name and the texts of its current facets by key; None if the facets add nothing to its name."""
    found: dict[str, list[str]] = {}
    for key in sorted(facets.keys() & SEARCHED.keys()):
        for field, lines in facet_words(key, facets[key]):
            found.setdefault(field, []).append(lines)
    if not found:
        return None
    found["title"] = [namespace, name]
    title, columns, owners, tags, description, sql, failure = (
        "\n".join(found.get(field, ()))[:MAX_TEXT].replace("\x00", "\ufffd") for field in FIELDS
    )
    return title, columns, owners, tags, description, sql, failure


def plain(text: str) -> str:
    """Normalise a text for searching: its words in lower case, each with one space before it."""
    return "".join(f" {word}" for word in _WORD.findall(text.casefold()))


def matching_lines(text: str, words: Iterable[str], limit: int = 3, width: int = 120) -> list[str]:
    """At most `limit` lines of a text in which some word begins with one of these words. Lines are cut to `width` characters."""
    plain_words = [plain(word) for word in words]
    found = []
    for line in text.split("\n"):
        if any(word and word in plain(line) for word in plain_words):
            found.append(_around(line, plain_words, width))
            if len(found) == limit:
                break
    return found


def _around(line: str, plain_words: list[str], width: int) -> str:
    if len(line) <= width:
        return line
    folded = line.casefold()
    found_at = min((at for word in plain_words if word and (at := folded.find(word.split()[0])) >= 0), default=0)
    start = max(0, min(found_at - width // 3, len(line) - width))
    return line[start : start + width]
