"""The tables of the graph store, filled by folding the log again."""

import sqlalchemy as sa
from alembic import op

from lineage_bridge.store.schema.migrations.emptied import drop_everything

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:  # noqa: PLR0915 - one statement a table
    """Take out what an older version made, and create every table."""
    drop_everything(op.get_bind())
    op.create_table(
        "alias",
        sa.Column("entity", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("whole", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("a_namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("a_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("evidence", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("stated_by", sa.Text(), autoincrement=False, nullable=True),
        sa.Column("stated_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("stated_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("vetoed", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("vetoed_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("vetoed_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("entity", "whole", "a_namespace", "a_name", "b_namespace", "b_name", "kind", "evidence"),
        sqlite_with_rowid=False,
    )
    op.create_index("alias_back", "alias", ["entity", "whole", "b_namespace", "b_name"], unique=False)
    op.create_table(
        "alias_statement",
        sa.Column("entity", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("whole", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("a_namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("a_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("evidence", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("operation", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("stated_by", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("entity", "whole", "a_namespace", "a_name", "b_namespace", "b_name", "kind", "evidence", "at", "event"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "annotation",
        sa.Column("lineage_set", sa.LargeBinary(), autoincrement=False, nullable=False),
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
            "lineage_set",
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
    op.create_index("annotation_by_facet", "annotation", ["facet"], unique=False)
    op.create_table(
        "assertion",
        sa.Column("asserted_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("node", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("origin", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("facet_set", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("asserted_by", "job", "node", "side", "origin", "facet_set", "day"),
        sqlite_with_rowid=False,
    )
    op.create_index("assertion_by_node", "assertion", ["node", "side", "day"], unique=False)
    op.create_table(
        "change",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("action", sa.BigInteger(), nullable=False),
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
        "column_statement",
        sa.Column("lineage_set", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("target", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("target_field", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("source", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_field", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("subtype", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("masking", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("lineage_set", "target", "target_field", "source", "source_field", "type", "subtype", "masking"),
        sqlite_with_rowid=False,
    )
    op.create_index("column_statement_by_source", "column_statement", ["source", "source_field", "lineage_set"], unique=False)
    op.create_index("column_statement_by_target", "column_statement", ["target", "target_field", "lineage_set"], unique=False)
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
        sa.Column("facet_set", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset_facet_set", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("facet_set", "side", "dataset", "dataset_facet_set"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "derive_queue",
        sa.Column("asserted_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("asserted_by", "job"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ending",
        sa.Column("source", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("target", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ended", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("at", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("ending_time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ending_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("source", "target", "job"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "erased",
        sa.Column("run", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("since", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("run"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "event",
        sa.Column("time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("effective", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("asserted_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("repairs", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("time", "event"),
        sqlite_with_rowid=False,
    )
    op.create_index("event_by_asserter", "event", ["asserted_by", "time", "event"], unique=False)
    op.create_index("event_by_job", "event", ["job", "time", "event"], unique=False)
    op.create_table(
        "event_record",
        sa.Column("time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("source", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("partition", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("offset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("arrival", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("channel", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("principal", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("time", "event", "source", "partition", "offset"),
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
        "facet_lineage_set",
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("lineage_set", sa.LargeBinary(), nullable=True),
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
        "facet_set",
        sa.Column("facet_set", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("facet_set", "key"),
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
        "foreign_assertion",
        sa.Column("asserted_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("node", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("why", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("principal", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("namespaces", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("facet_set", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("asserted_by", "job", "node", "side", "why", "principal", "namespaces", "facet_set", "day"),
        sqlite_with_rowid=False,
    )
    op.create_index("foreign_assertion_by_job", "foreign_assertion", ["job", "last"], unique=False)
    op.create_index("foreign_assertion_by_last", "foreign_assertion", ["last"], unique=False)
    op.create_index("foreign_assertion_by_node", "foreign_assertion", ["node", "last"], unique=False)
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
        "job_dependency",
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
    op.create_index("job_dependency_by_other", "job_dependency", ["other_job", "other_run"], unique=False)
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
        "job_lineage_set",
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("carrier", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("lineage_set", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("origin", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("job", "carrier", "lineage_set", "origin"),
        sqlite_with_rowid=False,
    )
    op.create_index("job_lineage_set_by_carrier", "job_lineage_set", ["carrier", "lineage_set"], unique=False)
    op.create_index("job_lineage_set_by_lineage_set", "job_lineage_set", ["lineage_set"], unique=False)
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
        "job_symlinks",
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("declared_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("facet", sa.LargeBinary(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("dataset", "job", "declared_by"),
        sqlite_with_rowid=False,
    )
    op.create_index("job_symlinks_by_facet", "job_symlinks", ["dataset", "facet", "time"], unique=False)
    op.create_table(
        "lifecycle",
        sa.Column("asserted_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("change", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("previous", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("asserted_by", "job", "dataset", "change", "previous", "day"),
        sqlite_with_rowid=False,
    )
    op.create_index("lifecycle_by_dataset", "lifecycle", ["dataset", "first"], unique=False)
    op.create_index("lifecycle_by_previous", "lifecycle", ["previous", "dataset"], unique=False)
    op.create_table(
        "lineage_set",
        sa.Column("lineage_set", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("explicit", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("lineage_set"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "mentioned_node",
        sa.Column("node", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("node", "job"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "name_alias",
        sa.Column("owner", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("rule", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("to_namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("to_name", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("owner", "namespace", "name", "rule", "to_namespace", "to_name"),
        sqlite_with_rowid=False,
    )
    op.create_index("name_alias_back", "name_alias", ["to_namespace", "to_name"], unique=False)
    op.create_index("name_alias_forth", "name_alias", ["namespace", "name"], unique=False)
    op.create_table(
        "namespace_alias",
        sa.Column("owner", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("other_namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("prefix", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("parts", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("rule", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("owner", "namespace", "other_namespace", "prefix", "parts", "rule"),
        sqlite_with_rowid=False,
    )
    op.create_index("namespace_alias_back", "namespace_alias", ["other_namespace"], unique=False)
    op.create_index("namespace_alias_forth", "namespace_alias", ["namespace"], unique=False)
    op.create_table(
        "namespace_claim",
        sa.Column("whole", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("a_namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("a_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_namespace", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("b_name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("evidence", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("sole", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("whole", "a_namespace", "a_name", "b_namespace", "b_name", "evidence"),
        sqlite_with_rowid=False,
    )
    op.create_index("namespace_claim_back", "namespace_claim", ["whole", "b_namespace", "b_name", "a_namespace", "a_name"], unique=False)
    op.create_table(
        "namespace_claim_evidence",
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("dataset", "key", "facet"),
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
        sa.Column("partition", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("source", "partition"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "quarantine",
        sa.Column("event", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("source", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("partition", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("offset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("code", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("message", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("sample", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("size", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("arrival", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("channel", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("principal", sa.Text(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("event", "source", "partition", "offset"),
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
        sa.Column("parent_raw", sa.Text(), autoincrement=False, nullable=True),
        sa.Column("root_raw", sa.Text(), autoincrement=False, nullable=True),
        sa.Column("parent_time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("parent_sure", sa.BigInteger(), autoincrement=False, nullable=False),
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
        "run_by_parent_job",
        "run",
        ["parent_job", "parent_time"],
        unique=False,
        sqlite_where=sa.text("parent_run IS NOT NULL"),
        postgresql_where=sa.text("parent_run IS NOT NULL"),
    )
    op.create_index(
        "run_by_parent_raw",
        "run",
        ["parent_raw"],
        unique=False,
        sqlite_where=sa.text("parent_raw IS NOT NULL"),
        postgresql_where=sa.text("parent_raw IS NOT NULL"),
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
    op.create_index(
        "run_by_root_job",
        "run",
        ["root_job", "parent_time"],
        unique=False,
        sqlite_where=sa.text("root_run IS NOT NULL AND root_run != parent_run"),
        postgresql_where=sa.text("root_run IS NOT NULL AND root_run != parent_run"),
    )
    op.create_index(
        "run_by_root_raw",
        "run",
        ["root_raw"],
        unique=False,
        sqlite_where=sa.text("root_raw IS NOT NULL"),
        postgresql_where=sa.text("root_raw IS NOT NULL"),
    )
    op.create_table(
        "run_event",
        sa.Column("run", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("run", "job", "type", "day"),
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
        "run_lineage_set",
        sa.Column("asserted_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("carrier", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("lineage_set", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("asserted_by", "job", "carrier", "lineage_set"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_shape",
        sa.Column("asserted_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("origin", sa.BigInteger(), nullable=False),
        sa.Column("shape", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.Column("first_shape_at", sa.BigInteger(), nullable=False),
        sa.Column("current_since", sa.BigInteger(), nullable=False),
        sa.Column("pending_until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("asserted_by", "job"),
        sqlite_with_rowid=False,
    )
    op.create_index("run_shape_by_current_since", "run_shape", ["job", "shape", "current_since"], unique=False)
    op.create_index("run_shape_by_job", "run_shape", ["job", "last"], unique=False)
    op.create_index(
        "run_shape_pending",
        "run_shape",
        ["job", "pending_until", "current_since"],
        unique=False,
        sqlite_where=sa.text("pending_until IS NOT NULL"),
        postgresql_where=sa.text("pending_until IS NOT NULL"),
    )
    op.create_table(
        "run_shape_day",
        sa.Column("asserted_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("shape", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("asserted_by", "job", "day"),
        sqlite_with_rowid=False,
    )
    op.create_index("run_shape_day_by_first", "run_shape_day", ["job", "shape", "day", "first"], unique=False)
    op.create_index("run_shape_day_by_last", "run_shape_day", ["job", "shape", "day", "last"], unique=False)
    op.create_table(
        "search_queue",
        sa.Column("node", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("node"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "search_text",
        sa.Column("node", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("columns", sa.Text(), nullable=False),
        sa.Column("owners", sa.Text(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("sql", sa.Text(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=False),
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
        "shape_lineage_set",
        sa.Column("shape", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("carrier", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("lineage_set", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("shape", "carrier", "lineage_set"),
        sqlite_with_rowid=False,
    )
    op.create_index("shape_lineage_set_by_lineage_set", "shape_lineage_set", ["lineage_set", "carrier", "shape"], unique=False)
    op.create_table(
        "sibling",
        sa.Column("parent", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("parent_job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("side", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("asserted_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.Column("shape", sa.BigInteger(), nullable=False),
        sa.Column("current_since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("parent", "parent_job", "side", "first", "asserted_by", "job"),
        sqlite_with_rowid=False,
    )
    op.create_index("sibling_by_asserter", "sibling", ["asserted_by", "job"], unique=False)
    op.create_index("sibling_by_last", "sibling", ["parent", "parent_job", "side", "last"], unique=False)
    op.create_table(
        "stitch",
        sa.Column("asserted_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("reader", sa.LargeBinary(), nullable=False),
        sa.Column("reader_job", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("asserted_by", "job"),
        sqlite_with_rowid=False,
    )
    op.create_index("stitch_by_reader", "stitch", ["reader", "reader_job"], unique=False)
    op.create_table(
        "stitch_queue",
        sa.Column("asserted_by", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.Column("job", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("asserted_by", "job"),
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
        "symlink_evidence",
        sa.Column("dataset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("facet", sa.LargeBinary(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("dataset", "facet"),
        sqlite_with_rowid=False,
    )
    op.create_index("symlink_evidence_back", "symlink_evidence", ["facet"], unique=False)
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE node_search USING fts5(namespace, name, content='node', content_rowid='id', tokenize='trigram')")
        op.execute(
            "CREATE VIRTUAL TABLE node_search_text USING fts5(title, columns, owners, tags, description, sql, failure, cont"
            "ent='search_text', content_rowid='node')"
        )
