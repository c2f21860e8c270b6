"""Any text gets an answer: no script raises, and every statement that cannot be read is an error."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sql.cases import Case, cases

from lineage_bridge.sql.names import parsed, written
from lineage_bridge.sql.reading import dialects, lineage_of
from lineage_bridge.sql.script import STREAMING
from lineage_bridge.sql.text.tokens import Token, TokenError, tokens

STREAMS = [case for case in cases() if case.dialect in STREAMING]


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(STREAMS), st.integers(0, 2**32), st.integers(1, 4))
def test_a_damaged_script_gets_an_answer(case: Case, seed: int, cuts: int) -> None:
    random = Random(seed)
    words = [case.sql[token.start : token.end] for token in _tokens(case.sql)]
    for _ in range(cuts):
        at = random.randrange(len(words)) if words else 0
        how = random.randrange(3)
        words = (
            words[:at] + words[at + 1 :] if how == 0 else words[: at + 1] + words[at:] if how == 1 else [*words[:at], *reversed(words[at:])]
        )
    check(" ".join(words), case.dialect)


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=60), st.sampled_from([*STREAMING, "snowflake", "spark", "bigquery"]))
def test_any_text_gets_an_answer(text: str, dialect: str) -> None:
    check(text, dialect)


def check(text: str, dialect: str) -> None:
    """The answer is always the same, flows are between tables that it names, and an error names a line of the text."""
    found = lineage_of(text, dialect)
    assert found == lineage_of(text, dialect)
    assert {flow.out_table for flow in found.columns} | {flow.out_table for flow in found.indirect} <= found.outputs.keys()
    assert {flow.in_table for flow in found.columns} <= found.inputs.keys()
    assert all(1 <= fault.line <= text.count("\n") + text.count("\r") + 1 and fault.message for fault in found.errors)


@pytest.mark.parametrize("dialect", [name for name in dialects() if name not in ("dax", "prql")])  # languages of their own
def test_every_dialect_reads_a_plain_statement(dialect: str) -> None:
    found = lineage_of("INSERT INTO t SELECT a.x FROM a WHERE a.y > 1", dialect, {("A",): ("X", "Y"), ("a",): ("x", "y")})
    assert [(flow.in_column.lower(), flow.out_column.lower()) for flow in found.columns] == [("x", "x")]
    assert not found.errors


@pytest.mark.parametrize("dialect", ["flink", "postgres"])
def test_an_error_in_a_view_is_reported_once(dialect: str) -> None:
    view = "CREATE VIEW v AS SELECT x, gone FROM a; CREATE VIEW w AS SELECT x, gone FROM v; "
    found = lineage_of(view + "INSERT INTO t SELECT x FROM v; INSERT INTO u SELECT x FROM w", dialect, {("a",): ("x", "y")})
    assert [fault.line for fault in found.errors] == [1]
    assert [written(name) for name in found.outputs] == ["t", "u"]


def test_a_very_deep_query_is_an_error_and_no_more() -> None:
    found = lineage_of("INSERT INTO t SELECT " + "(" * 5000 + "x" + ")" * 5000 + " FROM a; INSERT INTO u SELECT y FROM b", "flink")
    assert [written(name) for name in found.outputs] == ["t", "u"]
    assert len(found.errors) == 1


@given(st.lists(st.text(min_size=1, max_size=8).filter(lambda part: "\x00" not in part), min_size=1, max_size=3))
def test_a_name_is_read_as_it_was_written(name: list[str]) -> None:
    assert parsed(written(name)) == tuple(name)


def _tokens(text: str) -> list[Token]:
    try:
        return tokens(text)
    except TokenError as err:
        return err.before


@pytest.mark.parametrize("dialect", ["spark", "snowflake", "postgres", "flink"])
def test_a_quote_that_is_never_closed_hides_no_table_before_it(dialect: str) -> None:
    found = lineage_of("INSERT INTO a SELECT x FROM b;\nINSERT INTO c SELECT y FROM d WHERE y = 'never; closed\n", dialect)
    assert {name[-1].lower() for name in found.inputs} == {"b", "d"}
    assert {name[-1].lower() for name in found.outputs} == {"a", "c"}
    assert [(fault.line, fault.column) for fault in found.errors] == [(2, 41)]
