-- The tables of graph/relations.py and those derived from them, built by DuckDB from the table raw (offset, arrival, event, body).
-- A block begins with the name of its table. Node ids, facet ids and facet set ids are hashes of DuckDB's own.
-- from_json gives NULL where a type does not fit, so the members whose type decides validity are read as JSON and looked at.

-- table: judged
CREATE TEMP TABLE judged AS
SELECT "offset", arrival, event, body, e.eventType AS type, epoch_us(try_cast(e.eventTime AS TIMESTAMPTZ)) AS time,
  try_cast(e.run.runId AS UUID) AS run, e.run.facets AS run_facets, e.job.facets AS job_facets, e.inputs AS inputs, e.outputs AS outputs,
  CASE WHEN left(e.job.namespace::VARCHAR, 1) = '"' THEN e.job.namespace->>'$' END AS namespace,
  CASE WHEN left(e.job.name::VARCHAR, 1) = '"' THEN e.job.name->>'$' END AS name,
  CASE
    WHEN e IS NULL THEN 'not_json'
    WHEN left(e.job.namespace::VARCHAR, 1) <> '"' OR left(e.job.name::VARCHAR, 1) <> '"' THEN 'wrong_type'
    WHEN left(e.inputs::VARCHAR, 1) <> '[' OR left(e.outputs::VARCHAR, 1) <> '[' THEN 'wrong_type'
    WHEN e.run.runId IS NULL OR e.job.namespace IS NULL OR e.job.name IS NULL THEN 'missing_field'
    WHEN try_cast(e.eventTime AS TIMESTAMPTZ) IS NULL THEN 'no_time'
    ELSE ''
  END AS code
FROM (
  SELECT *, CASE WHEN json_valid(body) THEN from_json(body, '{
    "eventType": "VARCHAR", "eventTime": "VARCHAR", "run": {"runId": "VARCHAR", "facets": "JSON"},
    "job": {"namespace": "JSON", "name": "JSON", "facets": "JSON"}, "inputs": "JSON", "outputs": "JSON"}') END AS e
  FROM raw
);

-- table: quarantine
CREATE TABLE quarantine AS
SELECT event, "offset", code, left(body, 2000) AS sample, strlen(body) AS size, arrival FROM judged WHERE code <> '';

-- table: used
CREATE TEMP TABLE used AS
SELECT "offset", arrival, event, coalesce(type, '') AS type, time, run, run_facets, job_facets, inputs, outputs, namespace, name,
  hash(2, namespace, name) AS job, CASE WHEN time <= arrival + 86400000000 THEN time ELSE arrival END AS effective
FROM judged WHERE code = '';

-- table: event
CREATE TABLE event AS
SELECT time, event, min(effective) AS effective, any_value(type) AS type, any_value(run) AS asserted_by, any_value(job) AS job
FROM used GROUP BY time, event;

-- table: event_record
CREATE TABLE event_record AS SELECT time, event, "offset", arrival FROM used;

-- table: run_event
CREATE TABLE run_event AS
SELECT run, type, min(effective) AS "first", max(effective) AS "last" FROM used GROUP BY run, type;

-- table: stated_run
CREATE TEMP TABLE stated_run AS
SELECT event, effective, run, job, f.parent AS parent, f.nominalTime AS nominal
FROM (
  SELECT event, effective, run, job, from_json(run_facets, '{
    "parent": {"run": {"runId": "VARCHAR"}, "job": {"namespace": "VARCHAR", "name": "VARCHAR"},
      "root": {"run": {"runId": "VARCHAR"}, "job": {"namespace": "VARCHAR", "name": "VARCHAR"}}},
    "nominalTime": {"nominalStartTime": "VARCHAR", "nominalEndTime": "VARCHAR"}}') AS f
  FROM used
);

-- table: run
CREATE TABLE run AS
SELECT run, job,
  max({'time': effective, 'event': event, 'run': try_cast(parent.run.runId AS UUID),
    'job': hash(2, parent.job.namespace, parent.job.name), 'root': try_cast(parent.root.run.runId AS UUID)})
    FILTER (parent.run.runId IS NOT NULL) AS parent,
  max({'time': effective, 'event': event, 'start': epoch_us(try_cast(nominal.nominalStartTime AS TIMESTAMPTZ)),
    'end': epoch_us(try_cast(nominal.nominalEndTime AS TIMESTAMPTZ))}) FILTER (nominal IS NOT NULL) AS nominal
FROM stated_run GROUP BY run, job;

