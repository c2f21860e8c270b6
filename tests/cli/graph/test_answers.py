"""What answers say to people: marks, names, values, and how to see more."""

import json
import uuid

import pytest
from tests.events import T0, columns, dataset, dataset_event, facet, run_event, schema

from lineage_bridge.cli.client import Client
from lineage_bridge.openlineage.times import format_time

HOUR = 3_600_000_000
RUNS = [str(uuid.UUID(int=400 + number)) for number in range(12)]
WINDOW = ("--since", format_time(T0), "--until", format_time(T0 + 24 * HOUR))
ASSERTIONS = facet(
    assertions=[
        {"assertion": "unique", "success": True, "column": "id"},
        {"assertion": "accepted_values", "success": False, "column": "kind", "expected": "A or B", "actual": "C", "severity": "error"},
    ]
)


def numbers(**counters):
    return "outputFacets", {"outputStatistics": facet(**counters)}


ACCESS = facet(mayRead=["User:*"], mayWrite=["User:sa-1"], exceptRead=["User:eve"], names={"User:sa-1": "billing"})
POLICIES = "role bindings, IAM policies and other rights that are not ACLs"
EVENTS = [
    dataset_event(dataset("seen", "kafka://b:9092", kafka_access=ACCESS)),
    run_event(
        run=str(uuid.UUID(int=450)),
        job="watcher",
        inputs=[dataset("seen", "kafka://b:9092")],
        outputs=[dataset("kept", "s3://kept", columnLineage=columns(mail=[("kafka://b:9092", "seen", "mail")]))],
    ),
    dataset_event(dataset("x2", schema=schema("AMOUNT", "kind"))),
    run_event(run=RUNS[0], job="narrow", inputs=[dataset("n1")], outputs=[dataset("n2")]),
    run_event(run=RUNS[1], job="wide", inputs=[dataset("n2"), dataset("n3")], outputs=[dataset("n4"), dataset("n5")]),
    run_event(run=RUNS[2], namespace="team-a", job="revenue", inputs=[dataset("x1")], outputs=[dataset("x2")]),
    run_event(run=RUNS[3], namespace="team-b", job="revenue", inputs=[dataset("x1")], outputs=[dataset("x2")]),
    run_event(
        run=RUNS[4],
        job="sum",
        time_us=T0 + HOUR,
        inputs=[dataset("x2", access=("inputFacets", {"dataQualityAssertions": ASSERTIONS}))],
        outputs=[
            dataset("x3", columnLineage=columns(total=[("ns", "x2", "amount")]), schema=schema("total"), access=numbers(rowCount=7000))
        ],
    ),
    run_event(run=RUNS[4], job="sum", time_us=T0 + HOUR, outputs=[dataset("x4", access=numbers(assertions=3))]),
    run_event(
        run=RUNS[5],
        namespace="team-a",
        job="both",
        inputs=[dataset("x1", schema=schema("a", "b"))],
        outputs=[dataset("y", columnLineage=columns(a=[("ns", "x1", "a")]))],
    ),
    run_event(
        run=RUNS[6],
        namespace="team-b",
        job="both",
        inputs=[dataset("x1")],
        outputs=[dataset("y", columnLineage=columns(b=[("ns", "x1", "b")]))],
    ),
    *[
        run_event(
            "START", run=run, job="child", run_facets={"parent": facet(run={"runId": RUNS[11]}, job={"namespace": ns, "name": "dag"})}
        )
        for run, ns in ((RUNS[7], "jobs"), (RUNS[8], "jobs"))
    ],
    run_event(
        run=RUNS[9],
        namespace="elsewhere",
        job="child",
        time_us=T0 + HOUR,
        run_facets={"parent": facet(run={"runId": RUNS[11]}, job={"namespace": "jobs", "name": "dag"})},
    ),
]


@pytest.fixture(scope="module", autouse=True)
def events(server):
    with Client(server.url) as client:
        client.post_events(b"[" + b",".join(EVENTS) + b"]", "application/json")
    server.fold()


@pytest.fixture
def ask(call, server):
    return lambda *arguments: call(*arguments, "--url", server.url)


def lines_with(text, out):
    return [line for line in out.splitlines() if text in line]


def test_the_two_trees_of_both_directions_are_labelled(ask):
    for columns_too in ((), ("--columns",)):
        out = ask("lineage", "ns", "n2", "--direction", "both", *columns_too).out
        assert [line for line in out.splitlines() if line[0].isalpha()] == ["upstream of n2  ns", "downstream of n2  ns"]
    assert ask("lineage", "ns", "n2").out.splitlines()[0] == "n2  ns"


