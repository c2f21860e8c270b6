"""Search, from events."""

from typing import Any

import pytest
from tests.events import KEY, RUNS, T0, dataset, dataset_event, erase, facet, run_event, schema, stored_record
from tests.store.reading import reader_of, search_of
from tests.store.tables import execute
from tests.store.writing import add

from lineage_bridge.graph.contents.search_terms import FIELDS, MAX_TEXT
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.model.search import SearchFilter, SearchPage
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.dialect import Fts5
from lineage_bridge.store.postgresql.full_text import TextVectors
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)


def page(writer: GraphWriter, text: str, **more: Any) -> SearchPage:
    return reader_of(writer).search.page(SearchFilter(text, **more))


def found(writer: GraphWriter, text: str, **more: Any) -> list[str]:
    return [match.node.name for match in page(writer, text, **more).matches]


def owned(*owners: str) -> dict[str, Any]:
    return facet(owners=[{"name": owner} for owner in owners])


def consistent(writer: GraphWriter) -> bool:
    """The index and the texts it is made of agree, and the texts are what the facets say."""
    search = writer.connection.dialect.full_text
    if isinstance(search, Fts5):
        execute(writer, "INSERT INTO node_search_text (node_search_text, rank) VALUES ('integrity-check', 1)")
    for node, *texts in execute(writer, f"SELECT node, {', '.join(FIELDS)} FROM search_text").fetchall():
        if isinstance(search, TextVectors):
            same = "SELECT count(*) FROM node_search_text WHERE id = ? AND words = CAST(? AS tsvector)"
            assert execute(writer, same, search.row("node_search_text", node, texts)).fetchone() == (1,)
    return all(d.surplus == d.missing == 0 for d in reader_of(writer).whole.differences(NAMES))


@pytest.fixture
def searchable(writer: GraphWriter) -> GraphWriter:
    add(
        writer,
        run_event(
            job="load_orders",
            job_facets={"sql": facet(query="SELECT customer_id FROM raw"), "ownership": owned("team:data")},
            inputs=[dataset("raw", schema=schema("customer_id", "amount"))],
            outputs=[dataset("orders", schema=schema("id"), ownership=owned("ann"), tags=facet(tags=[{"key": "pii", "value": "yes"}]))],
        ),
        dataset_event(dataset("customers", "other", documentation=facet(description="Everyone who ordered"), ownership=owned("ann"))),
    )
    return writer


def test_by_facet_texts(searchable: GraphWriter) -> None:
    assert found(searchable, "customer_id") == ["raw", "load_orders"]
    assert found(searchable, "cust") == ["customers", "raw", "load_orders"]
    assert found(searchable, "ordered") == ["customers"]
    assert found(searchable, "order") == ["orders", "load_orders", "customers"]
    assert found(searchable, "nothing of it") == []


def test_only_in_some_fields(searchable: GraphWriter) -> None:
    assert found(searchable, "customer_id", fields=("column",)) == ["raw"]
    assert found(searchable, "customer_id", fields=("sql",)) == ["load_orders"]
    assert found(searchable, "cust", fields=("name",)) == ["customers"]
    assert sorted(found(searchable, "ann", fields=("owner",))) == ["customers", "orders"]


def test_words_may_stand_in_name_and_text(searchable: GraphWriter) -> None:
    assert found(searchable, "raw amount") == ["raw"]
    assert found(searchable, "orders amount") == []


def test_a_match_shows_what_matched(searchable: GraphWriter) -> None:
    (columns, sql) = page(searchable, "customer_id").matches
    assert (sql.named, sql.lines) == (False, (("sql", "SELECT customer_id FROM raw"),))
    assert (columns.named, columns.lines) == (False, (("column", "customer_id"),))
    assert [(match.named, match.lines) for match in page(searchable, "orders", kind=NodeKind.DATASET).matches] == [(True, ())]


