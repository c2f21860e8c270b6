"""The expected edges of the organization agree with the handwritten ones."""

from tests.confluent.expected_edges import expected
from tests.confluent.handwritten_edges import EDGES, NOT_EDGES, edges
from tests.confluent.organization.build import build


def test_expected_edges_include_all_handwritten_edges_and_no_wrong_ones() -> None:
    every = expected(build())
    assert len(edges(EDGES)) >= 30
    assert [edge for edge in edges(EDGES) if edge not in every] == []
    assert len(edges(NOT_EDGES)) >= 10
    assert [edge for edge in edges(NOT_EDGES) if edge in every] == []


def test_each_system_has_expected_and_handwritten_edges() -> None:
    assert {edge.system for edge in expected(build())} == {edge.system for edge in edges(EDGES)}
