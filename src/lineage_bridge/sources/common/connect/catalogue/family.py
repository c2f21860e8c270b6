"""A family of connector classes: the form of an entry of the catalogue."""

from typing import Literal

import msgspec

from lineage_bridge.sources.common.connect.catalogue.templates import fault

SOURCE = "source"
SINK = "sink"

Reader = Literal[
    "",
    "camel",
    "column-mappings",
    "couchbase",
    "file-pulse",
    "generators",
    "iceberg",
    "jdbc",
    "kcql",
    "mirror",
    "mongodb",
    "neo4j",
    "positional",
    "replicator",
    "topic-patterns",
]
"""The readers that an entry may ask for (see readers.py)."""


class Symlink(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Templates for another name of a dataset."""

    namespace: str
    name: str


class SideTopic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A topic besides the data. `topic` is a template, `way` in, out or both, `when` its conditions (see side_topics.py)."""

    topic: str
    role: str
    way: Literal["in", "out", "both"] = "out"
    when: str = ""


class ConnectorClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A family of connector classes that read their configuration alike.

    `classes` may have `*` in them; `managed` are Confluent Cloud's short names. The outside dataset of each object is made of the
    templates `namespace` and `name`, or of `path`, a URI, or of `jdbc`, a JDBC URL, with `schema` and `user`. `symlinks`: its other names.

    Objects: `objects` are the settings that list them, of the form `form`: list, or regex (anchored regular expressions). `object` is
    the one without a list, of a sink the one of a topic. `also`: settings that name one without a topic. `parents`: settings that list
    databases, of which all objects count if none are listed. `within`: settings whose elements go before each object. `excluded`:
    settings that list what is left out. `numbered`: the settings of an object and of its topics, with `*` for a number.
    `task_objects`: the setting of a task that lists its objects. `offsets`: the members of an offset's partition that name one.

    Topics: `topic` is the template of a source's. `maps`: settings that list pairs of topic and object, with `pair` between them;
    `turned` if the object goes first. `side`: topics beside the data. `reader`: the code for what templates cannot express.

    `shape`: what a record is like: row, debezium (its envelope), record (a topic's, with key and value), message or unknown.
    `secrets`: settings that are secret, whatever their names. `synthetic`: the data is made up. `standard`: OpenLineage has a name for
    the system. `inferred`: this is a guess.
    """

    direction: Literal["source", "sink"]
    title: str = ""
    classes: tuple[str, ...] = ()
    managed: tuple[str, ...] = ()
    namespace: str = ""
    name: str = "{object}"
    path: str = ""
    jdbc: str = ""
    schema: str = ""
    user: str = ""
    symlinks: tuple[Symlink, ...] = ()
    objects: tuple[str, ...] = ()
    form: Literal["list", "regex"] = "list"
    object: str = ""
    also: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    topic: str = ""
    maps: tuple[str, ...] = ()
    pair: str = ":"
    turned: bool = False
    numbered: tuple[str, ...] = ()
    reader: Reader = ""
    task_objects: str = ""
    offsets: tuple[str, ...] = ()
    shape: Literal["row", "debezium", "record", "message", "unknown"] = "row"
    side: tuple[SideTopic, ...] = ()
    secrets: tuple[str, ...] = ()
    synthetic: bool = False
    standard: bool = False
    inferred: bool = False

    def __post_init__(self) -> None:
        if not self.names:
            raise ValueError("it needs classes or managed")
        templates = (self.namespace, self.name, self.path, self.jdbc, self.schema, self.user, self.object, self.topic)
        if wrong := next(filter(None, map(fault, templates)), ""):
            raise ValueError(wrong)

    @property
    def system(self) -> str:
        """The external system, as far as the title names it: `PostgreSQL` of `Debezium PostgreSQL` and `PostgreSQL sink`."""
        return self.title.removeprefix("Debezium ").removesuffix(" source").removesuffix(" sink")

    @property
    def names(self) -> tuple[str, ...]:
        """All the names by which a configuration asks for it."""
        return (*self.classes, *self.managed)
