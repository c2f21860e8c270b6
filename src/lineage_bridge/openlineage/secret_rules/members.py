"""Which values of an object or array are secrets, by their keys, by the preceding value, and by their own format."""

import re
from collections.abc import Iterator

from lineage_bridge.openlineage.json_text import text_of
from lineage_bridge.openlineage.secret_rules.companions import NAMING, SEVERAL, Span, aligned_values, is_valued, named_values
from lineage_bridge.openlineage.secret_rules.names import KEY_PARTS, is_weak, names_secret, refers
from lineage_bridge.openlineage.secret_rules.values import extends, is_key_like, is_key_part, looks_secret
from lineage_bridge.openlineage.secret_rules.weak_names import holds_weakly

NAMES_OF_VALUES = frozenset(("name", "key"))
_SHORT, _MOST_COLUMNS = 256, 64
_FLAT_TEXT = re.compile(rb'(?P<text>"[^"]*")(?P<colon>\s*:)?')
_SHORTEST_TEXT = 9
"""The length of the shortest JSON string that looks like a secret, with its quotes."""
_OPTION = re.compile(rb'"--?[A-Za-z][\w.\-]{1,100}"')
_TYPES = frozenset(b'"%b"' % name for name in (b"string", b"object", b"array", b"number", b"integer", b"boolean", b"null"))
_MEASURES = frozenset(("maxLength", "minLength"))
"""Keywords of JSON Schema that describe a property whose name is a secret's."""
_ENCODED_KEYS = frozenset(("auth", "_auth"))
"""Members that are secrets if their value is a key in base64: Docker's and npm's."""
_ENCODED = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")


class Container:
    """An object or array whose closing bracket has not been read yet, and what is known about its values.

    Attributes of both, each with JSON to which it applies:

    - `start`: the position of the opening bracket.
    - `count`: the number of values before the current one.
    - `secret`: every value in it is a secret: `{...}` in `{"password": {...}}`.
    - `weak`: those values are secrets that look like one: `[...]` in `{"api_keys": [...]}`.
    - `tags`: its members are tags, not settings: `[...]` in `{"tags": [...]}`.
    - `sink`: the list `values` of the object whose member `value` contains it: `[...]` in `{"name": "password", "value": [...]}`.

    Attributes of objects:

    - `key`: the key of the current member, None before it.
    - `columns`: its keys are names of columns, not of settings.
    - `plain_key`: the current key does not name a secret.
    - `values`: the positions of the scalars in the member `value`, and of the contents of its long arrays.
    - `named`: its name makes `value` a secret: `{"name": "password", "value": "x"}`.
    - `weak_name`: its name makes `value` a secret only if the value looks like one: "session" in `{"name": "session", "value": "x"}`.
    - `companion`: another member may contain the secret that a member names: `{"k": "password", "v": "x"}`.
    - `columns_of`: of an array in this object, `secrets_at` and the length: `{"columns": ["id", "token"], "rows": [[1, "x"]]}`.

    Attributes of arrays:

    - `program`, `before`: the first text and the latest text: "curl" and "-u" in `["curl", "-u", ...]`.
    - `option`: the latest text is an option that takes a secret: `["--password", ...]`.
    - `secrets_at`: the indexes of elements that name a secret: 1 in `["id", "token"]`.
    """

    __slots__ = (
        "before",
        "columns",
        "columns_of",
        "companion",
        "count",
        "is_object",
        "key",
        "named",
        "option",
        "plain_key",
        "program",
        "secret",
        "secrets_at",
        "sink",
        "start",
        "tags",
        "values",
        "weak",
        "weak_name",
    )

    def __init__(
        self,
        *,
        is_object: bool,
        secret: bool = False,
        columns: bool = False,
        tags: bool = False,
        sink: "list[tuple[int, int]] | None" = None,
        start: int = 0,
    ) -> None:
        self.is_object, self.secret, self.columns, self.tags, self.sink = is_object, secret, columns, tags, sink
        self.key: str | None = None
        self.named = self.option = self.plain_key = False
        self.program = self.before = ""
        self.values: list[tuple[int, int]] = []
        self.start, self.count, self.companion = start, 0, False
        self.secrets_at: tuple[int, ...] = ()
        self.weak, self.weak_name = False, ""
        self.columns_of: tuple[tuple[int, ...], int] | None = None


