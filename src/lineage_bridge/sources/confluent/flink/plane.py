"""The plane of Flink: the statements and materialized tables of an environment in a region."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, TopicSchema
from lineage_bridge.sources.confluent.clients import list_all
from lineage_bridge.sources.confluent.flink.events import FlinkScope
from lineage_bridge.sources.confluent.flink.parse import (
    FAILED,
    Failure,
    FlinkAnswers,
    Statement,
    parse_answer,
    parse_each,
    parse_failure,
    parse_statement,
    parse_table,
)
from lineage_bridge.sources.confluent.flink.translate import RegionTranslation
from lineage_bridge.sources.confluent.plane import Plane, PlaneContext, Planes

_LOOKUPS_PER_POLL = 100
"""Statements per poll that are looked up by name because they are no longer listed."""
_EMPTY: Snapshot = {"statements": {}, "tables": {}, "definitions": [], "declared": {}, "failed": {}}


class FlinkPlane(Plane[FlinkAnswers]):
    """Observes the statements and tables of Flink in one environment and region. RegionTranslation describes its snapshot."""

    name: ClassVar[str] = "flink"
    stage: ClassVar[int] = 3

    def __init__(self, context: PlaneContext, environment: str, cloud: str, region: str) -> None:
        super().__init__(context, f"{environment}/{cloud}.{region}")
        self.environment, self.cloud, self.region = environment, cloud, region
        self.flink_scope = FlinkScope(environment, f"{cloud}.{region}", self.settings.heartbeat_s)
        self.credential = self.settings.credential("flink", self.scope, environment, f"{cloud}.{region}")

    def unavailable_reason(self) -> str:
        """Why Flink cannot be read: the API key of the region, or the organization's id, which is a part of the address, is missing. Empty
        if both are known.
        """
        if self.credential is None:
            return f"no API key is set for Flink in {self.scope}"
        return "" if self.context.organization.id else "the organization's id is unknown, and Flink's addresses contain it"

    def fetch(self, before: Snapshot | None, now_us: int) -> FlinkAnswers:
        """Fetch two listings, the exceptions of statements that have newly failed, and, by their names, statements that are no
        longer listed.
        """
        del now_us
        previous, http, path = before or _EMPTY, self._http(), self._path()
        entries, tables = http.map(lambda kind: list_all(http, f"{path}/{kind}", "name"), ("statements", "materialized-tables"))
        if isinstance(entries, SourceError):
            raise entries
        unseen: list[Unseen] = []
        listed, unreadable = parse_each(parse_statement, "statement", entries, unseen)
        statements = {statement.name: statement for statement in listed}
        hidden = set(unreadable)
        open_ = [name for name, state in sorted(previous["statements"].items()) if not state["ended"]]
        missing = [name for name in open_ if name not in statements and name not in hidden]
        hidden |= set(missing[_LOOKUPS_PER_POLL:]) | self._look_up(http, missing[:_LOOKUPS_PER_POLL], statements, unseen)
        failures = self._failures(http, statements, previous["failed"], unseen)
        if isinstance(tables, SourceError):
            unseen.append(Unseen("materialized tables", str(tables), tables.hint))
            return FlinkAnswers(tuple(statements.values()), None, failures, frozenset(hidden), None, tuple(unseen))
        parsed, lost = parse_each(partial(parse_table, self.environment), "materialized table", tables, unseen)
        hidden_tables = None if "" in lost else frozenset(lost)
        return FlinkAnswers(tuple(statements.values()), tuple(parsed), failures, frozenset(hidden), hidden_tables, tuple(unseen))

    def _look_up(self, http: HttpClient, names: list[str], statements: dict[str, Statement], unseen: list[Unseen]) -> set[str]:
        """Fetch, by name, statements that are no longer listed, and add those that exist to `statements`. Returns the names of statements
        that could not be read.
        """
        hidden: set[str] = set()
        answers = http.map(lambda name: parse_answer(http.get(f"{self._path()}/statements/{name}")), names)
        for name, answer in zip(names, answers, strict=True):
            if isinstance(answer, Statement):
                statements[name] = answer
            elif not isinstance(answer, MissingError):
                hidden.add(name)
                unseen.append(
                    Unseen(f"statement {name}", f"the statement is not listed, and looking it up by name failed: {answer}", answer.hint)
                )
        return hidden

    def _failures(
        self, http: HttpClient, statements: Mapping[str, Statement], previous: Mapping[str, str], unseen: list[Unseen]
    ) -> dict[str, Failure]:
        """Fetch why statements failed. `previous`: the uids, by name, of statements that had already failed; these are not fetched."""
        new = [name for name, statement in sorted(statements.items()) if statement.phase == FAILED and previous.get(name) != statement.uid]
        found: dict[str, Failure] = {}
        for name, answer in zip(new, http.map(lambda name: http.get(f"{self._path()}/statements/{name}/exceptions"), new), strict=True):
            if isinstance(answer, SourceError):
                unseen.append(Unseen(f"statement {name}: exceptions", str(answer)))
            elif failure := parse_failure(answer):
                found[name] = failure
        return found

    def translate(self, fetched: FlinkAnswers, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Return the events of statements and tables, and those of topics that definitions declare."""
        organization = self.context.organization
        return RegionTranslation(self.flink_scope, organization, fetched, before or _EMPTY, shared, now_us).observation()

    def empty_answer(self) -> FlinkAnswers:
        """Return an answer without statements and tables."""
        return FlinkAnswers()

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the columns of topics that definitions declare, and the jobs of statements."""
        schemas: dict[tuple[DatasetName, str], TopicSchema] = {}
        for namespace, topics in snapshot["declared"].items():
            for topic, entry in topics.items():
                for side in (KEY, VALUE):
                    if fields := tuple(SchemaField(*field) for field in entry[side]):
                        schemas[(namespace, topic), side] = TopicSchema(fields, f"Flink table {topic}", rank=1)
        jobs = {f"{self.scope}/{name}": (state["job"][0], state["job"][1]) for name, state in snapshot["statements"].items()}
        return SharedMetadata(schemas=schemas, jobs=jobs)

    def _http(self) -> HttpClient:
        if self.credential is None:
            raise SourceError(self.unavailable_reason())
        url = self.settings.flink_url.replace("{cloud}", self.cloud).replace("{region}", self.region)
        return self.clients.http(self.key, url, self.credential, "flink")

    def _path(self) -> str:
        return f"/sql/v1/organizations/{self.context.organization.id}/environments/{self.environment}"


def planes(context: PlaneContext) -> Planes:
    """Create one plane for each environment and region."""
    for environment, cloud, region in context.observed.flink_regions:
        yield FlinkPlane(context, environment, cloud, region)
