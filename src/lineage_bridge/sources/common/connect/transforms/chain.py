"""Replays a connector's chain of transforms on a topic's name and on the fields of its records.

Known transforms are Kafka's own (KIP-66, KIP-821), and those of Confluent, Debezium, Aiven and Confluent Cloud. After any other transform,
no fields are known.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from lineage_bridge.sources.common.connect.placeholders import TO_FILL_IN
from lineage_bridge.sources.common.connect.transforms import debezium, fields, topics
from lineage_bridge.sources.common.connect.transforms.patterns import compile_java, listed
from lineage_bridge.sources.common.connect.transforms.records import VALUE, Record, either
from lineage_bridge.sources.common.connect.transforms.topics import TopicName
from lineage_bridge.sources.common.connect.transforms.transform import Transform, part_of

FieldStep = Callable[[Record, Transform], Record]
TopicStep = Callable[[TopicName, Transform], list[TopicName]]

_KAFKA = "org.apache.kafka.connect.transforms."
_CONFLUENT = "io.confluent.connect.transforms."
_CLOUD = "io.confluent.connect.cloud.transforms."
_DEBEZIUM = "io.debezium.transforms."
_AIVEN = "io.aiven.kafka.connect.transforms."
_COMMON = "com.github.jcustenborder.kafka.connect.transform.common."
_OWN_NAMING = "topic-naming"
"""Names topics by a class of the user's own, which a setting of the connector names."""
_NAMING = {
    "topic.naming.strategy": re.compile(r"io\.debezium\.[\w.]+"),
    "topic.mapper": re.compile(r"\w*|com\.mongodb\.kafka\.connect\.source\.topic\.mapping\.DefaultTopicMapper"),
}
"""Settings that name such a class. Values that match the pattern name classes of the connector itself."""

FIELD_STEPS: dict[str, FieldStep] = {
    **{
        package + name: step
        for package in (_KAFKA, _CONFLUENT, _CLOUD)
        for name, step in (
            ("Cast", fields.cast),
            ("Drop", fields.drop),
            ("DropHeaders", fields.drop_headers),
            ("ExtractField", fields.extract_field),
            ("Filter", fields.keep),
            ("Flatten", fields.flatten),
            ("HeaderFrom", fields.header_from),
            ("HoistField", fields.hoist_field),
            ("InsertField", fields.insert_field),
            ("InsertHeader", fields.insert_header),
            ("MaskField", fields.mask_field),
            ("MessageTimestampRouter", fields.keep),
            ("RegexRouter", fields.keep),
            ("ReplaceField", fields.replace_field),
            ("SetSchemaMetadata", fields.keep),
            ("TimestampConverter", fields.convert_timestamp),
            ("TimestampRouter", fields.keep),
            ("TombstoneHandler", fields.keep),
            ("TopicRegexRouter", fields.keep),
            ("ExtractTopic", fields.keep),
            ("ValueToKey", fields.value_to_key),
        )
    },
    _DEBEZIUM + "ByLogicalTableRouter": debezium.mark_table,
    _DEBEZIUM + "ContentBasedRouter": fields.keep,
    _DEBEZIUM + "ExtractChangedRecordState": fields.keep,
    _DEBEZIUM + "ExtractNewRecordState": debezium.unwrap,
    _DEBEZIUM + "ExtractSchemaToNewRecord": fields.keep,
    _DEBEZIUM + "Filter": fields.keep,
    _DEBEZIUM + "HeaderToValue": debezium.header_to_value,
    _DEBEZIUM + "SchemaChangeEventFilter": fields.keep,
    _DEBEZIUM + "TimezoneConverter": debezium.convert_zone,
    _DEBEZIUM + "UnwrapFromEnvelope": debezium.unwrap,
    _DEBEZIUM + "openlineage.OpenLineage": fields.keep,
    _DEBEZIUM + "outbox.EventRouter": debezium.outbox,
    _DEBEZIUM + "partitions.PartitionRouting": fields.keep,
    _DEBEZIUM + "tracing.ActivateTracingSpan": fields.keep,
    "io.debezium.connector.mongodb.transforms.ExtractNewDocumentState": debezium.unwrap,
    "io.debezium.connector.mongodb.transforms.UnwrapFromMongoDbEnvelope": debezium.unwrap,
    "io.debezium.connector.mongodb.transforms.outbox.MongoEventRouter": debezium.outbox,
    _AIVEN + "ConcatFields": fields.concat_fields,
    _AIVEN + "DebugTransform": fields.keep,
    _AIVEN + "ExtractTimestamp": fields.keep,
    _AIVEN + "ExtractTopic": fields.keep,
    _AIVEN + "ExtractTopicFromSchemaName": fields.keep,
    _AIVEN + "ExtractTopicFromValueSchema": fields.keep,
    _AIVEN + "FilterByFieldValue": fields.keep,
    _AIVEN + "Hash": fields.hash_field,
    _AIVEN + "KeyToValue": fields.key_to_value,
    _AIVEN + "MakeTombstone": fields.drop,
    _AIVEN + "TombstoneHandler": fields.keep,
    _COMMON + "ChangeTopicCase": fields.keep,
    _COMMON + "ExtractNestedField": fields.extract_nested_field,
    _COMMON + "PatternRename": fields.rename_by_pattern,
    "io.confluent.connect.outbox.transforms.EventRouter": debezium.outbox,
    "io.factorhouse.smt.OpenLineageLifecycleSmt": fields.keep,
    _OWN_NAMING: fields.keep,
}
"""The effect of each class on the fields. A class that is not listed is unknown."""

