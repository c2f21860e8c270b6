"""The SQL statements that update run shapes, the days on which they were asserted, and the flows of their jobs."""

SEE = """INSERT INTO run_shape (asserted_by, job, origin, shape, first, last, first_shape_at, current_since)
SELECT asserted_by, job, min(origin), 0, min(first), max(last), 0, 0 FROM in_day WHERE true GROUP BY asserted_by, job
ON CONFLICT (asserted_by, job) DO UPDATE SET first = LEAST(run_shape.first, excluded.first), last = GREATEST(run_shape.last, excluded.last)
WHERE excluded.first < run_shape.first OR excluded.last > run_shape.last"""
DAYS = """INSERT INTO run_shape_day (asserted_by, job, day, shape, first, last)
SELECT i.asserted_by, i.job, i.day, p.shape, i.first, i.last
FROM in_day i STRAIGHT_JOIN run_shape p ON p.asserted_by = i.asserted_by AND p.job = i.job WHERE true
ON CONFLICT (asserted_by, job, day) DO UPDATE
SET first = LEAST(run_shape_day.first, excluded.first), last = GREATEST(run_shape_day.last, excluded.last)
WHERE excluded.first < run_shape_day.first OR excluded.last > run_shape_day.last"""
JOB_SHAPES = """INSERT INTO job_shape (job, shape, day, first, last)
SELECT d.job, d.shape, d.day, min(d.first), max(d.last)
FROM in_day i STRAIGHT_JOIN run_shape_day d ON d.asserted_by = i.asserted_by AND d.job = i.job AND d.day = i.day WHERE d.shape <> 0
GROUP BY d.job, d.shape, d.day
ON CONFLICT (job, shape, day) DO UPDATE
SET first = LEAST(job_shape.first, excluded.first), last = GREATEST(job_shape.last, excluded.last)
WHERE excluded.first < job_shape.first OR excluded.last > job_shape.last"""
MOVE_DAYS = "UPDATE run_shape_day SET shape = ? WHERE asserted_by = ? AND job = ? RETURNING day, first, last"
JOB_SHAPE = """INSERT INTO job_shape VALUES (?, ?, ?, ?, ?) ON CONFLICT (job, shape, day) DO UPDATE
SET first = LEAST(job_shape.first, excluded.first), last = GREATEST(job_shape.last, excluded.last)"""
GAINS = {
    "job_io": "INSERT INTO job_io SELECT :job, dataset, side, :origin FROM shape_io WHERE shape = :shape ON CONFLICT DO NOTHING",
    "job_lineage_set": "INSERT INTO job_lineage_set "
    "SELECT :job, carrier, lineage_set, :origin FROM shape_lineage_set WHERE shape = :shape ON CONFLICT DO NOTHING",
    "flow": """INSERT INTO flow
    SELECT CASE source WHEN :own THEN :job ELSE source END, CASE target WHEN :own THEN :job ELSE target END,
    :job, :origin, evidence FROM shape_flow WHERE shape = :shape ON CONFLICT DO NOTHING""",
}
"""The rows of the job's own tables that result from one of its shapes."""
OTHER_FLOW = """SELECT 1 FROM shape_flow f INDEXED BY shape_flow_ends JOIN shape s ON s.shape = f.shape
WHERE f.source = ? AND f.target = ? AND f.evidence = ? AND s.origin = ?
AND EXISTS (SELECT 1 FROM job_shape j WHERE j.job = ? AND j.shape = f.shape) LIMIT 1"""
OTHER_IO = """SELECT 1 FROM job_shape j JOIN shape s ON s.shape = j.shape AND s.origin = ?
JOIN shape_io i ON i.shape = j.shape AND i.side = ? AND i.dataset = ? WHERE j.job = ? LIMIT 1"""
OTHER_STATEMENT = """SELECT 1 FROM job_shape j JOIN shape s ON s.shape = j.shape AND s.origin = ?
JOIN shape_lineage_set i ON i.shape = j.shape AND i.carrier = ? AND i.lineage_set = ? WHERE j.job = ? LIMIT 1"""
MENTION_NODES = """INSERT INTO mentioned_node SELECT source, :job FROM column_statement WHERE lineage_set = :lineage_set AND source <> 0
UNION SELECT target, :job FROM column_statement WHERE lineage_set = :lineage_set AND target <> 0 ON CONFLICT DO NOTHING"""
SNAPSHOTS = """SELECT DISTINCT i.asserted_by, i.job, s.lineage_set FROM in_day i
STRAIGHT_JOIN run_lineage_set s ON s.asserted_by = i.asserted_by AND s.job = i.job AND s.carrier = i.job
WHERE s.lineage_set < x'000000000000000000000000000001'"""
