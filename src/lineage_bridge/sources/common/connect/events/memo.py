"""What was made at the last poll, and of what: it is made anew only where that differs, so that a poll without news costs little."""

from collections.abc import Callable, Collection
from typing import Generic, TypeVar

_MadeT = TypeVar("_MadeT")


class Memo(Generic[_MadeT]):
    """Values by name. `make` must depend on nothing but the basis."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[object, _MadeT]] = {}

    def get(self, name: str, basis: object, make: Callable[[], _MadeT]) -> _MadeT:
        """The value of this name for this basis."""
        known = self._made.get(name)
        if known is None or known[0] != basis:
            self._made[name] = known = (basis, make())
        return known[1]

    def keep(self, names: Collection[str]) -> None:
        """Forget all but these."""
        self._made = {name: made for name, made in self._made.items() if name in names}
