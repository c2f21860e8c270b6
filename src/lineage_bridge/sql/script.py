"""Converts a script of Flink SQL, Confluent's Flink SQL or ksqlDB to lineage, statement by statement."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import singledispatchmethod

from sqlglot import exp

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sql.columns.changes import merged_rows, write_change
from lineage_bridge.sql.columns.expressions import QueryAnalysis
from lineage_bridge.sql.columns.from_clause import table_name
from lineage_bridge.sql.columns.functions import PSEUDO_COLUMNS
from lineage_bridge.sql.columns.relations import QueryRelation, Scope
from lineage_bridge.sql.columns.resolver import Resolver
from lineage_bridge.sql.columns.writing import write
from lineage_bridge.sql.ksqldb.resolver import KsqldbResolver
from lineage_bridge.sql.ksqldb.tables import declared_table, filled_table, matched_columns
from lineage_bridge.sql.lineage import Fault, Lineage
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.statements import statement_types as st
from lineage_bridge.sql.statements.alterations import changed_columns
from lineage_bridge.sql.statements.catalog import Catalog, ColumnKind, Model, Table, TableColumn, View
from lineage_bridge.sql.statements.datasets import dataset_of, topic_of
from lineage_bridge.sql.statements.parsing import parse
from lineage_bridge.sql.text.cursor import TOO_DEEP, Cursor, StatementError
from lineage_bridge.sql.text.hints import TEMPLATE, hint, template_at
from lineage_bridge.sql.text.keywords import MERGE_WORDS, RESERVED
from lineage_bridge.sql.text.plain import Query
from lineage_bridge.sql.text.scanning import froms_without_table, query_names
from lineage_bridge.sql.text.splitting import split
from lineage_bridge.sql.text.streaming import lowered
from lineage_bridge.sql.text.tokens import Kind, Token, TokenError, tokens

FLINK, CONFLUENT_FLINK, KSQLDB = "flink", "confluent-flink", "ksqldb"
STREAMING = (FLINK, CONFLUENT_FLINK, KSQLDB)
"""The dialects whose statements this module parses; sqlglot parses all others."""

_DEFAULT = {FLINK: ("default_catalog", "default_database")}
_READ_BEHIND = frozenset({"FROM", "JOIN"})
_WRITTEN_BEHIND = frozenset({"INTO", "OVERWRITE"})


class StreamingScript:
    """Reads the statements of a script in order. Each statement knows the objects that earlier ones defined.

    `kafka`: the bootstrap servers (`host:port`, separated by commas) of the cluster that has ksqlDB's topics, because ksqlDB's
    statements do not name it. `catalog`: the definitions of earlier scripts.
    """

    def __init__(
        self, dialect: str, tables: Mapping[Name, Sequence[str]] | None = None, kafka: str = "", catalog: Catalog | None = None
    ) -> None:
        self._dialect, self._kafka = dialect, kafka
        self._ksql = dialect == KSQLDB
        self._resolver: type[Resolver] = KsqldbResolver if self._ksql else Resolver
        self.catalog = catalog or Catalog(_DEFAULT.get(dialect, ("", "")))
        for name, columns in (tables or {}).items():
            self.catalog.add_outside(Table(name, [TableColumn(column) for column in columns]))

    def read(self, text: str) -> Iterator[tuple[str, Lineage]]:
        """Yield each statement of a script with its lineage. For a statement that cannot be parsed, the lineage has an error and the tables
        that the statement names.
        """
        broken: TokenError | None = None
        try:
            found = tokens(text)
        except TokenError as err:
            found, broken = [*err.before, err.token], err
        for statement in split(found):
            if broken is not None and statement[-1] is broken.token:
                lineage = self._scanned(statement)
                lineage.errors.append(_fault(str(broken), broken.token))
            else:
                lineage = self._statement(statement)
            yield text[statement[0].start : statement[-1].end], lineage

    def _statement(self, statement: Sequence[Token]) -> Lineage:
        lineage = Lineage()
        try:
            self._apply(parse(statement, ksql=self._ksql), lineage)
        except (StatementError, RecursionError) as err:
            lineage = self._scanned(statement)
            lineage.errors.append(self._explained(err, statement))
        for name in (*lineage.declares, *lineage.inputs, *lineage.outputs):
            dataset = self._dataset(name)
            if dataset is not None:
                lineage.datasets[name] = dataset
        return lineage

    def _explained(self, err: StatementError | RecursionError, statement: Sequence[Token]) -> Fault:
        """The text of an error, with a suggestion."""
        if isinstance(err, RecursionError):
            return _fault(TOO_DEEP, statement[0])
        texts = ["" if token.kind in (Kind.STRING, Kind.NAME) else token.text for token in statement]
        template = template_at(texts)
        if template is not None:
            return _fault(TEMPLATE, statement[template])
        token = err.token or statement[-1]
        before = sum(other.start <= token.start for other in statement)
        return _fault(hint(err.message, texts[:before], ksql=self._ksql), token)

    def _dataset(self, name: Name) -> DatasetName | None:
        options = self.catalog.table(name).options
        return topic_of(options, self._kafka) if self._ksql else dataset_of(options, self.catalog.options(name), self.catalog.path(name))

    @singledispatchmethod
    def _apply(self, statement: st.Statement, lineage: Lineage) -> None:
        """Add what a statement reads, writes and defines. Statements of other types change nothing."""

    @_apply.register
    def _(self, statement: st.DefineTable, lineage: Lineage) -> None:
        columns, options = statement.columns, statement.options
        if statement.like is not None:
            like = self.catalog.table(statement.like)
            columns = [*(like.columns or ()), *(columns or ())] if like.columns is not None or columns is not None else None
            options = {**like.options, **options}
        if statement.query is None:
            made = Table(statement.name, columns, options, statement.keys, statement.comment)
            table = self.catalog.add_table(declared_table(statement) if self._ksql else made)
            lineage.declares[table.name] = None
            return
        relation = self._resolve(statement.query, lineage)
        if self._ksql:
            table = self.catalog.add_table(filled_table(statement, relation, self.catalog))
            write(table.name, [name for name, _ in relation.columns], replace(relation, unknown=None), lineage)
            return
        relation = relation.with_likely_names()
        named = [name for name, _ in relation.columns]
        computed = [column for column in columns or () if column.kind is not ColumnKind.PHYSICAL]
        whole = relation.unknown is None
        physical = [column.name for column in columns or () if column.kind is ColumnKind.PHYSICAL]
        if whole and physical and len(physical) == len(named) and set(physical) != set(named):
            relation = relation.renamed(physical)
            named = physical
        known_columns = [*map(TableColumn, named), *computed] if whole else None
        table = self.catalog.add_table(Table(statement.name, known_columns, options, statement.keys, statement.comment))
        write(table.name, [name for name, _ in relation.columns], replace(relation, unknown=None), lineage)

    @_apply.register
    def _(self, statement: st.DefineType, lineage: Lineage) -> None:  # noqa: ARG002 - the signature of all registered functions
        self.catalog.types[statement.name] = statement.type_tokens

    @_apply.register
    def _(self, statement: st.DefineView, lineage: Lineage) -> None:
        self.catalog.add_view(View(statement.name, statement.query, statement.columns))
        analysis = self._analysis()
        self._resolver.columns_in(statement.query, analysis)
        lineage.errors += [_fault(message, token or statement.query[0]) for message, token in analysis.faults]

    @_apply.register
    def _(self, statement: st.DefineModel, lineage: Lineage) -> None:
        self.catalog.add_model(Model(statement.name, statement.outputs))
        lineage.models[statement.name] = None
        if statement.query is not None:
            self._resolve(statement.query, lineage)

    @_apply.register
    def _(self, statement: st.DefineAgent, lineage: Lineage) -> None:
        lineage.models[statement.model] = None

    @_apply.register
    def _(self, statement: st.Insert, lineage: Lineage) -> None:
        table = self.catalog.table(statement.target)
        lineage.outputs[table.name] = None
        if statement.query is None:
            return
        relation = self._resolve(statement.query, lineage)
        columns: Sequence[str] | None = statement.columns
        if not columns:
            writable = table.writable()
            columns = None if writable is None else [name for name in writable if name not in statement.fixed]
        if columns is not None and relation.unknown is None and len(columns) != len(relation.columns):
            message = f"the query returns {len(relation.columns)} columns, but the statement writes {len(columns)}"
            lineage.errors.append(_fault(message, statement.query[0]))
        by_name = self._ksql and columns is not None and not statement.columns
        write(table.name, columns, matched_columns(relation, columns or ()) if by_name else relation, lineage)

    @_apply.register
    def _(self, statement: st.DefineCatalog, lineage: Lineage) -> None:  # noqa: ARG002 - the signature of all registered functions
        self.catalog.add_catalog(statement.name, statement.options)

    @_apply.register
    def _(self, statement: st.Update, lineage: Lineage) -> None:
        table = self.catalog.table(statement.target)
        analysis = self._analysis()
        resolver, scope = self._resolver(analysis, Query(exp.Select(), {}, [])), Scope()
        scope.add(table.name[-1:], resolver.named(statement.target, {}))
        assigned = tuple((column, resolver.value_of(value, scope)) for column, value in statement.assignments)
        conditions = resolver.value_of(statement.where, scope).deciding("FILTER") if statement.where else set()
        write(table.name, None, QueryRelation(assigned, conditions=frozenset(conditions)), lineage)
        # An UPDATE reads its own table if a value uses one of its columns.
        is_read = any(source[0] == table.name for _, value in assigned for source in value.direct)
        self._add_analysis(analysis, lineage, statement.where or [], unread=None if is_read else table.name)

    @_apply.register
    def _(self, statement: st.ChangeQuery, lineage: Lineage) -> None:
        table = self.catalog.table(statement.table)
        relation = self._resolve(statement.query, lineage)
        table.columns = [TableColumn(name) for name, _ in relation.columns] if relation.unknown is None else None
        write(table.name, [name for name, _ in relation.columns], replace(relation, unknown=None), lineage)

    @_apply.register
    def _(self, statement: st.Merge, lineage: Lineage) -> None:
        query = lowered(statement.tokens, ksql=self._ksql, keywords=MERGE_WORDS)
        merge, analysis = query.expression, self._analysis()
        if not isinstance(merge, exp.Merge) or not isinstance(merge.this, exp.Table):
            raise StatementError("a MERGE is expected here", statement.tokens[0])
        target = self.catalog.table(table_name(merge.this))
        write_change(target, merged_rows(merge, target, self._resolver(analysis, query)), analysis, lineage)
        lineage.errors += [_fault(message, token or statement.tokens[0]) for message, token in analysis.faults]

    @_apply.register
    def _(self, statement: st.SelectRows, lineage: Lineage) -> None:
        self._resolve(statement.query, lineage)

    @_apply.register
    def _(self, statement: st.Use, lineage: Lineage) -> None:  # noqa: ARG002 - the signature of all registered functions
        if statement.whole:
            self.catalog.use_catalog(statement.name[-1])
        else:
            self.catalog.use(statement.name)

    @_apply.register
    def _(self, statement: st.ChangeColumns, lineage: Lineage) -> None:  # noqa: ARG002 - the signature of all registered functions
        table = self.catalog.table(statement.table)
        if table.columns is not None:
            table.columns = changed_columns(table.columns, statement)

    @_apply.register
    def _(self, statement: st.Rename, lineage: Lineage) -> None:  # noqa: ARG002 - the signature of all registered functions
        self.catalog.rename(statement.table, statement.to)

    @_apply.register
    def _(self, statement: st.Drop, lineage: Lineage) -> None:  # noqa: ARG002 - the signature of all registered functions
        self.catalog.drop(statement.name)

    def _analysis(self) -> QueryAnalysis:
        if self._ksql:
            return QueryAnalysis(self.catalog, ksql=True, pseudo_columns=PSEUDO_COLUMNS)
        system = ("$rowtime",) if self._dialect == CONFLUENT_FLINK else ()
        return QueryAnalysis(self.catalog, system_columns=system, numbers_repeated=True)

    def _resolve(self, query: Sequence[Token], lineage: Lineage) -> QueryRelation:
        analysis = self._analysis()
        relation = self._resolver.columns_in(query, analysis)
        self._add_analysis(analysis, lineage, query)
        return relation

    def _add_analysis(self, analysis: QueryAnalysis, lineage: Lineage, query: Sequence[Token], unread: Name | None = None) -> None:
        lineage.inputs.update(dict.fromkeys(name for name in analysis.tables if name != unread))
        lineage.models.update(analysis.models)
        lineage.errors += [_fault(message, token or query[0]) for message, token in analysis.faults]

    def _scanned(self, statement: Sequence[Token]) -> Lineage:
        """The tables of a statement that cannot be parsed: the names after FROM, JOIN, INTO and similar words."""
        lineage = Lineage()
        words = [token.upper or token.text.upper() for token in statement]
        if words[1:2] == ["."] or words[0] == "[":
            return lineage  # Not in source code or logs: prose contains FROM too.
        ignored = froms_without_table(words)
        defined = {words[at] for at in query_names(words)}
        fills = statement[0].upper == "CREATE" and any(token.upper == "SELECT" for token in statement)
        for at, token in enumerate(statement[:-1]):
            before = statement[at - 1].upper if at else ""
            writes = token.upper in _WRITTEN_BEHIND or (fills and token.upper in ("TABLE", "STREAM") and not lineage.outputs)
            reads = token.upper in _READ_BEHIND or (token.upper == "TABLE" and before in ("(", ","))
            following = statement[at + 1]
            if not (writes or reads) or at in ignored or not following.is_name or following.upper in RESERVED:
                continue
            cursor = Cursor(statement[at + 1 :], folds=self._ksql)
            name = cursor.name_so_far()
            if len(name) == 1 and name[0].upper() in defined:
                continue
            if self.catalog.view(name) is None and (writes or not cursor.sees("(")):
                (lineage.outputs if writes else lineage.inputs)[self.catalog.table(name).name] = None
        return lineage


def _fault(message: str, token: Token) -> Fault:
    return Fault(token.line, token.column, message)