TOPIC_STEPS: dict[str, TopicStep] = {
    _KAFKA + "RegexRouter": topics.regex_router,
    _KAFKA + "TimestampRouter": topics.timestamped,
    _CONFLUENT + "RegexRouter": topics.regex_router,
    _CONFLUENT + "MessageTimestampRouter": topics.timestamped,
    _CONFLUENT + "ExtractTopic": topics.by_field,
    _CLOUD + "TopicRegexRouter": topics.regex_router,
    _DEBEZIUM + "ByLogicalTableRouter": topics.by_logical_table,
    _DEBEZIUM + "ContentBasedRouter": topics.by_condition,
    _DEBEZIUM + "outbox.EventRouter": topics.outbox_topic,
    "io.debezium.connector.mongodb.transforms.outbox.MongoEventRouter": topics.outbox_topic,
    "io.confluent.connect.outbox.transforms.EventRouter": topics.outbox_topic,
    _AIVEN + "ExtractTopic": topics.by_field,
    _AIVEN + "ExtractTopicFromSchemaName": topics.by_condition,
    _AIVEN + "ExtractTopicFromValueSchema": topics.by_condition,
    _COMMON + "ChangeTopicCase": topics.change_case,
    _OWN_NAMING: topics.by_condition,
}
"""The effect of each class on the topic's name. A class that is not listed has none, unless its name says that it routes."""

_BY_SIMPLE_NAME = {kind.rpartition(".")[2]: kind for kind in reversed((*FIELD_STEPS, *TOPIC_STEPS))}
"""The classes by their names without packages, which a worker accepts, too; if several share a name, Kafka's own."""

_ROUTES = re.compile(r"rout|topic|rename", re.IGNORECASE)

_FILTERS = frozenset(
    (
        *(package + "Filter" for package in (_KAFKA, _CONFLUENT, _CLOUD, _DEBEZIUM)),
        *(package + "TombstoneHandler" for package in (_CONFLUENT, _AIVEN)),
        _AIVEN + "FilterByFieldValue",
    )
)
_DROPS_ALL = frozenset((_KAFKA + "Filter", _CLOUD + "Filter"))
"""Filters that drop every record they apply to; other filters depend on the record's content."""


@dataclass(frozen=True)
class ReplayedTopic:
    """A topic to which a chain of transforms sends records, and the fields of these records. `maybe`: only some of the records go
    there, or none.
    """

    topic: TopicName
    record: Record
    maybe: bool = False


@dataclass(frozen=True)
class Replay:
    """The result of replaying a chain: the topics after it, sorted (none if all records are dropped), and the aliases of unknown
    transforms.
    """

    outcomes: tuple[ReplayedTopic, ...]
    unknown: tuple[str, ...] = ()

    @property
    def topics(self) -> tuple[TopicName, ...]:
        """The topics after the chain of transforms."""
        return tuple(outcome.topic for outcome in self.outcomes)


@dataclass(frozen=True)
class Chain:
    """A connector's transforms in order. `predicates`: by alias, the topic pattern of a predicate; None if it tests the content of
    records.
    """

    transforms: tuple[Transform, ...]
    predicates: Mapping[str, str | None]

    @property
    def unknown(self) -> tuple[str, ...]:
        """The aliases of transforms whose effect is unknown."""
        return tuple(transform.alias for transform in self.transforms if transform.kind not in FIELD_STEPS)

    def applies(self, transform: Transform, topic: TopicName) -> bool | None:
        """Whether a transform applies to the records of a topic. None: it applies to some of them."""
        if not transform.predicate:
            return True
        pattern = self.predicates.get(transform.predicate)
        compiled = compile_java(pattern) if pattern else None
        if compiled is None or topic.is_pattern:
            return None
        return bool(compiled.fullmatch(topic.text)) is not transform.negated


