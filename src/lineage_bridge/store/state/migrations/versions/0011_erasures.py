"""Erasures: what was erased when, without saying what it was."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables. A row per erasure, and one per file of the log or of the archive that it changed."""
    op.create_table(
        "erasure",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("id", sa.Text(), nullable=False, unique=True),
        sa.Column("report", sa.LargeBinary(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "erasure_file",
        sa.Column("erasure", sa.Text(), primary_key=True),
        sa.Column("path", sa.Text(), primary_key=True),
        sa.Column("erased", sa.Integer(), nullable=False),
        sa.Column("masked", sa.Integer(), nullable=False),
        sqlite_with_rowid=False,
    )
