"""Each catalog speaks for itself: what one withdraws hides nothing that another one states, in whatever order events arrive."""

import json
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events import RUNS, T0, dataset, dataset_event, erase, facet, job_event, records_of, run_event, schema
from tests.store.reading import exported, found, reader_of
from tests.store.tables import contents
from tests.store.writing import NAMES, add, apply, opened

from lineage_bridge.graph.facts.fold import fold_records
from lineage_bridge.graph.flows.derive import derive
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.store.write.apply import GraphWriter

MINUTE = 60_000_000
GONE = facet(_deleted=True)
KEY = "lineagebridge_catalog"
FACETS = {"schema": schema("id"), "documentation": facet(description="Orders."), "ownership": facet(owners=[{"name": "ann"}])}


def mark(address: str, *, deleted: bool = False) -> dict[str, Any]:
    made = facet(catalog="datahub", **({"address": address} if address else {}))
    return {**made, "_deleted": True} if deleted else made


def states(at: int, address: str, producer: str, **facets: Any) -> bytes:
    return dataset_event(dataset("a", lineagebridge_catalog=mark(address), **facets), T0 + at * MINUTE, producer)


def facets_of(writer: GraphWriter, name: str = "a", kind: NodeKind = NodeKind.DATASET) -> dict[str, Any]:
    reader = reader_of(writer)
    return {key: json.loads(text) for key, text in reader.nodes.facets(found(reader, name, kind)).items()}


def columns_of(writer: GraphWriter) -> list[str]:
    reader = reader_of(writer)
    versions = reader.history.schemas(found(reader, "a"), 2**62).versions
    return [field.name for version in versions if version.current for field in version.fields]


@pytest.fixture
def file_writer() -> Iterator[GraphWriter]:
    with opened() as made:
        yield made


def is_verified(writer: GraphWriter) -> bool:
    return all(table.surplus == table.missing == 0 for table in reader_of(writer).whole.differences(NAMES))


def test_a_withdrawal_hides_nothing_of_another_catalog_in_any_order(writer: GraphWriter) -> None:
    events = [
        states(0, "https://b", "sources/b", schema=schema("b"), documentation=facet(description="B")),
        states(1, "https://a", "sources/a", schema=schema("a"), documentation=facet(description="A")),
        states(2, "https://a", "sources/a", schema=GONE, documentation=GONE),
    ]
    for number, event in enumerate(events):
        add(writer, event)
        assert facets_of(writer)["documentation"]["description"] == ("B", "A", "B")[number]
        assert columns_of(writer) == [("b", "a", "b")[number]]
    exports: set[bytes] = set()
    for order in permutations(events):
        with opened() as other:
            for event in order:
                add(other, event)
            exports.add(b"\n".join(exported(other)))
            assert is_verified(other)
    assert exports == {b"\n".join(exported(writer))}
    add(writer, states(3, "https://b", "sources/b", schema=GONE, documentation=GONE))
    assert facets_of(writer).keys() == {KEY}
    assert columns_of(writer) == []
    assert is_verified(writer)


def test_the_newest_of_several_sources_of_one_catalog_counts(file_writer: GraphWriter) -> None:
    add(file_writer, states(0, "https://a", "sources/old", documentation=facet(description="old")))
    add(file_writer, states(1, "https://a", "sources/new", documentation=GONE))
    assert "documentation" not in facets_of(file_writer)
    add(file_writer, states(2, "https://else", "sources/new", ownership=FACETS["ownership"]))
    assert "documentation" not in facets_of(file_writer)


def test_what_a_source_states_without_an_address_counts_until_it_states_more(file_writer: GraphWriter) -> None:
    add(file_writer, states(0, "", "sources/a", documentation=facet(description="before")))
    add(file_writer, states(1, "https://b", "sources/b", documentation=GONE))
    assert facets_of(file_writer)["documentation"]["description"] == "before"
    add(file_writer, states(2, "https://a", "sources/a", documentation=GONE))
    assert "documentation" not in facets_of(file_writer)


def test_a_producer_outranks_catalogs_also_by_what_it_withdraws(file_writer: GraphWriter) -> None:
    add(
        file_writer,
        states(5, "https://a", "sources/a", documentation=facet(description="A")),
        dataset_event(dataset("a", documentation=GONE)),
    )
    assert "documentation" not in facets_of(file_writer)
    add(file_writer, states(6, "https://b", "sources/b", documentation=facet(description="B")))
    assert "documentation" not in facets_of(file_writer)
    assert is_verified(file_writer)


def test_a_job_that_one_catalog_withdraws_is_still_that_of_another(file_writer: GraphWriter) -> None:
    for at, address, deleted in ((0, "https://b", False), (1, "https://a", False), (2, "https://a", True)):
        marked = {KEY: mark(address, deleted=deleted)}
        add(file_writer, job_event(job_facets=marked, producer=f"sources/{address}", time_us=T0 + at * MINUTE, inputs=[dataset("a")]))
    assert facets_of(file_writer, "job", NodeKind.JOB)[KEY]["address"] == "https://b"
    assert is_verified(file_writer)


def test_what_catalogs_state_outlives_an_erased_run(file_writer: GraphWriter) -> None:
    add(file_writer, states(0, "https://a", "sources/a", documentation=facet(description="A")))
    add(file_writer, run_event(run=RUNS[0], inputs=[dataset("a", documentation=facet(description="run"))]))
    assert facets_of(file_writer)["documentation"]["description"] == "run"
    add(file_writer, erase(RUNS[0]), kind=RecordKind.OPERATOR)
    assert facets_of(file_writer)["documentation"]["description"] == "A"
    assert is_verified(file_writer)


WORDS = st.builds(
    lambda at, address, producer, key, gone: states(at, address, producer, **{key: GONE if gone else FACETS[key]}),
    st.integers(0, 4),
    st.sampled_from(["", "https://a", "https://b"]),
    st.sampled_from(["sources/1", "sources/2", "sources/3"]),
    st.sampled_from(sorted(FACETS)),
    st.booleans(),
)
OTHERS = st.sampled_from(
    [
        run_event(run=RUNS[0], inputs=[dataset("a", schema=schema("r"))]),
        dataset_event(dataset("a", documentation=facet(description="own"))),
        dataset_event(dataset("a", ownership=GONE)),
    ]
)


@settings(max_examples=30, deadline=None)
@given(st.lists(WORDS | OTHERS, min_size=2, max_size=9), st.data())
def test_the_store_equals_the_plain_fold_of_what_catalogs_state(bodies: list[bytes], data: st.DataObject) -> None:
    records = records_of(bodies)
    expected = derive(fold_records(records, NAMES), NAMES)["current_facet"]
    with opened() as writer:
        left = data.draw(st.permutations([*records, *records[:2]]))
        while left:
            size = data.draw(st.integers(1, 4))
            apply(writer, left[:size])
            left = left[size:]
        assert contents(writer, "current_facet") == expected


@pytest.mark.parametrize("text", ['{"catalog": 5}', '{"catalog": "datahub", "address": 5}', "[]", '"text"'])
def test_a_mark_that_names_no_catalog_stands_for_its_producer(file_writer: GraphWriter, text: str) -> None:
    odd = dataset_event(dataset("a", documentation=FACETS["documentation"], **{KEY: json.loads(text)}), producer="sources/1")
    add(file_writer, odd, states(1, "https://b", "sources/2", documentation=GONE))
    assert "documentation" in facets_of(file_writer)
    assert is_verified(file_writer)
