"""Reads the names that operators chose for groups, as of now or of an earlier time."""

from collections.abc import Iterable, Iterator

from lineage_bridge.graph.facts.operations import PREFER
from lineage_bridge.graph.identity.steps import PREFERRED, PreferenceOrder, Spelling
from lineage_bridge.store.chunks import batches
from lineage_bridge.store.connection import StoreConnection

_KEY = "a.entity = w.k AND a.whole = 0 AND a.a_namespace = w.s AND a.a_name = w.n AND a.b_namespace = w.s AND a.b_name = w.n"
_WANTED = "WITH w (k, s, n) AS (VALUES {})"
_NOW = f"""{_WANTED} SELECT w.k, w.s, w.n, a.stated_at, a.stated_event FROM w STRAIGHT_JOIN alias a ON {_KEY}
AND a.kind = '{PREFERRED}' AND (a.stated_at, a.stated_event) > (a.vetoed_at, a.vetoed_event)"""
_THEN = f"""{_WANTED} SELECT w.k, w.s, w.n, a.at, a.event, a.operation FROM w STRAIGHT_JOIN alias_statement a ON {_KEY}
AND a.kind = '{PREFERRED}' AND a.at <= {{}} ORDER BY a.at, a.event"""


class Preferences:
    """Reads the names that operators chose over one connection, now or at `at_us`."""

    def __init__(self, connection: StoreConnection, at_us: int | None = None) -> None:
        self.connection, self.at_us = connection, at_us

    def among(self, spellings: Iterable[Spelling]) -> dict[Spelling, PreferenceOrder]:
        """Those of these spellings that an operator chose and did not withdraw, each with the time of the choice."""
        return dict(self._now(spellings) if self.at_us is None else self._then(spellings))

    def _now(self, spellings: Iterable[Spelling]) -> Iterator[tuple[Spelling, PreferenceOrder]]:
        for some in batches(sorted(spellings)):
            for *spelling, at_us, event in self.connection.execute(_NOW.format(_values(some)), [part for row in some for part in row]):
                yield Spelling(*spelling), (at_us, event)

    def _then(self, spellings: Iterable[Spelling]) -> Iterator[tuple[Spelling, PreferenceOrder]]:
        newest: dict[Spelling, tuple[PreferenceOrder, str]] = {}
        for some in batches(sorted(spellings)):
            sql = _THEN.format(_values(some), int(self.at_us or 0))
            for *spelling, at_us, event, operation in self.connection.execute(sql, [part for row in some for part in row]):
                newest[Spelling(*spelling)] = (at_us, event), operation
        return ((spelling, order) for spelling, (order, operation) in newest.items() if operation == PREFER)


def _values(rows: list[Spelling]) -> str:
    return ", ".join(["(?, ?, ?)"] * len(rows))
