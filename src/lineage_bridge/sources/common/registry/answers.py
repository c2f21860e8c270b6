"""Values for the answers of a schema registry at one poll."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lineage_bridge.sources.common.observer import Unseen


class SchemaReference(NamedTuple):
    """A schema's reference to a version of another subject, and the name that the schema uses for it."""

    name: str
    subject: str
    version: int


class RegisteredSchema(NamedTuple):
    """A registered version of a subject, which never changes. `at_us`: the time of registration, None if not reported."""

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
    """A tag in the stream catalog. `where`: what is tagged, a schema as `context:id` or a topic as `cluster:topic`; `path`: the full
    name of a record or field in the schema.
    """

    kind: str
    where: str
    path: str
    tag: str


@dataclass(frozen=True)
class RegistryState:
    """The state of a schema registry at one poll.

    - `listed`: all subjects that the settings select.
    - `new`: their new versions, oldest first.
    - `texts`: new versions, and all versions to which they refer, directly or indirectly.
    - `levels`, `modes`: compatibility and mode of the requested subjects, empty for a subject without its own.
    - `level`, `mode`: those of the registry itself, None if it did not answer.
    - `deleted`: soft-deleted subjects.
    - `catalog`: all tags of the stream catalog, None if not requested or not answered.
    """

    listed: frozenset[str]
    new: Mapping[str, tuple[RegisteredSchema, ...]] = field(default_factory=dict)
    texts: Mapping[tuple[str, int], RegisteredSchema] = field(default_factory=dict)
    levels: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, str] = field(default_factory=dict)
    level: str | None = ""
    mode: str | None = ""
    deleted: frozenset[str] = frozenset()
    catalog: tuple[Tagging, ...] | None = None
    unseen: tuple[Unseen, ...] = ()
