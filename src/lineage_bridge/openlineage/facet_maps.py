"""Reads the `facets` members of events: each facet as its exact text, and its problems."""

from functools import lru_cache

from msgspec import Raw
from msgspec.json import Decoder

from lineage_bridge.openlineage.event import Facets
from lineage_bridge.openlineage.facets import KINDS, MAX_NAME, ParentRunFacet, Where, inspect, read
from lineage_bridge.openlineage.json_text import Spend, member_path, no_limit
from lineage_bridge.openlineage.wire import reject

MAX_PROBLEMS = 50
"""The maximum number of problems that are listed for one facet map."""

_FACET_NS = 2_000
"""The minimum cost of reading a facet, in nanoseconds."""
_CACHED_MAPS = 2048
_CACHED_BYTES = 16 * 1024
_MEMBERS = Decoder(dict[str, Raw])

FacetMap = tuple[Facets, tuple[tuple[str, str], ...]]
"""The facets, and their problems as (code, path below the facet map)."""


def read_facets(where: Where, text: bytes, spend: Spend = no_limit) -> FacetMap | None:
    """The facets in the text of a JSON object; None if it is not an object. Short texts are cached: producers repeat themselves."""
    return _read_cached(where, text) if len(text) <= _CACHED_BYTES else _read(where, text, spend)


def _read(where: Where, text: bytes, spend: Spend = no_limit) -> FacetMap | None:
    if text == b"null":
        return {}, (("null", ""),)
    if not text.startswith(b"{"):
        return None
    facets: Facets = {}
    problems: list[tuple[str, str]] = []
    members = _MEMBERS.decode(text)
    spend(len(members) * _FACET_NS)
    for key, value in members.items():
        facet = bytes(value)
        found = ["null"]
        lost: tuple[str, ...] = ()
        if facet != b"null":
            facets[key] = facet
            seen = inspect(where, key, facet, spend)
            found, lost = [problem for problem in seen.problems if problem != "facet_item"], seen.lost
        if (found or lost) and len(problems) < MAX_PROBLEMS:
            path = member_path("", key)
            problems += [(problem, path) for problem in found] + [("facet_item", path + item) for item in lost]
    return facets, tuple(problems)


_read_cached = lru_cache(_CACHED_MAPS)(_read)


def place_facets(side: Where, facets: Facets, access: Facets) -> tuple[Facets, Facets, list[str]]:
    """Put each facet where OpenLineage defines it: with the dataset itself, or with one access to the dataset. Also returns the paths of
    the facets that were misplaced.
    """
    moved = _misplaced(facets, "dataset", side)
    back = _misplaced(access, side, "dataset")
    if not moved and not back:
        return facets, access, []
    paths = [member_path(".facets", key) for key in moved] + [member_path(f".{side}Facets", key) for key in back]
    stay = {key: text for key, text in facets.items() if key not in moved}
    access_stay = {key: text for key, text in access.items() if key not in back}
    return {**{key: access[key] for key in back}, **stay}, {**{key: facets[key] for key in moved}, **access_stay}, paths


def _misplaced(facets: Facets, where: Where, other: Where) -> list[str]:
    """The keys, sorted, of those facets in `where` that OpenLineage defines for `other` instead."""
    if other == where or not facets:
        return []
    return sorted(key for key in facets if (where, key) not in KINDS and (other, key) in KINDS)


def check_length(text: str, path: str) -> None:
    """Check the length of a name. Raises RejectedEventError if it is too long."""
    if len(text) > MAX_NAME:
        reject("name_too_long", path, f"the name has {len(text)} characters, the limit is {MAX_NAME}")


def check_parent(text: bytes) -> None:
    """Check the names of jobs in a parent facet, because these jobs become nodes."""
    parent = read("run", "parent", text) if len(text) > MAX_NAME else None
    if not isinstance(parent, ParentRunFacet):
        return
    jobs = [("job", parent.job)] + ([("root.job", parent.root.job)] if parent.root else [])
    for member, job in jobs:
        check_length(job.namespace, f"$.run.facets.parent.{member}.namespace")
        check_length(job.name, f"$.run.facets.parent.{member}.name")
