"""Reading the `facets` members of events: each facet as its exact text, and what is wrong with it."""

from functools import lru_cache

from msgspec import Raw
from msgspec.json import Decoder

from lineage_bridge.openlineage.event import Facets
from lineage_bridge.openlineage.facets import Where, inspect
from lineage_bridge.openlineage.json_text import member_path

MAX_PROBLEMS = 50
"""Most problems that are listed of one facet map."""

_CACHED_MAPS = 2048
_CACHED_BYTES = 16 * 1024
_MEMBERS = Decoder(dict[str, Raw])

FacetMap = tuple[Facets, tuple[tuple[str, str], ...]]
"""The facets, and their problems as (code, path below the facet map)."""


def read_facets(where: Where, text: bytes) -> FacetMap | None:
    """The facets in the text of a JSON object; None if it is not an object. Short texts are cached: producers repeat themselves."""
    return _read_cached(where, text) if len(text) <= _CACHED_BYTES else _read(where, text)


def _read(where: Where, text: bytes) -> FacetMap | None:
    if text == b"null":
        return {}, (("null", ""),)
    if not text.startswith(b"{"):
        return None
    facets: Facets = {}
    problems: list[tuple[str, str]] = []
    for key, value in _MEMBERS.decode(text).items():
        facet = bytes(value)
        found: tuple[str, ...] = ("null",)
        if facet != b"null":
            facets[key] = facet
            found = inspect(where, key, facet).problems
        if found and len(problems) < MAX_PROBLEMS:
            problems.extend((problem, member_path("", key)) for problem in found)
    return facets, tuple(problems)


_read_cached = lru_cache(_CACHED_MAPS)(_read)
