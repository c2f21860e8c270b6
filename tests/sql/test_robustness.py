"""Whatever is read, something is told: no script raises, and no statement is dropped without a word."""

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
def test_a_mutilated_script_is_answered(case: Case, seed: int, cuts: int) -> None:
    random = Random(seed)
    words = [case.sql[token.start : token.end] for token in _tokens(case.sql)]
    for _ in range(cuts):
        at = random.randrange(len(words)) if words else 0
        how = random.randrange(3)
        words = (
            words[:at] + words[at + 1 :] if how == 0 else words[: at + 1] + words[at:] if how == 1 else [*words[:at], *reversed(words[at:])]
        )
    lineage_of(" ".join(words), case.dialect)


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=60), st.sampled_from([*STREAMING, "snowflake", "spark", "bigquery"]))
def test_any_text_is_answered(text: str, dialect: str) -> None:
    lineage_of(text, dialect)


@pytest.mark.parametrize("dialect", [name for name in dialects() if name not in ("dax", "prql")])  # languages of their own
def test_every_dialect_reads_a_plain_statement(dialect: str) -> None:
    found = lineage_of("INSERT INTO t SELECT a.x FROM a WHERE a.y > 1", dialect, {("A",): ("X", "Y"), ("a",): ("x", "y")})
    assert [(flow.in_column.lower(), flow.out_column.lower()) for flow in found.columns] == [("x", "x")]
    assert not found.errors


@pytest.mark.parametrize("dialect", ["flink", "postgres"])
def test_a_fault_of_a_view_is_told_once(dialect: str) -> None:
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
