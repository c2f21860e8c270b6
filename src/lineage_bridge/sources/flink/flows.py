"""What a job reads and writes: the user's annotations, the SQL it was started from, DDL, its plan and its metrics, in this order. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.flink.annotations import Annotation, annotation_of, dataset_of, sole_namespace
from lineage_bridge.sources.flink.plan import Operator, Plan
from lineage_bridge.sources.flink.tables import Declared, KnownTable
from lineage_bridge.sources.knowledge import Knowledge
from lineage_bridge.sources.observer import Unseen
from lineage_bridge.sql.jobs import StartedJob
from lineage_bridge.sql.names import Name, written

_DEFAULT = ("default_catalog", "default_database")
"""Where tables of a session are that names nothing else; they are that session's own."""

Column = tuple[DatasetName, str, str]
"""A column of a dataset, and how: IDENTITY, TRANSFORMATION, AGGREGATION; or FILTER, JOIN, GROUP_BY, WINDOW, SORT, CONDITIONAL"""


@dataclass(frozen=True)
class Access:
    """A dataset that a job reads or writes, and as what. `operators` count its records; `inferred`: only its name in the plan is known."""

    dataset: DatasetName
    tables: tuple[str, ...] = ()
    connector: str = ""
    fields: tuple[SchemaField, ...] = ()
    inferred: bool = False
    operators: tuple[Operator, ...] = ()

    def joined(self, other: "Access") -> "Access":
        """The same dataset by another table."""
        tables = (*self.tables, *(table for table in other.tables if table not in self.tables))
        return replace(self, tables=tables, fields=self.fields or other.fields, operators=(*self.operators, *other.operators))


@dataclass(frozen=True)
class Entry:
    """What flows into an output: `fields` by column, `deciding` about all of its rows or values."""

    target: DatasetName
    inputs: tuple[DatasetName, ...]
    fields: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    deciding: tuple[Column, ...] = ()


