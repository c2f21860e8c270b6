"""The columns of ksqlDB's streams and tables: their names without an alias, and their order, as `docs/sql.md` has the rules."""

import pytest

from lineage_bridge.sql.lineage import Lineage
from lineage_bridge.sql.reading import lineage_of, tables_of

ORDERS = "CREATE STREAM orders (id INT KEY, item STRING, shop INT) WITH (kafka_topic = 'orders', value_format = 'JSON');"
RETURNS = "CREATE STREAM refunds (id INT KEY, item STRING, reason STRING) WITH (kafka_topic = 'refunds', value_format = 'JSON');"
SHOPS = "CREATE TABLE shops (nr INT PRIMARY KEY, city STRING) WITH (kafka_topic = 'shops', value_format = 'JSON');"
CITIES = "CREATE TABLE cities (name STRING PRIMARY KEY, land STRING) WITH (kafka_topic = 'cities', value_format = 'JSON');"
LETTERS = (
    "CREATE STREAM letters (id INT KEY, sender STRUCT<street STRING, town STRUCT<zip INT, `Name` STRING>>, town STRING, ksql_col_1 INT)"
)
LETTERS += " WITH (kafka_topic = 'letters', value_format = 'JSON');"
VISITS = "CREATE TABLE visits (page STRING PRIMARY KEY, n BIGINT) WITH (kafka_topic = 'v', value_format = 'JSON', window_type = 'SESSION');"
HITS = "CREATE TABLE hits (page STRING PRIMARY KEY, n BIGINT) WITH (kafka_topic = 'h', value_format = 'JSON', window_type = 'SESSION');"
TYPED = "CREATE TYPE place AS STRUCT<zip INT, land STRING>; CREATE STREAM typed (at place) WITH (kafka_topic = 't', value_format = 'JSON');"
ALL = ORDERS + RETURNS + SHOPS + CITIES + LETTERS + VISITS + HITS + TYPED

JOINED = "FROM orders o JOIN refunds r WITHIN 1 HOUR ON o.id = r.id"
OUTER = "FROM orders o FULL OUTER JOIN refunds r WITHIN 1 HOUR ON o.id = r.id"


def columns(query: str, before: str = ALL + LETTERS.replace("letters", "letters2"), *, kind: str = "STREAM") -> str:
    """The columns of what a query fills. There is no error in it."""
    script = f"{before} CREATE {kind} sink AS {query};"
    assert lineage_of(script, "ksqldb").errors == []
    return " ".join(tables_of(script, "ksqldb")["SINK",])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT o.id, o.item, r.item, shop, reason {JOINED}", "O_ID O_ITEM R_ITEM SHOP REASON"),
        (f"SELECT o.id AS id, r.item AS back, o.item {JOINED}", "ID BACK O_ITEM"),
        ("SELECT orders.id, refunds.reason FROM orders JOIN refunds WITHIN 1 HOUR ON orders.id = refunds.id", "ORDERS_ID REASON"),
        ("SELECT o.id, o.item, o.shop FROM orders o", "ID ITEM SHOP"),
        (f"SELECT o.id, o.ROWTIME AS at, UCASE(o.item) {JOINED}", "O_ID AT KSQL_COL_0"),
    ],
)
def test_a_column_of_a_join_has_its_source_in_front_if_another_source_has_it_too(query: str, expected: str) -> None:
    assert columns(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT * {JOINED}", "O_ID O_ITEM O_SHOP R_ID R_ITEM R_REASON"),
        (f"SELECT r.*, o.shop {JOINED}", "R_ID R_ITEM R_REASON SHOP"),
        ("SELECT * FROM orders o JOIN shops ON o.shop = shops.nr", "O_SHOP O_ID O_ITEM SHOPS_NR SHOPS_CITY"),
        ("SELECT * FROM orders", "ID ITEM SHOP"),
        ("SELECT shop, orders.* FROM orders", "ID SHOP ITEM SHOP"),
    ],
)
def test_each_column_of_a_star_over_a_join_has_its_source_in_front(query: str, expected: str) -> None:
    assert columns(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT * {OUTER}", "ROWKEY O_ID O_ITEM O_SHOP R_ID R_ITEM R_REASON"),
        (f"SELECT o.item, ROWKEY AS id {OUTER}", "ID O_ITEM"),
        ("SELECT shop, ROWKEY FROM orders o JOIN refunds r WITHIN 1 HOUR ON ABS(o.id) = ABS(r.id)", "ROWKEY SHOP"),
        ("SELECT * FROM orders o JOIN refunds r WITHIN 1 HOUR ON ABS(o.id) = r.id", "R_ID O_ID O_ITEM O_SHOP R_ITEM R_REASON"),
        ("SELECT shop, r.id FROM orders o JOIN refunds r WITHIN 1 HOUR ON r.id = o.id", "R_ID SHOP"),
        (
            "SELECT *, l.ROWTIME, m.ROWTIME FROM letters l JOIN letters2 m WITHIN 1 HOUR ON l.sender->street = m.sender->street",
            "ROWKEY L_ID L_SENDER L_TOWN L_KSQL_COL_1 M_ID M_SENDER M_TOWN M_KSQL_COL_1 L_ROWTIME M_ROWTIME",
        ),
        (
            "SELECT land, o.id, shop FROM orders o JOIN shops s ON o.shop = s.nr JOIN cities c ON s.city = c.name",
            "LAND ID SHOP",
        ),
        (
            "SELECT land, city, o.id FROM orders o JOIN shops s ON o.shop = s.nr JOIN cities c ON s.city = c.name",
            "CITY LAND ID",
        ),
    ],
)
def test_the_key_of_a_join_is_first(query: str, expected: str) -> None:
    assert columns(query) == expected