def test_co_occurrence_is_shown_only_where_another_reading_was_possible(ask):
    (line,) = lines_with("n1", ask("lineage", "ns", "n2").out)
    assert "co-occurrence" not in line
    assert all("[by co-occurrence" in line for line in lines_with("n3", ask("lineage", "ns", "n4").out))


def test_jobs_whose_names_repeat_are_named_with_their_namespace(ask):
    assert "by team-a revenue, team-b revenue" in ask("paths", "ns", "x1", "ns", "x2").out
    assert "by sum" in ask("paths", "ns", "x2", "ns", "x3").out
    out = ask("trace", "ns", "y").out
    assert ("by team-a both" in out, "by team-b both" in out) == (True, True)
    out = ask("runs", RUNS[11], "--children").out
    assert (len(lines_with("jobs child", out)), len(lines_with("elsewhere child", out))) == (2, 1)


def test_a_trace_lists_who_may_see_the_values_and_what_is_not_known(ask):
    out = ask("trace", "kafka://b:9092", "seen", "--column", "mail", "--direction", "downstream", "--access").out
    begin = out.splitlines().index("who can see it:")
    assert [line.strip() for line in out.splitlines()[begin + 1 :]] == [
        "seen  kafka://b:9092",
        "may read: everybody (User:*); but not User:eve",
        "may write: billing (User:sa-1)",
        f"reported {format_time(T0)[:19].replace('T', ' ')}Z; not included: super users, {POLICIES}",
        "read by: watcher",
        "kept  s3://kept",
        "may read or write: not known; no source reports it for this system",
        "written by: watcher",
    ]


def test_columns_of_the_same_name_are_printed_as_guesses(ask):
    about = ("trace", "ns", "x1", "--column", "amount", "--direction", "downstream")
    assert "same name" not in ask(*about).out
    out = ask(*about, "--suggestions").out
    assert "columns of the same name behind these flows; no evidence that values flow between them:" in out
    assert "  amount of x1 ~ AMOUNT of x2  ns  by revenue" in out.splitlines()
    result = ask(*about, "--suggestions", "--gaps", "0")
    assert "there may be more columns of the same name: not all flows" in result.err


def test_inferred_starts_are_marked_in_lists(ask):
    result = ask("runs", "elsewhere", "child")
    assert f"{format_time(T0 + HOUR)[:10]}" in result.out
    assert len(lines_with("Z (inferred)", result.out)) == 1
    assert "inferred: time of the run's first event, because no START event arrived" in result.err
    result = ask("runs", "jobs", "child")
    assert ("inferred" in result.out, "inferred" in result.err) == (False, False)
    assert len(lines_with("(inferred)", ask("runs", RUNS[11], "--tree").out)) == 1


def test_facets_show_their_contents(ask):
    assert ["total", "INT"] in [line.split() for line in ask("facets", "ns", "x3", "schema").out.splitlines()]
    assert "_producer" not in ask("facets", "ns", "x3", "schema").out


def test_failing_assertions_are_shown_first_with_column_and_expectation(ask):
    lines = [line.split() for line in ask("facets", "ns", "x2", "dataQualityAssertions").out.splitlines()]
    assert lines[1] == ["1", "of", "2", "assertions", "failed"]
    assert lines[3] == ["FAILED", "accepted_values", "kind", "A", "or", "B", "C", "error"]
    assert lines[4] == ["passed", "unique", "id"]


