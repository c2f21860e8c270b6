"""How far targets follow the change feed."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "target_feed",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.Column("report", sa.LargeBinary()),
    )