def test_the_synthetic_key_has_a_number_if_a_source_has_its_name() -> None:
    before = ORDERS + "CREATE STREAM old (rowkey INT KEY, v INT) WITH (kafka_topic = 'old', value_format = 'JSON');"
    query = "SELECT * FROM orders o FULL OUTER JOIN old WITHIN 1 HOUR ON o.id = old.rowkey"
    assert columns(query, before) == "ROWKEY_1 O_ID O_ITEM O_SHOP OLD_ROWKEY OLD_V"


def test_the_rows_of_a_foreign_key_join_of_tables_are_those_of_the_left_one() -> None:
    assert columns("SELECT land, s.city, s.nr FROM shops s JOIN cities c ON s.city = c.name", kind="TABLE") == "NR LAND CITY"


def test_a_join_on_a_part_of_the_left_key_keeps_the_whole_key() -> None:
    rooms = "CREATE TABLE rooms (house INT PRIMARY KEY, city STRING PRIMARY KEY, size INT) WITH (kafka_topic = 'r', format = 'JSON');"
    query = "SELECT size, land, r.city, house FROM rooms r JOIN cities c ON r.city = c.name"
    assert columns(query, ALL + rooms, kind="TABLE") == "HOUSE CITY SIZE LAND"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM orders PARTITION BY item", "ITEM SHOP ID"),
        ("SELECT shop, item AS what, id FROM orders PARTITION BY item", "WHAT SHOP ID"),
        ("SELECT * FROM orders PARTITION BY UCASE(item)", "KSQL_COL_0 ITEM SHOP ID"),
        ("SELECT id, UCASE(o.item) AS k FROM orders o PARTITION BY UCASE(item)", "K ID"),
        ("SELECT * FROM letters PARTITION BY sender->street", "STREET SENDER TOWN KSQL_COL_1 ID"),
        ("SELECT id, sender->street FROM letters PARTITION BY sender->street", "STREET ID"),
        ("SELECT * FROM orders PARTITION BY NULL", "ITEM SHOP ID"),
        ("SELECT * FROM orders PARTITION BY ROWTIME", "ROWTIME ITEM SHOP ID"),
        ("SELECT id, item FROM orders PARTITION BY item, shop", "ITEM ID"),
        (
            f"SELECT * {JOINED} PARTITION BY reason",
            "R_REASON O_ITEM O_SHOP O_ROWTIME O_ROWPARTITION O_ROWOFFSET O_ID R_ITEM R_ROWTIME R_ROWPARTITION R_ROWOFFSET R_ID",
        ),
    ],
)
def test_partition_by_makes_another_key(query: str, expected: str) -> None:
    assert columns(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT COUNT(*), shop FROM orders GROUP BY shop", "SHOP KSQL_COL_0"),
        ("SELECT COUNT(*) AS n, item, shop AS s FROM orders GROUP BY shop, item", "S ITEM N"),
        ("SELECT COUNT(*) AS n, UCASE(item) AS i FROM orders GROUP BY UCASE(orders.item)", "I N"),
        ("SELECT city, COUNT(*), o.shop FROM orders o JOIN shops s ON o.shop = s.nr GROUP BY (city, o.shop)", "CITY SHOP KSQL_COL_0"),
    ],
)
def test_what_rows_are_grouped_by_is_the_key(query: str, expected: str) -> None:
    assert columns(query, kind="TABLE") == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT id, sender->street, sender->town FROM letters", "ID STREET TOWN_1"),
        ("SELECT id, sender->town->zip, sender->town->`Name` FROM letters", "ID ZIP Name"),
        ("SELECT LEN(town), id, LEN(town), (LEN(town)) FROM letters", "ID KSQL_COL_0 KSQL_COL_2 KSQL_COL_3"),
        ("SELECT id, +id, -id, (town) AS same, +(id) FROM letters", "ID KSQL_COL_0 KSQL_COL_2 SAME KSQL_COL_3"),
        ("SELECT sender->*, id FROM letters", "ID STREET TOWN"),
        ("SELECT id, l.sender->town->* FROM letters l", "ID ZIP Name"),
        ("SELECT id, x->* FROM copied", "ID STREET TOWN"),
        ("SELECT at->* FROM typed", "ZIP LAND"),
    ],
)
def test_fields_and_expressions_get_names_that_no_source_has(query: str, expected: str) -> None:
    assert columns(query, ALL + "CREATE STREAM copied AS SELECT id, sender AS x FROM letters;") == expected


