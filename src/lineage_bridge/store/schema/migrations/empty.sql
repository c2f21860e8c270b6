BEGIN;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE alias (
	entity BIGINT NOT NULL, 
	whole BIGINT NOT NULL, 
	a_namespace TEXT NOT NULL, 
	a_name TEXT NOT NULL, 
	b_namespace TEXT NOT NULL, 
	b_name TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	evidence TEXT NOT NULL, 
	stated_by TEXT, 
	stated_at BIGINT NOT NULL, 
	stated_event BLOB NOT NULL, 
	vetoed BIGINT, 
	vetoed_at BIGINT NOT NULL, 
	vetoed_event BLOB NOT NULL, 
	PRIMARY KEY (entity, whole, a_namespace, a_name, b_namespace, b_name, kind, evidence)
)
 WITHOUT ROWID

;
CREATE INDEX alias_back ON alias (entity, whole, b_namespace, b_name);
CREATE TABLE alias_statement (
	entity BIGINT NOT NULL, 
	whole BIGINT NOT NULL, 
	a_namespace TEXT NOT NULL, 
	a_name TEXT NOT NULL, 
	b_namespace TEXT NOT NULL, 
	b_name TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	evidence TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	event BLOB NOT NULL, 
	operation TEXT NOT NULL, 
	stated_by TEXT NOT NULL, 
	PRIMARY KEY (entity, whole, a_namespace, a_name, b_namespace, b_name, kind, evidence, at, event)
)
 WITHOUT ROWID

;
CREATE TABLE annotation (
	lineage_set BLOB NOT NULL, 
	target BIGINT NOT NULL, 
	target_field TEXT NOT NULL, 
	source BIGINT NOT NULL, 
	source_field TEXT NOT NULL, 
	type TEXT NOT NULL, 
	subtype TEXT NOT NULL, 
	masking BIGINT NOT NULL, 
	facet BLOB NOT NULL, 
	description TEXT NOT NULL, 
	target_run TEXT NOT NULL, 
	source_run TEXT NOT NULL, 
	PRIMARY KEY (lineage_set, target, target_field, source, source_field, type, subtype, masking, facet, description, target_run, source_run)
)
 WITHOUT ROWID

;
CREATE INDEX annotation_by_facet ON annotation (facet);
CREATE TABLE assertion (
	asserted_by BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	node BIGINT NOT NULL, 
	side BIGINT NOT NULL, 
	origin BIGINT NOT NULL, 
	facet_set BLOB NOT NULL, 
	day BIGINT NOT NULL, 
	first BIGINT NOT NULL, 
	first_event BLOB NOT NULL, 
	last BIGINT NOT NULL, 
	last_event BLOB NOT NULL, 
	PRIMARY KEY (asserted_by, job, node, side, origin, facet_set, day)
)
 WITHOUT ROWID

;
CREATE INDEX assertion_by_node ON assertion (node, side, day);
CREATE TABLE change (
	seq BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	action BIGINT NOT NULL, 
	node BIGINT NOT NULL, 
	other BIGINT NOT NULL, 
	job BIGINT NOT NULL, 
	side BIGINT NOT NULL, 
	origin BIGINT NOT NULL, 
	evidence BIGINT NOT NULL, 
	"key" TEXT NOT NULL, 
	value BLOB NOT NULL, 
	PRIMARY KEY (seq)
)
 WITHOUT ROWID

;
CREATE TABLE change_epoch (
	number BIGINT NOT NULL, 
	epoch TEXT NOT NULL, 
	since BIGINT NOT NULL, 
	PRIMARY KEY (number)
)
 WITHOUT ROWID

;
CREATE TABLE column_statement (
	lineage_set BLOB NOT NULL, 
	target BIGINT NOT NULL, 
	target_field TEXT NOT NULL, 
	source BIGINT NOT NULL, 
	source_field TEXT NOT NULL, 
	type TEXT NOT NULL, 
	subtype TEXT NOT NULL, 
	masking BIGINT NOT NULL, 
	PRIMARY KEY (lineage_set, target, target_field, source, source_field, type, subtype, masking)
)
 WITHOUT ROWID

