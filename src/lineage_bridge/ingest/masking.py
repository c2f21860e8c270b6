"""Masks the secrets of received events within limits of work, and the beginnings of bodies that no event can be read from."""

from threading import Thread

from lineage_bridge.ingest.cut_body import mask_beginning, mask_open_values
from lineage_bridge.ingest.dense_event import mask_facets
from lineage_bridge.ingest.effort import Effort, TooCostlyError, masking_effort, naming_effort
from lineage_bridge.ingest.payload import beginning
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.secrets import RULES
from lineage_bridge.openlineage.suspicion.density import prepare_counting
from lineage_bridge.openlineage.suspicion.harmless import Suspicion

_LONGEST_SAMPLE, _SHORTEST_SAMPLE, _BYTES_PER_SAMPLED = 2048, 128, 32
"""The sample of a body that would cost too much has one byte for each `_BYTES_PER_SAMPLED` bytes of the body, within the two limits."""


def prepare_masking() -> None:
    """Compute what masking long texts needs, so that the first of them costs no more than later ones. Takes a third of a second."""
    RULES.prepare()
    prepare_counting()


def prepare_masking_beside() -> None:
    """Start `prepare_masking` in a thread. It is no daemon thread: Python ends these at exit, and a process ended within RE2 aborts."""
    Thread(target=prepare_masking, name="prepare-masking").start()


def mask_event(raw: bytes, shared: Effort, key: bytes, own: Effort) -> bytes | None:
    """Mask the secrets of an event; its facets as a whole if they have too many. None if that would still cost too much.

    The result depends on the event and the installation's `key` alone, so it is the same however the event is sent. `shared` is what
    masking all events of the payload may cost; `own`, the event's `masking_effort`, what masking this one may cost before its facets are
    masked as a whole. Raises TooCostlyError if `shared` is exceeded; if `own` is, it allows nothing more afterwards.
    """
    found = Suspicion(raw)
    masked = _within_limit(found, own, shared, key)
    if masked is None:
        own.left_ns = -1
        if (rest := mask_facets(raw)) is not None:
            return _within_limit(found if rest is raw else Suspicion(rest), naming_effort(rest), shared, key)
    return masked


def _within_limit(found: Suspicion, effort: Effort, shared: Effort, key: bytes) -> bytes | None:
    allowed = effort.left_ns
    try:
        masked = mask(found.raw, effort.spend, key, found)
    except TooCostlyError:
        masked = None
    shared.spend(allowed - effort.left_ns)
    return masked


def mask_cut_event(raw: bytes, masked: bytes, key: bytes, own: Effort) -> bytes:
    """Also mask what may be a secret in an event that its sender may have cut off. `masked` is the result of `mask_event`, and `own` is
    what was left of the event's effort.
    """
    if masked is not raw:
        return masked_beginning(masked, len(masked), key)
    try:
        return mask_open_values(masked, own.spend)  # masking it once more would find nothing
    except TooCostlyError:
        return masked_sample(raw, key)


def masked_beginning(raw: bytes, most: int, key: bytes) -> bytes:
    """Mask the first `most` bytes of a body, or fewer if that would cost too much."""
    kept = beginning(raw, most)
    try:
        return mask_beginning(kept, masking_effort(kept).spend, key)
    except TooCostlyError:
        return masked_sample(raw, key)


def masked_sample(raw: bytes, key: bytes) -> bytes:
    """Mask a short beginning of a body that would cost too much as a whole. The cost is small in proportion to the size of the body."""
    most = min(_LONGEST_SAMPLE, max(_SHORTEST_SAMPLE, len(raw) // _BYTES_PER_SAMPLED))
    return mask_beginning(beginning(raw, most), key=key)
