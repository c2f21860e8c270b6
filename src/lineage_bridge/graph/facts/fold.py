"""The fold in plain Python: converts log records to merged rows. A Spark worker runs it for one partition of a batch; tests compare other
computations with it.
"""

from collections.abc import Iterable, Iterator, Mapping

from lineage_bridge.graph.facts.events import AlreadyEmitted, facts
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import BY_NAME, RELATIONS

Tables = dict[str, dict[Row, Row]]
"""The rows of each relation, as values by key."""

ASSERTER_RELATIONS = ("run", "run_event", "run_io", "io_sample", "assertion", "foreign_assertion", "lifecycle", "job_dependency")
"""The relations whose key begins with the asserter."""


def empty_tables() -> Tables:
    """All relations, without rows."""
    return {relation.name: {} for relation in RELATIONS}


def fold_records(records: Iterable[StoredRecord], names: Names, into: Tables | None = None) -> Tables:
    """Merge the facts of `records` into `into` (changed in place), or into empty tables."""
    tables = empty_tables() if into is None else into
    laws = {relation.name: (tables[relation.name], relation.merge) for relation in RELATIONS}
    emitted = AlreadyEmitted(tables["node"], tables["facet_set"])
    for record in records:
        for relation, key, values in facts(record, names, emitted):
            table, merge = laws[relation]
            present = table.setdefault(key, values)
            if present is not values:
                table[key] = merge(present, values)
    return tables


def merge_tables(tables: Tables, others: Tables) -> Tables:
    """Merge the rows of `others` into `tables`, which is changed in place, by the merge rules."""
    for name, rows in others.items():
        merge, table = BY_NAME[name].merge, tables[name]
        for key, values in rows.items():
            present = table.get(key)
            table[key] = values if present is None else merge(present, values)
    return tables


def without_erased(tables: Tables) -> Tables:
    """Remove everything that erased runs asserted. Rows stored under the hash of their content stay: nothing refers to them any more."""
    erased = {key[0] for key in tables["erased"]}
    if not erased:
        return tables
    kept = dict(tables)
    for name in ASSERTER_RELATIONS:
        kept[name] = {key: values for key, values in tables[name].items() if key[0] not in erased}
    kept["event"] = {key: values for key, values in tables["event"].items() if values[2] not in erased}
    kept["event_record"] = {key: values for key, values in tables["event_record"].items() if key[:2] in kept["event"]}
    return kept


def flat(tables: Mapping[str, Mapping[Row, Row]]) -> Iterator[tuple[str, list[Row]]]:
    """The relations that have rows, by name. The rows are flat tuples, sorted by key."""
    for name, rows in tables.items():
        if rows:
            yield name, sorted([key + values for key, values in rows.items()])
