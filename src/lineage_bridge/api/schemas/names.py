"""Names of datasets and jobs as answers show them, and errors. Times are RFC 3339 UTC with microseconds; absent members are left out."""

from typing import ClassVar

from msgspec import UNSET, Raw, Struct, UnsetType

from lineage_bridge.projections.shapes import Name

Text = str | UnsetType


class DatasetRef(Name, frozen=True, omit_defaults=True):
    """A dataset by the name that producers wrote. `goes_by` is its name in the spelling that was asked for, where that is another."""

    entity: ClassVar[str] = "dataset"
    goes_by: Name | UnsetType = UNSET


class JobRef(DatasetRef, frozen=True, omit_defaults=True):
    """The same of a job."""

    entity: ClassVar[str] = "job"


class DescribedNode(Struct, frozen=True):
    """A dataset or a job with its current facets."""

    namespace: str
    name: str
    facets: dict[str, Raw]


class Problem(Struct, frozen=True):
    """What was wrong: a stable code, a sentence, what can be done, and names that come close."""

    code: str
    message: str
    hint: str = ""
    near: list[Name] | UnsetType = UNSET
    id: Text = UNSET


class ErrorAnswer(Struct, frozen=True):
    """Every answer that is no success, but for events that were rejected."""

    error: Problem