def test_fields_of_a_struct_of_unknown_type_are_unknown() -> None:
    script = "CREATE STREAM mail (id INT KEY, tags ARRAY<STRUCT<a INT>>) WITH (kafka_topic = 'm', value_format = 'JSON');"
    script += "CREATE STREAM out AS SELECT id, tags[1]->* FROM mail; CREATE STREAM next AS SELECT id, a FROM out;"
    assert set(tables_of(script, "ksqldb")) == {("MAIL",), ("NEXT",)}
    assert flows(lineage_of(script, "ksqldb")) == {"ID -> ID 1.0", "A -> A 0.8"}


def test_bounds_of_windows_are_columns_of_a_star_over_a_join_only() -> None:
    assert columns("SELECT * FROM visits", kind="TABLE") == "PAGE N"
    expected = "V_PAGE V_WINDOWSTART V_WINDOWEND V_N HITS_PAGE HITS_WINDOWSTART HITS_WINDOWEND HITS_N"
    assert columns("SELECT * FROM visits v JOIN hits ON v.page = hits.page", kind="TABLE") == expected
    before = ALL + "CREATE TABLE v AS SELECT page AS url, COUNT(*) AS n FROM visits WINDOW SESSION (1 HOUR) GROUP BY page;"
    expected = "V_URL V_WINDOWSTART V_WINDOWEND V_N HITS_PAGE HITS_WINDOWSTART HITS_WINDOWEND HITS_N"
    assert columns("SELECT * FROM v JOIN hits ON v.url = hits.page", before, kind="TABLE") == expected


def test_keys_are_first_and_headers_last_wherever_they_are_declared() -> None:
    before = "CREATE STREAM s (h BYTES HEADER('h'), a INT, k INT KEY) WITH (kafka_topic = 's', value_format = 'JSON');"
    assert columns("SELECT * FROM s", before) == "K A H"


def test_insert_goes_by_name() -> None:
    script = ORDERS + "CREATE STREAM copy (id INT KEY, shop INT, item STRING) WITH (kafka_topic = 'c', value_format = 'JSON');"
    found = lineage_of(script + "INSERT INTO copy SELECT shop, item, id FROM orders;", "ksqldb")
    assert flows(found) == {"ID -> ID 1.0", "SHOP -> SHOP 1.0", "ITEM -> ITEM 1.0"}
    found = lineage_of(script + "INSERT INTO copy SELECT id AS nr, shop, item FROM orders;", "ksqldb")
    assert flows(found) == {"ID -> ID 0.8", "SHOP -> SHOP 1.0", "ITEM -> ITEM 1.0"}


