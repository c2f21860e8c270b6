"""The plane of Flink: the statements and materialized tables of an environment in a region."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.openlineage.event_builder import Json, encode, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, TopicSchema, topic_columns
from lineage_bridge.sources.confluent.clients import listed
from lineage_bridge.sources.confluent.flink.answers import (
    COMPLETED,
    ENDED,
    FAILED,
    MATERIALIZED_TABLE,
    Answers,
    Failure,
    Statement,
    failure_of,
    statement_of,
    table_of,
)
from lineage_bridge.sources.confluent.flink.catalog import REGISTERED, CloudCatalog, declared_fields
from lineage_bridge.sources.confluent.flink.events import TELLER, Life, Place
from lineage_bridge.sources.confluent.flink.parse import Definition, Meaning, Reader, defines, definition_of, makes
from lineage_bridge.sources.confluent.plane import Around, Plane, Planes

_ASKED_BY_NAME = 100
"""How many statements that are listed no more are asked for by name at a poll."""
_NOTHING: Snapshot = {"statements": {}, "tables": {}, "definitions": [], "declared": {}, "failed": {}}


class FlinkPlane(Plane[Answers]):
    """Flink in one environment and region."""

    name: ClassVar[str] = "flink"
    stage: ClassVar[int] = 3

    def __init__(self, around: Around, environment: str, cloud: str, region: str) -> None:
        super().__init__(around, f"{environment}/{cloud}.{region}")
        self.environment, self.cloud, self.region = environment, cloud, region
        self.place = Place(environment, f"{cloud}.{region}", self.settings.heartbeat_s)
        self.credential = self.settings.credential("flink", self.scope, environment, f"{cloud}.{region}")

    def lacks(self) -> str:
        """A key of the region, or the organization."""
        if self.credential is None:
            return f"no API key is set for Flink in {self.scope}; set flink.{self.environment!r} or flink.'*'"
        return "" if self.around.whole.organization else "the organization's id is not known, and Flink's addresses have it"

    def fetch(self, before: Snapshot | None, now_us: int) -> Answers:
        """Both listings; then what failed newly, and what is listed no more."""
        del now_us
        known, http, path = before or _NOTHING, self._http(), self._path()
        every, tables = http.map(lambda kind: listed(http, f"{path}/{kind}", "name"), ("statements", "materialized-tables"))
        if isinstance(every, SourceError):
            raise every
        statements = {one.name: one for one in map(statement_of, every)}
        unseen: list[Unseen] = []
        if isinstance(tables, SourceError):
            unseen.append(Unseen("materialized tables", str(tables)))
        lost = [name for name, was in sorted(known["statements"].items()) if name not in statements and not was["ended"]]
        hidden = set(lost[_ASKED_BY_NAME:])
        for name, answer in zip(lost, http.map(lambda name: http.get(f"{path}/statements/{name}"), lost[:_ASKED_BY_NAME]), strict=False):
            if isinstance(answer, Mapping):
                statements[name] = statement_of(answer)
            elif not isinstance(answer, MissingError):
                hidden.add(name)
                unseen.append(Unseen(f"statement {name}", f"it is not listed, and asked for by name: {answer}"))
        failures = self._failures(http, statements, known["failed"], unseen)
        made = None if isinstance(tables, SourceError) else tuple(table_of(self.environment, one) for one in tables)
        return Answers(tuple(statements.values()), made, failures, frozenset(hidden), tuple(unseen))

    def _failures(
        self, http: HttpClient, statements: Mapping[str, Statement], known: Mapping[str, str], unseen: list[Unseen]
    ) -> dict[str, Failure]:
        """Why statements failed that had not before."""
        new = [name for name, one in sorted(statements.items()) if one.phase == FAILED and known.get(name) != one.uid]
        found: dict[str, Failure] = {}
        for name, answer in zip(new, http.map(lambda name: http.get(f"{self._path()}/statements/{name}/exceptions"), new), strict=True):
            if isinstance(answer, SourceError):
                unseen.append(Unseen(f"statement {name}: exceptions", str(answer)))
            elif failure := failure_of(answer):
                found[name] = failure
        return found

    def tell(self, fetched: Answers, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """What happened to statements and tables, and what definitions tell of topics."""
        return _Look(self, fetched, before or _NOTHING, around, now_us).observation()

    def nothing(self) -> Answers:
        """No statements and no tables."""
        return Answers()

    def know(self, snapshot: Snapshot) -> SharedMetadata:
        """The columns that definitions declare, and which jobs statements are."""
        schemas: dict[tuple[DatasetName, str], TopicSchema] = {}
        for space, topics in snapshot["declared"].items():
            for topic, entry in topics.items():
                for part in (KEY, VALUE):
                    if fields := tuple(SchemaField(*one) for one in entry[part]):
                        schemas[(space, topic), part] = TopicSchema(fields, f"Flink table {topic}", rank=1)
        jobs = {f"{self.scope}/{name}": (told["job"][0], told["job"][1]) for name, told in snapshot["statements"].items()}
        return SharedMetadata(schemas=schemas, jobs=jobs)

    def _http(self) -> HttpClient:
        if self.credential is None:
            raise SourceError(self.lacks())
        url = self.settings.flink_url.replace("{cloud}", self.cloud).replace("{region}", self.region)
        return self.clients.http(self.key, url, self.credential, "flink")

    def _path(self) -> str:
        return f"/sql/v1/organizations/{self.around.whole.organization}/environments/{self.environment}"


def planes(around: Around) -> Planes:
    """One plane for each environment and region."""
    for environment, cloud, region in around.estate.regions:
        yield FlinkPlane(around, environment, cloud, region)


class _Look:
    """One look at a region: what is told, and what is to be remembered."""

    def __init__(self, plane: FlinkPlane, said: Answers, before: Snapshot, around: SharedMetadata, now_us: int) -> None:
        self.said, self.before, self.around, self.now_us = said, before, around, now_us
        whole = plane.around.whole
        self.reader = Reader(CloudCatalog(whole, plane.environment, around))
        self.life = Life(plane.place, whole, around, now_us)
        self.events: list[Json] = []
        self.told: dict[str, dict[str, Any]] = {"statements": {}, "tables": {}}
        self.unseen = list(said.unseen)
        names = [(one.id, one.name) for one in whole.environments] + [(one.id, one.environment, one.name) for one in whole.kafka]
        self.defined = hashlib.blake2b(repr(names).encode(), digest_size=12)
        self.filled: set[DatasetName] = set()

    def observation(self) -> Observation:
        """All of it."""
        said, there = self.said, {one.name for one in self.said.statements}
        earlier = [Definition(*one) for one in self.before["definitions"]]
        tables = list(said.tables or ())
        self.filled = {(f"confluent://{one.catalog}/{one.database}", one.name) for one in tables}
        waiting: list[tuple[int, str, Definition | Statement]] = [
            (one.created_us, one.name, one) for one in earlier if one.name not in there
        ]
        waiting += [(one.created_us or 0, one.name, one) for one in (*said.statements, *tables)]
        made = [definition_of(one) for one in said.statements if one.phase == COMPLETED and defines(one.text)]
        self.reader.begin([*earlier, *made])
        for _, _, one in sorted(waiting, key=lambda entry: entry[:2]):
            if isinstance(one, Definition):
                self.reader.define(one)
                self._note(one.text)
            else:
                self._statement(one)
        self._gone("statements", said.hidden)
        if said.tables is None:
            self.told["tables"] = {**self.before["tables"], **self.told["tables"]}
        self._gone("tables", frozenset())
        snapshot = {
            **{kind: dict(sorted(entries.items())) for kind, entries in self.told.items()},
            "definitions": [list(one) for one in sorted(self.reader.living())],
            "declared": self._declared(),
            "failed": {one.name: one.uid for one in said.statements if one.phase == FAILED},
        }
        return Observation(snapshot, tuple(self.events), unseen=tuple(self.unseen))

    def _note(self, text: str) -> None:
        self.defined.update(text.encode())

    def _statement(self, statement: Statement) -> None:
        kind = "tables" if statement.kind == MATERIALIZED_TABLE else "statements"
        was = self.before[kind].get(statement.name)
        is_definition = kind == "statements" and defines(statement.text)
        known = was if was and was["uid"] == statement.uid else None
        is_over = bool(known and known["ended"]) and statement.phase in ENDED
        meaning: Meaning | None = None
        if is_definition or not (is_over or (known and known["basis"] == self._basis(statement, known["sides"]))):
            meaning = self.reader.read(statement)
        if is_definition:
            self._note(statement.text)
            if makes(statement.text, "MATERIALIZED") and meaning and self.filled.intersection(meaning.outputs):
                return
        if meaning and not (meaning.moves or was):
            if meaning.errors and statement.phase != FAILED:
                self.unseen.append(Unseen(f"statement {statement.name}", "; ".join(map(mask_text, meaning.errors))))
            return
        entry, events = self.life.of(statement, meaning, was, self.said.failures.get(statement.name))
        self.events += events
        if entry is not None:
            self.told[kind][statement.name] = {**entry, "basis": self._basis(statement, entry["sides"])}

    def _basis(self, statement: Statement, sides: list[list[list[str]]]) -> str:
        """All that a statement's meaning depends on beside its own text, in short."""
        named = [self.reader.catalog.fingerprint((space, name)) for side in sides for space, name in side]
        told = (self.defined.hexdigest(), named, sorted(statement.offsets))
        return hashlib.blake2b(repr(told).encode(), digest_size=12).hexdigest()

    def _gone(self, kind: str, hidden: frozenset[str]) -> None:
        there = {one.name for one in self.said.statements}
        for name, was in sorted(self.before[kind].items()):
            if name in self.told[kind] or (kind == "statements" and name in there and was["ended"]):
                continue
            if name in hidden:
                self.told[kind][name] = was
            else:
                self.events += self.life.ended(was)

    # what definitions tell of topics

    def _declared(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for name, table in sorted(self.reader.declared().items()):
            keys, values = declared_fields(table)
            facets: dict[str, Json] = {}
            is_typed = any(field.type for field in (*keys, *values))
            registered = self._is_registered(name)
            if is_typed and not registered:
                facets["schema"] = TELLER.schema(schema_fields(topic_columns(keys, values)))
            if table.comment and name not in self.around.described:
                facets["documentation"] = TELLER.documentation("Dataset", table.comment)
            was = self.before["declared"].get(name[0], {}).get(name[1], {"facets": [], "told": ""})
            told = _hash(facets)
            gone = [key for key in was["facets"] if key not in facets and not (key == "schema" and registered)]
            if (facets or gone) and told != was["told"]:
                self.events.append(TELLER.dataset_event(self.now_us, name, {**facets, **dict.fromkeys(gone, TELLER.deleted_facet())}))
            found.setdefault(name[0], {})[name[1]] = {
                KEY: [list(one)[:3] for one in map(_parts, keys)],
                VALUE: [list(one)[:3] for one in map(_parts, values)],
                "facets": sorted(facets),
                "told": told,
            }
        for space, topics in sorted(self.before["declared"].items()):
            for topic, was in sorted(topics.items()):
                gone = [key for key in was["facets"] if key != "schema" or not self._is_registered((space, topic))]
                if gone and topic not in found.get(space, {}):
                    self.events.append(TELLER.dataset_event(self.now_us, (space, topic), dict.fromkeys(gone, TELLER.deleted_facet())))
        return found

    def _is_registered(self, name: DatasetName) -> bool:
        known = (self.around.schemas.get((name, part)) for part in (KEY, VALUE))
        return any(schema and schema.rank == REGISTERED for schema in known)


def _parts(field: SchemaField) -> Iterator[str | None]:
    yield from (field.name, field.type, field.description)


def _hash(value: Mapping[str, Json]) -> str:
    return hashlib.blake2b(encode(dict(value)), digest_size=12).hexdigest()
