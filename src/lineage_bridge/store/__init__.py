"""The graph store: schema, migrations, apply, read."""
