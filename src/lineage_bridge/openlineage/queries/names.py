"""Finds names that only exist within the query of a job: common table expressions that a producer reports as if they were datasets.

dbt's column lineage names the import CTEs of a model (`with orders as (select * from customers)`) as sources of its columns.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from lineage_bridge.openlineage.event import Dataset, Facets, Job
from lineage_bridge.openlineage.facets import ColumnLineageDatasetFacet, SQLJobFacet, read_as
from lineage_bridge.openlineage.json_text import Spend, member_path, no_limit
from lineage_bridge.openlineage.queries.expressions import Expression, TableName, expressions_of, origin_of

_WITH = re.compile(r"\bwith\b", re.IGNORECASE)
_CACHED_QUERY = 64 * 1024
MAX_QUERY = 128 * 1024
"""The maximum length, in characters, of a query whose expressions are read."""
_SHORT_QUERY, _CHARACTER_NS = 4096, 500
"""A query costs about _CHARACTER_NS nanoseconds for each character beyond the first _SHORT_QUERY ones."""
_NAME_PARTS = 4
"""The maximum number of parts of a dataset name in a query."""


class _QueryNames(NamedTuple):
    """The names in a job's query: the common table expressions, those among them whose names no input has, and the names by which the query
    may refer to inputs.
    """

    expressions: Mapping[str, Expression]
    names: frozenset[str]
    tables: Mapping[TableName, tuple[str, str] | None]

    def is_name(self, source: object) -> bool:
        """Whether a source of a column is a common table expression, not a dataset."""
        return isinstance(source, dict) and str(source.get("name")).casefold() in self.names

    def resolved(self, source: dict[str, object]) -> dict[str, object] | None:
        """The column of an input from which a source column is taken over, if expressions take it over unchanged; None otherwise."""
        origin = origin_of(self.expressions, str(source.get("name")), str(source.get("field") or ""))
        dataset = self.tables.get(origin[0]) if origin else None
        return {**source, "namespace": dataset[0], "name": dataset[1], "field": origin[1]} if origin and dataset else None


def replace_query_names(
    job: Job, inputs: Collection[Dataset], outputs: Sequence[Dataset], spend: Spend = no_limit
) -> list[tuple[Dataset, list[str]]]:
    """Return each output without those sources of columns that are not datasets, and the paths of the removed sources within the output.

    The removed sources are unqualified names of common table expressions in the job's own `sql` facet. No input has such a name. A column
    that an expression takes over from an input is replaced by that column; others are left out.
    """
    sql = job.facets.get("sql") if any("columnLineage" in output.facets for output in outputs) else None
    query = read_as(SQLJobFacet, "job", "sql", sql) if sql else None
    expressions = _expressions(query.query, spend) if query else {}
    names = expressions.keys() - {dataset.name.casefold() for dataset in inputs}
    if not names:
        return [(output, []) for output in outputs]
    query_names = _QueryNames(expressions, frozenset(names), _tables(inputs))
    return [_replaced(output, query_names) for output in outputs]


def _tables(inputs: Collection[Dataset]) -> dict[TableName, tuple[str, str] | None]:
    """The inputs by their names, with and without database and schema, in lower case. A name that several inputs have is mapped to None."""
    found: dict[TableName, tuple[str, str] | None] = {}
    for namespace, name in sorted({(dataset.namespace, dataset.name) for dataset in inputs}):
        parts = tuple(name.casefold().rsplit(".", _NAME_PARTS))
        for size in range(1, min(len(parts), _NAME_PARTS) + 1):
            found[parts[-size:]] = None if parts[-size:] in found else (namespace, name)
    return found


def _replaced(output: Dataset, names: _QueryNames) -> tuple[Dataset, list[str]]:
    text = output.facets.get("columnLineage")
    if not text or read_as(ColumnLineageDatasetFacet, "dataset", "columnLineage", text) is None:
        return output, []
    lost: list[str] = []
    kept = _without(msgspec.json.decode(text), names, lost)
    facets: Facets = {**output.facets, "columnLineage": msgspec.json.encode(kept)} if lost else output.facets
    return Dataset(output.namespace, output.name, facets, output.access), [f".facets.columnLineage{path}" for path in lost]


def _without(facet: dict[str, object], names: _QueryNames, lost: list[str]) -> dict[str, object]:
    """Remove the sources with these names from a columnLineage facet."""
    kept = dict(facet)
    fields = facet.get("fields")
    if isinstance(fields, dict):
        columns = {key: _sources_without(column, "inputFields", names, member_path(".fields", key), lost) for key, column in fields.items()}
        kept["fields"] = {key: column for key, column in columns.items() if column is not None}
    return _sources_without(kept, "dataset", names, "", lost) or {key: value for key, value in kept.items() if key != "dataset"}


def _sources_without(holder: object, member: str, names: _QueryNames, path: str, lost: list[str]) -> dict[str, object] | None:
    """In an object, replace the sources of columns by the columns that these names stand for; None if no source is left."""
    sources = holder.get(member) if isinstance(holder, dict) else None
    if not isinstance(holder, dict) or not isinstance(sources, list):
        return holder if isinstance(holder, dict) else {}
    gone = [index for index, source in enumerate(sources) if names.is_name(source)]
    lost += [f"{path}.{member}[{index}]" for index in gone]
    replaced = [names.resolved(source) if names.is_name(source) else source for source in sources]
    rest = [source for source in replaced if source is not None]
    return {**holder, member: rest} if rest or not gone else None


def _expressions(query: str, spend: Spend) -> Mapping[str, Expression]:
    if len(query) > MAX_QUERY or not _WITH.search(query):
        return {}
    spend(max(0, len(query) - _SHORT_QUERY) * _CHARACTER_NS)
    return _cached(query) if len(query) <= _CACHED_QUERY else expressions_of(query)


_cached = lru_cache(512)(expressions_of)
