"""Targets that lineage is published to."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables. What was published to a target stays known when the target is removed."""
    op.create_table(
        "target",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
    )
    op.create_table(
        "target_state",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("paused", sa.Integer(), nullable=False),
        sa.Column("report", sa.LargeBinary()),
    )
    op.create_table(
        "published",
        sa.Column("place", sa.Text(), primary_key=True),
        sa.Column("key", sa.Text(), primary_key=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("ours", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("visible", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("changed_us", sa.Integer(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
    )
