"""The responses of the change feed."""

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.aliases import AliasEnd


class ChangedNode(Struct, frozen=True, omit_defaults=True):
    """A node in a change. A node that no longer exists has only its id."""

    id: str
    kind: str = ""
    namespace: str = ""
    name: str = ""


class ChangedAlias(Struct, frozen=True, omit_defaults=True):
    """An alias of two names or two namespaces that an operator stated, or an operator's veto on such an alias."""

    entity: str
    a: AliasEnd
    b: AliasEnd
    kind: str
    evidence: str
    vetoed: bool
    prefix: str | UnsetType = UNSET


class ChangeItem(Struct, frozen=True, omit_defaults=True):
    """One change. `kind`: node, port, flow, hub, columns, identity, alias, facet; `change`: added, removed, changed.

    A flow goes from `source` to `target`; a port is `job` and `node` with its `side`; `hub` is the id of a set of flows, from each of many
    inputs of `job` to each of its outputs; `columns` says that `job` states new columns of `node`; an identity is a symlink: `node` and
    `other` denote the same dataset or job; an `alias` was stated by an operator; a facet belongs to `node`, some to `job` too.
    """

    seq: int
    kind: str
    change: str
    node: ChangedNode | UnsetType = UNSET
    source: ChangedNode | UnsetType = UNSET
    target: ChangedNode | UnsetType = UNSET
    other: ChangedNode | UnsetType = UNSET
    link: str | UnsetType = UNSET
    alias: ChangedAlias | UnsetType = UNSET
    job: ChangedNode | UnsetType = UNSET
    hub: str | UnsetType = UNSET
    side: str | UnsetType = UNSET
    origin: str | UnsetType = UNSET
    evidence: str | UnsetType = UNSET
    facet: str | UnsetType = UNSET
    hash: str | UnsetType = UNSET


class ChangeFeed(Struct, frozen=True):
    """Changes in their order. `next` is the cursor for the next call, `oldest` the cursor before the oldest change that is kept."""

    changes: list[ChangeItem]
    next: str
    oldest: str
    more: bool
    settling: bool
    position: str