;
CREATE INDEX column_statement_by_source ON column_statement (source, source_field, lineage_set);
CREATE INDEX column_statement_by_target ON column_statement (target, target_field, lineage_set);
CREATE TABLE current_facet (
	node BIGINT NOT NULL, 
	job BIGINT NOT NULL, 
	"key" TEXT NOT NULL, 
	facet BLOB NOT NULL, 
	rank BIGINT NOT NULL, 
	time BIGINT NOT NULL, 
	event BLOB NOT NULL, 
	PRIMARY KEY (node, job, "key")
)
 WITHOUT ROWID

;
CREATE TABLE declared_io (
	facet_set BLOB NOT NULL, 
	side BIGINT NOT NULL, 
	dataset BIGINT NOT NULL, 
	dataset_facet_set BLOB NOT NULL, 
	PRIMARY KEY (facet_set, side, dataset, dataset_facet_set)
)
 WITHOUT ROWID

;
CREATE TABLE derive_queue (
	asserted_by BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	PRIMARY KEY (asserted_by, job)
)
 WITHOUT ROWID

;
CREATE TABLE ending (
	source BIGINT NOT NULL, 
	target BIGINT NOT NULL, 
	job BIGINT NOT NULL, 
	ended BIGINT, 
	at BIGINT, 
	ending_time BIGINT NOT NULL, 
	ending_event BLOB NOT NULL, 
	PRIMARY KEY (source, target, job)
)
 WITHOUT ROWID

;
CREATE TABLE erased (
	run BLOB NOT NULL, 
	since BIGINT NOT NULL, 
	PRIMARY KEY (run)
)
 WITHOUT ROWID

;
CREATE TABLE event (
	time BIGINT NOT NULL, 
	event BLOB NOT NULL, 
	effective BIGINT NOT NULL, 
	type TEXT NOT NULL, 
	asserted_by BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	dataset BIGINT NOT NULL, 
	repairs TEXT NOT NULL, 
	PRIMARY KEY (time, event)
)
 WITHOUT ROWID

;
CREATE INDEX event_by_asserter ON event (asserted_by, time, event);
CREATE INDEX event_by_job ON event (job, time, event);
CREATE TABLE event_record (
	time BIGINT NOT NULL, 
	event BLOB NOT NULL, 
	source TEXT NOT NULL, 
	partition BIGINT NOT NULL, 
	"offset" BIGINT NOT NULL, 
	arrival BIGINT NOT NULL, 
	channel TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	PRIMARY KEY (time, event, source, partition, "offset")
)
 WITHOUT ROWID

;
CREATE TABLE facet (
	facet BLOB NOT NULL, 
	deleted BIGINT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (facet)
)
 WITHOUT ROWID

;
CREATE TABLE facet_lineage_set (
	facet BLOB NOT NULL, 
	"key" TEXT NOT NULL, 
	lineage_set BLOB, 
	first BIGINT NOT NULL, 
	PRIMARY KEY (facet, "key")
)
 WITHOUT ROWID

;
CREATE TABLE facet_node (
	node BIGINT NOT NULL, 
	facet BLOB NOT NULL, 
	PRIMARY KEY (node, facet)
)
 WITHOUT ROWID

;
CREATE TABLE facet_set (
	facet_set BLOB NOT NULL, 
	"key" TEXT NOT NULL, 
	facet BLOB NOT NULL, 
	PRIMARY KEY (facet_set, "key")
)
 WITHOUT ROWID

;
CREATE TABLE flow (
	source BIGINT NOT NULL, 
	target BIGINT NOT NULL, 
	job BIGINT NOT NULL, 
	origin BIGINT NOT NULL, 
	evidence BIGINT NOT NULL, 
	PRIMARY KEY (source, target, job, origin, evidence)
)
 WITHOUT ROWID

;
CREATE INDEX flow_back ON flow (target, source, job, origin, evidence);
CREATE TABLE foreign_assertion (
	asserted_by BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	node BIGINT NOT NULL, 
	side BIGINT NOT NULL, 
	why TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	namespaces TEXT NOT NULL, 
	facet_set BLOB NOT NULL, 
	day BIGINT NOT NULL, 
	first BIGINT NOT NULL, 
	first_event BLOB NOT NULL, 
	last BIGINT NOT NULL, 
	last_event BLOB NOT NULL, 
	PRIMARY KEY (asserted_by, job, node, side, why, principal, namespaces, facet_set, day)
)
 WITHOUT ROWID

