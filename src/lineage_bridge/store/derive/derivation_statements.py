"""The SQL statements that add nodes, texts and current facets."""

CURRENT = """INSERT INTO current_facet SELECT * FROM in_current WHERE true ON CONFLICT (node, job, key) DO UPDATE
SET facet = excluded.facet, rank = excluded.rank, time = excluded.time, event = excluded.event
WHERE (excluded.rank, excluded.time, excluded.event, excluded.facet)
    > (current_facet.rank, current_facet.time, current_facet.event, current_facet.facet)"""
NEW_FACETS = """SELECT i.node, i.job, i.key, i.facet, c.facet FROM in_current i
LEFT JOIN current_facet c ON c.node = i.node AND c.job = i.job AND c.key = i.key
WHERE c.facet IS NULL OR (c.facet <> i.facet AND (i.rank, i.time, i.event, i.facet) > (c.rank, c.time, c.event, c.facet))"""
"""The facets in a batch that become current, each with the facet that was current before."""

STAGING = (
    "in_facet (facet BLOB)",
    "in_run_lineage_set (asserted_by BLOB, job BIGINT, carrier BIGINT, lineage_set BLOB, first BIGINT)",
    "in_current (node BIGINT, job BIGINT, key TEXT, facet BLOB, rank BIGINT, time BIGINT, event BLOB)",
)
EARLIER = "UPDATE node SET first = ? WHERE id = ? AND first > ?"
ADD_LINEAGE_SET = "INSERT INTO lineage_set VALUES (?, ?) ON CONFLICT DO NOTHING"
ADD_COLUMNS = "INSERT INTO column_statement VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
