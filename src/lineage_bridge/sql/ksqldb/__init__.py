"""Rules that apply to ksqlDB only: how it names columns that have no alias (naming.py), and which columns are the keys of records and joins
(join_keys.py). `docs/sql.md` describes them.
"""
