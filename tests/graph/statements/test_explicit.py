"""Explicit lineage: the seven cases of the specification, the ten granularities, and who may carry it, with the edges written out."""

import json
from typing import Any

import pytest
from tests.events import KEY, RUNS, T0, dataset, dataset_event, facet, job_event, records_of, run_event

from lineage_bridge.graph.facts.fold import fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import Derived, derive
from lineage_bridge.graph.relations import Evidence, Origin
from lineage_bridge.graph.statements.lineage_sets import read_lineage_set
from lineage_bridge.openlineage.verdict import Clean, Repaired, judge

NAMES = Names(KEY)
MINUTE = 60_000_000
PG = "postgresql://warehouse:5432"

Flow = tuple[str, str]
ColumnFlow = tuple[str, str, str]
"""source column, target column, transformation"""


def ds(name: str, field: str | None = None, changes: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    end: dict[str, Any] = {"type": "DATASET", "namespace": PG, "name": name, **more}
    return {**end, **({"field": field} if field else {}), **({"transformations": changes} if changes is not None else {})}


def job(name: str | None = None, run: str | None = None, changes: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    end: dict[str, Any] = {"type": "JOB", **({"namespace": "jobs", "name": name} if name else {}), **({"runId": run} if run else {})}
    return {**end, **({"transformations": changes} if changes is not None else {}), **more}


def change(type_: str, subtype: str | None = None, **more: Any) -> list[dict[str, Any]]:
    return [{"type": type_, **({"subtype": subtype} if subtype else {}), **more}]


def entries(*some: dict[str, Any]) -> dict[str, Any]:
    return {"lineage": facet(entries=list(some))}


def derived(*bodies: bytes) -> Derived:
    return derive(fold_records(records_of(list(bodies)), NAMES), NAMES)


def spelt(*names: str) -> dict[int, str]:
    """Ids to names: a name with a colon in front is a job."""
    return {NAMES.job("jobs", name[1:]) if name[0] == ":" else NAMES.dataset(PG, name): name for name in names}


EVERY = spelt(
    "public.customers", "public.target", "public.staging_orders", "public.extracted_data", "public.transactions", "public.daily_summary",
    "public.orders", "public.enriched_orders", "a", "b", "c", "t", "in", "out", ":me", ":daily.load", ":daily.extract", ":daily.transform",
    ":daily.enrichment", ":other", ":another",
)  # fmt: skip


def flows(tables: Derived) -> set[Flow]:
    return {(EVERY[source], EVERY[target]) for source, target, *_ in tables.get("flow", set())}


def columns(*bodies: bytes) -> set[ColumnFlow]:
    """The column statements that hold now."""
    tables = fold_records(records_of(list(bodies)), NAMES)
    texts = {read.id: read for (_,), (_, text) in tables["facet"].items() if (read := read_lineage_set("lineage", text.encode(), NAMES))}
    found = set()
    for own, carrier, meaning, _ in derive(tables, NAMES).get("job_lineage_set", set()):
        for s in texts[meaning].statements:
            if s.type != "-" and (s.source_field or s.target_field):
                source, target = EVERY[s.source or own] + _dotted(s.source_field), EVERY[s.target or carrier] + _dotted(s.target_field)
                found.add((source, target, "/".join(filter(None, (s.type, s.subtype, "masked" if s.masking else "")))))
    return found


def _dotted(field: str) -> str:
    return f".{field}" if field else ""


def observed(*some: dict[str, Any], inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> bytes:
    named = [[dataset(name, PG) for name in side] for side in (inputs, outputs)]
    return run_event(job="me", job_facets=entries(*some), inputs=named[0], outputs=named[1])


def of_dataset(name: str, time_us: int = T0, **flows_in: Any) -> bytes:
    return dataset_event(dataset(name, PG, lineage=facet(**flows_in)), time_us)


SPEC: dict[str, tuple[bytes, set[Flow], set[ColumnFlow]]] = {
    "dataset-to-dataset": (
        of_dataset(
            "public.target",
            inputs=[ds("public.customers")],
            fields={"customer_id": {"inputs": [ds("public.customers", "id", change("DIRECT", "IDENTITY", masking=False))]}},
        ),
        {("public.customers", "public.target")},
        {("public.customers.id", "public.target.customer_id", "DIRECT/IDENTITY")},
    ),
    "dataset-to-job": (
        observed({**job("daily.load"), "inputs": [ds("public.staging_orders", "order_id", change("INDIRECT", "FILTER"))]}),
        {("public.staging_orders", ":daily.load")},
        {("public.staging_orders.order_id", ":daily.load", "INDIRECT/FILTER")},
    ),
    "generator": (
        observed(
            {
                **ds("public.extracted_data"),
                "inputs": [],
                "fields": {"total": {"inputs": [job(changes=change("DIRECT", "AGGREGATION", description="sum"))]}},
            }
        ),
        {(":me", "public.extracted_data")},
        {(":me", "public.extracted_data.total", "DIRECT/AGGREGATION")},
    ),
    "implicit-job": (
        observed({**job(), "inputs": [ds("public.transactions", changes=change("INDIRECT", "FILTER"))]}),
        {("public.transactions", ":me")},
        set(),
    ),
    "job-to-dataset": (
        observed({**ds("public.daily_summary"), "inputs": [job("daily.extract", RUNS[1])]}),
        {(":daily.extract", "public.daily_summary")},
        set(),
    ),
    "job-to-job": (
        observed({**job("daily.load", RUNS[2]), "inputs": [job("daily.transform", RUNS[1])]}),
        {(":daily.transform", ":daily.load")},
        set(),
    ),
    "mixed-sources": (
        observed(
            {
                **ds("public.enriched_orders"),
                "inputs": [ds("public.orders"), job("daily.enrichment")],
                "fields": {
                    "customer_segment": {
                        "inputs": [
                            ds("public.orders", "customer_id", change("DIRECT", "TRANSFORMATION")),
                            job("daily.enrichment", changes=change("DIRECT", "TRANSFORMATION")),
                        ]
                    }
                },
            }
        ),
        {("public.orders", "public.enriched_orders"), (":daily.enrichment", "public.enriched_orders")},
        {
            ("public.orders.customer_id", "public.enriched_orders.customer_segment", "DIRECT/TRANSFORMATION"),
            (":daily.enrichment", "public.enriched_orders.customer_segment", "DIRECT/TRANSFORMATION"),
        },
    ),
}

GRANULARITIES: dict[str, tuple[dict[str, Any], set[Flow], set[ColumnFlow]]] = {
    "dataset from dataset": ({**ds("t"), "inputs": [ds("a")]}, {("a", "t")}, set()),
    "dataset from dataset column": ({**ds("t"), "inputs": [ds("a", "x")]}, {("a", "t")}, {("a.x", "t", "")}),
    "column from column": ({**ds("t"), "fields": {"y": {"inputs": [ds("a", "x")]}}}, {("a", "t")}, {("a.x", "t.y", "")}),
    "column from dataset": ({**ds("t"), "fields": {"y": {"inputs": [ds("a")]}}}, {("a", "t")}, {("a", "t.y", "")}),
    "dataset from another job": ({**ds("t"), "inputs": [job("other")]}, {(":other", "t")}, set()),
    "column from own job": ({**ds("t"), "fields": {"y": {"inputs": [job()]}}}, {(":me", "t")}, {(":me", "t.y", "")}),
    "job from dataset": ({**job("other"), "inputs": [ds("a")]}, {("a", ":other")}, set()),
    "job from dataset column": ({**job("other"), "inputs": [ds("a", "x")]}, {("a", ":other")}, {("a.x", ":other", "")}),
    "own job from dataset": ({**job(), "inputs": [ds("a")]}, {("a", ":me")}, set()),
    "job from job": ({**job("other"), "inputs": [job("another")]}, {(":another", ":other")}, set()),
}


@pytest.mark.parametrize("case", SPEC)
def test_a_case_of_the_specification_gives_exactly_its_edges(case: str) -> None:
    body, expected, expected_columns = SPEC[case]
    tables = derived(body)
    assert flows(tables) == expected
    assert {row[4] for row in tables["flow"]} == {int(Evidence.EXPLICIT)}
    assert columns(body) == expected_columns


@pytest.mark.parametrize("form", GRANULARITIES)
def test_a_granularity_gives_exactly_its_edges(form: str) -> None:
    entry, expected, expected_columns = GRANULARITIES[form]
    assert flows(derived(observed(entry))) == expected
    assert columns(observed(entry)) == expected_columns


def test_inputs_and_outputs_that_no_entry_names_hang_on_the_job() -> None:
    body = observed({**ds("t"), "inputs": [ds("a")]}, inputs=("a", "in"), outputs=("t", "out"))
    assert flows(derived(body)) == {("a", "t"), ("in", ":me"), (":me", "out")}


def test_a_target_without_upstream_gets_none_invented_and_stays_an_output() -> None:
    tables = derived(observed({**ds("t"), "inputs": []}, inputs=("in",), outputs=("t",)))
    assert flows(tables) == {("in", ":me")}
    assert (NAMES.job("jobs", "me"), NAMES.dataset(PG, "t"), 1, int(Origin.OBSERVED)) in tables["job_io"]


def test_no_entries_at_all_is_a_complete_statement() -> None:
    assert flows(derived(observed(inputs=("in",), outputs=("out",)))) == {("in", ":me"), (":me", "out")}


def test_absent_inputs_are_not_empty_ones() -> None:
    only_fields = observed({**ds("t"), "fields": {"y": {"inputs": [ds("a", "x")]}}})
    with_empty = observed({**ds("t"), "inputs": [], "fields": {"y": {"inputs": [ds("a", "x")]}}})
    assert flows(derived(only_fields)) == flows(derived(with_empty)) == {("a", "t")}
    stated = {frozenset(row[2] for row in derived(body)["job_lineage_set"]) for body in (only_fields, with_empty)}
    assert len(stated) == 2


def test_members_that_the_client_writes_when_unset_count_as_absent() -> None:
    unset = observed({**ds("t"), "inputs": [ds("a", changes=[])], "fields": {}})
    absent = observed({**ds("t"), "inputs": [ds("a")]})
    assert derived(unset)["job_lineage_set"] == derived(absent)["job_lineage_set"]


def test_explicit_lineage_leaves_columns_and_co_occurrence_out() -> None:
    by_columns = facet(fields={"y": {"inputFields": [{"namespace": PG, "name": "b", "field": "x"}]}})
    body = run_event(
        job="me",
        job_facets=entries({**ds("t"), "inputs": [ds("a")]}),
        inputs=[dataset("a", PG), dataset("b", PG)],
        outputs=[dataset("t", PG, columnLineage=by_columns)],
    )
    assert flows(derived(body)) == {("a", "t"), ("b", ":me")}


def test_entries_add_up_over_a_run() -> None:
    bodies = [
        run_event(kind, job="me", time_us=T0 + n * MINUTE, job_facets=entries(entry))
        for n, (kind, entry) in enumerate(
            [
                ("START", {**ds("t"), "inputs": [ds("a")]}),
                ("RUNNING", {**ds("t"), "inputs": [ds("b")], "fields": {"y": {"inputs": [ds("b", "x")]}}}),
                ("COMPLETE", {**ds("t"), "inputs": [ds("a")]}),
            ]
        )
    ]
    assert flows(derived(*bodies)) == {("a", "t"), ("b", "t")}
    assert columns(*bodies) == {("b.x", "t.y", "")}


def test_an_agent_that_sent_explicit_lineage_once_and_then_no_more() -> None:
    """The rule is per run: what one run stated stands, and a run without explicit lineage flows as it did before there was any."""
    stated = observed({**ds("t"), "inputs": [ds("a")]}, inputs=("a",), outputs=("t",))
    plain = run_event(run=RUNS[1], job="me", time_us=T0 + MINUTE, inputs=[dataset("a", PG), dataset("b", PG)], outputs=[dataset("t", PG)])
    tables = derived(stated, plain)
    assert flows(tables) == {("a", "t"), ("b", "t")}
    evidence = {(EVERY[row[0]], row[4]) for row in tables["flow"]}
    assert evidence == {("a", int(Evidence.EXPLICIT)), ("a", int(Evidence.CO_OCCURRENCE)), ("b", int(Evidence.CO_OCCURRENCE))}
    later = run_event("RUNNING", job="me", time_us=T0 + MINUTE, inputs=[dataset("b", PG)])
    assert flows(derived(stated, later)) == {("a", "t"), ("b", ":me")}


def test_the_newest_declaration_of_a_job_replaces_whatever_the_version_of_its_producer() -> None:
    first, second = entries({**ds("t"), "inputs": [ds("a")]}), entries({**ds("t"), "inputs": [ds("b")]})
    old = job_event("me", T0, "https://example.org/p/1.0.0", job_facets=first)
    new = job_event("me", T0 + MINUTE, "https://example.org/p/1.1.0", job_facets=second)
    other = job_event("me", T0, "https://example.org/another", job_facets=first)
    assert flows(derived(new, old)) == {("b", "t")}
    assert flows(derived(new, old, other)) == {("a", "t"), ("b", "t")}
    assert {row[3] for row in derived(new, old)["flow"]} == {int(Origin.DECLARED)}


def test_the_newest_declaration_of_a_dataset_replaces() -> None:
    old, new = of_dataset("t", inputs=[ds("a"), ds("b")]), of_dataset("t", T0 + MINUTE, inputs=[ds("b")])
    assert flows(derived(new, old)) == {("b", "t")}


def test_a_statement_that_says_nothing_of_flow_takes_none_away() -> None:
    lineage = of_dataset("t", inputs=[ds("a")])
    described = dataset_event(dataset("t", PG, documentation=facet(description="words")), T0 + MINUTE)
    assert flows(derived(lineage, described)) == {("a", "t")}
    declared = job_event("me", inputs=[dataset("in", PG)], outputs=[dataset("out", PG)])
    assert flows(derived(declared, job_event("me", T0 + MINUTE, inputs=[], outputs=[]))) == {("in", "out")}


def test_a_tombstone_ends_what_was_declared_and_restores_nothing() -> None:
    stated = [of_dataset("t", T0, inputs=[ds("a")]), of_dataset("t", T0 + MINUTE, inputs=[ds("b")])]
    assert flows(derived(*stated, of_dataset("t", T0 + 2 * MINUTE, _deleted=True))) == set()
    ended = job_event("me", T0 + 2 * MINUTE, job_facets={"lineage": facet(_deleted=True)})
    assert flows(derived(job_event("me", job_facets=entries({**ds("t"), "inputs": [ds("a")]})), ended)) == set()


def test_a_malformed_statement_takes_none_away() -> None:
    assert flows(derived(of_dataset("t", inputs=[ds("a")]), of_dataset("t", T0 + MINUTE, inputs=7))) == {("a", "t")}


def test_a_dataset_has_no_own_job() -> None:
    assert flows(derived(of_dataset("t", inputs=[job(), ds("a")]))) == {("a", "t")}


def test_column_lineage_of_a_dataset_event_is_declared() -> None:
    by_columns = facet(fields={"y": {"inputFields": [{"namespace": PG, "name": "a", "field": "x"}]}})
    tables = derived(dataset_event(dataset("t", PG, columnLineage=by_columns)))
    assert tables["flow"] == {
        (NAMES.dataset(PG, "a"), NAMES.dataset(PG, "t"), NAMES.dataset(PG, "t"), int(Origin.DECLARED), int(Evidence.COLUMN))
    }


REFUSED = {
    "a dataset's facet on an output": run_event(job="me", inputs=[dataset("a", PG)], outputs=[dataset("t", PG, lineage=facet(inputs=[]))]),
    "a dataset's facet on an input of a job event": job_event("me", inputs=[dataset("a", PG, lineage=facet(inputs=[ds("b")]))]),
    "a job's facet on a dataset event": dataset_event(dataset("t", PG, **entries({**ds("t"), "inputs": [ds("a")]}))),
    "a dataset's facet on a job": run_event(job="me", job_facets={"lineage": facet(inputs=[ds("a")])}, outputs=[dataset("t", PG)]),
    "entries on an output": run_event(job="me", outputs=[dataset("t", PG, **entries({**ds("t"), "inputs": [ds("a")]}))]),
}


@pytest.mark.parametrize("pairing", REFUSED)
def test_a_wrong_pairing_is_refused_and_the_event_used(pairing: str) -> None:
    verdict = judge(REFUSED[pairing], T0)
    assert isinstance(verdict, Repaired)
    assert "lineage_carrier" in {repair.code for repair in verdict.repairs}
    tables = derived(REFUSED[pairing])
    assert {row[4] for row in tables.get("flow", set())} <= {int(Evidence.CO_OCCURRENCE)}
    assert not tables.get("job_lineage_set")
    assert tables["live"]


def test_entries_that_are_no_entries_are_kept_and_not_read() -> None:
    body = run_event(job="me", job_facets={"lineage": facet(entries=[{"type": "DATASET"}])}, inputs=[dataset("a", PG)])
    verdict = judge(body, T0)
    assert isinstance(verdict, Repaired)
    assert [repair.code for repair in verdict.repairs] == ["facet_shape"]
    assert {row[2] for row in derived(body)["current_facet"]} == {"lineage"}
    assert isinstance(judge(observed({**ds("t"), "inputs": []}), T0), Clean)


def test_what_a_text_says_besides_makes_no_other_statement() -> None:
    def stated(description: str, run: str) -> bytes:
        source = job("other", run, changes=change("DIRECT", description=description))
        return run_event(run=run, job="me", job_facets=entries({**ds("t"), "inputs": [source]}))

    tables = derived(stated("first", RUNS[0]), stated("second", RUNS[1]))
    assert len(tables["job_lineage_set"]) == len({row[3] for row in tables["run_shape"]}) == 1
    assert {row[-3:] for row in tables["annotation"]} == {("first", "", RUNS[0]), ("second", "", RUNS[1])}


def test_ends_that_nothing_else_names_exist() -> None:
    tables = derived(observed({**ds("t"), "inputs": [job("other"), ds("a")]}))
    assert {EVERY[row[0]] for row in tables["live"]} == {":me", "t", ":other", "a"}
    assert json.loads(observed())["job"]["name"] == "me"
