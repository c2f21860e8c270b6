"""What a registry answered at one poll, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lineage_bridge.sources.common.observer import Unseen


class SchemaReference(NamedTuple):
    """The name by which a schema refers to a version of another subject."""

    name: str
    subject: str
    version: int


class SchemaVersion(NamedTuple):
    """A version of a subject, as it was registered; it never changes. `at_us`: when, None if the registry does not say."""

    subject: str
    version: int
    id: int
    kind: str
    text: str
    references: tuple[SchemaReference, ...] = ()
    metadata: Mapping[str, Any] = {}
    rules: Mapping[str, Any] = {}
    tags: tuple[Mapping[str, Any], ...] = ()
    at_us: int | None = None


class Tagging(NamedTuple):
    """A tag of the stream catalog. `where`: `context:id` of a schema, or `cluster:topic`; `path`: full name of a record or field in it."""

    kind: str
    where: str
    path: str
    tag: str


@dataclass(frozen=True)
class RegistryState:
    """What was seen.

    `listed`: all subjects there are, without those nobody asked for. `new`: their versions that were not known, oldest first; the last
    is the newest now. `texts`: the versions that new ones refer to, directly or not. `levels`, `modes`: compatibility and mode of those
    subjects that were asked for, empty for one without its own; `level`, `mode`: of those, None if it did not answer. `deleted`: the
    subjects that are softly deleted. `catalog`: all tags of the stream catalog, None if it was not asked or did not answer.
    """

    listed: frozenset[str]
    new: Mapping[str, tuple[SchemaVersion, ...]] = field(default_factory=dict)
    texts: Mapping[tuple[str, int], SchemaVersion] = field(default_factory=dict)
    levels: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, str] = field(default_factory=dict)
    level: str | None = ""
    mode: str | None = ""
    deleted: frozenset[str] = frozenset()
    catalog: tuple[Tagging, ...] | None = None
    unseen: tuple[Unseen, ...] = ()
