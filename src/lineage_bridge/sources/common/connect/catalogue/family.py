"""A family of connector classes: what an entry of the catalogue contains."""

from typing import Literal

import msgspec

from lineage_bridge.sources.common.connect.catalogue.templates import fault, holes

SOURCE = "source"
SINK = "sink"

Reader = Literal[
    "",
    "addresses",
    "camel",
    "column-mappings",
    "couchbase",
    "file-pulse",
    "generators",
    "geode",
    "iceberg",
    "jdbc",
    "job-types",
    "jobs-of-sources",
    "kcql",
    "kcql-queues",
    "kusto",
    "mirror",
    "mongodb",
    "neo4j",
    "positional",
    "queue-topics",
    "replicator",
    "table-topics",
    "topic-patterns",
    "topics-and-queue",
]
"""The readers that an entry may name (see readers.py)."""


class Symlink(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The templates for a further name of a dataset."""

    namespace: str
    name: str


class SideTopic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A topic that a connector uses for something other than its data. `topic`: a template of its name; `way`: in, out or both; `when`:
    conditions (see lineage/side_topics.py).
    """

    topic: str
    role: str
    way: Literal["in", "out", "both"] = "out"
    when: str = ""


class ConnectorClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A family of connector classes whose configurations have the same meaning.

    `classes` may contain `*`; `managed` are Confluent Cloud's short names. The external dataset of each object is named by the
    templates `namespace` and `name`, or by `path`, a URI, or by `jdbc`, a JDBC URL, with `schema` and `user`. `symlinks`: its other
    names.

    Objects: `objects` are the settings that list them, in the form `form`: list, or regex (anchored regular expressions). `plain`:
    those of `objects` that list names, whatever the form. `folded`: the database stores names in capitals, however a list writes them.
    `object` is the object if there is no list; for a sink, the object of a topic. `also`: settings that name an object without a topic.
    `parents`: settings that list databases; all their objects are used if none are listed. `within`: settings whose elements prefix
    each object. `excluded`: settings that list objects to leave out. `numbered`: the settings of an object and of its topics, with `*`
    for a number. `task_objects`: the setting of a task that lists its objects. `offsets`: the members of an offset's partition that
    name an object.

    Topics: `topic` is the template of a source's topics. `maps`: settings that list pairs of topic and object, separated by `pair`;
    `turned` if the object comes first. `varies`: templates of settings by which the records, or a class of the user's own, decide the
    object of a sink. `side`: topics that do not carry the data. `reader`: the function in readers.py for what templates cannot express.

    `shape`: the form of a record: row, debezium (its envelope), record (a topic's, with key and value), message or unknown. `secrets`:
    settings that are secret, whatever their names are. `synthetic`: the data is generated. `standard`: OpenLineage defines a name for
    the system. `inferred`: the family was guessed.
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
    plain: tuple[str, ...] = ()
    folded: bool = False
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
    varies: tuple[str, ...] = ()
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
            raise ValueError("an entry of the catalogue needs `classes` or `managed`")
        if wrong := next(filter(None, map(fault, self._templates)), ""):
            raise ValueError(wrong)

    @property
    def _templates(self) -> tuple[str, ...]:
        return (self.namespace, self.name, self.path, self.jdbc, self.schema, self.user, self.object, self.topic, *self.varies)

    @property
    def settings(self) -> frozenset[str]:
        """The settings from which the family names its datasets and topics."""
        listed = (*self.objects, *self.also, *self.parents, *self.within, *self.excluded, *self.maps)
        named = {key for template in self._templates for key in holes(template)}
        return frozenset({*listed, *named} - {"object", "topic", "topics"})

    @property
    def system(self) -> str:
        """The external system, taken from the title: `PostgreSQL` from `Debezium PostgreSQL` and from `PostgreSQL sink`."""
        return self.title.removeprefix("Debezium ").removesuffix(" source").removesuffix(" sink")

    @property
    def names(self) -> tuple[str, ...]:
        """All names in configurations by which this family is chosen."""
        return (*self.classes, *self.managed)
