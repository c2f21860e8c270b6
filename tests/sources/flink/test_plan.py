"""Plans as Flink draws them, to sources and sinks."""

from typing import Any

import pytest
from tests.sources.flink.orders import AGGREGATE, READER
from tests.sources.flink.stand import recorded

from lineage_bridge.sources.common.flink.plan import Operator, Plan, read_plan

SCAN = "[1]:TableSourceScan(table=[[cat, db, {0}, project=[a]]], fields=[a])<br/>"


def node(id_: str, description: str, *inputs: str) -> dict[str, Any]:
    return {"id": id_, "description": description, "inputs": [{"id": dataset} for dataset in inputs]}


def tables(plan: Plan) -> dict[str, set[str]]:
    """Sink to the sources that reach it, by the last parts of their tables."""
    reached: dict[str, set[str]] = {(sink.table or ("?",))[-1]: set() for sink in plan.sinks}
    for source, sink in plan.pairs:
        reached[(plan.sinks[sink].table or ("?",))[-1]].add((plan.sources[source].table or ("?",))[-1])
    return reached


def test_one_source_and_two_sinks_in_two_vertices():
    job = recorded("flink_job")

    assert read_plan(job["plan"], job["vertices"]) == Plan(
        (
            Operator(
                READER,
                "Source: KafkaSource-default_catalog.default_database.orders_src",
                ("default_catalog", "default_database", "orders_src"),
            ),
        ),
        (Operator(READER, "orders_out[11]: Writer", ("orders_out",)), Operator(AGGREGATE, "orders_agg[15]: Writer", ("orders_agg",))),
        ((0, 0), (0, 1)),
    )


def test_old_kinds_of_sources_and_sinks_have_their_names_from_the_vertex():
    job = recorded("flink_job_failed")
    plan = read_plan(job["plan"], job["vertices"])

    assert [source.name for source in plan.sources] == ["Source: gen[18]"]
    assert [sink.name for sink in plan.sinks] == ["Sink: bad[20]"]
    assert plan.sources[0].metrics == "Source__gen[18]"
    assert tables(plan) == {"bad": {"gen"}}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"Source: KafkaSource-c.d.{'t' * 80}", f"Source__KafkaSource-c_d_{'t' * 56}"),
        (f"{'t' * 80}[24]: Writer", f"{'t' * 72}__Writer"),
        ("orders[1]: Writer", "orders[1]__Writer"),
    ],
)
def test_metrics_have_long_names_cut_as_flink_cuts_them(name: str, expected: str):
    assert Operator("", name, ()).metrics == expected


def test_a_sink_beside_a_source_is_reached_by_that_one_only():
    """Two sources, each with a sink of its own in its vertex; a third vertex joins them into another."""
    nodes = [
        node("3", "[7]:Join(joinType=[InnerJoin])<br/>+- both[8]: Writer<br/>   +- both[8]: Committer<br/>", "1", "2"),
        node("1", SCAN.format("a") + "+- a_copy[2]: Writer<br/>"),
        node("2", SCAN.format("b") + ":- [3]:Calc(select=[a])<br/>:  +- b_copy[4]: Writer<br/>+- [5]:Calc(select=[a])<br/>"),
    ]

    assert tables(read_plan({"nodes": nodes}, [])) == {"both": {"a", "b"}, "a_copy": {"a"}, "b_copy": {"b"}}


def test_a_table_that_is_looked_up_is_read():
    nodes = [node("1", SCAN.format("a") + "+- [2]:LookupJoin(table=[cat.db.dim], joinType=[LeftOuterJoin])<br/>   +- out[3]: Writer<br/>")]

    assert tables(read_plan({"nodes": nodes}, [])) == {"out": {"a", "dim"}}


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("Source: Custom Source -&gt; Map -&gt; Sink: Unnamed", {"?": {"?"}}),
        (
            "Source: TableSourceScan(table=[[c, d, t]], fields=[a]) -> Calc(select=[a]) -> Sink: Sink(table=[c.d.out], fields=[a])",
            {"out": {"t"}},
        ),
        (SCAN.format("t") + "+- [2]:Sink(table=[*anonymous_collect$1*], fields=[a])<br/>", {}),
        (SCAN.format("t") + "+- StreamingFileWriter<br/>   +- end: Writer<br/>", {"?": {"t"}}),
        (
            "Source: KafkaSource-c.d.t<br/>+- [1]:TableSourceScan(table=[[c, d, t]], fields=[a])<br/>   +- out[2]: Writer<br/>",
            {"out": {"t"}},
        ),
    ],
)
def test_other_ways_in_which_plans_are_written(description: str, expected: dict[str, set[str]]):
    assert tables(read_plan({"nodes": [node("1", description)]}, [])) == expected
