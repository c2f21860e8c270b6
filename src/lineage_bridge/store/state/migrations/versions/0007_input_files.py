"""Files that inputs read."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table. One row per input and key of a file; everything before `at` and `number` is in the log."""
    op.create_table(
        "input_file",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("file_key", sa.Text(), primary_key=True),
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("life", sa.Text(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sqlite_with_rowid=False,
    )
