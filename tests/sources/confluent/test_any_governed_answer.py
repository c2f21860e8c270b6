"""Whatever Flink, a catalog or a registry answers, it is read or refused; no answer is a fault of ours."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.confluent.organization.build import build
from tests.corpora.published import faults
from tests.sources.confluent.flink.stand_in import flink_region
from tests.sources.confluent.flink.test_flink import KEY_OF_FLINK, NOW, WHOLE
from tests.sources.http import Reply, Request, Standin, standing

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.catalog import plane as catalog
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.flink import plane as flink
from lineage_bridge.sources.confluent.flink.parse import FlinkAnswers, parse_failure, parse_statement, parse_table
from lineage_bridge.sources.confluent.organization import Environment, KafkaCluster, Organization, SchemaRegistry
from lineage_bridge.sources.confluent.plane import PlaneContext
from lineage_bridge.sources.confluent.registry import plane as registry
from lineage_bridge.sources.confluent.schema_links import plane as schema_links
from lineage_bridge.sources.confluent.settings import ConfluentSettings

VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "CREATE VIEW v AS", "lsrc-1:lkc-1:t", "RUNNING"])
ANY = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "type", "data"]), inner), max_leaves=6
)
STATEMENTS = list(flink_region(build(), "env-p9k2x7", "aws", "us-east-1").statements.values())[:6]
TABLES = list(flink_region(build(), "env-p9k2x7", "aws", "us-east-1").tables.values())
ENTITY = {
    "typeName": "kafka_topic",
    "attributes": {"name": "t", "qualifiedName": "lsrc-1:lkc-1:t", "owner": "o", "description": "d"},
    "classificationNames": ["PII"],
    "status": "ACTIVE",
}
EXPORTER = {"name": "e", "subjects": ["a", "b*"], "contextType": "NONE", "context": "", "config": {"schema.registry.url": "http://r"}}


@st.composite
def changed(draw: st.DrawFn, original: Any) -> Any:
    """A JSON value with one part replaced."""
    copy = json.loads(json.dumps(original))
    positions = list(_positions(copy))
    if not positions or draw(st.integers(0, 9)) == 0:
        return draw(ANY)
    holder, key = draw(st.sampled_from(positions))
    holder[key] = draw(ANY)
    return copy


def _positions(value: Any) -> Any:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield value, key
        yield from _positions(inner)


@settings(deadline=None)
@given(st.sampled_from(STATEMENTS).flatmap(changed), st.sampled_from(TABLES).flatmap(changed), ANY)
def test_any_statement(statement: Any, table: Any, failure: Any) -> None:
    settings_ = ConfluentSettings(flink={"*": KEY_OF_FLINK})
    (plane,) = flink.planes(PlaneContext(WHOLE, WHOLE, Clients(settings_), settings_))
    try:
        answers = FlinkAnswers((parse_statement(statement),), (parse_table("env-1", table),))
    except SourceError:
        return
    parse_failure(failure)
    first = plane.translate(answers, None, NO_METADATA, NOW)
    before = json.loads(json.dumps(first.snapshot))
    second = plane.translate(answers, before, NO_METADATA, NOW + 1)
    assert not faults([*first.events, *second.events])
    plane.shared_metadata(before)


@settings(deadline=None)
@given(changed([ENTITY]), changed([{"typeName": "Domain", "attributes": {"a": "b"}}]), changed(["e"]), changed(EXPORTER), ANY)
def test_any_answer_of_a_registry(entities: Any, business: Any, names: Any, exporter: Any, status: Any) -> None:
    def api(request: Request) -> Reply:
        parts = request.parts
        if parts[:3] == ("catalog", "v1", "search"):
            return Reply(200, {"entities": entities} if request.query.get("type") == "kafka_topic" else status)
        if parts[0] == "exporters":
            return Reply(200, names if len(parts) == 1 else status if parts[-1] == "status" else exporter)
        return Reply(200, business if parts[0] == "catalog" else entities)

    with standing(Standin(api)) as server:
        organization = Organization(
            "o",
            (Environment("env-1", "p", "ADVANCED"),),
            (KafkaCluster("lkc-1", "env-1", "c"),),
            (SchemaRegistry("lsrc-1", "env-1", server.url),),
        )
        settings_ = ConfluentSettings(registry={"*": KEY_OF_FLINK.model_copy(update={"secret": "${env:HOME}"})})
        context = PlaneContext(organization, organization, Clients(settings_), settings_)
        for module in (catalog, registry, schema_links):
            (plane,) = module.planes(context)
            try:
                fetched = plane.fetch(None, NOW)
            except SourceError:
                continue
            seen = plane.translate(fetched, None, NO_METADATA, NOW)
            plane.shared_metadata(json.loads(json.dumps(seen.snapshot)))