REGISTERED = "CREATE TABLE people (id INT PRIMARY KEY) WITH (kafka_topic = 'p', value_format = 'AVRO');"


@pytest.mark.parametrize("options", ["value_format = 'AVRO'", "FORMAT = 'Protobuf'", "value_format = 'JSON_SR'", "value_schema_id = 7"])
def test_values_that_a_registry_defines_are_unknown_and_not_none(options: str) -> None:
    people = f"CREATE TABLE people (id INT PRIMARY KEY) WITH (kafka_topic = 'p', {options});"
    found = lineage_of(people + "CREATE TABLE copy AS SELECT *, email AS mail FROM people p;", "ksqldb")
    assert flows(found) == {"ID -> ID 1.0", "EMAIL -> MAIL 0.8"}
    assert ("COPY",) in found.outputs
    assert found.errors == []


@pytest.mark.parametrize("options", ["key_format = 'AVRO', value_format = 'JSON'", "FORMAT = 'JSON_SR'"])
def test_the_key_that_a_registry_defines_is_one_column(options: str) -> None:
    clicks = f"CREATE STREAM clicks (url STRING) WITH (kafka_topic = 'c', {options});"
    assert columns("SELECT * FROM clicks", clicks) == "ROWKEY URL"
    assert flows(lineage_of(clicks + "CREATE STREAM copy AS SELECT * FROM clicks;", "ksqldb")) == {"ROWKEY -> ROWKEY 1.0", "URL -> URL 1.0"}
    joined = "SELECT ROWKEY_1, url, item FROM clicks c FULL OUTER JOIN orders o WITHIN 1 HOUR ON c.ROWKEY = o.id"
    assert columns(joined, ORDERS + clicks) == "ROWKEY_1 URL ITEM"


def test_values_in_json_are_those_that_are_listed() -> None:
    found = lineage_of(REGISTERED.replace("AVRO", "JSON") + "CREATE TABLE copy AS SELECT id, email FROM people;", "ksqldb")
    assert [fault.message for fault in found.errors] == ["no table of this query has a column 'EMAIL'"]


def test_a_source_that_lacks_a_column_is_no_column_of_another_source() -> None:
    script = "CREATE STREAM ratings WITH (kafka_topic = 'r', value_format = 'AVRO');" + REGISTERED.replace("people", "c")
    found = lineage_of(script + "CREATE STREAM out AS SELECT r.stars, c.email FROM ratings r JOIN c ON r.id = c.id;", "ksqldb")
    assert {(flow.in_table, flow.in_column) for flow in found.columns} == {(("RATINGS",), "STARS"), (("C",), "EMAIL")}


def test_a_name_that_depends_on_the_registry_is_only_likely() -> None:
    query = "CREATE STREAM out AS SELECT o.id, o.item, shop FROM orders o JOIN people p ON o.id = p.id;"
    found = lineage_of(ORDERS + REGISTERED + query, "ksqldb")
    assert flows(found) == {"ID -> O_ID 1.0", "ITEM -> ITEM 0.8", "SHOP -> SHOP 1.0"}
    found = lineage_of(ORDERS + REGISTERED + query + "CREATE STREAM next AS SELECT o_item, item FROM out;", "ksqldb")
    assert {flow.confidence for flow in found.columns if flow.out_table == ("NEXT",)} == {0.8}
    assert found.errors == []


def test_a_column_that_the_query_names_of_an_unknown_source_is_one() -> None:
    query = "CREATE STREAM out AS SELECT o.id, o.item, p.item FROM orders o JOIN people p ON o.id = p.id;"
    assert flows(lineage_of(ORDERS + REGISTERED + query, "ksqldb")) == {"ID -> O_ID 1.0", "ITEM -> O_ITEM 1.0", "ITEM -> P_ITEM 0.8"}


def flows(found: Lineage) -> set[str]:
    """Column flows with their confidence, without their tables."""
    return {f"{flow.in_column} -> {flow.out_column} {flow.confidence}" for flow in found.columns}
