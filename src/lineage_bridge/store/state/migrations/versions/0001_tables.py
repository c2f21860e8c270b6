"""The tables of the state database.

Files written before there were revisions hold the first few of these tables, which are kept as they are.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables that are missing."""
    present = set(sa.inspect(op.get_bind()).get_table_names())
    for table in _tables().sorted_tables:
        if table.name not in present:
            table.create(op.get_bind())


def _tables() -> sa.MetaData:
    metadata = sa.MetaData()
    sa.Table(
        "installation",
        metadata,
        sa.Column("one", sa.Integer(), sa.CheckConstraint("one = 1"), primary_key=True, autoincrement=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
    )
    sa.Table("demo_edition", metadata, sa.Column("edition", sa.Text(), primary_key=True))
    sa.Table(
        "source",
        metadata,
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
    )
    sa.Table(
        "source_state",
        metadata,
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("polls", sa.Integer(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.Column("snapshot", sa.LargeBinary()),
    )
    sa.Table(
        "source_parcel",
        metadata,
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sqlite_autoincrement=True,
    )
    sa.Table(
        "task",
        metadata,
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("id", sa.Text(), unique=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("record", sa.LargeBinary()),
        sqlite_autoincrement=True,
    )
    return metadata
