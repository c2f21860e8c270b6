"""Decoding the JSON of an event. msgspec checks the types of its members while it decodes; the text of facets is kept as it is."""

import re
from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field
from msgspec.json import Decoder

from lineage_bridge.openlineage.json_text import is_deeper_than, mend_text

_ERROR_PATH = re.compile(r" - at `\$(.*)`\Z", re.DOTALL)

MAX_BYTES = 32 * 1024 * 1024
"""Largest event, in bytes after decompression."""
MAX_DEPTH = 100
"""The maximum depth of nested objects and arrays, counting the event itself."""

ABSENT = Raw(b"")
"""Stands for the JSON text of a member that an event does not have."""


class WireNamed(Struct, gc=False):
    """A job of an event, or a dataset without its input or output facets, as decoded from JSON."""

    namespace: str | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    facets: Raw = ABSENT


class WireDataset(WireNamed, gc=False, rename="camel"):
    """A dataset of an event, as decoded from JSON: an input, an output, or the dataset of a DatasetEvent."""

    input_facets: Raw = ABSENT
    output_facets: Raw = ABSENT


class WireRun(Struct, gc=False, rename="camel"):
    """The run of an event, as decoded from JSON."""

    run_id: str | None = None
    facets: Raw = ABSENT


WireDatasets = list[WireDataset | None] | UnsetType | None


class WireBody(Struct, gc=False, rename="camel"):
    """The members of an event whose type always matters."""

    event_type: str | UnsetType | None = UNSET
    run: WireRun | UnsetType | None = UNSET
    job: WireNamed | UnsetType | None = UNSET
    dataset: WireDataset | UnsetType | None = UNSET
    inputs: WireDatasets = UNSET
    outputs: WireDatasets = UNSET


class WireEvent(WireBody, gc=False, rename="camel"):
    """An event whose members all have the types of the specification, or are null."""

    event_time: str | None = None
    producer: str | None = None
    schema_url: str | None = field(default=None, name="schemaURL")


class LooseWireEvent(WireBody, gc=False, rename="camel"):
    """An event in which members that may have any type have other types than in the specification: a value that is not a string counts as
    absent.
    """

    event_time: Raw = ABSENT
    producer: Raw = ABSENT
    schema_url: Raw = field(default=ABSENT, name="schemaURL")


_EVENT = Decoder(WireEvent)
_LOOSE = Decoder(LooseWireEvent)
_ANY = Decoder(Raw)
_MEMBERS = Decoder(dict[str, Raw])
_ELEMENTS = Decoder(list[Raw])
_OBJECTS = Decoder(list[dict[str, Raw]])


class RejectedEventError(Exception):
    """An event cannot be used: the code of the reason, the JSON path of the cause, and a message. `judge` catches it."""

    def __init__(self, code: str, path: str, message: str) -> None:
        super().__init__(message)
        self.code, self.path, self.message = code, path, message


def reject(code: str, path: str, message: str) -> NoReturn:
    """Raise RejectedEventError with these values."""
    raise RejectedEventError(code, path, message)


def decode(raw: bytes) -> WireEvent | LooseWireEvent:
    """Decode an event, and check the syntax of all of `raw`. Raises RejectedEventError."""
    try:
        return _EVENT.decode(raw)
    except msgspec.ValidationError:
        pass
    except msgspec.DecodeError as error:
        reject("not_json", "$", str(error))
    check_syntax(raw)
    try:
        return _LOOSE.decode(_last_wins(raw))
    except msgspec.ValidationError as error:
        message, path = str(error), _ERROR_PATH.search(str(error))
        reject("wrong_type", "$" + path[1] if path else "$", message[: path.start()] if path else message)


def check_syntax(raw: bytes) -> None:
    """Raise RejectedEventError for bytes that are not JSON."""
    try:
        _ANY.decode(raw)
    except msgspec.DecodeError as error:
        reject("not_json", "$", str(error))


def _last_wins(raw: bytes) -> bytes:
    """Remove repeated members from a JSON text: every decoded object only keeps the last of them."""
    return msgspec.json.encode(_without_repeats(Raw(raw), {"run": {}, "job": {}, "dataset": {}, "inputs": {}, "outputs": {}}))


def _without_repeats(value: Raw, inner: Mapping[str, Mapping[str, Any]]) -> Raw:
    text = bytes(value).strip()
    if text.startswith(b"["):
        return Raw(msgspec.json.encode(_elements_without_repeats(text, inner)))
    if not text.startswith(b"{"):
        return value
    members = _MEMBERS.decode(text)
    for key in inner.keys() & members.keys():
        members[key] = _without_repeats(members[key], inner[key])
    return Raw(msgspec.json.encode(members))


def _elements_without_repeats(text: bytes, inner: Mapping[str, Mapping[str, Any]]) -> "list[dict[str, Raw]] | list[Raw]":
    if not inner:
        try:
            return _OBJECTS.decode(text)
        except msgspec.ValidationError:
            pass  # not all of them are objects
    return [_without_repeats(element, inner) for element in _ELEMENTS.decode(text)]


def string_of(value: str | Raw | None) -> str | None:
    """The string in a member of a LooseWireEvent; None if the member has any other value."""
    if value is None or isinstance(value, str):
        return value
    text = bytes(value)
    return msgspec.json.decode(text, type=str) if text.startswith(b'"') else None


def check_utf8(raw: bytes) -> None:
    """Raise RejectedEventError for bytes that are not UTF-8."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        reject("not_json", "$", f"byte {error.start} is not UTF-8")


def readable_text(raw: bytes) -> bytes:
    """Check the limits of size and depth, and replace characters that a store cannot keep. Returns the text; the same object if nothing
    was replaced.
    """
    if len(raw) > MAX_BYTES:
        reject("too_large", "$", f"the event has {len(raw)} bytes, the limit is {MAX_BYTES}")
    if not raw.isascii():
        check_utf8(raw)
    mended = mend_text(raw)
    if is_deeper_than(mended, MAX_DEPTH):
        check_syntax(mended)
        reject("too_deep", "$", f"the event has more than {MAX_DEPTH} levels of objects and arrays")
    return mended
