"""Which values of an object or array are secrets, by their keys, by the preceding value, and by their own format."""

import re
from collections.abc import Iterator

from lineage_bridge.openlineage.json_text import TOKEN, text_of
from lineage_bridge.openlineage.secret_rules.companions import NAMING, SEVERAL, Span, aligned_values, is_valued, named_values
from lineage_bridge.openlineage.secret_rules.names import KEY_PARTS, is_weak, names_secret, refers
from lineage_bridge.openlineage.secret_rules.values import MASK, extends, is_key_like, is_key_part, is_random, is_reference, looks_secret
from lineage_bridge.openlineage.secret_rules.weak_names import holds_weakly

NAMES_OF_VALUES = frozenset(("name", "key"))
_SHORT, _MOST_COLUMNS = 256, 64
_FLAT_TEXT = re.compile(rb'(?P<text>"[^"]*")(?P<colon>\s*:)?')
_LONG, _BRACKETS = 2048, frozenset((b"{", b"}", b"[", b"]", b","))
_SHORTEST_TEXT = 9
"""The length of the shortest JSON string that looks like a secret, with its quotes."""
_OPTION = re.compile(rb'"--?[A-Za-z][\w.\-]{1,100}"')
_PLAIN_TEXT = re.compile(rb'"[^"]*"')
_TYPES = frozenset(b'"%b"' % name for name in (b"string", b"object", b"array", b"number", b"integer", b"boolean", b"null"))
_MEASURES = frozenset(("maxLength", "minLength"))
"""Keywords of JSON Schema that describe a property whose name is a secret's."""
_ABSENT = _TYPES.union((b'""', b'"true"', b'"false"', b'"none"', b'"default"', b"true", b"false", b"null", b'"%b"' % MASK.encode()))
"""Values that say that there is none, or only of which type it is."""
ENCODED_KEYS = frozenset(("auth", "_auth"))
"""Members that are secrets if their value is a key in base64: Docker's and npm's."""
_ENCODED = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")