;
CREATE INDEX foreign_assertion_by_job ON foreign_assertion (job, last);
CREATE INDEX foreign_assertion_by_last ON foreign_assertion (last);
CREATE INDEX foreign_assertion_by_node ON foreign_assertion (node, last);
CREATE TABLE hub (
	hub BIGINT NOT NULL, 
	job BIGINT NOT NULL, 
	origin BIGINT NOT NULL, 
	PRIMARY KEY (hub, job, origin)
)
 WITHOUT ROWID

;
CREATE INDEX hub_by_job ON hub (job);
CREATE TABLE hub_io (
	hub BIGINT NOT NULL, 
	side BIGINT NOT NULL, 
	dataset BIGINT NOT NULL, 
	PRIMARY KEY (hub, side, dataset)
)
 WITHOUT ROWID

;
CREATE INDEX hub_io_by_dataset ON hub_io (dataset, side, hub);
CREATE TABLE io_sample (
	run BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	dataset BIGINT NOT NULL, 
	side BIGINT NOT NULL, 
	time BIGINT NOT NULL, 
	rows BIGINT, 
	bytes BIGINT, 
	files BIGINT, 
	event BLOB NOT NULL, 
	PRIMARY KEY (run, job, dataset, side, time)
)
 WITHOUT ROWID

;
CREATE TABLE job_dependency (
	run BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	direction BIGINT NOT NULL, 
	other_job BIGINT NOT NULL, 
	other_run BLOB NOT NULL, 
	dependency TEXT NOT NULL, 
	sequence TEXT NOT NULL, 
	status TEXT NOT NULL, 
	first BIGINT NOT NULL, 
	last BIGINT NOT NULL, 
	PRIMARY KEY (run, job, direction, other_job, other_run, dependency, sequence, status)
)
 WITHOUT ROWID

;
CREATE INDEX job_dependency_by_other ON job_dependency (other_job, other_run);
CREATE TABLE job_io (
	job BIGINT NOT NULL, 
	dataset BIGINT NOT NULL, 
	side BIGINT NOT NULL, 
	origin BIGINT NOT NULL, 
	PRIMARY KEY (job, dataset, side, origin)
)
 WITHOUT ROWID

;
CREATE INDEX job_io_by_dataset ON job_io (dataset, side, job);
CREATE TABLE job_lineage_set (
	job BIGINT NOT NULL, 
	carrier BIGINT NOT NULL, 
	lineage_set BLOB NOT NULL, 
	origin BIGINT NOT NULL, 
	PRIMARY KEY (job, carrier, lineage_set, origin)
)
 WITHOUT ROWID

;
CREATE INDEX job_lineage_set_by_carrier ON job_lineage_set (carrier, lineage_set);
CREATE INDEX job_lineage_set_by_lineage_set ON job_lineage_set (lineage_set);
CREATE TABLE job_shape (
	job BIGINT NOT NULL, 
	shape BIGINT NOT NULL, 
	day BIGINT NOT NULL, 
	first BIGINT NOT NULL, 
	last BIGINT NOT NULL, 
	PRIMARY KEY (job, shape, day)
)
 WITHOUT ROWID

;
CREATE INDEX job_shape_by_shape ON job_shape (shape, job);
CREATE TABLE job_symlinks (
	dataset BIGINT NOT NULL, 
	job BIGINT NOT NULL, 
	declared_by BLOB NOT NULL, 
	facet BLOB NOT NULL, 
	time BIGINT NOT NULL, 
	event BLOB NOT NULL, 
	PRIMARY KEY (dataset, job, declared_by)
)
 WITHOUT ROWID

