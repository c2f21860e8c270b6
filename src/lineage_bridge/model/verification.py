"""The result of a verification of the store."""

from typing import NamedTuple


class Difference(NamedTuple):
    """One derived table: how many rows it has, how many of them are wrong (`surplus`), and how many it lacks (`missing`)."""

    table: str
    rows: int
    surplus: int
    missing: int