def read_chain(config: Mapping[str, str]) -> Chain:
    """Read the transforms in a connector's configuration. Before the transforms, the chain has a step for a Debezium connector that names
    its topics by a regex or by a class of the user's own.
    """
    named = {key: config[key].strip() for key in _NAMING if key in config}
    naming = [Transform(key, _OWN_NAMING, VALUE, {}) for key, value in named.items() if not _NAMING[key].fullmatch(value)]
    if config.get("topic.naming.strategy", "").endswith("RegexTopicNamingStrategy"):
        options = {"regex": config.get("topic.regex", ""), "replacement": config.get("topic.replacement", "")}
        naming.append(Transform("topic.naming.strategy", _KAFKA + "RegexRouter", VALUE, options))
    return Chain(
        (*naming, *(_transform(config, alias) for alias in listed(config.get("transforms", "")))),
        {alias: _predicate(config, alias) for alias in listed(config.get("predicates", ""))},
    )


def replay(chain: Chain, topic: str, record: Record | None = None) -> Replay:
    """Apply the chain to the records of a topic. Without `record`, the fields are unknown."""
    start = ReplayedTopic(TopicName(topic), Record.nothing_known() if record is None else record)
    outcomes = [start]
    for transform in chain.transforms:
        outcomes = _merged(after for before in outcomes for after in _step(chain, transform, before))
    return Replay(tuple(outcomes), chain.unknown)


def _transform(config: Mapping[str, str], alias: str) -> Transform:
    prefix = f"transforms.{alias}."
    options = {key[len(prefix) :]: value for key, value in config.items() if key.startswith(prefix)}
    called = options.get("type", "").strip()
    kind, part = (called, VALUE) if TO_FILL_IN.search(called) else part_of(called)
    kind = _BY_SIMPLE_NAME.get(kind, kind)
    negated = options.get("negate", "").strip().lower() == "true"
    return Transform(alias, kind, part, options, options.get("predicate", "").strip(), negated)


def _predicate(config: Mapping[str, str], alias: str) -> str | None:
    kind = config.get(f"predicates.{alias}.type", "")
    return config.get(f"predicates.{alias}.pattern") if kind.rpartition(".")[2] == "TopicNameMatches" else None


def _step(chain: Chain, transform: Transform, before: ReplayedTopic) -> list[ReplayedTopic]:
    applies = chain.applies(transform, before.topic)
    if applies is False:
        return [before]
    after = _applied(transform, before)
    if applies:
        return after
    if [outcome.topic for outcome in after] == [before.topic]:
        return [replace(before, record=either(before.record, after[0].record), maybe=before.maybe or after[0].maybe)]
    return [replace(outcome, maybe=True) for outcome in (before, *after)]


def _applied(transform: Transform, before: ReplayedTopic) -> list[ReplayedTopic]:
    if transform.kind in _DROPS_ALL and "filter.condition" not in transform.options:
        return []
    record = FIELD_STEPS.get(transform.kind, fields.only_topic_known)(before.record, transform)
    step = TOPIC_STEPS.get(transform.kind)
    called = transform.kind.rpartition(".")[2]
    is_open = TO_FILL_IN.search(transform.kind or transform.alias) or _ROUTES.search(called)
    if step is None and transform.kind not in FIELD_STEPS and is_open:
        step = topics.by_condition
    names = [before.topic] if step is None else step(before.topic, transform)
    maybe = before.maybe or transform.kind in _FILTERS or len(names) > 1
    return [ReplayedTopic(name, record, maybe) for name in names]


def _merged(outcomes: Iterable[ReplayedTopic]) -> list[ReplayedTopic]:
    """Merge repeated results into one per topic. The merged result is certain if one of its parts is certain. Plain names come before
    patterns.
    """
    found: dict[TopicName, ReplayedTopic] = {}
    for outcome in outcomes:
        known = found.get(outcome.topic)
        found[outcome.topic] = (
            outcome if known is None else replace(known, record=either(known.record, outcome.record), maybe=known.maybe and outcome.maybe)
        )
    return [found[name] for name in sorted(found, key=lambda name: (name.is_pattern, name.text))]
