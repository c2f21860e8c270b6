"""The SQL statements that add nodes and texts, and the tables in which a batch is staged."""

STAGING = (
    "in_facet (facet BLOB)",
    "in_run_lineage_set (asserted_by BLOB, job BIGINT, carrier BIGINT, lineage_set BLOB, first BIGINT)",
    "in_current (node BIGINT, job BIGINT, key TEXT, facet BLOB, rank BIGINT, time BIGINT, event BLOB)",
)
EARLIER = "UPDATE node SET first = ? WHERE id = ? AND first > ?"
ADD_LINEAGE_SET = "INSERT INTO lineage_set VALUES (?, ?) ON CONFLICT DO NOTHING"
ADD_COLUMNS = "INSERT INTO column_statement VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
