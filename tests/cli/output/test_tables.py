"""The layout of tables on terminals and elsewhere."""

import pytest

from lineage_bridge.cli.tables import table_lines, wrap

COLUMNS = ["run", "name", "note"]
RUN = "48ba9cea-f5b1-51a1-a326-40ba815ead47"
ROWS = [[RUN, "analytics_db.analytics.shop.daily_revenue_summary", ""], [RUN, "orders", ""]]


def test_without_a_width_each_row_is_one_line():
    lines = table_lines(COLUMNS, ROWS, None)
    assert [line.split() for line in lines] == [COLUMNS, [RUN, ROWS[0][1]], [RUN, "orders"]]
    assert len({line.find(text) for line, text in zip(lines, ("name", "analytics", "orders"), strict=True)}) == 1


@pytest.mark.parametrize("width", [62, 80, 100, 200])
def test_names_wrap_after_separators_and_ids_stay_whole(width):
    lines = table_lines(COLUMNS, ROWS, width)
    assert max(map(len, lines)) <= width
    assert lines[0].split() == ["run", "name"]
    assert sum(RUN in line for line in lines) == 2
    assert "".join(line.removeprefix(RUN).strip() for line in lines[1:-1]) == ROWS[0][1]


def test_rows_that_do_not_fit_are_blocks():
    lines = table_lines(COLUMNS, ROWS, 50)
    assert lines == [
        f"run   {RUN}",
        "name  analytics_db.analytics.shop.daily_revenue_",
        "      summary",
        "",
        f"run   {RUN}",
        "name  orders",
    ]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, [""]),
        ("one two three", 9, ["one two", "three"]),
        ("kafka://broker.internal:9092", 16, ["kafka://broker.", "internal:9092"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("a abcdefghij", 4, ["a", "abcd", "efgh", "ij"]),
    ],
)
def test_wrap(text, width, lines):
    assert wrap(text, width) == lines