-- table: mention
CREATE TEMP TABLE mention AS
SELECT event, effective, run, job, side, d.namespace->>'$' AS namespace, d.name->>'$' AS name,
  hash(1, d.namespace->>'$', d.name->>'$') AS dataset, d.facets AS facets,
  CASE side WHEN 0 THEN d.inputFacets ELSE d.outputFacets END AS access
FROM (
  SELECT event, effective, run, job, 0 AS side, unnest(from_json(inputs, '[
    {"namespace": "JSON", "name": "JSON", "facets": "JSON", "inputFacets": "JSON", "outputFacets": "JSON"}]')) AS d
  FROM used
  UNION ALL
  SELECT event, effective, run, job, 1, unnest(from_json(outputs, '[
    {"namespace": "JSON", "name": "JSON", "facets": "JSON", "inputFacets": "JSON", "outputFacets": "JSON"}]'))
  FROM used
);

-- table: run_io
CREATE TABLE run_io AS
SELECT run, job, dataset, side, min(effective) AS "first", max(effective) AS "last" FROM mention GROUP BY run, job, dataset, side;

-- table: io_sample
CREATE TABLE io_sample AS
SELECT run, job, dataset, side, effective AS time,
  {'event': max(event), 'rows': max(s.rowCount), 'bytes': max(s.size), 'files': max(s.fileCount)} AS sample
FROM (
  SELECT event, effective, run, job, dataset, side, CASE side WHEN 0 THEN f.inputStatistics ELSE f.outputStatistics END AS s
  FROM (
    SELECT *, from_json(access, '{
      "inputStatistics": {"rowCount": "BIGINT", "size": "BIGINT", "fileCount": "BIGINT"},
      "outputStatistics": {"rowCount": "BIGINT", "size": "BIGINT", "fileCount": "BIGINT"}}') AS f
    FROM mention WHERE access IS NOT NULL
  )
)
GROUP BY run, job, dataset, side, effective;

-- Facets are expanded once for each spelling of the object that holds them.

-- table: spelled
CREATE TEMP TABLE spelled AS
SELECT event, effective, run, job, job AS node, 2 AS side, md5_number(coalesce(nullif(job_facets, '{}'), '')) AS spelling FROM used
UNION ALL
SELECT event, effective, run, job, job, 3, md5_number(run_facets) FROM used WHERE run_facets <> '{}'
UNION ALL
SELECT event, effective, run, job, dataset, side, md5_number(facets) FROM mention WHERE facets <> '{}';

-- table: spelling
CREATE TEMP TABLE spelling AS
SELECT md5_number(text) AS spelling, any_value(text) AS text
FROM (SELECT job_facets AS text FROM used UNION ALL SELECT run_facets FROM used UNION ALL SELECT facets FROM mention)
WHERE text <> '{}' GROUP BY md5_number(text);

-- table: entry
CREATE TEMP TABLE entry AS
SELECT spelling, m.key AS key, md5_number(m.value) AS facet, m.value AS text
FROM (SELECT spelling, unnest(map_entries(from_json(text, '"MAP(VARCHAR,JSON)"'))) AS m FROM spelling);

-- table: address
CREATE TEMP TABLE address AS SELECT spelling, bit_xor(hash(key, facet)) AS facet_set FROM entry GROUP BY spelling;

-- table: facet_set
CREATE TABLE facet_set AS SELECT DISTINCT facet_set, key, facet FROM entry JOIN address USING (spelling);

-- table: facet
CREATE TABLE facet AS SELECT facet, any_value(text) AS text FROM entry GROUP BY facet;

-- table: assertion
CREATE TABLE assertion AS
SELECT run AS asserted_by, job, node, side, coalesce(facet_set, 0) AS facet_set, effective // 86400000000 AS day,
  min({'time': effective, 'event': event}) AS "first", max({'time': effective, 'event': event}) AS "last"
FROM spelled LEFT JOIN address USING (spelling)
GROUP BY ALL;

-- table: column_statement
CREATE TABLE column_statement AS
SELECT DISTINCT facet, target_field, hash(1, i.namespace, i.name) AS source, i.field AS source_field,
  i.namespace AS namespace, i.name AS name
FROM (
  SELECT facet, m.key AS target_field,
    unnest(from_json(m.value, '{"inputFields": [{"namespace": "VARCHAR", "name": "VARCHAR", "field": "VARCHAR"}]}').inputFields) AS i
  FROM (
    SELECT facet, unnest(map_entries(from_json(text, '{"fields": "MAP(VARCHAR,JSON)"}').fields)) AS m
    FROM facet WHERE facet IN (SELECT facet FROM facet_set WHERE key = 'columnLineage')
  )
);

-- table: node
CREATE TABLE node AS
SELECT DISTINCT hash(kind, namespace, name) AS id, kind, namespace, name
FROM (
  SELECT 2 AS kind, namespace, name FROM used
  UNION ALL SELECT 1, namespace, name FROM mention
  UNION ALL SELECT 2, parent.job.namespace, parent.job.name FROM stated_run WHERE parent.run.runId IS NOT NULL
  UNION ALL SELECT 2, parent.root.job.namespace, parent.root.job.name FROM stated_run WHERE parent.root.run.runId IS NOT NULL
  UNION ALL SELECT 1, namespace, name FROM column_statement
);

-- table: current_facet
CREATE TABLE current_facet AS
SELECT node, CASE WHEN key IN ('columnLineage', 'lineage') THEN job ELSE 0 END AS job, key,
  max({'rank': CASE WHEN key <> 'schema' THEN 0 WHEN side = 2 THEN 3 WHEN side = 1 THEN 2 ELSE 1 END,
    'time': "last".time, 'event': "last".event, 'facet': facet}) AS best
FROM assertion JOIN facet_set USING (facet_set) WHERE side IN (0, 1, 2)
GROUP BY 1, 2, 3;

-- What a run amounts to: its datasets and the column statements of its outputs. Expanded once for each shape of a job.

-- table: shape_of
CREATE TEMP TABLE shape_of AS
SELECT run, job, hash(list(DISTINCT m ORDER BY m)) AS shape
FROM (
  SELECT run, job, {'side': side, 'dataset': dataset, 'facet': 0::HUGEINT} AS m FROM run_io
  UNION ALL
  SELECT asserted_by, job, {'side': 9, 'dataset': node, 'facet': facet} FROM assertion JOIN facet_set USING (facet_set)
  WHERE side = 1 AND key = 'columnLineage' AND facet IN (SELECT facet FROM column_statement)
)
GROUP BY run, job;

-- table: run_shape
CREATE TABLE run_shape AS
SELECT s.asserted_by AS run, s.job AS job, any_value(shape) AS shape, min("first".time) AS "first", max("last".time) AS "last"
FROM assertion s LEFT JOIN shape_of o ON o.run = s.asserted_by AND o.job = s.job WHERE side = 2
GROUP BY s.asserted_by, s.job;

-- table: job_shape
CREATE TABLE job_shape AS
SELECT s.job AS job, shape, day, min("first".time) AS "first", max("last".time) AS "last"
FROM assertion s JOIN shape_of o ON o.run = s.asserted_by AND o.job = s.job WHERE side = 2
GROUP BY s.job, shape, day;

-- table: example
CREATE TEMP TABLE example AS SELECT job, shape, min(run) AS run FROM shape_of GROUP BY job, shape;

-- table: member
CREATE TEMP TABLE member AS
SELECT e.job AS job, shape, side, dataset FROM example e JOIN run_io r ON r.run = e.run AND r.job = e.job;

-- table: told
CREATE TEMP TABLE told AS
SELECT DISTINCT e.job AS job, shape, node AS carrier, facet
FROM example e JOIN assertion s ON s.asserted_by = e.run AND s.job = e.job AND s.side = 1 JOIN facet_set USING (facet_set)
WHERE key = 'columnLineage' AND facet IN (SELECT facet FROM column_statement);

-- table: job_io
CREATE TABLE job_io AS SELECT DISTINCT job, dataset, side FROM member;

-- table: job_lineage_set
CREATE TABLE job_lineage_set AS SELECT DISTINCT job, carrier, facet FROM told;

-- table: flow
CREATE TABLE flow AS
WITH source AS (SELECT DISTINCT job, shape, carrier, s.source FROM told JOIN column_statement s USING (facet)),
pair AS (
  SELECT a.job, a.shape, a.dataset AS source, b.dataset AS target
  FROM member a JOIN member b ON a.job = b.job AND a.shape = b.shape WHERE a.side = 0 AND b.side = 1
)
SELECT source, carrier AS target, job, 2 AS evidence FROM source
UNION
SELECT source, target, job, 3 FROM pair p
WHERE NOT EXISTS (SELECT 1 FROM told t WHERE t.job = p.job AND t.shape = p.shape AND t.carrier = p.target)
UNION
SELECT source, target, job, 3 FROM pair p
WHERE EXISTS (SELECT 1 FROM told t WHERE t.job = p.job AND t.shape = p.shape AND t.carrier = p.target)
AND NOT EXISTS (SELECT 1 FROM source s WHERE s.job = p.job AND s.shape = p.shape AND s.source = p.source);
