"""Names that ksqlDB generates for columns without an alias."""

import re
from collections.abc import Iterable

SYNTHETIC_KEY = "ROWKEY"
"""Name of a join's key column if the key is neither side's key column."""

_UNNAMED = "KSQL_COL"
_NUMBERED = re.compile(r"(.*?)(?:_(\d+))?", re.DOTALL)


class ColumnAliases:
    """Generates names that no column of the sources has: a stem, followed by the next unused number."""

    def __init__(self, columns: Iterable[str]) -> None:
        self._taken: dict[str, set[int]] = {}
        self._next: dict[str, int] = {}
        for column in columns:
            stem, number = _split(column)
            self._taken.setdefault(stem, set()).add(number)

    def unnamed(self) -> str:
        """The name of the next expression without an alias, such as `KSQL_COL_0`."""
        return f"{_UNNAMED}_{self._number(_UNNAMED)}"

    def field(self, name: str) -> str:
        """The name of a column that selects a field: the field's name, with a number if the name is taken."""
        stem, _ = _split(name)
        number = self._number(stem)
        return f"{stem}_{number}" if number or stem == _UNNAMED else stem

    def synthetic_key(self) -> str:
        """The name of a key column that ksqlDB adds to a join because no source has the key as a column."""
        return self.field(SYNTHETIC_KEY)

    def _number(self, stem: str) -> int:
        number, taken = self._next.get(stem, 0), self._taken.get(stem, ())
        while number in taken:
            number += 1
        self._next[stem] = number + 1
        return number


def _split(name: str) -> tuple[str, int]:
    """The stem of a name, and the number after its last underscore."""
    found = _NUMBERED.fullmatch(name)
    return (found[1], int(found[2] or 0)) if found is not None else (name, 0)


def joined_name(source: str, column: str) -> str:
    """The name that a column gets in the result of a join if several sources have a column of its name, or if `*` selects it."""
    return f"{source}_{column}"
