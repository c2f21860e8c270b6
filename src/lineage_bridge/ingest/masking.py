"""Masking the secrets of received events within the work that their size allows."""

from functools import partial
from hashlib import blake2s
from typing import Final

import msgspec

from lineage_bridge.ingest.effort import Allowance, Effort, TooCostlyError
from lineage_bridge.ingest.withholding import withhold
from lineage_bridge.openlineage.redaction import mask

SHORT_SAMPLE: Final = 2048
"""Bytes that are kept of what is too costly to mask as a whole."""


class Masking:
    """Masks the events of one payload. `key` is the installation's."""

    def __init__(self, effort: Effort, key: bytes) -> None:
        self.effort, self.key = effort, key

    def event(self, raw: bytes) -> bytes | None:
        """An event with its secrets masked. Facets that cost too much are withheld; None if the rest does too, or this is no event."""
        masked = self._attempt(raw, self.effort.masking)
        if masked is not None:
            return masked
        second = self.effort.second
        try:
            return withhold(raw, partial(self._attempt, allowance=second), second.spend)
        except TooCostlyError:
            return None

    def sample(self, raw: bytes, most: int = SHORT_SAMPLE) -> bytes:
        """The masked beginning of what is refused: as much as its size allows, or else only what tells it from others."""
        for size, allowance in ((most, self.effort.masking), (SHORT_SAMPLE, self.effort.second)):
            masked = self._attempt(raw[:size], allowance)
            if masked is not None:
                return masked
        digest = blake2s(raw, digest_size=16, key=self.key, person=b"withheld").hexdigest()
        return msgspec.json.encode({"withheld": digest, "bytes": len(raw)})

    def _attempt(self, raw: bytes, allowance: Allowance) -> bytes | None:
        try:
            return mask(raw, allowance.spend, self.key)
        except TooCostlyError:
            return None