def name_others(frame: Container, token: bytes) -> None:
    """Record that a text is the name of a secret that another value contains."""
    if len(token) > _SHORT:
        return
    if not names_secret(text_of(token).lstrip("-")):
        frame.weak_name = text_of(token) if frame.key in NAMES_OF_VALUES else frame.weak_name
        return
    if frame.key in NAMES_OF_VALUES:
        frame.named = True
    if not frame.is_object:
        frame.secrets_at = (*frame.secrets_at, frame.count)[:_MOST_COLUMNS]
    elif frame.key is not None and (NAMING.fullmatch(frame.key) or (frame.key == "type" and text_of(token).lower() == "password")):
        frame.companion = True


def is_secret(frame: Container, text: bytes) -> bool:
    """Whether a value is a secret by its key, or by the option of a command before it."""
    if frame.secret:
        return not (frame.key == "type" and text in _TYPES) and frame.key not in _MEASURES and not refers(frame.key)
    if frame.weak and text.startswith(b'"') and looks_secret(text_of(text)):
        return True
    if frame.key is not None:
        return _is_member_secret(frame, frame.key, text)
    follows, frame.option = frame.option, bool(_OPTION.fullmatch(text)) and names_secret(text_of(text).strip("-"))
    if frame.count == 1 and frame.secrets_at == (0,) and text.startswith(b'"') and looks_secret(text_of(text)):
        return True  # ["password", "x"]
    return follows and not frame.option and not text.startswith(b'"-')


def _is_member_secret(frame: Container, key: str, text: bytes) -> bool:
    if key in _ENCODED_KEYS:
        return bool(_ENCODED.fullmatch(text_of(text))) and is_key_like(text_of(text))
    if key in KEY_PARTS and is_key_part(text_of(text)):
        return True
    if frame.plain_key:
        return False
    if names_secret(key):
        return not (is_weak(key) and not text.startswith(b'"')) and not extends(key, text_of(text))
    return is_weak_secret(key, text)


def is_weak_secret(name: str, text: bytes) -> bool:
    """Whether a value is a secret because it is a text that looks like one, and its name suggests a secret."""
    return text.startswith(b'"') and holds_weakly(name, text_of(text))


def holds_secrets(outer: Container) -> bool:
    """Whether every value inside a value of a container is a secret."""
    key = outer.key if outer.is_object else None
    return outer.secret or (key is not None and not outer.columns and not outer.plain_key and names_secret(key))


def holds_weakly_inside(outer: Container) -> bool:
    """Whether every text inside a value of a container is a secret if it looks like one."""
    key = outer.key if outer.is_object else None
    return outer.weak or (key is not None and not outer.plain_key and bool(SEVERAL.fullmatch(key)))


def secret_texts(raw: bytes, start: int, end: int) -> Iterator[Span]:
    """The positions of the texts, except keys, that look like secrets, between two positions of JSON without escapes."""
    for found in _FLAT_TEXT.finditer(raw, start, end):
        text = found["text"]
        if found["colon"] is None and len(text) >= _SHORTEST_TEXT and looks_secret(text_of(text)):
            yield found.span("text")


def secrets_beside(frame: Container, raw: bytes, end: int) -> Iterator[Span]:
    """The positions of values that are secrets because another value of the closed object or array says so."""
    if frame.companion and is_valued(raw, frame.start, end):
        yield from named_values(raw, frame.start, end, looks_secret, only_random=frame.tags)
    if frame.columns_of and frame.is_object:
        yield from aligned_values(raw, frame.start, end, *frame.columns_of, looks_secret)
