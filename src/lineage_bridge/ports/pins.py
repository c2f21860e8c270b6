"""Pins: addresses of views of the web page, kept under short ids."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Pin:
    """An address of a view, relative to the page, under an id. It refers to the view and holds no data of it. Time in UTC microseconds."""

    id: str
    address: str
    name: str
    author: str
    created_us: int


class PinRepository(Protocol):
    """Stores pins. Safe for many threads and processes at once."""

    def records(self, author: str | None, limit: int, offset: int) -> list[Pin]:
        """Pins, or those of an author, the newest first."""

    def find(self, pin_id: str) -> Pin | None:
        """The pin with an id."""

    def keep(self, address: str, name: str, author: str, now_us: int) -> tuple[Pin, bool]:
        """A pin of this address, name and author: the one that there is, or a new one; and whether it is new. Raises RequestError if there
        are too many, of this author or of all.
        """

    def remove(self, pin_id: str) -> bool:
        """Delete a pin; returns whether there was one."""