;
CREATE INDEX job_symlinks_by_facet ON job_symlinks (dataset, facet, time);
CREATE TABLE lifecycle (
	asserted_by BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	dataset BIGINT NOT NULL, 
	change TEXT NOT NULL, 
	previous BIGINT NOT NULL, 
	day BIGINT NOT NULL, 
	first BIGINT NOT NULL, 
	first_event BLOB NOT NULL, 
	last BIGINT NOT NULL, 
	last_event BLOB NOT NULL, 
	PRIMARY KEY (asserted_by, job, dataset, change, previous, day)
)
 WITHOUT ROWID

;
CREATE INDEX lifecycle_by_dataset ON lifecycle (dataset, first);
CREATE INDEX lifecycle_by_previous ON lifecycle (previous, dataset);
CREATE TABLE lineage_set (
	lineage_set BLOB NOT NULL, 
	explicit BIGINT NOT NULL, 
	PRIMARY KEY (lineage_set)
)
 WITHOUT ROWID

;
CREATE TABLE mentioned_node (
	node BIGINT NOT NULL, 
	job BIGINT NOT NULL, 
	PRIMARY KEY (node, job)
)
 WITHOUT ROWID

;
CREATE TABLE name_alias (
	owner BIGINT NOT NULL, 
	namespace TEXT NOT NULL, 
	name TEXT NOT NULL, 
	rule TEXT NOT NULL, 
	to_namespace TEXT NOT NULL, 
	to_name TEXT NOT NULL, 
	PRIMARY KEY (owner, namespace, name, rule, to_namespace, to_name)
)
 WITHOUT ROWID

;
CREATE INDEX name_alias_back ON name_alias (to_namespace, to_name);
CREATE INDEX name_alias_forth ON name_alias (namespace, name);
CREATE TABLE namespace_alias (
	owner TEXT NOT NULL, 
	namespace TEXT NOT NULL, 
	other_namespace TEXT NOT NULL, 
	prefix TEXT NOT NULL, 
	parts BIGINT NOT NULL, 
	rule TEXT NOT NULL, 
	PRIMARY KEY (owner, namespace, other_namespace, prefix, parts, rule)
)
 WITHOUT ROWID

;
CREATE INDEX namespace_alias_back ON namespace_alias (other_namespace);
CREATE INDEX namespace_alias_forth ON namespace_alias (namespace);
CREATE TABLE namespace_claim (
	whole BIGINT NOT NULL, 
	a_namespace TEXT NOT NULL, 
	a_name TEXT NOT NULL, 
	b_namespace TEXT NOT NULL, 
	b_name TEXT NOT NULL, 
	evidence TEXT NOT NULL, 
	sole BIGINT NOT NULL, 
	first BIGINT NOT NULL, 
	PRIMARY KEY (whole, a_namespace, a_name, b_namespace, b_name, evidence)
)
 WITHOUT ROWID

;
CREATE INDEX namespace_claim_back ON namespace_claim (whole, b_namespace, b_name, a_namespace, a_name);
CREATE TABLE namespace_claim_evidence (
	dataset BIGINT NOT NULL, 
	"key" TEXT NOT NULL, 
	facet BLOB NOT NULL, 
	first BIGINT NOT NULL, 
	PRIMARY KEY (dataset, "key", facet)
)
 WITHOUT ROWID

