"""The audit trail."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table. An erased entry has no salt, and nothing that its salt protected."""
    op.create_table(
        "audit",
        sa.Column("sequence", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text()),
        sa.Column("origin", sa.Text()),
        sa.Column("target", sa.Text()),
        sa.Column("details", sa.Text()),
        sa.Column("salt", sa.LargeBinary()),
        sa.Column("commitment", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
    )
    op.create_index("audit_by_principal", "audit", ["principal"])
