"""The graph store: schema, migrations, writing, derived tables, answers to questions."""
