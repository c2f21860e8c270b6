"""Finds the datasets that a job's tables denote, including those of operators whose table is unknown. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.flink.annotations import sole_namespace
from lineage_bridge.sources.common.flink.plan import Operator, Plan
from lineage_bridge.sources.common.flink.tables import KnownTable
from lineage_bridge.sources.common.flink.values import DatasetAccess, JobEvidence, TableAccesses
from lineage_bridge.sql.names import Name, written

Find = Callable[[Name], KnownTable | None]
"""Finds a table by its path, or by the last part of its path."""

_DEFAULT = ("default_catalog", "default_database")
"""The catalog and database of tables whose DDL names none; such tables are only visible in their session."""


def keys_of(operators: tuple[Operator, ...], stated: Iterable[Name], plan: Plan, find: Find) -> list[Name]:
    """Return the path of each operator's table. An operator that names no table gets the statement's last unassigned table if there is
    exactly one such operator and one such table. Otherwise its position in the plan is returned in place of a path.
    """
    database = next((operator.table[:2] for operator in (*plan.sources, *plan.sinks) if len(operator.table) == 3), _DEFAULT)
    named = {operator.table[-1] for operator in operators if operator.table}
    left = [path for path in stated if path[-1] not in named]
    bare = sum(not operator.table for operator in operators)
    keys: list[Name] = []
    for index, operator in enumerate(operators):
        if not operator.table:
            keys.append(left[0] if len(left) == bare == 1 else ("", str(index)))
        elif len(operator.table) == 3:
            keys.append(operator.table)
        else:
            of_statement = [path for path in stated if path[-1:] == operator.table]
            known = find(operator.table)
            guessed = known.path if known else (*database, *operator.table)
            keys.append(of_statement[0] if len(of_statement) == 1 else guessed)
    return keys


def accesses_of(
    job: str,
    keys: list[Name],
    operators: tuple[Operator, ...],
    stated: Iterable[Name],
    find: Find,
    evidence: JobEvidence,
    topics: Mapping[int, tuple[str, ...]],
) -> TableAccesses:
    """The datasets that a job reads, or those that it writes. `keys` are the tables of the operators, `stated` those of the statement."""
    found: TableAccesses = {}
    for key in dict.fromkeys((*keys, *sorted(stated))):
        indexes = [index for index, other in enumerate(keys) if other == key]
        named = tuple(topic for index in indexes for topic in topics.get(index, ()))
        found[key] = _stands_for(job, key, find(key), named, tuple(operators[index] for index in indexes), evidence)
    return found


def _stands_for(
    job: str, key: Name, table: KnownTable | None, topics: tuple[str, ...], operators: tuple[Operator, ...], evidence: JobEvidence
) -> tuple[DatasetAccess, ...]:
    """Return the datasets of a table: those that its DDL names, else the topics in the operators' metrics, else one with the table's
    own name.
    """
    path = "" if key[0] == "" else written(key)
    base = DatasetAccess(("", ""), (path,) if path else (), table.connector if table else "", table.fields if table else ())
    datasets = table.datasets(evidence.shared) if table else ()
    datasets = datasets or tuple(name for topic in topics for name in _topic(topic, evidence))
    if datasets:
        counted = operators if len(set(datasets)) == 1 else ()
        return tuple(replace(base, dataset=dataset, operators=counted) for dataset in dict.fromkeys(datasets))
    if not path:
        return ()
    name = f"{job}/{path}" if key[:1] == _DEFAULT[:1] else path
    return (replace(base, dataset=(evidence.namespace, name), inferred=table is None, operators=operators),)


def _topic(topic: str, evidence: JobEvidence) -> tuple[DatasetName, ...]:
    """Find a topic by its name in metrics, in which `.` is replaced by `_`. Empty unless exactly one topic of the known clusters fits."""
    names = {
        (cluster.namespace, name)
        for cluster in evidence.shared.clusters
        for name in cluster.topics or ()
        if name.replace(".", "_") == topic
    }
    if not names and "_" not in topic and (namespace := sole_namespace(topic, evidence.shared, evidence.kafka)):
        names = {(namespace, topic)}
    return tuple(names) if len(names) == 1 else ()
