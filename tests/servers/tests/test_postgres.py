"""The database: rows, and changes from its log by the plugin that Debezium reads."""

import pytest


def test_changes_can_be_read_from_the_log(postgres):
    postgres.execute("CREATE TABLE noted (id INT PRIMARY KEY, note TEXT)")
    postgres.execute("CREATE PUBLICATION notes FOR TABLE noted")
    postgres.execute("SELECT pg_create_logical_replication_slot('notes', 'pgoutput')")
    postgres.execute("INSERT INTO noted VALUES (1, 'a, b'), (2, NULL)")
    assert postgres.execute("SELECT * FROM noted ORDER BY id") == [["1", "a, b"], ["2", ""]]
    options = "'proto_version', '1', 'publication_names', 'notes'"
    changes = postgres.execute(f"SELECT get_byte(data, 0) FROM pg_logical_slot_get_binary_changes('notes', NULL, NULL, {options})")
    assert [chr(int(kind)) for (kind,) in changes] == ["B", "R", "I", "I", "C"]
    postgres.execute("SELECT pg_drop_replication_slot('notes')")


def test_a_refusal_is_reported(postgres):
    with pytest.raises(AssertionError, match='relation "nowhere" does not exist'):
        postgres.execute("SELECT * FROM nowhere")
