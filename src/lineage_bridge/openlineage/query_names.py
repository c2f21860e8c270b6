"""Names that exist only within the query of a job: its common table expressions, which producers take for datasets.

dbt's column lineage names the import CTEs of a model (`with orders as (select * from customers)`) as sources of its columns.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

import msgspec

from lineage_bridge.openlineage.event import Dataset, Facets, Job
from lineage_bridge.openlineage.facets import ColumnLineageDatasetFacet, SQLJobFacet, read_as
from lineage_bridge.openlineage.json_text import member_path

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'[^']*(?:'|\Z)|(?P<name>"[^"]*"|`[^`]*`|\[[^\]]*\]|[^\W\d]\w*)|(?P<mark>[(),])""", re.DOTALL
)
"""What matters of a query. A doubled quote in a text begins another one."""
_WORDS = frozenset({"as", "not", "materialized"})
_CACHED_QUERY = 64 * 1024


def leave_out_query_names(job: Job, inputs: Collection[Dataset], output: Dataset) -> tuple[Dataset, list[str]]:
    """An output without the column sources that are no datasets, and their paths below the output.

    These are unqualified names of common table expressions in the job's own `sql` facet that no input has.
    """
    text, sql = output.facets.get("columnLineage"), job.facets.get("sql")
    facet = read_as(ColumnLineageDatasetFacet, "dataset", "columnLineage", text) if text and sql else None
    query = read_as(SQLJobFacet, "job", "sql", sql) if facet and sql else None
    names = _names_of(query.query) if query else frozenset()
    names -= {dataset.name.casefold() for dataset in inputs}
    if not names or not text:
        return output, []
    lost: list[str] = []
    kept = _without(msgspec.json.decode(text), names, lost)
    facets: Facets = {**output.facets, "columnLineage": msgspec.json.encode(kept)} if lost else output.facets
    return Dataset(output.namespace, output.name, facets, output.access), [f".facets.columnLineage{path}" for path in lost]


def _without(facet: dict[str, object], names: frozenset[str], lost: list[str]) -> dict[str, object]:
    """A columnLineage facet without the sources of these names."""
    kept = dict(facet)
    fields = facet.get("fields")
    if isinstance(fields, dict):
        columns = {key: _sources_without(column, "inputFields", names, member_path(".fields", key), lost) for key, column in fields.items()}
        kept["fields"] = {key: column for key, column in columns.items() if column is not None}
    return _sources_without(kept, "dataset", names, "", lost) or {key: value for key, value in kept.items() if key != "dataset"}


def _sources_without(holder: object, member: str, names: frozenset[str], path: str, lost: list[str]) -> dict[str, object] | None:
    """An object without these names in its list of sources; None if none of its sources is left."""
    sources = holder.get(member) if isinstance(holder, dict) else None
    if not isinstance(holder, dict) or not isinstance(sources, list):
        return holder if isinstance(holder, dict) else {}
    gone = [index for index, source in enumerate(sources) if isinstance(source, dict) and str(source.get("name")).casefold() in names]
    lost += [f"{path}.{member}[{index}]" for index in gone]
    rest = [source for index, source in enumerate(sources) if index not in set(gone)]
    return {**holder, member: rest} if rest or not gone else None


def _names_of(query: str) -> frozenset[str]:
    if "with" not in query.casefold():
        return frozenset()
    return _cached(query) if len(query) <= _CACHED_QUERY else expression_names(query)


def expression_names(query: str) -> frozenset[str]:
    """The unqualified names of the common table expressions of a query, nested ones included, in lower case."""
    tokens = [(match["name"], match["mark"]) for match in _TOKEN.finditer(query) if match["name"] or match["mark"]]
    closing = dict(_pairs(tokens))
    found = {
        name.casefold()
        for start, (word, _) in enumerate(tokens)
        if word and word.casefold() == "with"
        for name in _listed(tokens, closing, start + 1)
    }
    return frozenset(name for name in found if name and "." not in name)


_cached = lru_cache(512)(expression_names)
_Tokens = Sequence[tuple[str | None, str | None]]


def _pairs(tokens: _Tokens) -> Iterator[tuple[int, int]]:
    """Each opening parenthesis with the one that closes it."""
    opened: list[int] = []
    for index, (_, mark) in enumerate(tokens):
        if mark == "(":
            opened.append(index)
        elif mark == ")" and opened:
            yield opened.pop(), index


def _listed(tokens: _Tokens, closing: dict[int, int], at: int) -> Iterator[str]:
    """The names in the list behind a WITH."""
    if at < len(tokens) and (tokens[at][0] or "").casefold() == "recursive":
        at += 1
    while at < len(tokens) and (name := tokens[at][0]):
        at += 1
        if at in closing:
            at = closing[at] + 1
        words = at
        while at < len(tokens) and (tokens[at][0] or "").casefold() in _WORDS:
            at += 1
        if at == words or at not in closing:
            return
        yield name[1:-1] if name[0] in '"`[' else name
        at = closing[at] + 1
        if at >= len(tokens) or tokens[at][1] != ",":
            return
        at += 1
