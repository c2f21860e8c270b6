"""Operations: converts an operator's record to rows of the relations. An unreadable record gives no rows."""

from collections.abc import Iterator
from uuid import UUID

import msgspec

from lineage_bridge.errors import RequestError
from lineage_bridge.graph.identity.naming.spelling import LONGEST
from lineage_bridge.graph.identity.steps import ANY, OPERATOR
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import NEVER_US, NO_EVENT

ENTITIES = {"dataset": NodeKind.DATASET, "job": NodeKind.JOB}
ALIAS, VETO, LIFT = "alias", "veto", "lift"


class End(msgspec.Struct, frozen=True):
    """A dataset or job by its name, or a whole namespace if `name` is None."""

    namespace: str
    name: str | None = None


class AliasStatement(msgspec.Struct, frozen=True, omit_defaults=True):
    """An alias, a veto or a lifted veto. `a` and `b` are two names or two namespaces; names in the namespace `b` may have a `prefix`.

    `evidence` states what an alias rests on. A veto applies to the evidence it names, to all evidence of its `kind`, or to all evidence.
    A veto without `a` and `b` applies to a rule everywhere; one with the same namespace twice, to a rule within that namespace.
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
    """The facts of an operator's record: (relation, key, values)."""
    try:
        said = msgspec.json.decode(record.body, type=_Operation)
        facts = list(_facts(said, record))
    except (ValueError, RequestError):
        return
    yield from facts


def _facts(said: _Operation, record: LogRecord) -> Iterator[tuple[str, Row, Row]]:
    if said.operation == "erase":
        for run in said.runs:
            yield "erased", (UUID(run).bytes,), (record.arrival_us,)
    elif said.operation in (ALIAS, VETO, LIFT):
        order = record.arrival_us, record.event_id
        for word in said.aliases:
            key = alias_key(said.operation, word)
            yield "alias", key, alias_values(said.operation, record.principal, order)
            yield "alias_statement", (*key, *order), (said.operation, record.principal)


def alias_key(operation: str, word: AliasStatement) -> Row:
    """The key of a statement in the relation `alias`. Raises RequestError if the statement is invalid."""
    whole = word.a.name is None and word.b.name is None
    if word.entity not in ENTITIES:
        raise RequestError(f"{word.entity!r} is no entity", "one of dataset, job")
    if not whole and (word.a.name is None or word.b.name is None):
        raise RequestError("one end is a namespace and the other a name", "give both a name, or neither")
    names = (word.a.name or "", word.prefix if whole else word.b.name or "")
    if any(len(text) > LONGEST for text in (*names, word.a.namespace, word.b.namespace, word.evidence)):
        raise RequestError(f"a text is longer than {LONGEST} characters")
    kind = word.kind
    if operation == ALIAS:
        _check_alias(word, whole=whole)
        kind = OPERATOR
    elif not whole and word.prefix:
        raise RequestError("only namespaces have a prefix")
    everywhere = whole and word.a.namespace == word.b.namespace == ANY
    if everywhere and not word.evidence:
        raise RequestError("a veto on nothing", "name both ends, or the rule")
    spaces = word.a.namespace, word.b.namespace
    return int(ENTITIES[word.entity]), int(whole and not everywhere), spaces[0], names[0], spaces[1], names[1], kind, word.evidence


def _check_alias(word: AliasStatement, *, whole: bool) -> None:
    if word.prefix and not whole:
        raise RequestError("only namespaces have a prefix")
    if not word.a.namespace or not word.b.namespace:
        raise RequestError("an alias joins two names, each with a namespace")
    if (word.a.namespace, word.a.name) == (word.b.namespace, word.b.name):
        raise RequestError("an alias joins two different names")
    if word.kind not in ("", OPERATOR):
        raise RequestError(f"an operator cannot state an alias of kind {word.kind!r}")


def alias_values(operation: str, principal: str, order: tuple[int, bytes]) -> Row:
    """The values of one statement in the relation `alias`.

    They are the operator who stated the alias, then `vetoed`, each with its order. The part that the operation does not state is empty.
    """
    unsaid = (None, NEVER_US, NO_EVENT)
    if operation == ALIAS:
        return (principal, *order, *unsaid)
    return (*unsaid, int(operation == VETO), *order)
