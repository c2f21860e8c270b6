"""Converts operators' records about erasures and aliases to rows of the relations. (The module `flow_endings` converts those about ends of
flows.) An unreadable record gives no rows.
"""

from collections.abc import Iterator
from uuid import UUID

import msgspec

from lineage_bridge.conversion import decode
from lineage_bridge.errors import RequestError
from lineage_bridge.graph.identity.naming.spelling import LONGEST
from lineage_bridge.graph.identity.steps import ANY, OPERATOR, PREFERRED
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import NEVER_US, NO_EVENT

ENTITIES = {"dataset": NodeKind.DATASET, "job": NodeKind.JOB}
ALIAS, VETO, LIFT, PREFER, WITHDRAW = "alias", "veto", "lift", "prefer", "withdraw"
ALIAS_OPERATIONS = (ALIAS, VETO, LIFT, PREFER, WITHDRAW)
"""Operations on aliases. `prefer` chooses the name that a group goes by, `withdraw` takes that back."""


class End(msgspec.Struct, frozen=True):
    """One end of an alias: a dataset or job by its name, or a whole namespace if `name` is None."""

    namespace: str
    name: str | None = None


class AliasStatement(msgspec.Struct, frozen=True, omit_defaults=True):
    """An operator's statement about an alias: the alias itself, a veto or a lifted veto, or the choice of the name `a`.

    `a` and `b` are two names or two namespaces; names in the namespace `b` may have a `prefix`.

    `evidence` states what an alias rests on. A veto applies to the evidence it names, to all evidence of its `kind`, or to all
    evidence. A veto without `a` and `b` applies to a rule everywhere; one with the same namespace twice, to a rule within that
    namespace.
    """

    a: End = End("")
    b: End = End("")
    entity: str = "dataset"
    prefix: str = ""
    kind: str = ""
    evidence: str = ""


class _Operation(msgspec.Struct):
    operation: str
    runs: list[str] = []
    aliases: list[AliasStatement] = []


def operation(record: LogRecord) -> Iterator[tuple[str, Row, Row]]:
    """Convert an operator's record to facts: (relation, key, values)."""
    try:
        decoded = decode(record.body, _Operation)
        facts = list(_facts(decoded, record))
    except (ValueError, RequestError):
        return
    yield from facts


def _facts(operation: _Operation, record: LogRecord) -> Iterator[tuple[str, Row, Row]]:
    if operation.operation == "erase":
        for run in operation.runs:
            yield "erased", (UUID(run).bytes,), (record.arrival_us,)
    elif operation.operation in ALIAS_OPERATIONS:
        order = record.arrival_us, record.event_id
        for statement in operation.aliases:
            key = alias_key(operation.operation, statement)
            yield "alias", key, alias_values(operation.operation, record.principal, order)
            yield "alias_statement", (*key, *order), (operation.operation, record.principal)


def alias_key(operation: str, statement: AliasStatement) -> Row:
    """The key of a statement in the relation `alias`. Raises RequestError if the statement is invalid."""
    if statement.entity not in ENTITIES:
        raise RequestError(f"`entity` cannot be {statement.entity!r}", "use dataset or job")
    if operation in (PREFER, WITHDRAW):
        return _preference_key(statement)
    whole = statement.a.name is None and statement.b.name is None
    if not whole and (statement.a.name is None or statement.b.name is None):
        raise RequestError("one end is a namespace and the other a name", "give both ends a name, or neither")
    names = (statement.a.name or "", statement.prefix if whole else statement.b.name or "")
    if any(len(text) > LONGEST for text in (*names, statement.a.namespace, statement.b.namespace, statement.evidence)):
        raise RequestError(f"a name, prefix or evidence is longer than {LONGEST} characters", "send shorter texts")
    kind = statement.kind
    if operation == ALIAS:
        _check_alias(statement, whole=whole)
        kind = OPERATOR
    elif not whole and statement.prefix:
        raise RequestError(
            "an alias of two names cannot have a prefix", "leave out `prefix`, or join the namespaces by leaving out the names"
        )
    everywhere = whole and statement.a.namespace == statement.b.namespace == ANY
    if everywhere and not statement.evidence:
        raise RequestError("the veto names neither an alias nor a rule", "name both ends of the alias (`a` and `b`), or the rule")
    spaces = statement.a.namespace, statement.b.namespace
    return (
        int(ENTITIES[statement.entity]),
        int(whole and not everywhere),
        spaces[0],
        names[0],
        spaces[1],
        names[1],
        kind,
        statement.evidence,
    )


def _preference_key(statement: AliasStatement) -> Row:
    """The key of an operator's choice of a name, in which the name is both ends. Raises RequestError."""
    name = statement.a
    if not name.namespace or not name.name or statement != AliasStatement(name, entity=statement.entity):
        raise RequestError("a preferred name needs a namespace and a name", 'send {"a": {"namespace", "name"}}, and entity')
    if max(len(name.namespace), len(name.name)) > LONGEST:
        raise RequestError(f"a name is longer than {LONGEST} characters", "send shorter names")
    return int(ENTITIES[statement.entity]), 0, name.namespace, name.name, name.namespace, name.name, PREFERRED, ""


def _check_alias(statement: AliasStatement, *, whole: bool) -> None:
    if statement.prefix and not whole:
        raise RequestError(
            "an alias of two names cannot have a prefix", "leave out `prefix`, or join the namespaces by leaving out the names"
        )
    if not statement.a.namespace or not statement.b.namespace:
        raise RequestError("an end of the alias has no namespace", "give both ends a namespace")
    if (statement.a.namespace, statement.a.name) == (statement.b.namespace, statement.b.name):
        raise RequestError("both ends of the alias are the same name", "give two different names")
    if statement.kind not in ("", OPERATOR):
        raise RequestError(f"an operator's alias cannot have the kind {statement.kind!r}", "leave out `kind`")


def alias_values(operation: str, principal: str, order: tuple[int, bytes]) -> Row:
    """The values of one statement in the relation `alias`.

    The values have two halves. The first half says which operator stated the alias or chose the name. The second half says whether a veto
    is in force or a choice was withdrawn. Each half ends with its order (time and event id); the half that the operation does not concern
    is empty.
    """
    unstated = (None, NEVER_US, NO_EVENT)
    if operation in (ALIAS, PREFER):
        return (principal, *order, *unstated)
    return (*unstated, int(operation in (VETO, WITHDRAW)), *order)
