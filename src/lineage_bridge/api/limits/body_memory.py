"""Limits the memory of request bodies while they are received and processed."""

from collections import Counter
from typing import Final

from lineage_bridge.api.limits.callers import Caller
from lineage_bridge.errors import OverloadedError

BODY_BYTES: Final = 512 << 20


class BodyMemory:
    """A budget of `size` bytes of memory. A caller may not reserve more bytes than remain for all other callers together."""

    def __init__(self, size: int = BODY_BYTES) -> None:
        self.size = size
        self._held: Counter[str] = Counter()
        self._total = 0

    def hold(self, caller: Caller, size: int) -> None:
        """Reserve more bytes for a caller. Raises OverloadedError, and reserves nothing, if the caller would then have more than
        its share.
        """
        held, left = self._held[caller.name] + size, self.size - self._total - size
        if left < 0 or (held > left and not caller.is_unlimited):
            raise OverloadedError(
                f"the bodies of the requests of {caller.name} take {held} bytes of memory at once, more than one caller may use",
                "send fewer requests at once; an operator can raise the setting `body_memory_bytes`",
                "too_many_bytes_at_once",
            )
        self._held[caller.name] = held
        self._total += size

    def release(self, caller: Caller, size: int) -> None:
        """Give reserved bytes back."""
        self._total -= size
        self._held[caller.name] -= size
        if not self._held[caller.name]:
            del self._held[caller.name]
