"""The requests and responses of the routes for aliases."""

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.graph.facts.operations import AliasStatement


class AliasRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Aliases to state or to veto, or whose vetoes to lift. Each has two names or two namespaces. For a preferred name, only `a`
    is sent.
    """

    aliases: list[AliasStatement]


class AliasEnd(Struct, frozen=True, omit_defaults=True):
    """One end of an alias: a name, or a whole namespace."""

    namespace: str
    name: str | UnsetType = UNSET


class UnknownEnd(AliasEnd, frozen=True, omit_defaults=True, kw_only=True):
    """A name or namespace of a request that no dataset (or job, depending on `entity`) had when the request arrived."""

    entity: str


class AliasesAccepted(Struct, frozen=True, omit_defaults=True, tag_field="status", tag="accepted"):
    """The request is durable and takes effect soon.

    `unknown` lists the names and namespaces that no node of the graph had when the request arrived, at most 100.
    """

    aliases: int
    position: str
    unknown: list[UnknownEnd] | UnsetType = UNSET


class AliasAsserter(Struct, frozen=True, omit_defaults=True):
    """A job that states a symlink, or a dataset that states its own. `declared`: it is stated at design time."""

    kind: str
    namespace: str
    name: str
    last_at: str
    declared: bool = False


class AliasItem(Struct, frozen=True, omit_defaults=True):
    """Two names of one dataset or job, or two namespaces: a name `n` in `a` is the name `prefix` + `n` in `b`.

    `kind` and `evidence` say what joins them: an operator, a producer's symlink (its type) or other facet (its key), or a naming rule (its
    id). An alias that is not `standing` is vetoed, or contradicted by another facet. If `kind` is `preferred`, `a` and `b` are both the
    name that an operator chose; the choice is `standing` if it decides the preferred name of the dataset or job. With `parts`, an alias of
    namespaces only applies to names of this many dotted parts.

    `asserters` is the number of asserters of a symlink, `asserted_by` the latest of them. It is `stale` if none has stated it for 30 days.
    """

    entity: str
    a: AliasEnd
    b: AliasEnd
    kind: str
    evidence: str
    standing: bool
    prefix: str | UnsetType = UNSET
    parts: int | UnsetType = UNSET
    stated_by: str | UnsetType = UNSET
    stated_at: str | UnsetType = UNSET
    asserters: int | UnsetType = UNSET
    asserted_by: list[AliasAsserter] | UnsetType = UNSET
    stale: bool = False


class Aliases(Struct, frozen=True):
    """Aliases with their evidence, in the order of their kinds and names."""

    aliases: list[AliasItem]
    rules_version: int
    position: str
