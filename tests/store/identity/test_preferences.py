"""Operators choose the name that a group goes by: the last choice counts, as of a time too, and can be withdrawn."""

from itertools import permutations
from typing import Any

import pytest
from tests.corpora.aliases import alias_operation, between_names, end, operator
from tests.events import KEY, T0, dataset, records_of, run_event
from tests.store.reading import reader_of
from tests.store.writing import apply, opened

from lineage_bridge.errors import RequestError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.facts.operations import AliasStatement, End, alias_key
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.model.history import AliasFilter
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)
A, B, C = ("ns", "a"), ("ns", "b"), ("ns", "c")
EVENTS = records_of([run_event(inputs=[dataset("a"), dataset("b"), dataset("c")])], arrival=T0)
JOINED = [operator(alias_operation("alias", between_names(A, B), between_names(B, C)), 10, T0)]


def chosen(operation: str, name: tuple[str, str], at_us: int, entity: str = "dataset") -> StoredRecord:
    choice: dict[str, Any] = {"a": end(*name), "entity": entity}
    return operator(alias_operation(operation, choice), 100 + at_us - T0, at_us)


def name_of(writer: GraphWriter, at_us: int | None = None) -> str:
    """What the dataset goes by."""
    nodes = reader_of(writer).nodes.at(at_us)
    node = nodes.by_id(nodes.head(NAMES.dataset("ns", "a")))
    assert nodes.spelt([node])[node.id].name == node.name
    return node.name


def test_a_group_goes_by_the_name_that_was_chosen_last_whatever_the_order_of_arrival() -> None:
    choices = [chosen("prefer", B, T0 + 1), chosen("prefer", C, T0 + 2), chosen("withdraw", C, T0 + 3), chosen("prefer", C, T0 + 4)]
    for order in permutations(choices):
        with opened() as writer:
            apply(writer, [*EVENTS, *JOINED])
            assert name_of(writer) == "a"
            for record in order:
                apply(writer, [record])
            assert name_of(writer) == "c"
            assert [name_of(writer, T0 + passed) for passed in range(5)] == ["a", "b", "c", "b", "c"]
            assert [d for d in reader_of(writer).whole.differences(NAMES) if d.surplus or d.missing] == []


def test_a_name_of_another_group_changes_nothing() -> None:
    with opened() as writer:
        apply(writer, [*EVENTS, chosen("prefer", C, T0 + 1)])
        assert name_of(writer) == "a"
        apply(writer, JOINED)
        assert name_of(writer) == "c"


def test_a_choice_joins_no_names_and_is_no_veto() -> None:
    with opened() as writer:
        apply(writer, [*EVENTS, *JOINED, chosen("prefer", B, T0 + 1), chosen("withdraw", B, T0 + 2)])
        aliases = reader_of(writer).nodes.aliases
        assert [(alias.kind, alias.standing) for alias in aliases(AliasFilter())] == [("operator", True)] * 2
        assert aliases(AliasFilter("veto")) == []


def test_choices_are_listed_with_whether_the_group_goes_by_them() -> None:
    with opened() as writer:
        apply(writer, [*EVENTS, *JOINED, chosen("prefer", B, T0 + 1), chosen("prefer", C, T0 + 2)])
        listed = reader_of(writer).nodes.aliases(AliasFilter("preferred"))
        assert [(choice.a, choice.standing, choice.at_us) for choice in listed] == [(B, False, T0 + 1), (C, True, T0 + 2)]


def test_a_job_goes_by_a_chosen_name() -> None:
    jobs = [("jobs", "x"), ("jobs", "y")]
    with opened() as writer:
        apply(writer, records_of([run_event(job=name) for _, name in jobs]))
        apply(writer, [operator(alias_operation("alias", between_names(*jobs, entity="job")))])
        apply(writer, [chosen("prefer", jobs[1], T0 + 1, "job")])
        nodes = reader_of(writer).nodes
        assert nodes.by_id(nodes.head(NAMES.job(*jobs[0]))).name == "y"


@pytest.mark.parametrize(
    "statement",
    [
        AliasStatement(End("ns")),
        AliasStatement(End("", "a")),
        AliasStatement(End(*A), End(*B)),
        AliasStatement(End(*A), evidence="why"),
        AliasStatement(End(*A), kind="rule"),
        AliasStatement(End(*A), entity="column"),
        AliasStatement(End("ns", "a" * 10_000)),
    ],
)
def test_a_choice_is_one_name(statement: AliasStatement) -> None:
    with pytest.raises(RequestError):
        alias_key("prefer", statement)
