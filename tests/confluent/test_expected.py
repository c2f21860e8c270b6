"""The expectation of the organization has what was read out of it by hand."""

from tests.confluent.expected_edges import expected
from tests.confluent.handwritten_edges import EDGES, NOT_EDGES, edges
from tests.confluent.organization.build import build


def test_the_expectation_has_every_edge_written_by_hand_and_none_that_is_not_there() -> None:
    every = expected(build())
    assert len(edges(EDGES)) >= 30
    assert [edge for edge in edges(EDGES) if edge not in every] == []
    assert len(edges(NOT_EDGES)) >= 10
    assert [edge for edge in edges(NOT_EDGES) if edge in every] == []


def test_each_system_is_expected_and_written_by_hand() -> None:
    assert {edge.system for edge in expected(build())} == {edge.system for edge in edges(EDGES)}
