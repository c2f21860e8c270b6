"""Which spellings stand for one dataset or job, and what takes them apart again."""

import json
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpora.aliases import alias_histories, alias_operation, between_names, between_namespaces
from tests.corpora.aliases import operator as record_of
from tests.events import KEY, dataset, facet, records_of, run_event

from lineage_bridge.graph.facts.fold import fold_records, merge_tables, without_erased
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import derive
from lineage_bridge.graph.identity.steps import symlinks
from lineage_bridge.graph.log_record import StoredRecord

NAMES = Names(KEY)
Name = tuple[str, str]


def links(*identifiers: Name) -> bytes:
    return json.dumps(facet(identifiers=[{"namespace": ns, "name": name, "type": "TABLE"} for ns, name in identifiers])).encode()


def test_a_symlink_names_another_dataset() -> None:
    assert symlinks(links(("hive://metastore:9083", "shop.orders"))) == [("hive://metastore:9083", "shop.orders", "TABLE")]


def test_a_table_of_a_flink_session_identifies_nothing() -> None:
    assert symlinks(links(("kafka://broker:9092", "default_catalog.default_database.orders"))) == []
    assert symlinks(links(("kafka://broker:9092", "my_catalog.db.orders"))) == []


def test_a_namespace_that_names_no_system_identifies_nothing() -> None:
    assert symlinks(links(("kafka://null:-1", "orders"), ("kafka", "orders"), ("", "orders"))) == []


def test_a_damaged_or_deleted_facet_names_nothing() -> None:
    assert symlinks(b'"no object"') == []
    assert symlinks(json.dumps(facet(_deleted=True)).encode()) == []


# groups


def goes_by(named: Iterable[Name], *operators: bytes) -> dict[Name, Name]:
    """Names that go by another, once these datasets have been named and operators have spoken, in this order."""
    event = run_event(inputs=[dataset(name, namespace) for namespace, name in named])
    records = records_of([event]) + [record_of(body, offset=n + 2, arrival=n) for n, body in enumerate(operators)]
    tables = fold_records(records, NAMES)
    spelt = {key[0]: key[2:] for key in tables["node"]}
    return {spelt[node]: (namespace, name) for node, _, namespace, name in derive(tables, NAMES).get("identity", set())}


A, B, C = ("kafka://a:9092", "t"), ("kafka://b:9092", "t"), ("other", "t")


def test_a_list_of_servers_joins_with_each_of_them() -> None:
    both = ("kafka://b:9092,a:9092", "t")
    assert goes_by([A, both, B]) == {A: A, both: A, B: A}
    assert goes_by([A, B]) == {}


def test_a_name_goes_by_the_form_of_the_specification_even_if_nobody_wrote_it() -> None:
    assert goes_by([("google://p/d", "t")]) == {("google://p/d", "t"): ("bigquery", "p.d.t")}


def test_an_alias_joins_two_names_until_it_is_vetoed_and_again_when_the_veto_is_lifted() -> None:
    alias, veto, lift = (alias_operation(kind, between_names(A, C, evidence="e")) for kind in ("alias", "veto", "lift"))
    joined = {A: A, C: A}
    assert goes_by([A, C], alias) == joined
    assert goes_by([A, C], alias, veto) == {}
    assert goes_by([A, C], alias, veto, lift) == joined
    assert goes_by([A, C], veto, alias) == {}


def test_a_veto_without_evidence_is_on_all_there_is() -> None:
    assert goes_by([A, C], alias_operation("alias", between_names(A, C, evidence="e")), alias_operation("veto", between_names(C, A))) == {}
    assert goes_by(
        [A, C],
        alias_operation("alias", between_names(A, C, evidence="e")),
        alias_operation("veto", between_names(A, C, evidence="another")),
    ) == {A: A, C: A}


def test_a_namespace_joins_with_all_its_names() -> None:
    named = [("other", "t"), ("other", "u"), A, ("kafka://a:9092", "u")]
    found = goes_by(named, alias_operation("alias", between_namespaces("other", "kafka://a:9092")))
    assert found[("other", "t")] == A
    assert found[("other", "u")] == ("kafka://a:9092", "u")


def test_a_glue_database_needs_its_account() -> None:
    table, arn = ("aws://eu-west-1/shop", "orders"), ("arn:aws:glue:eu-west-1:123456789012", "table/shop/orders")
    assert table not in goes_by([table, arn]) or goes_by([table, arn])[table] != arn
    account = alias_operation("alias", between_namespaces("aws://eu-west-1", "arn:aws:glue:eu-west-1:123456789012"))
    assert goes_by([table, arn], account) == {table: arn, arn: arn}


def test_a_rule_is_vetoed_for_two_names_within_a_namespace_or_everywhere() -> None:
    part, table = ("s3://b", "t/dt=1"), ("s3://b", "t")
    assert goes_by([part, table]) == {part: table, table: table}
    for veto in (
        between_names(part, table, kind="rule"),
        between_namespaces("s3://b", "s3://b", kind="rule", evidence="path-key-value"),
        {"kind": "rule", "evidence": "path-key-value"},
    ):
        assert goes_by([part, table], alias_operation("veto", veto)) == {}, veto


def test_what_means_nothing_is_not_an_alias_and_stops_nothing() -> None:
    for body in (
        b"no json",
        b'{"operation": "unknown"}',
        b'{"operation": "erase", "runs": ["no id"]}',
        alias_operation("alias", between_names(A, A)),
        alias_operation("alias", {"a": {"namespace": "x"}, "b": {"namespace": "y", "name": "n"}}),
        alias_operation("alias", between_names(A, C, entity="column")),
        alias_operation("alias", between_names(A, C, kind="rule")),
        alias_operation("veto", {}),
    ):
        assert fold_records([record_of(body)], NAMES)["alias"] == {}, body


@settings(max_examples=60, deadline=None)
@given(alias_histories(), st.randoms(use_true_random=False), st.data())
def test_no_order_doubling_or_cut_matters(records: list[StoredRecord], random: object, data: st.DataObject) -> None:
    doubled = records + data.draw(st.lists(st.sampled_from(records), max_size=5))
    random.shuffle(doubled)  # type: ignore[attr-defined]  # st.randoms is typed as object here
    cut = data.draw(st.integers(0, len(doubled)))
    tables = merge_tables(fold_records(doubled[:cut], NAMES), fold_records(doubled[cut:], NAMES))
    assert tables == fold_records(records, NAMES)
    assert derive(without_erased(tables), NAMES) == derive(without_erased(fold_records(records, NAMES)), NAMES)
