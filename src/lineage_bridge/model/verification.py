"""What a verification of the store found."""

from typing import NamedTuple


class Difference(NamedTuple):
    """One derived table: rows in the store, rows it should not have, rows it lacks."""

    table: str
    rows: int
    surplus: int
    missing: int
