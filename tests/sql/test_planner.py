"""Flink's own planner confirms the answer book: `planner.json` has its answers, and `make oracle` asks it anew."""

import json

import pytest
from tests.sql.cases import PLANNER, Case, planned_cases

ANSWERS = json.loads(PLANNER.read_text(encoding="utf-8"))
PLANNED = [case for case in planned_cases() if "columns" in ANSWERS.get(case.name, {})]

# The planner counts as an origin what decides a value; to the book that is an influence of these kinds.
DECIDES = {
    "the condition of a CASE or an IF": (
        {"CONDITIONAL"},
        {
            "case-conditions",
            "case-inside-aggregate",
            "case-inside-case",
            "if-function",
            "simple-case",
            "statement-set-with-case-and-comments",
        },
    ),
    "the partition and the order of an OVER": (
        {"WINDOW"},
        {"over-aggregate", "over-named-window", "top-n-with-rank-kept", "window-top-n"},
    ),
    "the right side of EXCEPT": ({"FILTER", "GROUP_BY"}, {"except"}),
}
# The planner looks into a sub-query that gives a value only later, so these flows are the book's alone.
VALUE_OF_A_SUB_QUERY = {"scalar-sub-query": {("orders", "amount", "out_t", "biggest")}}


def expected(case: Case) -> set[tuple[str, ...]]:
    return {(flow.in_table, flow.in_column, flow.out_table, flow.out_column) for flow in case.columns}


def planner(case: Case) -> set[tuple[str, ...]]:
    return {tuple(flow) for flow in ANSWERS[case.name]["columns"]}


def kinds_that_decide(case: Case) -> set[str]:
    return {kind for kinds, names in DECIDES.values() if case.name in names for kind in kinds}


def test_the_planner_was_asked_for_the_book_as_it_is():
    asked = {name: answer["asked"] for name, answer in ANSWERS.items()}
    assert asked == {case.name: case.digest for case in planned_cases()}, "the book has changed: run make oracle"
    assert list(ANSWERS) == sorted(ANSWERS)
    assert all(("columns" in answer) != bool(answer.get("unplanned")) for answer in ANSWERS.values())


@pytest.mark.parametrize("case", PLANNED, ids=lambda case: case.name)
def test_the_planner_finds_the_flows_of_the_book(case: Case):
    assert expected(case) - planner(case) == VALUE_OF_A_SUB_QUERY.get(case.name, set())
    kinds = kinds_that_decide(case)
    influences = {(edge.in_table, edge.in_column, edge.out_table) for edge in case.indirect if edge.kinds & kinds}
    assert {flow[:3] for flow in planner(case) - expected(case)} <= influences


def test_each_difference_is_one():
    listed = set(VALUE_OF_A_SUB_QUERY).union(*(names for _, names in DECIDES.values()))
    assert {case.name for case in PLANNED if expected(case) != planner(case)} == listed


def test_most_of_what_flows_in_the_book_is_confirmed():
    assert sum(bool(expected(case)) and expected(case) == planner(case) for case in PLANNED) >= 100
