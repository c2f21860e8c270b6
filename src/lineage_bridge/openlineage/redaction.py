"""Masks secrets in received bytes, before any of them are written. The bytes are read token by token, so everything except the secrets is
kept byte for byte, at any depth, even in bytes that are not valid JSON.
"""

import re
from collections.abc import Callable
from functools import partial
from itertools import islice

from lineage_bridge.openlineage.json_text import SMALL, TOKEN, PlainParts, Spend, edited, is_json, masked_token, no_limit, text_of, token_of
from lineage_bridge.openlineage.masked_names import mask_name
from lineage_bridge.openlineage.secret_rules.companions import is_valued
from lineage_bridge.openlineage.secret_rules.embedded import mask_embedded
from lineage_bridge.openlineage.secret_rules.members import (
    NAMES_OF_VALUES,
    Container,
    argument_spans,
    holds_secrets,
    holds_weakly_inside,
    is_absent,
    is_named_secret,
    is_secret,
    name_others,
    secret_texts,
    secrets_beside,
)
from lineage_bridge.openlineage.secret_rules.names import refers
from lineage_bridge.openlineage.secret_rules.values import MASK
from lineage_bridge.openlineage.secrets import mask_command, mask_text, mask_with
from lineage_bridge.openlineage.suspicion.density import expect_work
from lineage_bridge.openlineage.suspicion.harmless import Suspicion
from lineage_bridge.openlineage.suspicion.members import edit_members
from lineage_bridge.openlineage.suspicion.search import is_suspicious, suspicious_offsets

_MASKED = token_of(MASK)
_COLUMN_MAPS, _NAMES = frozenset(("fields", "columnMetrics")), frozenset(("namespace", "name"))
# Masking a value can make the text around it look like a secret's name; no known text needs more than three passes. JSON nests in strings.
_PASSES, _DEEPEST, _TOKENS_AT_ONCE = 8, 6, 512
_SHORT, _REMEMBERED = 256, 4096
"""The maximum size, in bytes, of a text whose masked form is cached, and the number of cached texts."""
_LONG, _TINY = 2048, 256
"""Above `_LONG` bytes, looking through a text costs more than remembering the result; up to `_TINY`, all tokens are read."""
_LOOK_NS, _PASS_NS, _TOKEN_NS, _OPEN_NS, _TEXT_NS, _TEXT_BYTE_NS, _FOUND_NS, _ARGUMENT_NS = 800, 8, 1_500, 2_500, 5_000, 25, 8_000, 1_500


def mask(raw: bytes, spend: Spend = no_limit, key: bytes = b"", known: Suspicion | None = None) -> bytes:
    """The bytes with all recognised secrets masked; the same object if there are none. Masking twice changes nothing more.

    `key`: at most 32 bytes, known to this installation only: digests that stand for secrets in names depend on it. `known`: what was
    already found suspicious in these bytes.
    """
    for _ in range(_PASSES):
        if not (found := known if known and known.raw is raw else Suspicion(raw)).offsets:
            break
        scan = _Scan(found, spend, key)
        masked = scan.masked()
        is_settled = not scan.is_unsettled and not (scan.is_renamed and is_valued(raw, 0, len(raw)))
        if not (is_text := not is_json(masked)) and is_settled:
            return masked
        if is_text:
            spend(len(masked) * _TEXT_BYTE_NS)
            expect_work(masked, suspicious_offsets(masked), spend)
            masked = mask_text(masked.decode("latin-1")).encode("latin-1")
        if masked == raw:
            break
        raw = masked
    return raw


