"""The graph store: schema, migrations, writing, derived tables, queries."""