def test_filters(searchable: GraphWriter) -> None:
    assert sorted(found(searchable, "", owner="ann")) == ["customers", "orders"]
    assert found(searchable, "order", owner="ann") == ["orders", "customers"]
    assert found(searchable, "", owner="an") == []
    assert found(searchable, "", tag="pii") == found(searchable, "", tag="pii=yes") == ["orders"]
    assert found(searchable, "", tag="pii=no") == []
    assert found(searchable, "cust", namespace="other") == ["customers"]
    assert found(searchable, "cust", kind=NodeKind.JOB) == ["load_orders"]
    assert found(searchable, "order", has=("tags", "schema")) == ["orders"]
    assert found(searchable, "order", limit=1, offset=1) == ["load_orders"]


def test_a_facet_alone_can_be_searched_for(searchable: GraphWriter) -> None:
    assert found(searchable, "", has=("ownership",)) == ["load_orders", "orders", "customers"]
    assert found(searchable, "", has=("ownership", "schema")) == ["orders"]
    assert found(searchable, "", has=("schema",), kind=NodeKind.JOB) == found(searchable, "", has=("unheard",)) == []
    few = search_of(searchable, candidates=2).page(SearchFilter("", has=("ownership",)))
    assert (len(few.matches), few.truncated) == (2, True)


def test_filters_look_at_all_names_of_a_dataset(writer: GraphWriter) -> None:
    tagged = dataset("orders", "s3a://lake", tags=facet(tags=[{"key": "pii", "value": "yes"}]), schema=schema("spent"))
    add(writer, run_event(outputs=[tagged]), run_event(run=RUNS[1], outputs=[dataset("orders", "s3://lake", ownership=owned("ann"))]))
    whole: dict[str, Any] = {"owner": "ann", "tag": "pii", "has": ("schema", "ownership")}
    assert found(writer, "orders") == found(writer, "orders", **whole) == found(writer, "", **whole) == ["orders"]
    assert found(writer, "spent", owner="ann") == found(writer, "", has=whole["has"]) == ["orders"]
    assert (
        found(writer, "", namespace="s3://lake", tag="pii") == found(writer, "", namespace="s3a://lake", has=("ownership",)) == ["orders"]
    )
    assert page(writer, "spent").matches[0].lines == page(writer, "orders spent").matches[0].lines[-1:] == (("column", "spent"),)
    add(writer, run_event(run=RUNS[2], time_us=T0 + 1, inputs=[dataset("orders", "s3a://lake", ownership=owned("bob"))]))
    assert found(writer, "", owner="bob") == ["orders"]
    assert found(writer, "", owner="ann") == found(writer, "orders", owner="ann") == []


def test_the_text_follows_the_current_facet(searchable: GraphWriter) -> None:
    add(searchable, run_event(run=RUNS[1], time_us=T0 + 1, inputs=[dataset("raw", schema=schema("client_id"))]))
    assert found(searchable, "amount") == []
    assert found(searchable, "client") == ["raw"]
    add(searchable, run_event(run=RUNS[2], time_us=T0 + 2, inputs=[dataset("raw", schema=facet(_deleted=True))]))
    assert found(searchable, "client") == []
    assert consistent(searchable)


def test_an_older_facet_changes_nothing(searchable: GraphWriter) -> None:
    before = list(execute(searchable, "SELECT * FROM search_text"))
    add(searchable, run_event(run=RUNS[1], time_us=T0 - 1, inputs=[dataset("raw", schema=schema("older"))]))
    assert list(execute(searchable, "SELECT * FROM search_text")) == before


def test_what_an_erased_run_asserted_is_not_found(searchable: GraphWriter) -> None:
    gone = stored_record(erase(RUNS[0]), offset=9_999, kind=RecordKind.OPERATOR)
    searchable.apply(Batch({}, dict(flat(fold_records([gone], NAMES)))), Budget(10**6))
    assert found(searchable, "customer_id") == []
    assert found(searchable, "everyone") == ["customers"]
    assert consistent(searchable)


def test_texts_may_wait_for_later_transactions(writer: GraphWriter) -> None:
    add(writer, run_event(inputs=[dataset(f"d{n}", schema=schema("word")) for n in range(40)]), budget=1)
    assert reader_of(writer).progress.settling()
    assert 0 < len(found(writer, "word")) < 40
    while writer.settle(Budget(1)):
        pass
    assert not reader_of(writer).progress.settling()
    assert len(found(writer, "word")) == 40
    assert consistent(writer)


