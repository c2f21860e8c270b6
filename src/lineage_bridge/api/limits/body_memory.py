"""The memory that bodies of requests have while they come in and are worked on."""

from collections import Counter
from typing import Final

from lineage_bridge.api.limits.callers import Caller
from lineage_bridge.errors import OverloadedError

BODY_BYTES: Final = 512 << 20


class BodyMemory:
    """At most `size` bytes. A caller may hold no more of them than are left for the others."""

    def __init__(self, size: int = BODY_BYTES) -> None:
        self.size = size
        self._held: Counter[str] = Counter()
        self._total = 0

    def hold(self, caller: Caller, size: int) -> None:
        """Hold more bytes. Raises OverloadedError, and holds nothing more, if there are not so many for this caller."""
        held, left = self._held[caller.name] + size, self.size - self._total - size
        if left < 0 or (held > left and not caller.is_unlimited):
            raise OverloadedError(
                f"the bodies of the requests of {caller.name} take {held} bytes of memory at once, more than the part that one caller may "
                "use",
                "send fewer requests at once; an operator can raise the setting `body_memory_bytes`",
                "too_many_bytes_at_once",
            )
        self._held[caller.name] = held
        self._total += size

    def release(self, caller: Caller, size: int) -> None:
        """Give back bytes."""
        self._total -= size
        self._held[caller.name] -= size
        if not self._held[caller.name]:
            del self._held[caller.name]