def test_statistics_without_a_number_are_left_out(ask):
    result = ask("stats", "--job", "jobs", "sum", *WINDOW)
    assert result.out.splitlines()[0].split() == ["job", "dataset", "side", "from", "rows"]
    assert [line.split()[-1] for line in result.out.splitlines()[1:]] == ["7,000"]
    assert "x4" not in result.out


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("lineage", "ns", "n4", "--depth", "1"), "a higher --depth"),
        (("impact", "ns", "n1", "--depth", "1"), "a higher --depth"),
        (("impact", "ns", "n1", "--limit", "1"), "continue with --offset 1, or raise --limit"),
        (("trace", "ns", "x3", "--depth", "1"), "a higher --depth"),
        (("paths", "ns", "n1", "ns", "n4", "--depth", "1"), "a higher --depth"),
        (("paths", "ns", "n1", "ns", "n2", "--depth", "1"), "a higher --depth"),
        (("runs", "jobs", "child", "--limit", "1"), "continue with --offset 1, or raise --limit"),
        (("runs", RUNS[11], "--children", "--limit", "1"), "continue with --offset 1, or raise --limit"),
        (("runs", RUNS[11], "--tree", "--limit", "1"), "a higher --limit"),
        (("runs", RUNS[4], "--lineage", "upstream", "--limit", "1"), "a higher --limit"),
        (("search", "x", "--limit", "1"), "continue with --offset 1, or raise --limit"),
        (("stats", "ns", "x3", *WINDOW, "--offset", "0"), "--since and --until"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_is_cut_says_which_option_shows_more(ask, arguments, hint):
    assert hint in ask(*arguments).err


def test_an_impact_is_of_everything_in_namespaces(ask):
    whole = json.loads(ask("impact", "--namespace", "n*", "--kind", "dataset", "--json").out)
    assert {origin["namespace"] for origin in whole["origins"]} == {"ns"}
    assert {item["node"]["kind"] for item in whole["affected"]} == {"job"}
    assert ask("impact", "--namespace", "n*", "--kind", "dataset").out.startswith("everything in n* affects 0 datasets and ")
    assert "nothing is in a namespace that matches 'nowhere'" in ask("impact", "--namespace", "nowhere").err
    for wrong in (("impact",), ("impact", "ns", "n1", "--namespace", "ns"), ("impact", "--namespace", "ns", "--also", "ns", "n1")):
        assert "name a dataset or job, or give --namespace; not both" in ask(*wrong).err


def test_an_impact_of_several_says_of_which(ask):
    both = json.loads(ask("impact", "ns", "n1", "--also", "ns", "n3", "--json").out)
    assert [origin["name"] for origin in both["origins"]] == ["n1", "n3"]
    assert ask("impact", "ns", "n1", "--also", "ns", "n3").out.startswith(
        "n1 and n3 affect 3 datasets and 2 jobs: 5 entirely (all), 0 in part"
    )
    assert ask("impact", "ns", "n1").out.startswith("n1 affects 3 datasets and 2 jobs: 2 entirely (all), 3 in part")
    assert "there is no dataset or job 'n9'" in ask("impact", "ns", "n1", "--also", "ns", "n9").err


def test_whole_lists_announce_no_more(ask):
    for question in (("lineage", "ns", "n4"), ("impact", "ns", "n1"), ("runs", "jobs", "child"), ("search", "n4")):
        assert ("more" in ask(*question).err) is False
    assert "elsewhere child" in ask("runs", RUNS[11], "--children").out
    assert len(ask("runs", "jobs", "child", "--offset", "1").out.splitlines()) == 2


def test_arguments_that_do_not_fit_together_are_refused(ask):
    assert "give one of" in ask("runs", RUNS[11], "--tree", "--children").err
    assert "raise --limit" in ask("runs", RUNS[11], "--tree", "--offset", "5").err
    assert "--before and --after" in ask("schemas", "ns", "x3", "--diff", "--at", format_time(T0)).err


def test_a_name_of_many_datasets_lists_some_and_where_the_others_are(ask):
    assert "all: lineage-bridge search n" in ask("lineage", "n").err


def test_facets_without_a_key_shows_the_current_ones(ask):
    out = ask("facets", "ns", "x3").out
    assert out.splitlines()[:2] == ["schema", "  fields:"]
    assert "no event stated a facet for this dataset or job" in ask("facets", "jobs", "wide").err
    assert "need KEY" in ask("facets", "ns", "x3", "--offset", "2").err


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("lineage", "zz", "zzz"), "there is no dataset or job 'zzz' in the namespace 'zz'"),
        (("runs", "zzz"), "lineage-bridge runs NAMESPACE JOB lists"),
        (("schemas", "ns", "x3", "--diff"), "lineage-bridge schemas NAMESPACE NAME lists the versions"),
        (("quarantine", "show", "zz"), "lineage-bridge quarantine list"),
        (("task", "show", "zz"), "lineage-bridge task list"),
        (("source", "list", "zz"), "lineage-bridge source list"),
        (("end", "jobs", "zzz", "--source", "ns", "n1"), "there is no job 'zzz'"),
        (("end", "jobs", "narrow", "--source", "ns", "zzz"), "there is no dataset 'zzz'"),
        (("alias", "list", "--name", "x"), "--name needs --namespace"),
        (("trace", "ns", "x3", "--column", "zzz"), "has no column 'zzz'; it has total"),
        (("paths", "ns", "n4", "ns", "n1"), "try the other direction too"),
        (("stats", "ns", "n1"), "--since and --until widen it"),
        (("drift", "zzz*"), "there is nothing to compare"),
        (("facets", "ns", "x3", "zzz"), "omit KEY to list its facets"),
        (("changes", "--after", "zzz"), "error: 'zzz' is not a cursor"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_is_not_found_says_where_to_look(ask, arguments, hint):
    error = ask(*arguments).err
    assert hint in error
    assert "continue with" not in error
