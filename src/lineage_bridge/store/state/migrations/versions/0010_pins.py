"""Views of the web page that are kept under short ids."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, and the index by which one person's are listed and counted."""
    op.create_table(
        "pin",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
    )
    op.create_index("pin_by_author", "pin", ["author", "created_us"])
