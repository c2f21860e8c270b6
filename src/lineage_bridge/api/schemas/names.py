"""Names of datasets and jobs as answers show them, and errors. Times are RFC 3339 UTC with microseconds; absent members are left out."""

from typing import ClassVar

from msgspec import UNSET, Raw, Struct, UnsetType

from lineage_bridge.projections.shapes import Name

Text = str | UnsetType


class DatasetRef(Name, frozen=True, omit_defaults=True):
    """A dataset, by the name that producers wrote. `goes_by` is its name in the requested style, if that differs."""

    entity: ClassVar[str] = "dataset"
    goes_by: Name | UnsetType = UNSET


class JobRef(DatasetRef, frozen=True, omit_defaults=True):
    """A job, by the name that producers wrote."""

    entity: ClassVar[str] = "job"


class DescribedNode(Struct, frozen=True):
    """A dataset or a job with its current facets."""

    namespace: str
    name: str
    facets: dict[str, Raw]


class FieldProblem(Struct, frozen=True):
    """A member of the request that is wrong, by its path (`settings.url`), and why."""

    path: str
    reason: str


class Problem(Struct, frozen=True):
    """An error: a stable code, a message, a hint about what to do, similar names, and the members of the request that are wrong."""

    code: str
    message: str
    hint: str = ""
    near: list[Name] | UnsetType = UNSET
    fields: list[FieldProblem] | UnsetType = UNSET
    id: Text = UNSET


class ErrorAnswer(Struct, frozen=True):
    """The answer to every request that fails, except for rejected events: the members of RFC 9457, and `error`, which says more.

    `type` names the kind of problem by its code, `title` is the same for every problem of this status, `detail` is the message.
    """

    type: str
    title: str
    status: int
    detail: str
    error: Problem
