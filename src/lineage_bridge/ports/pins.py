"""Pins: addresses of views of the web page, kept under short ids."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Pin:
    """An address of a view, relative to the page, under an id. It refers to the view and contains none of its data. The time is in UTC
    microseconds.
    """

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
        """Find or create the pin with this address, name and author. Returns the pin, and whether it is new. Raises RequestError if this
        author has too many pins, or if there are too many in all.
        """

    def remove(self, pin_id: str) -> bool:
        """Delete a pin; returns whether there was one."""
