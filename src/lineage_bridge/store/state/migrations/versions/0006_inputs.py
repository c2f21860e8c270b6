"""Inputs."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables. The state of an input, with its positions, stays when the input is removed."""
    op.create_table(
        "input",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
    )
    op.create_table(
        "input_state",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("paused", sa.Integer(), nullable=False),
        sa.Column("ledger", sa.LargeBinary()),
    )
