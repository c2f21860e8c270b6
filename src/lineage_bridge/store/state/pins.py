"""Stores pins in the state database. A pin is a short address for a view of the page."""

import secrets
from base64 import b32encode
from collections.abc import Callable
from typing import Final

from lineage_bridge.errors import RequestError
from lineage_bridge.ports.pins import Pin
from lineage_bridge.store.state.database import StateDatabase

MOST_PINS: Final = 10_000
MOST_OF_AUTHOR: Final = 500
"""The maximum number of pins of one author; callers without a name are one author."""
_ID_BYTES: Final = 10
"""The length of a pin's id: 80 random bits, so that nobody can guess the ids of others."""
_COLUMNS: Final = "id, address, name, author, created_us"


class PinStore:
    """Implements `ports.PinRepository`. `random_bytes` makes ids; `most` pins can be kept, `most_of_author` of them by one author."""

    def __init__(
        self,
        state: StateDatabase,
        random_bytes: Callable[[int], bytes] = secrets.token_bytes,
        most: int = MOST_PINS,
        most_of_author: int = MOST_OF_AUTHOR,
    ) -> None:
        self._state, self._random_bytes, self._most, self._most_of_author = state, random_bytes, most, most_of_author

    def records(self, author: str | None, limit: int, offset: int) -> list[Pin]:
        """All pins or, with `author`, those of this author; the newest first."""
        which, values = ("", ()) if author is None else ("WHERE author = ?", (author,))
        query = f"SELECT {_COLUMNS} FROM pin {which} ORDER BY created_us DESC, id LIMIT ? OFFSET ?"
        with self._state.transaction() as connection:
            return [Pin(*row) for row in connection.execute(query, (*values, limit, offset)).fetchall()]

    def find(self, pin_id: str) -> Pin | None:
        """The pin with an id."""
        with self._state.transaction() as connection:
            row = connection.execute(f"SELECT {_COLUMNS} FROM pin WHERE id = ?", (pin_id,)).fetchone()
        return Pin(*row) if row else None

    def keep(self, address: str, name: str, author: str, now_us: int) -> tuple[Pin, bool]:
        """Find or create the pin with this address, name and author. Returns the pin, and whether it is new. Raises RequestError
        if this author has too many pins, or if there are too many in all.
        """
        with self._state.transaction() as connection:
            same = f"SELECT {_COLUMNS} FROM pin WHERE author = ? AND address = ? AND name = ?"
            row = connection.execute(same, (author, address, name)).fetchone()
            if row:
                return Pin(*row), False
            (own,) = connection.execute("SELECT count(*) FROM pin WHERE author = ?", (author,)).fetchone()
            if own >= self._most_of_author:
                whose = f"{author!r} has" if author else "callers without a name have"
                raise RequestError(f"{whose} {own} pins, the limit for one author", "remove pins that are not needed any more")
            (count,) = connection.execute("SELECT count(*) FROM pin").fetchone()
            if count >= self._most:
                raise RequestError(f"there are already {count} pins, the limit of this server", "remove pins that nobody needs any more")
            pin = Pin(b32encode(self._random_bytes(_ID_BYTES)).decode().lower(), address, name, author, now_us)
            values = (pin.id, pin.address, pin.name, pin.author, pin.created_us)
            connection.execute(f"INSERT INTO pin ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", values)
            return pin, True

    def remove(self, pin_id: str) -> bool:
        """Delete a pin; returns whether there was one."""
        with self._state.transaction() as connection:
            found = connection.execute("SELECT 1 FROM pin WHERE id = ?", (pin_id,)).fetchone()
            connection.execute("DELETE FROM pin WHERE id = ?", (pin_id,))
        return found is not None
