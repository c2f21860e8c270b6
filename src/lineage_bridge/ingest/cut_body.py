"""Masks secrets in a body that was cut off. The text by which a secret is recognised may be in the missing part."""

from lineage_bridge.openlineage.json_text import Spend, no_limit, token_of
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.secret_rules.companions import values_left_open
from lineage_bridge.openlineage.secret_rules.values import MASK, looks_secret

_MASKED = token_of(MASK)
_SIGNS, _SIGN_NS = (b'"', b",", b"[", b"{"), 1_500


def mask_beginning(body: bytes, spend: Spend = no_limit, key: bytes = b"") -> bytes:
    """Mask secrets in the beginning of a body. Also masks each `value`, and each member that may contain one, of an object that is still
    open at the end, because the object's `name` may be in the missing part: `{"value": "x", "name": "pass`. `spend` and `key` mean the same
    as for `mask`.
    """
    return mask_open_values(mask(body, spend, key), spend)


def mask_open_values(masked: bytes, spend: Spend = no_limit) -> bytes:
    """In the result of `mask`, also mask each `value` of an object that is still open at the end. For a body that may have been cut off,
    possibly by its sender.
    """
    spend(sum(map(masked.count, _SIGNS)) * _SIGN_NS)
    pieces: list[bytes] = []
    end = 0
    for start, stop in values_left_open(masked, looks_secret):
        pieces += (masked[end:start], _MASKED)
        end = stop
    return b"".join((*pieces, masked[end:]))
