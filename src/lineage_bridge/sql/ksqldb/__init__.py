"""What only ksqlDB has: the names of columns without an alias, and the keys of records. `docs/sql.md` has the rules."""
