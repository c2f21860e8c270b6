"""Drops all tables of a store, for a migration after which the graph is computed again from the log."""

import sqlalchemy as sa


def drop_everything(connection: sa.Connection) -> None:
    """Drop every table but the one with the revision; virtual tables first, because that drops their shadow tables too."""
    if connection.dialect.name == "sqlite":
        virtual = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'").fetchall()
        for (name,) in virtual:
            connection.exec_driver_sql(f'DROP TABLE "{name}"')
    for name in sa.inspect(connection).get_table_names():
        if name != "alembic_version":
            connection.exec_driver_sql(f'DROP TABLE "{name}"')
