"""Who owns a dataset, and how long its data is kept."""

import json
from typing import Any

import pytest
from tests.events import facet

from lineage_bridge.graph.contents.stewardship import COMPACTED, UNLIMITED, Stewardship, stewardship


def kept(**facets: Any) -> Stewardship:
    return stewardship({key: json.dumps(value) for key, value in facets.items()})


def tags(*found: tuple[str, str], field: str | None = None) -> dict[str, Any]:
    column = {"field": field} if field else {}
    return facet(tags=[{"key": key, "value": value, "source": "x", **column} for key, value in found])


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"retention.ms": "604800000"}, "7 days"),
        ({"retention.ms": "86400000"}, "1 day"),
        ({"retention.ms": "129600000"}, "36 hours"),
        ({"retention.ms": "90000", "cleanup.policy": "delete"}, "90 seconds"),
        ({"retention.ms": "1500"}, "1500 ms"),
        ({"retention.ms": "0"}, "0 ms"),
        ({"retention.ms": "-1"}, UNLIMITED),
        ({"cleanup.policy": "compact", "retention.ms": "604800000"}, COMPACTED),
        ({"cleanup.policy": "compact, delete", "retention.ms": "604800000"}, "7 days"),
        ({"cleanup.policy": "delete"}, ""),
        ({"retention.ms": "soon"}, ""),
        ({}, ""),
    ],
)
def test_a_topic_is_kept_as_its_own_settings_mean(config: dict[str, str], words: str) -> None:
    assert kept(kafka_topic=facet(config=config)).retention == words


def test_owners_are_those_of_the_facet_or_else_of_the_tag() -> None:
    owned = facet(owners=[{"name": "team:b"}, {"name": "team:a", "type": "MAINTAINER"}])
    assert kept(ownership=owned, tags=tags(("owner", "other"))).owners == ("team:a", "team:b")
    assert kept(tags=tags(("Owner", "team:c"))).owners == ("team:c",)
    assert kept(tags=tags(("owner", "team:c"), field="email")) == Stewardship()


def test_a_tag_says_how_long_it_is_kept_unless_the_topic_has_a_setting() -> None:
    stated = tags(("retention", "10 years"))
    assert kept(tags=stated).retention == "10 years"
    assert kept(tags=stated, kafka_topic=facet(config={"retention.ms": "1000"})).retention == "1 second"


def test_a_tag_promises_how_fresh_a_dataset_is() -> None:
    assert kept(tags=tags(("Freshness", "15 minutes"), ("freshness", "1 hour"))).freshness == "1 hour, 15 minutes"
    assert kept(tags=tags(("freshness", "1 hour"), field="email")) == Stewardship()


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"config": 7}', '{"owners": 7, "tags": {}}'])
def test_facets_of_any_shape_are_passed_over(text: str) -> None:
    assert stewardship({"kafka_topic": text, "ownership": text, "tags": text}) == Stewardship()
