"""JSON and Python values inside other text, such as messages and programs."""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator

_SIGN = re.compile(r"\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\"?|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?|[{}\[\]()]")
_OPENING = re.compile(r"[{\[]\s*[\"'{\[]")
_LONGEST = 1 << 14
_MOST = 64
"""The maximum length of a value in characters, and the maximum number of values in a text."""


def mask_embedded(text: str, mask_json: Callable[[bytes], bytes]) -> str:
    """Mask the secrets in objects and arrays that a text contains, with `mask_json`."""
    pieces: list[str] = []
    end = 0
    for start, stop in _values(text):
        masked = _masked(text[start:stop], mask_json)
        if masked is not None:
            pieces += (text[end:start], masked)
            end = stop
    return "".join((*pieces, text[end:])) if pieces else text


def _values(text: str) -> Iterator[tuple[int, int]]:
    """The positions of complete objects and arrays; none of them is inside another."""
    at = 0
    for _ in range(_MOST):
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        at = opening.end() - 1
        depth = 0
        for sign in _SIGN.finditer(text, opening.start(), opening.start() + _LONGEST):
            depth += (sign[0] in "{[(") - (sign[0] in "}])")
            if depth <= 0:
                yield opening.start(), sign.end()
                at = sign.end()
                break


def _masked(text: str, mask_json: Callable[[bytes], bytes]) -> str | None:
    """The text of a value with its secrets masked; None if there are none, or if it is not a value."""
    try:
        json.loads(text)
    except ValueError:
        return _masked_literal(text, mask_json)
    raw = text.encode("utf-8", "surrogatepass")
    masked = mask_json(raw)
    return None if masked == raw else masked.decode("utf-8", "surrogatepass")


def _masked_literal(text: str, mask_json: Callable[[bytes], bytes]) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text)
        raw = json.dumps(value).encode()
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    masked = mask_json(raw)
    if masked == raw:
        return None
    for old, new in _differences(json.loads(raw), json.loads(masked)):
        for quoted in {repr(old), json.dumps(old), json.dumps(old, ensure_ascii=False)}:
            text = text.replace(quoted, quoted[0] + new + quoted[-1])
    return text


def _differences(old: object, new: object) -> Iterator[tuple[str, str]]:
    """The strings in which two versions of a value differ, because they were masked."""
    if isinstance(old, dict) and isinstance(new, dict):
        for before, after in zip(old.items(), new.items(), strict=False):
            yield from _differences(before[1], after[1])
    elif isinstance(old, list) and isinstance(new, list):
        for before, after in zip(old, new, strict=False):
            yield from _differences(before, after)
    elif isinstance(old, str) and isinstance(new, str) and old != new:
        yield old, new
