"""The first schema: the relations, the derived values, and the search over names."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:  # noqa: PLR0915 - one statement a table
    """Create every table, and the index over names that search reads."""
    op.create_table(
        "content",
        sa.Column("content", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("content", "key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "current_facet",
        sa.Column("node", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("facet", sa.LargeBinary(), nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("node", "job", "key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "declared_io",
        sa.Column("content", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("facets", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("content", "side", "dataset", "facets"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "dirty",
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("subject", "job"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "erased",
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("since", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("subject"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "event",
        sa.Column("time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("effective", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("repairs", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("time", "event"),
        sqlite_with_rowid=False,
    )
    op.create_index("event_by_job", "event", ["job", "time", "event"], unique=False)
    op.create_index("event_by_subject", "event", ["subject", "time", "event"], unique=False)
    op.create_table(
        "event_copy",
        sa.Column("time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("source", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("part", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("place", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("arrival", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("channel", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("principal", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("time", "event", "source", "part", "place"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "facet",
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("deleted", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("facet"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "facet_meaning",
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("meaning", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("facet", "key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "facet_node",
        sa.Column("node", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("node", "facet"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "flow",
        sa.Column("source", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("target", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("origin", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("evidence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("source", "target", "job", "origin", "evidence"),
        sqlite_with_rowid=False,
    )
    op.create_index("flow_back", "flow", ["target", "source", "job", "origin", "evidence"], unique=False)
    op.create_table(
        "hub",
        sa.Column("hub", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("origin", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("hub", "job", "origin"),
        sqlite_with_rowid=False,
    )
    op.create_index("hub_by_job", "hub", ["job"], unique=False)
    op.create_table(
        "hub_io",
        sa.Column("hub", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("hub", "side", "dataset"),
        sqlite_with_rowid=False,
    )
    op.create_index("hub_io_by_dataset", "hub_io", ["dataset", "side", "hub"], unique=False)
    op.create_table(
        "identity",
        sa.Column("node", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("canonical", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("node"),
        sqlite_with_rowid=False,
    )
    op.create_index("identity_members", "identity", ["canonical"], unique=False)
    op.create_table(
        "io_sample",
        sa.Column("run", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("rows", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("bytes", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("files", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("run", "job", "dataset", "side", "time"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "job_io",
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("origin", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("job", "dataset", "side", "origin"),
        sqlite_with_rowid=False,
    )
    op.create_index("job_io_by_dataset", "job_io", ["dataset", "side", "job"], unique=False)
    op.create_table(
        "job_shape",
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("shape", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("job", "shape", "day"),
        sqlite_with_rowid=False,
    )
    op.create_index("job_shape_by_shape", "job_shape", ["shape", "job"], unique=False)
    op.create_table(
        "job_statement",
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("carrier", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("meaning", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("origin", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("job", "carrier", "meaning", "origin"),
        sqlite_with_rowid=False,
    )
    op.create_index("job_statement_by_carrier", "job_statement", ["carrier", "meaning"], unique=False)
    op.create_index("job_statement_by_meaning", "job_statement", ["meaning"], unique=False)
    op.create_table(
        "meaning",
        sa.Column("meaning", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("explicit", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("meaning"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "meta",
        sa.Column("key", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "node",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.BigInteger(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("node_by_name", "node", ["namespace", "name", "kind"], unique=False)
    op.create_table(
        "position",
        sa.Column("source", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("part", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("source", "part"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "present",
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("origin", sa.BigInteger(), nullable=False),
        sa.Column("shape", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "job"),
        sqlite_with_rowid=False,
    )
    op.create_index("present_by_job", "present", ["job", "last"], unique=False)
    op.create_table(
        "present_day",
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("shape", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "job", "day"),
        sqlite_with_rowid=False,
    )
    op.create_index("present_first", "present_day", ["job", "shape", "day", "first"], unique=False)
    op.create_index("present_last", "present_day", ["job", "shape", "day", "last"], unique=False)
    op.create_table(
        "quarantine",
        sa.Column("event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("source", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("part", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("place", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("code", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("message", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("sample", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("size", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("arrival", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("channel", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("principal", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("event", "source", "part", "place"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "released",
        sa.Column("event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("since", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("event"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run",
        sa.Column("run", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("parent_run", sa.LargeBinary(), autoincrement=False, nullable=True),
        sa.Column("parent_job", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("root_run", sa.LargeBinary(), autoincrement=False, nullable=True),
        sa.Column("root_job", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("parent_time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("parent_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("nominal_start", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("nominal_end", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("nominal_time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("nominal_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("raw_id", sa.Text(), autoincrement=False, nullable=True),
        sa.Column("raw_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("run", "job"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "run_by_raw_id",
        "run",
        ["raw_id"],
        unique=False,
        sqlite_where=sa.text("raw_id IS NOT NULL"),
        postgresql_where=sa.text("raw_id IS NOT NULL"),
    )
    op.create_table(
        "run_event",
        sa.Column("run", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("run", "type"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_io",
        sa.Column("run", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("run", "job", "dataset", "side"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "said",
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("about", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("origin", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("subject", "job", "about", "side", "origin", "content", "day"),
        sqlite_with_rowid=False,
    )
    op.create_index("said_about", "said", ["about", "side", "day"], unique=False)
    op.create_table(
        "shape",
        sa.Column("shape", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("origin", sa.BigInteger(), nullable=False),
        sa.Column("inputs", sa.BigInteger(), nullable=False),
        sa.Column("outputs", sa.BigInteger(), nullable=False),
        sa.Column("hubs", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("shape"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "shape_flow",
        sa.Column("shape", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("target", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("evidence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("shape", "source", "target", "evidence"),
        sqlite_with_rowid=False,
    )
    op.create_index("shape_flow_ends", "shape_flow", ["source", "target", "shape"], unique=False)
    op.create_table(
        "shape_io",
        sa.Column("shape", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("shape", "side", "dataset"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "shape_statement",
        sa.Column("shape", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("carrier", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("meaning", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("shape", "carrier", "meaning"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "statement",
        sa.Column("meaning", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("target", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("target_field", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("source", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_field", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("subtype", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("masking", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("meaning", "target", "target_field", "source", "source_field", "type", "subtype", "masking"),
        sqlite_with_rowid=False,
    )
    op.create_index("statement_by_source", "statement", ["source", "source_field", "meaning"], unique=False)
    op.create_index("statement_by_target", "statement", ["target", "target_field", "meaning"], unique=False)
    op.create_table(
        "subject_statement",
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("carrier", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("meaning", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("subject", "job", "carrier", "meaning"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "symlink",
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("other", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("dataset", "other", "type"),
        sqlite_with_rowid=False,
    )
    op.create_index("symlink_back", "symlink", ["other"], unique=False)
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE node_search USING fts5(namespace, name, content='node', content_rowid='id', tokenize='trigram')")
