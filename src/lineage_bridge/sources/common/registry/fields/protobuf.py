"""Converts Protobuf schemas to the fields of OpenLineage's schema facet. A topic's records have the type of the first message, as
serializers write by default.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from antlr4.error.ErrorListener import ErrorListener
from antlr4.Recognizer import Recognizer
from msgspec.structs import replace
from proto_schema_parser import ast
from proto_schema_parser.parser import Parser

from lineage_bridge.errors import RequestError
from lineage_bridge.openlineage.facets import SchemaField

Types = dict[str, "ast.Message | ast.Enum"]
"""Messages and enums by full name, outer before inner ones."""


def fields(text: str, references: Mapping[str, str]) -> tuple[SchemaField, ...]:
    """Convert the first message of a Protobuf schema to fields. Raises RequestError."""
    types: Types = {}
    for other in references.values():
        types |= types_of(other)
    own = types_of(text)
    types |= own
    first = next((name for name, found in own.items() if isinstance(found, ast.Message)), None)
    if first is None:
        raise RequestError("the Protobuf schema contains no message", "check the schema in the registry")
    return _message(first, types, ())


def types_of(text: str) -> Types:
    """The messages and enums in the text of a schema, by name. Raises RequestError."""
    return dict(_types(_parsed(text)))


class _Strict(ErrorListener):  # type: ignore[misc]  # the library has no types
    """Makes the parser raise errors that it would otherwise only print."""

    def syntaxError(self, *cause: Any) -> None:  # noqa: ANN401, N802 - the library's own signature
        """Raise an error with the line and the reason."""
        _, _, line, _, message, _ = cause
        raise RequestError(
            f"line {line} of a Protobuf schema: {message.split(' expecting ', maxsplit=1)[0]}", "check the schema in the registry"
        )


def _listen(part: Recognizer) -> None:
    part.removeErrorListeners()
    part.addErrorListener(_Strict())


def _parsed(text: str) -> ast.File:
    return Parser(setup_lexer=_listen, setup_parser=_listen).parse(text)


def _types(file: ast.File) -> Iterator[tuple[str, "ast.Message | ast.Enum"]]:
    """The messages and enums of a file by full name, outer before inner ones."""
    package = next((part.name for part in file.file_elements if isinstance(part, ast.Package)), "")
    for part in file.file_elements:
        if isinstance(part, ast.Message | ast.Enum):
            yield from _named(part, package)


def _named(part: "ast.Message | ast.Enum", space: str) -> Iterator[tuple[str, "ast.Message | ast.Enum"]]:
    full = f"{space}.{part.name}" if space else part.name
    yield full, part
    if isinstance(part, ast.Message):
        for inner in part.elements:
            if isinstance(inner, ast.Message | ast.Enum):
                yield from _named(inner, full)


def _message(full: str, types: Types, inside: tuple[str, ...]) -> tuple[SchemaField, ...]:
    found = types[full]
    if not isinstance(found, ast.Message) or full in inside:
        return ()
    return tuple(_members(found.elements, full, types, (*inside, full)))


def _members(
    elements: "list[ast.MessageElement] | list[ast.OneOfElement]", full: str, types: Types, inside: tuple[str, ...]
) -> list[SchemaField]:
    """The fields of a message. The description of each is the comment before it, or the one at the end of its line."""
    found: list[SchemaField] = []
    before: list[str] = []
    for part in elements:
        if isinstance(part, ast.Comment):
            if not part.inline:
                before.append(_plain(part.text))
            elif found:
                found[-1] = replace(found[-1], description=_plain(part.text))
            continue
        made = _member(part, full, types, inside)
        if len(made) == 1 and before:
            made = [replace(made[0], description=" ".join(before))]
        found += made
        before = []
    return found


def _member(part: "ast.MessageElement | ast.OneOfElement", full: str, types: Types, inside: tuple[str, ...]) -> list[SchemaField]:
    if isinstance(part, ast.OneOf):
        return _members(part.elements, full, types, inside)
    if isinstance(part, ast.MapField):
        key, value = SchemaField(name="key", type=part.key_type), _typed("value", part.value_type, full, types, inside)
        return [SchemaField(name=part.name, type="map", fields=(key, value))]
    if isinstance(part, ast.Field) and part.cardinality is ast.FieldCardinality.REPEATED:
        return [SchemaField(name=part.name, type="array", fields=(_typed("_element", part.type, full, types, inside),))]
    if isinstance(part, ast.Field):
        return [_typed(part.name, part.type, full, types, inside)]
    if isinstance(part, ast.Group):
        inner = tuple(_members(part.elements, f"{full}.{part.name}", types, inside))
        return [SchemaField(name=part.name.lower(), type="record", fields=inner or None)]
    return []


def _typed(name: str, kind: str, full: str, types: Types, inside: tuple[str, ...]) -> SchemaField:
    found = look_up(kind, full, types)
    if found is None:
        return SchemaField(name=name, type=kind.lstrip("."))
    if isinstance(types[found], ast.Enum):
        return SchemaField(name=name, type="enum")
    return SchemaField(name=name, type="record", fields=_message(found, types, inside) or None)


def look_up(kind: str, space: str, types: Types) -> str | None:
    """Find the full name of a type, searching from the innermost scope outwards, as Protobuf does."""
    if kind.startswith("."):
        return kind[1:] if kind[1:] in types else None
    while True:
        full = f"{space}.{kind}" if space else kind
        if full in types:
            return full
        if not space:
            return None
        space = space.rpartition(".")[0]


def _plain(comment: str) -> str:
    lines = (line.strip().lstrip("/*").rstrip("*/").strip() for line in comment.splitlines())
    return " ".join(line for line in lines if line)
