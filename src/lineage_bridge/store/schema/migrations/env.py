"""Runs Alembic on the connection that it is given."""

from alembic import context

from lineage_bridge.store.schema.tables import METADATA

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=METADATA, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
