"""Responses about who may read and write datasets."""

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import Text
from lineage_bridge.api.schemas.nodes import GraphNode


class PrincipalItem(Struct, frozen=True, omit_defaults=True):
    """A principal of a system, such as `User:sa-1`, and its name if it has one. `User:*` is everybody."""

    principal: str
    name: str = ""


class AccessItem(Struct, frozen=True, omit_defaults=True):
    """Who may read and write a dataset, given by its id, and the jobs that read (`readers`) and write it (`writers`).

    `may_read` and `may_write` are those to whom the system's rules (ACLs) give the right; they are absent where that is not known, and
    `collector` is then the kind of source that would report it (absent if none does). `not_read` and `not_write` are those who may not
    although everybody may. `no_rules`: none of the system's rules is for the dataset. `not_observed` lists which other rights there may be:
    of "super_users"; by "role_bindings" of Confluent Cloud (RBAC), also those of administrators; by "policies" that are not ACLs, such as
    role bindings or IAM policies; by a "default" of the cluster for topics without ACLs, which may let everybody use them. `observed` is
    when the rights were reported last; observers report them when they change. Only `hidden` is present for a dataset of which the
    principal of the question may only see the name. `cut`: more than 200 principals or 100 jobs; the others are left out.
    """

    node: str
    may_read: list[PrincipalItem] | UnsetType = UNSET
    may_write: list[PrincipalItem] | UnsetType = UNSET
    not_read: list[PrincipalItem] = []
    not_write: list[PrincipalItem] = []
    no_rules: bool = False
    not_observed: list[str] = []
    observed: Text = UNSET
    collector: Text = UNSET
    readers: list[GraphNode] = []
    writers: list[GraphNode] = []
    hidden: bool = False
    cut: bool = False


class AccessAnswer(Struct, frozen=True):
    """Who may read and write one dataset."""

    dataset: GraphNode
    access: AccessItem
    settling: bool
    position: str
