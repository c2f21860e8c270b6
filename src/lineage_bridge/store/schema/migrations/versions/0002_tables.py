"""The tables of the graph store, filled by folding the log again."""

import sqlalchemy as sa
from alembic import op

from lineage_bridge.store.schema.migrations.emptied import drop_everything

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:  # noqa: PLR0915 - one statement a table
    """Take out what an older version made, and create every table."""
    drop_everything(op.get_bind())
    op.create_table(
        "alias",
        sa.Column("entity", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("whole", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("a_space", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("a_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_space", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("evidence", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("stated_by", sa.Text(), autoincrement=False, nullable=True),
        sa.Column("stated_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("stated_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("vetoed", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("vetoed_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("vetoed_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("entity", "whole", "a_space", "a_name", "b_space", "b_name", "kind", "evidence"),
        sqlite_with_rowid=False,
    )
    op.create_index("alias_back", "alias", ["entity", "whole", "b_space", "b_name"], unique=False)
    op.create_table(
        "alias_word",
        sa.Column("entity", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("whole", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("a_space", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("a_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_space", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("evidence", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("word", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("stated_by", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("entity", "whole", "a_space", "a_name", "b_space", "b_name", "kind", "evidence", "at", "event"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "change",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.Column("node", sa.BigInteger(), nullable=False),
        sa.Column("other", sa.BigInteger(), nullable=False),
        sa.Column("job", sa.BigInteger(), nullable=False),
        sa.Column("side", sa.BigInteger(), nullable=False),
        sa.Column("origin", sa.BigInteger(), nullable=False),
        sa.Column("evidence", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "change_epoch",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("epoch", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "claim",
        sa.Column("whole", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("a_space", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("a_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_space", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("evidence", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("sole", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("whole", "a_space", "a_name", "b_space", "b_name", "evidence"),
        sqlite_with_rowid=False,
    )
    op.create_index("claim_back", "claim", ["whole", "b_space", "b_name", "a_space", "a_name"], unique=False)
    op.create_table(
        "claim_said",
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("dataset", "key", "facet"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "content",
        sa.Column("content", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("content", "key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "control",
        sa.Column("run", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("direction", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("other_job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("other_run", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("dependency", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("sequence", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("status", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("run", "job", "direction", "other_job", "other_run", "dependency", "sequence", "status"),
        sqlite_with_rowid=False,
    )
    op.create_index("control_by_other", "control", ["other_job", "other_run"], unique=False)
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
        "ending",
        sa.Column("source", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("target", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("standing", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("at", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("ending_time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ending_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("source", "target", "job"),
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
        sa.Column("first", sa.BigInteger(), nullable=False),
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
        "lifecycle",
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("change", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("previous", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("subject", "job", "dataset", "change", "previous", "day"),
        sqlite_with_rowid=False,
    )
    op.create_index("lifecycle_by_dataset", "lifecycle", ["dataset", "first"], unique=False)
    op.create_index("lifecycle_by_previous", "lifecycle", ["previous", "dataset"], unique=False)
    op.create_table(
        "meaning",
        sa.Column("meaning", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("explicit", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("meaning"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "node",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.BigInteger(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("node_by_name", "node", ["namespace", "name", "kind", "first"], unique=False)
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
        sa.Column("sprouted", sa.BigInteger(), nullable=False),
        sa.Column("reached", sa.BigInteger(), nullable=False),
        sa.Column("forming", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("subject", "job"),
        sqlite_with_rowid=False,
    )
    op.create_index("present_by_job", "present", ["job", "last"], unique=False)
    op.create_index(
        "present_forming",
        "present",
        ["job", "forming", "reached"],
        unique=False,
        sqlite_where=sa.text("forming IS NOT NULL"),
        postgresql_where=sa.text("forming IS NOT NULL"),
    )
    op.create_index("present_reached", "present", ["job", "shape", "reached"], unique=False)
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
        "remark",
        sa.Column("meaning", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("target", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("target_field", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("source", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_field", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("subtype", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("masking", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("description", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("target_run", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("source_run", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint(
            "meaning",
            "target",
            "target_field",
            "source",
            "source_field",
            "type",
            "subtype",
            "masking",
            "facet",
            "description",
            "target_run",
            "source_run",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("remark_by_facet", "remark", ["facet"], unique=False)
    op.create_table(
        "respaced",
        sa.Column("owner", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("space", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("other", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("prefix", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("parts", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("rule", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("owner", "space", "other", "prefix", "parts", "rule"),
        sqlite_with_rowid=False,
    )
    op.create_index("respaced_back", "respaced", ["other"], unique=False)
    op.create_index("respaced_forth", "respaced", ["space"], unique=False)
    op.create_table(
        "respelt",
        sa.Column("owner", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("rule", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("to_namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("to_name", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("owner", "namespace", "name", "rule", "to_namespace", "to_name"),
        sqlite_with_rowid=False,
    )
    op.create_index("respelt_back", "respelt", ["to_namespace", "to_name"], unique=False)
    op.create_index("respelt_forth", "respelt", ["namespace", "name"], unique=False)
    op.create_table(
        "rule",
        sa.Column("name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
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
        "run_by_parent",
        "run",
        ["parent_run", "parent_job"],
        unique=False,
        sqlite_where=sa.text("parent_run IS NOT NULL"),
        postgresql_where=sa.text("parent_run IS NOT NULL"),
    )
    op.create_index(
        "run_by_raw_id",
        "run",
        ["raw_id"],
        unique=False,
        sqlite_where=sa.text("raw_id IS NOT NULL"),
        postgresql_where=sa.text("raw_id IS NOT NULL"),
    )
    op.create_index(
        "run_by_root",
        "run",
        ["root_run", "root_job"],
        unique=False,
        sqlite_where=sa.text("root_run IS NOT NULL AND root_run != parent_run"),
        postgresql_where=sa.text("root_run IS NOT NULL AND root_run != parent_run"),
    )
    op.create_table(
        "run_event",
        sa.Column("run", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("run", "type", "day"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_io",
        sa.Column("run", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("run", "job", "dataset", "side", "day"),
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
        "search_text",
        sa.Column("node", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("columns", sa.Text(), nullable=False),
        sa.Column("owners", sa.Text(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("sql", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("node"),
    )
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
    op.create_index("shape_io_by_dataset", "shape_io", ["dataset", "side", "shape"], unique=False)
    op.create_table(
        "shape_statement",
        sa.Column("shape", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("carrier", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("meaning", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("shape", "carrier", "meaning"),
        sqlite_with_rowid=False,
    )
    op.create_index("shape_statement_by_meaning", "shape_statement", ["meaning", "carrier", "shape"], unique=False)
    op.create_table(
        "sibling",
        sa.Column("parent", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.Column("shape", sa.BigInteger(), nullable=False),
        sa.Column("reached", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("parent", "side", "first", "subject", "job"),
        sqlite_with_rowid=False,
    )
    op.create_index("sibling_by_last", "sibling", ["parent", "side", "last"], unique=False)
    op.create_index("sibling_by_subject", "sibling", ["subject", "job"], unique=False)
    op.create_table(
        "spoken",
        sa.Column("node", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("node", "job"),
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
        "stitch",
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("reader", sa.LargeBinary(), nullable=False),
        sa.Column("reader_job", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "job"),
        sqlite_with_rowid=False,
    )
    op.create_index("stitch_by_reader", "stitch", ["reader", "reader_job"], unique=False)
    op.create_table(
        "subject_statement",
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("carrier", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("meaning", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
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
    op.create_table(
        "symlink_said",
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("dataset", "facet"),
        sqlite_with_rowid=False,
    )
    op.create_index("symlink_said_back", "symlink_said", ["facet"], unique=False)
    op.create_table(
        "unsearched",
        sa.Column("node", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("node"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "unstitched",
        sa.Column("subject", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("subject", "job"),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE node_search USING fts5(namespace, name, content='node', content_rowid='id', tokenize='trigram')")
        op.execute(
            "CREATE VIRTUAL TABLE node_search_told USING fts5(title, columns, owners, tags, description, sql, content='sear"
            "ch_text', content_rowid='node')"
        )