class Container:
    """An object or array whose closing bracket has not been read yet, and what is known about its values.

    Attributes of both, each with JSON to which it applies:

    - `start`: the position of the opening bracket.
    - `count`: the number of values before the current one, without those in `passed`.
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
    - `columns_of`: of the arrays in this object, by their length, `secrets_at`: `{"columns": ["id", "token"], "rows": [[1, "x"]]}`.

    Attributes of arrays:

    - `program`, `before`: the first text and the latest text: "curl" and "-u" in `["curl", "-u", ...]`.
    - `read`: the positions of the scalars in it that were read.
    - `option`: the latest text is an option that takes a secret: `["--password", ...]`.
    - `passed`: the positions of elements that were not read, each with a comma behind it. They are only counted if one names a secret.
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
        "passed",
        "plain_key",
        "program",
        "read",
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
        self.passed: list[Span] = []
        self.read: list[Span] = []
        self.weak, self.weak_name = False, ""
        self.columns_of: dict[int, set[int]] | None = None

    @property
    def is_listing(self) -> bool:
        """Whether nothing before the current element of an array says what it is: the first may be a program."""
        return bool(self.program) and not self.before.startswith("-") and not self.is_pair

    def note_element(self, text: str, span: Span) -> None:
        """Record that an element of an array, a scalar, was read."""
        self.program, self.before = self.program or text, text
        self.read.append(span)

    def pass_elements(self, start: int, end: int) -> int:
        """Record that the elements from `start` to `end` were skipped; `end` is 0 if none were. Returns `end`."""
        if end:
            self.passed.append((start, end))
        return end

    def counted(self, raw: bytes) -> int:
        """The number of values before the current one, in these bytes."""
        self.count += sum(_PLAIN_TEXT.sub(b"", raw[start:end]).count(b",") for start, end in self.passed)
        self.passed.clear()
        return self.count

    def note_columns(self, array: "Container", raw: bytes) -> None:
        """Note which elements of an array in this object, which has ended, name a secret."""
        if array.secrets_at and not array.secret and self.is_object:
            self.columns_of = self.columns_of or {}
            self.columns_of.setdefault(array.counted(raw) + 1, set()).update(array.secrets_at)

    @property
    def is_pair(self) -> bool:
        """Whether the current element of an array is the second one, after the name of a secret."""
        return self.count == 1 and self.secrets_at == (0,)


def name_others(frame: Container, token: bytes, raw: bytes) -> None:
    """Record that a text is the name of a secret that another value contains. `raw` is the whole JSON."""
    if len(token) > _SHORT:
        return
    if not names_secret(text_of(token).lstrip("-")):
        frame.weak_name = text_of(token) if frame.key in NAMES_OF_VALUES else frame.weak_name
        return
    if frame.key in NAMES_OF_VALUES:
        frame.named = True
    if not frame.is_object:
        frame.secrets_at = (*frame.secrets_at, frame.counted(raw))[:_MOST_COLUMNS]
    elif frame.key is not None and (NAMING.fullmatch(frame.key) or (frame.key == "type" and text_of(token).lower() == "password")):
        frame.companion = True


def can_name_others(key: str, token: bytes, *, is_valued: bool) -> bool:
    """Whether `name_others` records anything about a text of an object that can matter: the text names a secret, or, under a key for names,
    may name one while the JSON has a member `value`.
    """
    if len(token) > _SHORT:
        return False
    if is_valued and key in NAMES_OF_VALUES:
        return True
    return b"=" not in token and names_secret(text_of(token).lstrip("-"))


def is_secret(frame: Container, text: bytes) -> bool:
    """Whether a value is a secret by its key, or by the option of a command before it."""
    if frame.secret:
        return not (frame.key == "type" and text in _TYPES) and frame.key not in _MEASURES and not refers(frame.key)
    if frame.weak and text.startswith(b'"') and looks_secret(text_of(text)):
        return True
    if frame.key is not None:
        return is_member_secret(frame.key, text, is_plain_key=frame.plain_key)
    follows, frame.option = frame.option, bool(_OPTION.fullmatch(text)) and names_secret(text_of(text).strip("-"))
    if frame.is_pair and text.startswith(b'"') and looks_secret(text_of(text)):
        return True  # ["password", "x"]
    return follows and not frame.option and not text.startswith(b'"-')


def is_member_secret(key: str, text: bytes, *, is_plain_key: bool) -> bool:
    """Whether a scalar is a secret by the key of its member. `is_plain_key`: there is nothing suspicious in the key."""
    if key in ENCODED_KEYS:
        return bool(_ENCODED.fullmatch(text_of(text))) and is_key_like(text_of(text))
    if key in KEY_PARTS and is_key_part(text_of(text)):
        return True
    if is_plain_key:
        return False
    if names_secret(key):
        return not (is_weak(key) and not text.startswith(b'"')) and not extends(key, text_of(text))
    return is_weak_secret(key, text)


def is_absent(token: bytes) -> bool:
    """Whether a scalar under a secret's key is harmless: no value, a mask, or a reference to where the secret is."""
    if token.startswith(b'"') and token[1:-1].isalnum():
        return token in _ABSENT  # a reference has signs
    return token in _ABSENT or is_reference(text_of(token))


def is_named_secret(frame: Container, token: bytes) -> bool:
    """Whether the member `value` of an object is a secret by the name in the object."""
    if frame.named:
        return not frame.tags or is_random(text_of(token))
    return is_weak_secret(frame.weak_name, token)


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


def argument_spans(frame: Container, raw: bytes, end: int) -> list[Span]:
    """The positions of the scalars in an array that ends here; of a long one, only of those that were read."""
    if end - frame.start > _LONG:
        return frame.read
    return [token.span() for token in TOKEN.finditer(raw, frame.start + 1, end) if token[0] not in _BRACKETS]


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
        yield from aligned_values(raw, frame.start, end, frame.columns_of, looks_secret)
