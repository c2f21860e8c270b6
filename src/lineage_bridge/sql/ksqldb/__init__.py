"""Rules of ksqlDB only: the names of columns without an alias (naming.py), and the keys of records and joins (join_keys.py). See
`docs/sql.md`.
"""