class _Scan:
    """Reads a body once, and collects the edits that mask secrets. It never fails, even if brackets do not match.

    `is_unsettled`: a text was masked that names another one (a key, an argument), so the masked body has to be read again. `is_renamed`: a
    name was, which may name the value of a member beside it.
    """

    def __init__(self, found: Suspicion, spend: Spend, key: bytes, depth: int = 0) -> None:
        raw = found.raw
        self.raw, self.spend, self.key, self.depth = raw, spend, key, depth
        self.mask_name = partial(mask_name, key=key)
        spend(len(raw) * _PASS_NS + len(found.offsets) * _LOOK_NS)
        offsets = found.harmful
        expect_work(raw, offsets, spend)
        self.plain = PlainParts(raw, offsets if not offsets or len(raw) > _TINY else None)
        self.memo: dict[tuple[bytes, bool], bytes] = {}
        self.edits: dict[int, tuple[int, bytes]] = {}
        self.frames, self.is_unsettled, self.is_renamed = [Container(is_object=False)], False, False

    def masked(self) -> bytes:
        if self.plain.is_plain(0, len(self.raw)):
            return self.raw
        is_renamed = edit_members(self.plain, (self.edit_secret, self.edit_text), self.spend)
        if is_renamed is not None:
            self.is_renamed = is_renamed
            return edited(self.raw, self.edits)
        at = 0
        while (following := self.walk(at)) > at:
            at = following
        while len(self.frames) > 1:
            self.close()
        return edited(self.raw, self.edits)

    def walk(self, at: int) -> int:
        """Handle tokens up to the end of a part that can be skipped. Returns the position at which to continue."""
        number = 0
        for number, token in enumerate(islice(TOKEN.finditer(self.raw, at), _TOKENS_AT_ONCE), 1):
            step = _STEPS.get(token[0])
            end = self.passes_over(token) if step is _Scan.open else 0
            if not end:
                (step or _Scan.text)(self, token)
                at = token.end()
                end = self.passes_items(at) if step in _BEFORE_ITEMS else 0
            if end:
                self.spend(number * _TOKEN_NS)
                return end
        self.spend(number * _TOKEN_NS)
        return at

    def passes_over(self, token: "re.Match[bytes]") -> int:
        """The end of an object or array that need not be read, because nothing in it is suspicious or because it is a long array of
        secrets; else 0.
        """
        outer, start = self.frames[-1], token.end()
        if not (outer.sink is not None or outer.key == "value" or holds_secrets(outer) or self.plain.may_end(token[0], start)):
            return 0
        end = self.plain.flat_end(token[0], start)
        is_long = token[0] == b"[" and end - start > SMALL
        if holds_secrets(outer):
            return self.passes_secrets(start, end, is_long=is_long)
        plain = end > 0 and self.plain.is_plain(start, end)
        sink = outer.values if outer.is_object and outer.key == "value" else outer.sink
        if holds_weakly_inside(outer):
            return self.passes_weak(start, end or self.plain.nested_end(token.start())) if sink is None else 0
        if sink is not None:
            if is_long and plain and not outer.tags:
                sink.append((start, end - 1))
                return end
            return 0
        return self.plain.flat_run_end(end) if plain else 0 if end else self.plain.nested_end(token.start())

    def passes_secrets(self, start: int, end: int, *, is_long: bool) -> int:
        """Among secrets: the end of empty containers, or of a long array, which is masked as a whole; else 0."""
        if end == start + 1:
            return self.plain.empty_run_end(end)
        if is_long:
            self.edits[start] = (end - 1, _MASKED)
        return end if is_long else 0

    def passes_weak(self, start: int, end: int) -> int:
        """The end of a plain container without escapes in which a value is only a secret if it looks like one; else 0."""
        if end <= start or not self.plain.is_plain(start, end) or b"\\" in self.raw[start:end]:
            return 0
        self.spend((end - start) * _TEXT_BYTE_NS)
        for span in secret_texts(self.raw, start, end):
            self.edit_secret(*span)
        return end

    def passes_items(self, at: int) -> int:
        """The end of members or elements that follow and need not be read, if there are any; else 0."""
        frame = self.frames[-1]
        if frame.key is not None or frame.secret or frame.weak or frame.sink is not None:
            return 0
        if frame.is_object:
            return self.plain.members_end(at)
        # The first element may be a program, and an option or the name of a secret says what the next one is.
        return frame.pass_elements(at, self.plain.scalars_end(at)) if frame.is_listing else 0

    def next_member(self, _: "re.Match[bytes]") -> None:
        frame = self.frames[-1]
        frame.key = None
        frame.count += 1

    def open(self, token: "re.Match[bytes]") -> None:
        self.spend(_OPEN_NS)
        is_object = token[0] == b"{"
        outer = self.frames[-1]
        key = outer.key if outer.is_object else None
        secret = holds_secrets(outer) and not (outer.secret and refers(key))
        columns = is_object and not secret and key in _COLUMN_MAPS
        sink = outer.values if outer.is_object and key == "value" else outer.sink
        tags = not secret and (outer.tags or key == "tags")
        self.frames.append(Container(is_object=is_object, secret=secret, columns=columns, tags=tags, sink=sink, start=token.start()))
        self.frames[-1].weak = holds_weakly_inside(outer)

    def close(self, token: "re.Match[bytes] | None" = None) -> None:
        if len(self.frames) == 1:
            return
        frame = self.frames.pop()
        if frame.program:
            self.edit_arguments(frame, token.start() if token else len(self.raw))
        if frame.named or frame.weak_name:
            self.edit_values(frame)
        if frame.sink is not None:
            frame.sink.extend(frame.values)
        if frame.companion or frame.columns_of:
            self.edit_companions(frame, token.start() if token else len(self.raw))
        self.frames[-1].note_columns(frame, self.raw)

    def edit_values(self, frame: Container) -> None:
        for start, end in frame.values:
            if is_named_secret(frame, self.raw[start:end]):
                self.edit_secret(start, end)

    def edit_companions(self, frame: Container, end: int) -> None:
        """In an object or array that has ended, mask the values that other values in it declare to be secrets."""
        self.spend((end - frame.start) * 2 * _TEXT_BYTE_NS)
        for span in secrets_beside(frame, self.raw, end):
            self.edit_secret(*span)

    def text(self, token: "re.Match[bytes]") -> None:
        """Handle a string or another scalar, as a key or as a value."""
        frame = self.frames[-1]
        if frame.is_object and frame.key is None:
            frame.key, frame.plain_key = text_of(token[0]), self.plain.is_plain(token.start(), token.end())
            self.is_unsettled |= self.edit_text(*token.span())
            return
        if is_secret(frame, token[0]):
            self.edit_secret(*token.span())
            return
        is_first = not frame.is_object and not frame.program
        if not frame.is_object:
            frame.note_element(text_of(token[0]), token.span())
        if not self.plain.is_plain(*token.span()):
            name_others(frame, token[0], self.raw)
        if frame.key == "value":
            frame.values.append(token.span())
        elif frame.sink is not None:
            frame.sink.append(token.span())
        if self.edit_text(*token.span(), frame.key):
            self.is_unsettled |= is_first
            self.is_renamed |= frame.key in NAMES_OF_VALUES

    def edit_arguments(self, frame: Container, end: int) -> None:
        """In an array that has ended, mask the secrets that are known by the program, or by an option before them."""
        spans = argument_spans(frame, self.raw, end)
        self.spend(len(spans) * _ARGUMENT_NS)
        arguments = [text_of(self.raw[start:stop]) for start, stop in spans]
        for (start, stop), argument, masked in zip(spans, arguments, mask_command(arguments, self.mask_found), strict=True):
            if masked != argument:
                self.edits.setdefault(start, (stop, token_of(masked)))

    def edit_secret(self, start: int, end: int) -> None:
        """Mask a scalar, or all the elements of a long array."""
        if end - start > SMALL or not is_absent(self.raw[start:end]):
            self.edits[start] = (end, _MASKED)

    def edit_text(self, start: int, end: int, key: str | None = None) -> bool:
        """Mask the secrets in a text, which may be the value of a member with this key. Returns whether there were any."""
        if self.plain.is_plain(start, end):
            return False
        text, is_name = self.raw[start:end], key in _NAMES
        masked = self.memo.get((text, is_name))
        if masked is None:
            masked = self.settled(text, self.mask_name if is_name else self.mask_string)
            if len(text) <= _SHORT and len(self.memo) < _REMEMBERED:
                self.memo[text, is_name] = masked
        if masked != text:
            self.edits[start] = (end, masked)
        return masked != text

    def settled(self, text: bytes, mask_string: Callable[[str], str]) -> bytes:
        """Mask the secrets in one JSON string or number, and then those that are only recognised now that others are masked."""
        for number in range(_PASSES):
            # Whether a text is suspicious is known from the offsets in it; of a long one, also once it is masked.
            is_known, is_long = self.plain.offsets is not None, len(text) > _LONG
            if not ((is_known and (is_long or not number)) or is_suspicious(text)):
                return text
            masked = masked_token(text, mask_string)
            if number or is_long or not is_known or masked != text or is_suspicious(text):
                self.spend(_TEXT_NS + len(text) * _TEXT_BYTE_NS)
            if masked == text:
                return text
            text = masked
        return text

    def mask_string(self, text: str) -> str:
        """Mask the secrets in a string, which may be JSON itself."""
        raw = text.encode("utf-8", "surrogatepass") if text.lstrip()[:1] in ("{", "[") and self.depth < _DEEPEST else b""
        if not raw or not is_json(raw):
            return self.mask_text(text)
        return self.mask_inside(raw).decode("utf-8", "surrogatepass")

    def mask_text(self, text: str) -> str:
        if self.depth < _DEEPEST and ("{" in text or "[" in text):
            self.spend(len(text) * _TEXT_BYTE_NS)
            text = mask_embedded(text, self.mask_inside)
        return mask_text(text) if len(text) <= _LONG else mask_with(text, self.mask_found)

    def mask_inside(self, raw: bytes) -> bytes:
        """Mask the secrets in JSON that is contained in a text."""
        return _Scan(Suspicion(raw), self.spend, self.key, self.depth + 1).masked()

    def mask_found(self, _: str) -> str:
        """The text that replaces a secret which was found in a long text, or among arguments."""
        self.spend(_FOUND_NS)
        return MASK


_STEPS = {b"{": _Scan.open, b"[": _Scan.open, b"}": _Scan.close, b"]": _Scan.close, b",": _Scan.next_member}
_BEFORE_ITEMS = (_Scan.open, _Scan.next_member)