def test_very_many_matches_are_cut_visibly_and_contain_exact_names(writer: GraphWriter) -> None:
    names = [f"a_orders_{n}" for n in range(30)] + [f"orders_{n}" for n in range(3)] + ["orders"]
    add(writer, *(run_event(run=f"r{n}", inputs=[dataset(name)]) for n, name in enumerate(names)))
    few = search_of(writer, candidates=5)
    cut = few.page(SearchFilter("orders"))
    assert cut.truncated
    assert cut.matches[0].node.name == "orders"
    assert {match.node.name for match in cut.matches} >= {"orders_0", "orders_1", "orders_2"}
    assert not few.page(SearchFilter("orders_17")).truncated


def test_words_side_by_side_are_found_however_often_each_stands_in_a_text(writer: GraphWriter) -> None:
    query = f"{'user name ' * 400} name user {'id ' * 300} user id"
    add(writer, run_event(job="load", job_facets={"sql": facet(query=query)}, outputs=[dataset("a")]))
    assert found(writer, "user_id", fields=("sql",)) == ["load"]
    assert found(writer, "name_user", fields=("sql",)) == ["load"]
    assert found(writer, "id_name", fields=("sql",)) == []


def test_the_end_of_the_longest_text_is_found(writer: GraphWriter) -> None:
    words = f"{'a ' * 16_000}{'b ' * 382}c d"
    assert len(words) < MAX_TEXT
    add(writer, run_event(job="load", job_facets={"sql": facet(query=words)}, outputs=[dataset("o")]))
    for text in ("c", "d", "c_d", "b_c", "b_b_b_c_d", "a_b", "a_b_b"):
        assert found(writer, text, fields=("sql",)) == ["load"], text
    assert found(writer, "d_c", fields=("sql",)) == found(writer, "b_d", fields=("sql",)) == []


def test_a_part_of_a_name_is_found_however_often_it_repeats_itself(writer: GraphWriter) -> None:
    add(writer, run_event(outputs=[dataset("ab" * 600 + "_orders_" + "b" * 300 + "c")]))
    for text in ("bab_orders", "ab" * 300 + "_", "bbbc", "b" * 280):
        assert len(found(writer, text)) == 1, text
    assert found(writer, "b" * 301) == found(writer, "aab") == []


def test_long_names_are_found_by_their_parts_in_order(writer: GraphWriter) -> None:
    names = ["c00012/l05/orders", "c00x012x/l0x5/ox/rde/ers", "kafka_lieferungen_nach_köln", "kaf_ka_lie_fer_ung_gen", "kafka_lieferungen"]
    add(writer, run_event(inputs=[dataset(name) for name in names]))
    assert found(writer, "c00012/l05/orders") == found(writer, "012/L05/ORDERS") == [names[0]]
    assert found(writer, "lieferungen_nach kafka") == found(writer, "KÖLN lieferungen_nach") == [names[2]]
    assert found(writer, "kafka_lieferungen") == [names[4], names[2]]
    assert search_of(writer, candidates=2).page(SearchFilter("kafka_lieferungen")).truncated


@pytest.mark.parametrize("letter", ["\u017f", "\u0130", "\u212a"])
def test_long_and_short_parts_compare_letters_beyond_ascii_alike(writer: GraphWriter, letter: str) -> None:
    add(writer, run_event(inputs=[dataset(f"a{letter}b_orders_of_today")]))
    for plain in "sik":
        assert found(writer, f"a{plain}b_orders_of_today") == found(writer, f"a{plain}b_ord")


def test_what_must_match_and_has_nothing_to_search_for_matches_nothing(writer: GraphWriter) -> None:
    add(writer, run_event(outputs=[dataset("orders")]))
    search = writer.connection.dialect.full_text
    key, matches = search.matching("node_search", ":query")
    for parts, count in ((("ord",), 1), (("ord", "or"), 0), (("or", "ord"), 0), (("or",), 0)):
        query = search.all_of([search.phrase(part) for part in parts])
        value = search.query_value("node_search", query)
        rows = writer.connection.execute(f"SELECT {key} FROM node_search WHERE {matches}", {"query": value}).fetchall()
        assert len(rows) == count, parts
