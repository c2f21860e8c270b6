"""Converts a script in one of sqlglot's dialects to lineage, with the same resolver as streaming SQL."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token as PlainToken
from sqlglot.tokenizer_core import TokenType

from lineage_bridge.sql.columns.changes import merged_rows, updated_rows, write_change
from lineage_bridge.sql.columns.expressions import QueryAnalysis
from lineage_bridge.sql.columns.from_clause import part_of
from lineage_bridge.sql.columns.relations import QueryRelation
from lineage_bridge.sql.columns.resolver import Resolver, columns_of
from lineage_bridge.sql.columns.writing import write
from lineage_bridge.sql.lineage import Fault, Lineage
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.statements.catalog import Catalog, Table, TableColumn, View
from lineage_bridge.sql.text.cursor import TOO_DEEP, StatementError
from lineage_bridge.sql.text.hints import TEMPLATE, hint, template_at
from lineage_bridge.sql.text.messages import explained, quoted
from lineage_bridge.sql.text.plain import Query
from lineage_bridge.sql.text.scanning import froms_without_table, query_names
from lineage_bridge.sql.text.tokens import TokenError, tokens, words

# Sqlglot would log the statements that it cannot parse and keeps as text; here they are errors with a position.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)
_INERT = words(
    """ALTER ANALYZE ATTACH BEGIN CACHE CALL CLOSE COMMENT COMMIT DECLARE DESC DESCRIBE DETACH DROP EXECUTE EXPLAIN GRANT KILL LOCK OPTIMIZE
    PRAGMA REFRESH RESET REVOKE ROLLBACK SET SHOW START TRUNCATE UNCACHE UNSET USE VACUUM"""
)


class SqlglotScript:
    """Reads the statements of a script in order. Each statement knows the tables and views that earlier ones defined."""

    def __init__(self, dialect: str, tables: Mapping[Name, Sequence[str]] | None = None) -> None:
        self._dialect = Dialect.get_or_raise(dialect)
        self.catalog = Catalog(folds_case=True)
        for name, columns in (tables or {}).items():
            self.catalog.add_table(Table(name, [TableColumn(column) for column in columns]))

    def read(self, text: str) -> Iterator[tuple[str, Lineage]]:
        """Yield each statement of a script with its lineage. For a statement that cannot be parsed, the lineage has an error and the tables
        that the statement names.
        """
        try:
            found = self._dialect.tokenize(text)
        except SqlglotError:
            yield from self._before_the_break(text)
            return
        start = 0
        for at in range(len(found) + 1):
            if at < len(found) and found[at].token_type is not TokenType.SEMICOLON:
                continue
            statement, start = found[start:at], at + 1
            if statement:
                yield text[statement[0].start : statement[-1].end + 1], self._statement(text, statement)

    def _before_the_break(self, text: str) -> Iterator[tuple[str, Lineage]]:
        """Read a script with a quote that is never closed: the statements before the quote, then the error and the tables of the statement
        with the quote.
        """
        fault, end = Fault(1, 1, "a string, a quoted name or a comment is never closed"), 0
        try:
            tokens(text)
        except TokenError as err:
            fault, end = Fault(err.token.line, err.token.column, str(err)), err.token.start
        try:
            found = self._dialect.tokenize(text[:end])
        except SqlglotError:
            found = []
        breaks = [at for at, token in enumerate(found) if token.token_type is TokenType.SEMICOLON]
        whole = found[breaks[-1]].end + 1 if breaks else 0
        if whole:
            yield from self.read(text[:whole])
        lineage = self._scanned(found[breaks[-1] + 1 :] if breaks else found)
        lineage.errors.append(fault)
        yield text[whole:], lineage

    def _statement(self, text: str, tokens: list[PlainToken]) -> Lineage:
        lineage = Lineage()
        try:
            self._apply(self._parsed(text, tokens), lineage)
        except RecursionError:
            lineage = self._scanned(tokens)
            lineage.errors.append(Fault(tokens[0].line, _column(tokens[0]), TOO_DEEP))
        except StatementError as err:
            lineage = self._scanned(tokens)
            at = (err.token.line, err.token.column) if err.token is not None else (tokens[0].line, _column(tokens[0]))
            lineage.errors.append(Fault(*at, err.message))
        except SqlglotError as err:
            details = (getattr(err, "errors", None) or [{}])[0]
            lineage = self._scanned(tokens)
            text = str(details.get("highlight") or "")
            found = quoted(text, is_string=text.startswith(("'", '"'))) if text else ""
            line, column = details.get("line") or tokens[0].line, details.get("col") or _column(tokens[0])
            last = (line, column) == (tokens[-1].line, tokens[-1].col)
            message = explained(str(details.get("description") or str(err).splitlines()[0]), found, last=last)
            lineage.errors.append(_hinted(message, tokens, line, column))
        return lineage

    def _parsed(self, text: str, tokens: list[PlainToken]) -> exp.Expr | None:
        found = self._dialect.parser().parse(tokens, text)
        made = found[0] if found else None
        if isinstance(made, exp.Command) and tokens[0].text.upper() not in _INERT:
            raise StatementError(f"a statement that begins with '{made.this}' is not understood", None)
        return made

    def _apply(self, node: exp.Expr | None, lineage: Lineage) -> None:
        """Add what a statement reads, writes and defines. Statements of other types change nothing."""
        if isinstance(node, exp.Create):
            self._create(node, lineage)
        elif isinstance(node, exp.Insert):
            self._insert(node, lineage)
        elif isinstance(node, exp.Merge | exp.Update):
            self._change(node, lineage)
        elif isinstance(node, exp.Delete):
            lineage.outputs[self._table(node.this).name] = None
        elif isinstance(node, exp.Query):
            self._finish(self._resolved(node)[1], lineage)

    def _create(self, node: exp.Create, lineage: Lineage) -> None:
        kind = str(node.args.get("kind") or "").upper()
        target = node.this.this if isinstance(node.this, exp.Schema) else node.this
        if kind not in ("TABLE", "VIEW") or not isinstance(target, exp.Table):
            return
        columns = (
            [part.name for part in node.this.expressions if isinstance(part, exp.ColumnDef | exp.Identifier)]
            if node.this is not target
            else []
        )
        query = node.args.get("expression")
        if kind == "VIEW" and query is not None:
            self._faults(self._resolved(query)[1], lineage)
            self.catalog.add_view(View(_name(target), query, tuple(columns)))
        elif query is None:
            table = self.catalog.add_table(Table(_name(target), [TableColumn(name) for name in columns] or None))
            lineage.declares[table.name] = None
        else:
            relation, analysis = self._resolved(query)
            relation = relation.renamed(columns)
            known_columns = [TableColumn(name) for name, _ in relation.columns] if relation.unknown is None else None
            table = self.catalog.add_table(Table(_name(target), known_columns))
            write(table.name, [name for name, _ in relation.columns], replace(relation, unknown=None), lineage)
            self._finish(analysis, lineage)

    def _insert(self, node: exp.Insert, lineage: Lineage) -> None:
        listed = isinstance(node.this, exp.Schema)
        table = self._table(node.this.this if listed else node.this)
        lineage.outputs[table.name] = None
        query = node.args.get("expression")
        clause = part_of(node, "with")
        if clause is not None and isinstance(query, exp.Query) and not part_of(query, "with"):
            query.set("with_", clause)
        if not isinstance(query, exp.Query):
            return
        relation, analysis = self._resolved(query)
        columns = [part.name for part in node.this.expressions] if listed else table.writable()
        write(table.name, columns, relation, lineage)
        self._finish(analysis, lineage)

    def _change(self, node: exp.Merge | exp.Update, lineage: Lineage) -> None:
        analysis = QueryAnalysis(self.catalog)
        resolver, target = Resolver(analysis, Query(node, {}, [])), self._table(node.this)
        change = merged_rows(node, target, resolver) if isinstance(node, exp.Merge) else updated_rows(node, resolver)
        write_change(target, change, analysis, lineage)
        self._faults(analysis, lineage)

    def _resolved(self, query: exp.Expr) -> tuple[QueryRelation, QueryAnalysis]:
        analysis = QueryAnalysis(self.catalog, unnamed="_col_{0}".format)
        return columns_of(query, analysis), analysis

    def _finish(self, analysis: QueryAnalysis, lineage: Lineage) -> None:
        lineage.inputs.update(dict.fromkeys(analysis.tables))
        self._faults(analysis, lineage)

    def _faults(self, analysis: QueryAnalysis, lineage: Lineage) -> None:
        lineage.errors += [Fault(token.line if token else 1, token.column if token else 1, message) for message, token in analysis.faults]

    def _table(self, node: exp.Expr) -> Table:
        if not isinstance(node, exp.Table):
            raise StatementError("a table is expected here", None)
        return self.catalog.table(_name(node))

    def _scanned(self, tokens: list[PlainToken]) -> Lineage:
        """The tables of a statement that cannot be parsed: the names after FROM, JOIN and INTO."""
        lineage = Lineage()
        words = [token.text.upper() for token in tokens]
        ignored = froms_without_table(words)
        defined = {words[at] for at in query_names(words)}
        for at, token in enumerate(tokens):
            if token.token_type not in (TokenType.INTO, TokenType.FROM, TokenType.JOIN) or at in ignored:
                continue
            name = _name_at(tokens, at + 1)
            if name and not (len(name) == 1 and name[0].upper() in defined):
                found = lineage.outputs if token.token_type is TokenType.INTO else lineage.inputs
                found[self.catalog.table(name).name] = None
        return lineage


def _hinted(message: str, tokens: list[PlainToken], line: int, column: int) -> Fault:
    """Make the error of a statement at this position in the script, with a suggestion if the mistake is a known one."""
    texts = ["" if token.token_type in _QUOTED else token.text for token in tokens]
    template = template_at(texts)
    if template is not None:
        return Fault(tokens[template].line, _column(tokens[template]), TEMPLATE)
    before = sum((token.line, token.col) <= (line, column) for token in tokens)
    return Fault(line, column, hint(message, texts[:before]))


def _name_at(tokens: list[PlainToken], at: int) -> Name:
    parts: list[str] = []
    while at < len(tokens) and tokens[at].token_type in (TokenType.VAR, TokenType.IDENTIFIER):
        parts.append(tokens[at].text)
        if at + 1 == len(tokens) or tokens[at + 1].token_type is not TokenType.DOT:
            break
        at += 2
    return tuple(parts)


def _name(table: exp.Table) -> Name:
    return tuple(part.name for part in table.parts)


def _column(token: PlainToken) -> int:
    return max(1, token.col - len(token.text) + 1)
