"""Drops all tables of a store, for a migration after which the graph is computed again from the log."""

import sqlalchemy as sa


def drop_everything(connection: sa.Connection) -> None:
    """Drop every table except the one with the revision. Virtual tables are dropped first, because their shadow tables are dropped with
    them.
    """
    if connection.dialect.name == "sqlite":
        virtual = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'").fetchall()
        for (name,) in virtual:
            connection.exec_driver_sql(f'DROP TABLE "{name}"')
    for name in sa.inspect(connection).get_table_names():
        if name != "alembic_version":
            connection.exec_driver_sql(f'DROP TABLE "{name}"')
