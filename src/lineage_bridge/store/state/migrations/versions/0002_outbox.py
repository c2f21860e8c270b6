"""Undelivered messages of sources are an outbox."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Rename the table and its column."""
    op.rename_table("source_parcel", "outbox_message")
    op.alter_column("outbox_message", "name", new_column_name="source")
