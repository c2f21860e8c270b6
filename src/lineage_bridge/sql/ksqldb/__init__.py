"""Rules that apply to ksqlDB only: the names of columns without an alias (column_names.py), and the keys of records and joins
(join_keys.py). `docs/sql.md` describes them.
"""
