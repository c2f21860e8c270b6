BEGIN;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE demo_edition (
	edition TEXT NOT NULL, 
	PRIMARY KEY (edition)
);
CREATE TABLE installation (
	one INTEGER NOT NULL CHECK (one = 1), 
	"key" BLOB NOT NULL, 
	PRIMARY KEY (one)
);
CREATE TABLE source (
	name TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE "outbox_message" (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	source TEXT NOT NULL, 
	path TEXT NOT NULL, 
	body BLOB NOT NULL
);
CREATE TABLE source_state (
	name TEXT NOT NULL, 
	polls INTEGER NOT NULL, 
	state BLOB NOT NULL, 
	snapshot BLOB, 
	PRIMARY KEY (name)
);
CREATE TABLE task (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id TEXT, 
	kind TEXT NOT NULL, 
	status TEXT NOT NULL, 
	record BLOB, 
	UNIQUE (id)
);
CREATE TABLE api_key (
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	digest BLOB NOT NULL, 
	scopes TEXT NOT NULL, 
	namespaces TEXT NOT NULL, 
	note TEXT NOT NULL, 
	created_us BIGINT NOT NULL, 
	created_by TEXT NOT NULL, 
	expires_us BIGINT, 
	revoked_us BIGINT, 
	used_us BIGINT, 
	PRIMARY KEY (id)
);
CREATE TABLE audit (
	sequence BIGINT NOT NULL, 
	at_us BIGINT NOT NULL, 
	action TEXT NOT NULL, 
	principal TEXT, 
	origin TEXT, 
	target TEXT, 
	details TEXT, 
	salt BLOB, 
	commitment BLOB NOT NULL, 
	digest BLOB NOT NULL, 
	PRIMARY KEY (sequence)
);
CREATE INDEX audit_by_principal ON audit (principal);
CREATE TABLE browser_session (
	digest BLOB NOT NULL, 
	principal TEXT NOT NULL, 
	issuer TEXT NOT NULL, 
	roles TEXT NOT NULL, 
	created_us BIGINT NOT NULL, 
	used_us BIGINT NOT NULL, 
	expires_us BIGINT NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE input (
	name TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE input_state (
	name TEXT NOT NULL, 
	paused INTEGER NOT NULL, 
	ledger BLOB, 
	PRIMARY KEY (name)
);
CREATE TABLE input_file (
	name TEXT NOT NULL, 
	file_key TEXT NOT NULL, 
	stream TEXT NOT NULL, 
	life TEXT NOT NULL, 
	at INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	mark TEXT NOT NULL, 
	PRIMARY KEY (name, file_key)
)
 WITHOUT ROWID

;
CREATE TABLE target (
	name TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE target_state (
	name TEXT NOT NULL, 
	paused INTEGER NOT NULL, 
	report BLOB, 
	PRIMARY KEY (name)
);
CREATE TABLE published (
	place TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	state TEXT NOT NULL, 
	ours INTEGER NOT NULL, 
	fingerprint TEXT NOT NULL, 
	visible TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	changed_us INTEGER NOT NULL, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (place, "key")
);
CREATE TABLE target_feed (
	name TEXT NOT NULL, 
	state BLOB NOT NULL, 
	report BLOB, 
	PRIMARY KEY (name)
);
CREATE TABLE pin (
	id TEXT NOT NULL, 
	address TEXT NOT NULL, 
	name TEXT NOT NULL, 
	author TEXT NOT NULL, 
	created_us BIGINT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX pin_by_author ON pin (author, created_us);
CREATE TABLE erasure (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id TEXT NOT NULL, 
	report BLOB NOT NULL, 
	UNIQUE (id)
);
CREATE TABLE erasure_file (
	erasure TEXT NOT NULL, 
	path TEXT NOT NULL, 
	erased INTEGER NOT NULL, 
	masked INTEGER NOT NULL, 
	PRIMARY KEY (erasure, path)
)
 WITHOUT ROWID

;
INSERT INTO alembic_version (version_num) VALUES ('0011');
COMMIT;
