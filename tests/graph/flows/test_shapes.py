"""Flows of one run: the explicit statement, else columns, else what occurred together."""

import json
from typing import Any

from tests.events import KEY, columns, facet

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.shapes import HUB_PAIRS, NO_SHAPE, Expansion, expand, make_shape
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.graph.statements.lineage_sets import OWN, LineageSet, read_lineage_set

NAMES = Names(KEY)
A, B, C, D = (NAMES.dataset("ns", name) for name in "abcd")


def lineage_set(key: str, body: dict[str, Any]) -> LineageSet:
    found = read_lineage_set(key, json.dumps(body).encode(), NAMES)
    assert found is not None
    return found


def expanded(inputs: list[int], outputs: list[int], *stated: tuple[int, LineageSet]) -> Expansion:
    members = [(int(Side.INPUT), dataset) for dataset in inputs] + [(int(Side.OUTPUT), dataset) for dataset in outputs]
    shape = make_shape(Origin.OBSERVED, members, [(carrier, m.id) for carrier, m in stated])
    return expand(shape, {m.id: m for _, m in stated})


def ends(expansion: Expansion, evidence: Evidence) -> set[tuple[int, int]]:
    return {(flow.source, flow.target) for flow in expansion.flows if flow.evidence == evidence}


def test_without_statements_every_input_flows_to_every_output() -> None:
    assert ends(expanded([A, B], [C, D]), Evidence.CO_OCCURRENCE) == {(A, C), (A, D), (B, C), (B, D)}


def test_a_target_with_columns_has_the_sources_they_name() -> None:
    result = expanded([A, B], [C, D], (C, lineage_set("columnLineage", columns(id=[("ns", "a", "id")]))))
    assert ends(result, Evidence.COLUMN) == {(A, C)}
    assert ends(result, Evidence.CO_OCCURRENCE) == {(A, D), (B, D), (B, C)}


def test_an_input_that_a_statement_mentions_anywhere_is_mentioned() -> None:
    stated = (
        (C, lineage_set("columnLineage", columns(id=[("ns", "a", "id")]))),
        (D, lineage_set("columnLineage", columns(id=[("ns", "b", "id")]))),
    )
    result = expanded([A, B], [C, D], *stated)
    assert ends(result, Evidence.COLUMN) == {(A, C), (B, D)}
    assert ends(result, Evidence.CO_OCCURRENCE) == set()


def test_a_source_that_is_no_input_flows_all_the_same() -> None:
    assert ends(expanded([], [C], (C, lineage_set("columnLineage", columns(id=[("ns", "a", "id")])))), Evidence.COLUMN) == {(A, C)}


def test_columns_that_name_nothing_say_nothing() -> None:
    assert read_lineage_set("columnLineage", json.dumps(columns()).encode(), NAMES) is None


def test_two_texts_that_say_the_same_have_one_meaning() -> None:
    first = columns(id=[("ns", "a", "id"), ("ns", "b", "id")])
    second = {**columns(id=[("ns", "b", "id"), ("ns", "a", "id")]), "_producer": "https://example.org/another"}
    assert lineage_set("columnLineage", first) == lineage_set("columnLineage", second)


def test_the_explicit_statement_is_complete() -> None:
    entries = facet(
        entries=[{"type": "DATASET", "namespace": "ns", "name": "c", "inputs": [{"type": "DATASET", "namespace": "ns", "name": "a"}]}]
    )
    stated = (OWN, lineage_set("lineage", entries)), (C, lineage_set("columnLineage", columns(id=[("ns", "b", "id")])))
    result = expanded([A, B], [C, D], *stated)
    assert ends(result, Evidence.EXPLICIT) == {(A, C), (B, OWN), (OWN, D)}
    assert len(result.flows) == 3


def test_a_target_stated_to_have_no_upstream_has_none() -> None:
    entries = facet(entries=[{"type": "DATASET", "namespace": "ns", "name": "c", "inputs": []}])
    assert ends(expanded([A], [C], (OWN, lineage_set("lineage", entries))), Evidence.EXPLICIT) == {(A, OWN)}


def test_a_self_flow_is_kept() -> None:
    assert ends(expanded([A], [A]), Evidence.CO_OCCURRENCE) == {(A, A)}


def test_a_wide_run_is_kept_as_a_hub() -> None:
    wide = [NAMES.dataset("ns", f"in{number}") for number in range(HUB_PAIRS + 1)]
    result = expanded(wide, [C])
    assert result.flows == ()
    assert [(sorted(hub.inputs), hub.outputs) for hub in result.hubs] == [(sorted(wide), (C,))]
    assert not expanded(wide[:HUB_PAIRS], [C]).hubs


def test_a_shape_is_the_same_in_any_order_and_with_repeats() -> None:
    first = make_shape(Origin.OBSERVED, [(0, A), (1, B)], [(B, b"m")])
    assert first == make_shape(Origin.OBSERVED, [(1, B), (0, A), (0, A)], [(B, b"m"), (B, b"m")])
    assert first.id != make_shape(Origin.DECLARED, [(0, A), (1, B)], [(B, b"m")]).id
    assert make_shape(Origin.OBSERVED, [], []).id == NO_SHAPE