@dataclass(frozen=True)
class Flows:
    """All that is known of what a job moves. `groups` are (cluster id, group) of its own consumer groups."""

    inputs: tuple[Access, ...] = ()
    outputs: tuple[Access, ...] = ()
    entries: tuple[Entry, ...] = ()
    sql: str = ""
    annotation: Annotation | None = None
    groups: tuple[tuple[str, str], ...] = ()
    unseen: tuple[Unseen, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What there is beside the job itself. `kafka` are the servers of topics named without any, `namespace` is that of the jobs."""

    declared: Declared
    annotations: tuple[Annotation, ...]
    around: Knowledge
    kafka: str
    namespace: str


_Found = dict[Name, tuple[Access, ...]]
"""Tables, or places of operators without one, to what they stand for."""


def flows_of(job: str, plan: Plan, topics: Mapping[int, tuple[str, ...]], evidence: Evidence) -> Flows:
    """What a job moves. `topics`: a source's place in the plan to the topics that its metrics name, each `.` in them as `_`."""
    started = _started(job, plan, evidence.declared)
    statement, own = started[0] if len(started) == 1 else (None, {})
    find = _finder(own, evidence.declared)
    read, written_ = statement.tables if statement else (frozenset(), frozenset())
    sources = _keys(plan.sources, read, plan, find)
    sinks = _keys(plan.sinks, written_, plan, find)
    inputs = _accesses(job, sources, plan.sources, read, find, evidence, topics)
    outputs = _accesses(job, sinks, plan.sinks, written_, find, evidence, {})
    entries = _of_statement(statement, inputs, outputs, find) if statement else _of_plan(plan, sources, sinks, inputs, outputs)
    tables = [table for path in inputs if (table := find(path)) is not None]
    flows = Flows(
        _merged(inputs.values()),
        _merged(outputs.values()),
        entries,
        statement.text if statement else "",
        groups=_groups(tables, evidence.around),
    )
    annotation = annotation_of(job, evidence.annotations)
    unseen = [Unseen(f"job {job}: statement", f"{len(started)} statements may have started it")] if len(started) > 1 else []
    if annotation is not None:
        flows, missing = _annotated(job, flows, annotation, evidence, plan)
        unseen += missing
    return replace(flows, unseen=(*unseen, *_untold(job, flows, plan, inputs, outputs)))


def _started(job: str, plan: Plan, declared: Declared) -> list[tuple[StartedJob, Mapping[Name, KnownTable]]]:
    read = [operator.table for operator in plan.sources if operator.table]
    found = declared.started(job, read, [operator.table for operator in plan.sinks if operator.table])
    return list({one[0].text: one for one in found}.values())


def _finder(own: Mapping[Name, KnownTable], declared: Declared) -> Callable[[Name], KnownTable | None]:
    return lambda path: own.get(path) or declared.table(path)


def _keys(operators: tuple[Operator, ...], told: Iterable[Name], plan: Plan, find: Callable[[Name], KnownTable | None]) -> list[Name]:
    """For each operator the path of its table; one without is the one table of the statement that is left, else it goes by its place."""
    around = next((operator.table[:2] for operator in (*plan.sources, *plan.sinks) if len(operator.table) == 3), _DEFAULT)
    named = {operator.table[-1] for operator in operators if operator.table}
    left = [path for path in told if path[-1] not in named]
    bare = sum(not operator.table for operator in operators)
    keys: list[Name] = []
    for place, operator in enumerate(operators):
        if not operator.table:
            keys.append(left[0] if len(left) == bare == 1 else ("", str(place)))
        elif len(operator.table) == 3:
            keys.append(operator.table)
        else:
            of_statement = [path for path in told if path[-1:] == operator.table]
            known = find(operator.table)
            guessed = known.path if known else (*around, *operator.table)
            keys.append(of_statement[0] if len(of_statement) == 1 else guessed)
    return keys


def _accesses(
    job: str,
    keys: list[Name],
    operators: tuple[Operator, ...],
    told: Iterable[Name],
    find: Callable[[Name], KnownTable | None],
    evidence: Evidence,
    topics: Mapping[int, tuple[str, ...]],
) -> _Found:
    found: _Found = {}
    for key in dict.fromkeys((*keys, *sorted(told))):
        places = [place for place, one in enumerate(keys) if one == key]
        named = tuple(topic for place in places for topic in topics.get(place, ()))
        found[key] = _stands_for(job, key, find(key), named, tuple(operators[place] for place in places), evidence)
    return found


def _stands_for(
    job: str, key: Name, table: KnownTable | None, topics: tuple[str, ...], operators: tuple[Operator, ...], evidence: Evidence
) -> tuple[Access, ...]:
    """The datasets of a table: by its DDL, else by the topics that are seen to be read, else itself."""
    path = "" if key[0] == "" else written(key)
    base = Access(("", ""), (path,) if path else (), table.connector if table else "", table.fields if table else ())
    datasets = table.datasets(evidence.around) if table else ()
    datasets = datasets or tuple(name for topic in topics for name in _topic(topic, evidence))
    if datasets:
        counted = operators if len(set(datasets)) == 1 else ()
        return tuple(replace(base, dataset=dataset, operators=counted) for dataset in dict.fromkeys(datasets))
    if not path:
        return ()
    name = f"{job}/{path}" if key[:1] == _DEFAULT[:1] else path
    return (replace(base, dataset=(evidence.namespace, name), inferred=table is None, operators=operators),)


def _topic(topic: str, evidence: Evidence) -> tuple[DatasetName, ...]:
    """A topic as metrics write it, where one cluster has just one that may be meant."""
    names = {
        (cluster.namespace, name)
        for cluster in evidence.around.clusters
        for name in cluster.topics or ()
        if name.replace(".", "_") == topic
    }
    if not names and "_" not in topic and (namespace := sole_namespace(topic, evidence.around, evidence.kafka)):
        names = {(namespace, topic)}
    return tuple(names) if len(names) == 1 else ()


def _of_plan(plan: Plan, sources: list[Name], sinks: list[Name], inputs: _Found, outputs: _Found) -> tuple[Entry, ...]:
    reached: dict[DatasetName, dict[DatasetName, None]] = {}
    for place, key in enumerate(sinks):
        read = [access.dataset for source, sink in plan.pairs if sink == place for access in inputs[sources[source]]]
        for access in outputs[key]:
            reached.setdefault(access.dataset, {}).update(dict.fromkeys(read))
    return tuple(Entry(target, tuple(read)) for target, read in reached.items())


def _of_statement(statement: StartedJob, inputs: _Found, outputs: _Found, find: Callable[[Name], KnownTable | None]) -> tuple[Entry, ...]:
    def column(name: Name, column: str) -> str:
        table = find(statement.paths[name])
        return table.column(column) if table else column

    def read(name: Name) -> list[DatasetName]:
        return [access.dataset for access in inputs.get(statement.paths[name], ())]

    entries: dict[DatasetName, Entry] = {}
    for table, sources in statement.reads.items():
        fields: dict[str, list[Column]] = {}
        for flow in statement.lineage.columns:
            if flow.out_table == table:
                came = [(name, column(flow.in_table, flow.in_column), flow.subtype.name) for name in read(flow.in_table)]
                fields.setdefault(column(table, flow.out_column), []).extend(came)
        told = [one for one in statement.lineage.indirect if one.out_table == table]
        deciding = [(name, column(one.in_table, one.in_column), one.kind) for one in told for name in read(one.in_table)]
        datasets = tuple(dict.fromkeys(name for source in sources for name in read(source)))
        for access in outputs.get(statement.paths[table], ()):
            columns = {name: tuple(dict.fromkeys(origins)) for name, origins in fields.items()}
            entry = Entry(access.dataset, datasets, columns, tuple(dict.fromkeys(deciding)))
            entries[access.dataset] = _both(entries.get(access.dataset), entry)
    return tuple(entries.values())


def _both(one: Entry | None, other: Entry) -> Entry:
    """What two statements move into one output."""
    if one is None:
        return other
    fields = {
        name: tuple(dict.fromkeys((*one.fields.get(name, ()), *other.fields.get(name, ())))) for name in {**one.fields, **other.fields}
    }
    inputs = tuple(dict.fromkeys((*one.inputs, *other.inputs)))
    return Entry(one.target, inputs, fields, tuple(dict.fromkeys((*one.deciding, *other.deciding))))


def _merged(found: Iterable[tuple[Access, ...]]) -> tuple[Access, ...]:
    """Each dataset once."""
    merged: dict[DatasetName, Access] = {}
    for accesses in found:
        for access in accesses:
            known = merged.get(access.dataset)
            merged[access.dataset] = known.joined(access) if known else access
    return tuple(merged.values())


def _groups(tables: Iterable[KnownTable], around: Knowledge) -> tuple[tuple[str, str], ...]:
    found = {(cluster.id, table.group) for table in tables if table.group and (cluster := around.cluster(table.servers)) is not None}
    return tuple(sorted(found))


def _annotated(job: str, flows: Flows, said: Annotation, evidence: Evidence, plan: Plan) -> tuple[Flows, list[Unseen]]:
    """What is annotated stands in the place of what was found; columns stay where both ends are annotated."""
    around, missing = evidence.around, list[Unseen]()

    def named(texts: tuple[str, ...]) -> list[DatasetName]:
        found = [(text, dataset_of(text, around, evidence.kafka)) for text in texts]
        hint = "no Kafka cluster is known for it; set kafka, or write kafka://host:port/topic"
        missing.extend(Unseen(f"job {job}: {text}", hint) for text, name in found if name is None)
        return [name for _, name in found if name is not None]

    owned = [(cluster, group) for cluster in around.clusters for group in said.groups if group in cluster.groups]
    read = None if said.inputs is None and not owned else named(said.inputs or ())
    if read is not None:
        read += [(cluster.namespace, topic) for cluster, group in owned for topic in sorted(cluster.groups[group])]
    wrote = None if said.outputs is None else named(said.outputs)
    inputs = flows.inputs if read is None else _replaced(flows.inputs, read, plan.sources)
    outputs = flows.outputs if wrote is None else _replaced(flows.outputs, wrote, plan.sinks)
    groups = tuple(sorted({*flows.groups, *((cluster.id, group) for cluster, group in owned)}))
    entries = flows.entries if read is None and wrote is None else _kept(flows.entries, inputs, outputs)
    return replace(flows, inputs=inputs, outputs=outputs, entries=entries, groups=groups, annotation=said), missing


def _replaced(found: tuple[Access, ...], names: list[DatasetName], operators: tuple[Operator, ...]) -> tuple[Access, ...]:
    """The datasets that are annotated. The one operator that counts for no other counts for the one dataset without."""
    known = {access.dataset: access for access in found}
    kept = [known.get(name, Access(name)) for name in dict.fromkeys(names)]
    counted = {operator for access in kept for operator in access.operators}
    free = tuple(operator for operator in operators if operator not in counted)
    bare = [access for access in kept if not access.operators]
    if len(bare) == len(free) == 1:
        return tuple(replace(access, operators=free) if access is bare[0] else access for access in kept)
    return tuple(kept)


def _kept(entries: tuple[Entry, ...], inputs: tuple[Access, ...], outputs: tuple[Access, ...]) -> tuple[Entry, ...]:
    """The entries between datasets that are annotated; an input that no entry has flows to all outputs."""
    read = dict.fromkeys(access.dataset for access in inputs)
    known = {entry.target: entry for entry in entries}
    used = {name for entry in entries for name in entry.inputs}
    kept = []
    for name in dict.fromkeys(access.dataset for access in outputs):
        entry = known.get(name)
        if entry is None:
            kept.append(Entry(name, tuple(read)))
            continue
        fields = {column: tuple(one for one in origins if one[0] in read) for column, origins in entry.fields.items()}
        sources = tuple(one for one in read if one in entry.inputs or one not in used)
        kept.append(
            Entry(
                name, sources, {key: some for key, some in fields.items() if some}, tuple(one for one in entry.deciding if one[0] in read)
            )
        )
    return tuple(kept)


def _untold(job: str, flows: Flows, plan: Plan, inputs: _Found, outputs: _Found) -> list[Unseen]:
    """What nothing tells, and what would."""
    said = flows.annotation
    open_in, open_out = said is None or (said.inputs is None and not said.groups), said is None or said.outputs is None
    sides = [
        (found, operators) for found, operators, is_open in ((inputs, plan.sources, open_in), (outputs, plan.sinks, open_out)) if is_open
    ]
    tables = sorted({written(key) for found, _ in sides for key, accesses in found.items() if any(access.inferred for access in accesses)})
    bare = sorted({operators[int(key[1])].name for found, operators in sides for key, accesses in found.items() if not accesses})
    unseen = []
    if tables:
        why = f"nothing tells what {', '.join(tables)} stand for; give their DDL in init_sql or statements, or annotate the job"
        unseen.append(Unseen(f"job {job}: tables", why))
    if bare and not flows.sql:
        why = f"its plan tells of operators only ({', '.join(bare)}); name its inputs and outputs in annotations, under {job!r}"
        unseen.append(Unseen(f"job {job}: datasets", why))
    return unseen