;
CREATE TABLE node (
	id INTEGER NOT NULL, 
	kind BIGINT NOT NULL, 
	namespace TEXT NOT NULL, 
	name TEXT NOT NULL, 
	first BIGINT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX node_by_name ON node (namespace, name, kind, first);
CREATE TABLE position (
	source TEXT NOT NULL, 
	partition BIGINT NOT NULL, 
	"offset" BIGINT NOT NULL, 
	PRIMARY KEY (source, partition)
)
 WITHOUT ROWID

;
CREATE TABLE quarantine (
	event BLOB NOT NULL, 
	source TEXT NOT NULL, 
	partition BIGINT NOT NULL, 
	"offset" BIGINT NOT NULL, 
	code TEXT NOT NULL, 
	path TEXT NOT NULL, 
	message TEXT NOT NULL, 
	sample TEXT NOT NULL, 
	size BIGINT NOT NULL, 
	arrival BIGINT NOT NULL, 
	channel TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	PRIMARY KEY (event, source, partition, "offset")
)
 WITHOUT ROWID

;
CREATE TABLE released (
	event BLOB NOT NULL, 
	since BIGINT NOT NULL, 
	PRIMARY KEY (event)
)
 WITHOUT ROWID

;
CREATE TABLE rule (
	name TEXT NOT NULL, 
	value BIGINT NOT NULL, 
	PRIMARY KEY (name)
)
 WITHOUT ROWID

;
CREATE TABLE run (
	run BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	parent_run BLOB, 
	parent_job BIGINT, 
	root_run BLOB, 
	root_job BIGINT, 
	parent_raw TEXT, 
	root_raw TEXT, 
	parent_time BIGINT NOT NULL, 
	parent_sure BIGINT NOT NULL, 
	parent_event BLOB NOT NULL, 
	nominal_start BIGINT, 
	nominal_end BIGINT, 
	nominal_time BIGINT NOT NULL, 
	nominal_event BLOB NOT NULL, 
	raw_id TEXT, 
	raw_event BLOB NOT NULL, 
	PRIMARY KEY (run, job)
)
 WITHOUT ROWID

;
CREATE INDEX run_by_parent ON run (parent_run, parent_job) WHERE parent_run IS NOT NULL;
CREATE INDEX run_by_parent_job ON run (parent_job, parent_time) WHERE parent_run IS NOT NULL;
CREATE INDEX run_by_parent_raw ON run (parent_raw) WHERE parent_raw IS NOT NULL;
CREATE INDEX run_by_raw_id ON run (raw_id) WHERE raw_id IS NOT NULL;
CREATE INDEX run_by_root ON run (root_run, root_job) WHERE root_run IS NOT NULL AND root_run != parent_run;
CREATE INDEX run_by_root_job ON run (root_job, parent_time) WHERE root_run IS NOT NULL AND root_run != parent_run;
CREATE INDEX run_by_root_raw ON run (root_raw) WHERE root_raw IS NOT NULL;
CREATE TABLE run_event (
	run BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	type TEXT NOT NULL, 
	day BIGINT NOT NULL, 
	first BIGINT NOT NULL, 
	last BIGINT NOT NULL, 
	PRIMARY KEY (run, job, type, day)
)
 WITHOUT ROWID

;
CREATE TABLE run_io (
	run BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	dataset BIGINT NOT NULL, 
	side BIGINT NOT NULL, 
	day BIGINT NOT NULL, 
	first BIGINT NOT NULL, 
	last BIGINT NOT NULL, 
	PRIMARY KEY (run, job, dataset, side, day)
)
 WITHOUT ROWID

;
CREATE TABLE run_lineage_set (
	asserted_by BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	carrier BIGINT NOT NULL, 
	lineage_set BLOB NOT NULL, 
	first BIGINT NOT NULL, 
	PRIMARY KEY (asserted_by, job, carrier, lineage_set)
)
 WITHOUT ROWID

;
CREATE TABLE run_shape (
	asserted_by BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	origin BIGINT NOT NULL, 
	shape BIGINT NOT NULL, 
	first BIGINT NOT NULL, 
	last BIGINT NOT NULL, 
	first_shape_at BIGINT NOT NULL, 
	current_since BIGINT NOT NULL, 
	pending_until BIGINT, 
	PRIMARY KEY (asserted_by, job)
)
 WITHOUT ROWID

;
CREATE INDEX run_shape_by_current_since ON run_shape (job, shape, current_since);
CREATE INDEX run_shape_by_job ON run_shape (job, last);
CREATE INDEX run_shape_pending ON run_shape (job, pending_until, current_since) WHERE pending_until IS NOT NULL;
CREATE TABLE run_shape_day (
	asserted_by BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	day BIGINT NOT NULL, 
	shape BIGINT NOT NULL, 
	first BIGINT NOT NULL, 
	last BIGINT NOT NULL, 
	PRIMARY KEY (asserted_by, job, day)
)
 WITHOUT ROWID

;
CREATE INDEX run_shape_day_by_first ON run_shape_day (job, shape, day, first);
CREATE INDEX run_shape_day_by_last ON run_shape_day (job, shape, day, last);
CREATE TABLE search_queue (
	node BIGINT NOT NULL, 
	PRIMARY KEY (node)
)
 WITHOUT ROWID

;
CREATE TABLE search_text (
	node INTEGER NOT NULL, 
	title TEXT NOT NULL, 
	columns TEXT NOT NULL, 
	owners TEXT NOT NULL, 
	tags TEXT NOT NULL, 
	description TEXT NOT NULL, 
	sql TEXT NOT NULL, 
	failure TEXT NOT NULL, 
	PRIMARY KEY (node)
);
CREATE TABLE shape (
	shape BIGINT NOT NULL, 
	origin BIGINT NOT NULL, 
	inputs BIGINT NOT NULL, 
	outputs BIGINT NOT NULL, 
	hubs BIGINT NOT NULL, 
	PRIMARY KEY (shape)
)
 WITHOUT ROWID

;
CREATE TABLE shape_flow (
	shape BIGINT NOT NULL, 
	source BIGINT NOT NULL, 
	target BIGINT NOT NULL, 
	evidence BIGINT NOT NULL, 
	PRIMARY KEY (shape, source, target, evidence)
)
 WITHOUT ROWID

;
CREATE INDEX shape_flow_ends ON shape_flow (source, target, shape);
CREATE TABLE shape_io (
	shape BIGINT NOT NULL, 
	side BIGINT NOT NULL, 
	dataset BIGINT NOT NULL, 
	PRIMARY KEY (shape, side, dataset)
)
 WITHOUT ROWID

;
CREATE INDEX shape_io_by_dataset ON shape_io (dataset, side, shape);
CREATE TABLE shape_lineage_set (
	shape BIGINT NOT NULL, 
	carrier BIGINT NOT NULL, 
	lineage_set BLOB NOT NULL, 
	PRIMARY KEY (shape, carrier, lineage_set)
)
 WITHOUT ROWID

;
CREATE INDEX shape_lineage_set_by_lineage_set ON shape_lineage_set (lineage_set, carrier, shape);
CREATE TABLE sibling (
	parent BLOB NOT NULL, 
	parent_job BIGINT NOT NULL, 
	side BIGINT NOT NULL, 
	first BIGINT NOT NULL, 
	asserted_by BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	last BIGINT NOT NULL, 
	shape BIGINT NOT NULL, 
	current_since BIGINT NOT NULL, 
	PRIMARY KEY (parent, parent_job, side, first, asserted_by, job)
)
 WITHOUT ROWID

;
CREATE INDEX sibling_by_asserter ON sibling (asserted_by, job);
CREATE INDEX sibling_by_last ON sibling (parent, parent_job, side, last);
CREATE TABLE stitch (
	asserted_by BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	reader BLOB NOT NULL, 
	reader_job BIGINT NOT NULL, 
	PRIMARY KEY (asserted_by, job)
)
 WITHOUT ROWID

;
CREATE INDEX stitch_by_reader ON stitch (reader, reader_job);
CREATE TABLE stitch_queue (
	asserted_by BLOB NOT NULL, 
	job BIGINT NOT NULL, 
	PRIMARY KEY (asserted_by, job)
)
 WITHOUT ROWID

;
CREATE TABLE symlink (
	dataset BIGINT NOT NULL, 
	other BIGINT NOT NULL, 
	type TEXT NOT NULL, 
	PRIMARY KEY (dataset, other, type)
)
 WITHOUT ROWID

;
CREATE INDEX symlink_back ON symlink (other);
CREATE TABLE symlink_evidence (
	dataset BIGINT NOT NULL, 
	facet BLOB NOT NULL, 
	PRIMARY KEY (dataset, facet)
)
 WITHOUT ROWID

;
CREATE INDEX symlink_evidence_back ON symlink_evidence (facet);
CREATE VIRTUAL TABLE node_search USING fts5(namespace, name, content='node', content_rowid='id', tokenize='trigram');
CREATE VIRTUAL TABLE node_search_text USING fts5(title, columns, owners, tags, description, sql, failure, content='search_text', content_rowid='node');
INSERT INTO alembic_version (version_num) VALUES ('0007');
COMMIT;
