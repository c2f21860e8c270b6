"""Caches values between polls, and computes them again only if their inputs changed, so that a poll without changes is cheap."""

from collections.abc import Callable, Collection
from typing import Generic, TypeVar

_MadeT = TypeVar("_MadeT")


class Memo(Generic[_MadeT]):
    """Cached values by name. Each was computed by a function `make` from a `basis`; a value is computed again when its basis changes."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[object, _MadeT]] = {}

    def get(self, name: str, basis: object, make: Callable[[], _MadeT]) -> _MadeT:
        """Return the value with this name: the cached one if its basis is equal, else the result of `make`."""
        known = self._made.get(name)
        if known is None or known[0] != basis:
            self._made[name] = known = (basis, make())
        return known[1]

    def keep(self, names: Collection[str]) -> None:
        """Remove all cached values whose names are not among `names`."""
        self._made = {name: made for name, made in self._made.items() if name in names}
