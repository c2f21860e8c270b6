"""Google's catalog, Dataplex, as far as publications meet it, with what the service refuses.

Requests and answers are messages of Google's own client: what its descriptors do not have is refused, or never answered. Where requests
have the id of a project, answers have its number, also in the keys of aspects.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from google.cloud import dataplex_v1 as api
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from tests.catalogs.google_login import is_authorized
from tests.catalogs.standins.google import LOCATION, NUMBER, PROJECT
from tests.catalogs.standins.server import Answer, Request

Json = dict[str, Any]
_STATUSES: Final = {"INVALID_ARGUMENT": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404, "ALREADY_EXISTS": 409}
_KINDS: Final = {"entryGroups": api.EntryGroup, "entryTypes": api.EntryType, "aspectTypes": api.AspectType, "entries": api.Entry}
_IDS: Final = {"entryGroups": "entryGroupId", "entryTypes": "entryTypeId", "aspectTypes": "aspectTypeId"}
_ID: Final = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_KEY: Final = re.compile(r"([a-z0-9-]+)\.([a-z0-9-]+)\.([a-z0-9-]+)(@.+)?")
_MASKS: Final = {"fullyQualifiedName", "entrySource", "aspects"}
_SOURCE: Final = {"resource": 4000, "system": 64, "platform": 64, "displayName": 500, "description": 2000}
_PARENT: Final = f"projects/{NUMBER}/locations/{LOCATION}"
SCHEMA: Final = "655216118709.global.schema"
_COLUMN: Final[Json] = {
    "type": "record",
    "recordFields": [
        *({"name": name, "type": "string"} for name in ("name", "dataType", "description", "defaultValue")),
        {"name": "mode", "type": "enum", "enumValues": [{"name": name} for name in ("NULLABLE", "REPEATED", "REQUIRED")]},
        {
            "name": "metadataType",
            "type": "enum",
            "enumValues": [
                {"name": name}
                for name in ("BOOLEAN", "NUMBER", "STRING", "BYTES", "DATETIME", "TIMESTAMP", "GEOSPATIAL", "STRUCT", "OTHER")
            ],
        },
        {"name": "fields", "type": "array", "arrayItems": {"typeRef": "column"}},
    ],
}
_SCHEMA_TEMPLATE: Final[Json] = {
    "type": "record",
    "recordFields": [{"name": "fields", "type": "array", "arrayItems": {"typeRef": "column"}}],
}
_TYPES: Final[Json] = {"string": str, "bool": bool, "int": (int, float), "double": (int, float), "enum": str, "datetime": str}
LARGEST_ASPECT = 120_000


class _RefusedError(Exception):
    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        code = _STATUSES[status]
        self.answer = Answer(code, {"error": {"code": code, "message": message, "status": status}})


def _require(is_met: object, message: str) -> None:
    if not is_met:
        raise _RefusedError("INVALID_ARGUMENT", message)


def _authorize(request: Request, key: bytes) -> None:
    if not is_authorized(request, key):
        raise _RefusedError("UNAUTHENTICATED", "Request had invalid authentication credentials.")


class Dataplex:
    """One location of a project: objects as JSON by their names.

    Creations of types end after `polls` questions, with `failure` as their error if there is one.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Json] = {}
        self.operations: dict[str, tuple[str, Json, int]] = {}
        self.requests: list[str] = []
        self.polls, self.key, self.failure = 1, b"", Json()
        self.may_write = self.may_list = True

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        self.requests.append(f"{request.method} /{'/'.join(request.parts)}")
        try:
            _authorize(request, self.key)
            return Answer(200, self._answer(request))
        except _RefusedError as error:
            return error.answer

    def _answer(self, request: Request) -> Json:
        if request.method != "GET" and not self.may_write:
            raise _RefusedError("PERMISSION_DENIED", "Permission 'dataplex.entries.update' denied")
        location = "/".join(request.parts[1:5])
        if request.parts[0] != "v1" or location not in {f"projects/{name}/locations/{LOCATION}" for name in (PROJECT, NUMBER)}:
            raise _RefusedError("NOT_FOUND", "no such location")
        rest = request.parts[5:]
        if rest[0] == "operations":
            return self._polled("/".join(("projects", NUMBER, "locations", LOCATION, *rest)))
        name = "/".join((_PARENT, *rest))
        if request.method == "POST":
            return self._create_entry(request, name) if rest[-1] == "entries" else self._create(request, rest, name)
        if request.method == "PATCH":
            return self._patch(request, name)
        if request.method == "GET" and rest[-1] == "entries":
            return self._entries(request, name)
        found = self._object(name)
        if request.method == "DELETE":
            _require(rest[-2] == "entries", "only entries are deleted here")
            return _shown("entries", self.objects.pop(name))
        return _shown(rest[-2], self._viewed(request, found) if rest[-2] == "entries" else found)

    def _object(self, name: str) -> Json:
        if name not in self.objects:
            raise _RefusedError("NOT_FOUND", f"{name} is not there")
        return self.objects[name]

    # entry groups and types

    def _create(self, request: Request, rest: tuple[str, ...], name: str) -> Json:
        _require(len(rest) == 1 and rest[0] in _IDS, "there is no such method")
        id_, made = request.query.get(_IDS[rest[0]], ""), _message(rest[0], request.body)
        _require(_ID.fullmatch(id_), "the id must have 1 to 63 lower-case letters, digits and hyphens, and begin with a letter")
        if f"{name}/{id_}" in self.objects:
            raise _RefusedError("ALREADY_EXISTS", f"{name}/{id_} already exists")
        if rest[0] == "aspectTypes":
            _require(made.get("metadataTemplate", {}).get("type") == "record", "metadata_template must be a record")
            _check_template(made["metadataTemplate"])
        for aspect in made.get("requiredAspects", ()):
            self._object(aspect["type"].replace(PROJECT, NUMBER))
        operation = f"{_PARENT}/operations/operation-{len(self.operations)}"
        self.operations[operation] = (f"{name}/{id_}", made, self.polls)
        return self._operation(operation, is_done=False)

    def _polled(self, operation: str) -> Json:
        name, made, left = self.operations[operation]
        if left <= 1 and not self.failure:
            self.objects[name] = {**made, "name": name}
        self.operations[operation] = (name, made, left - 1)
        return self._operation(operation, is_done=left <= 1)

    def _operation(self, operation: str, *, is_done: bool) -> Json:
        about = {"@type": "type.googleapis.com/google.cloud.dataplex.v1.OperationMetadata", "verb": "create"}
        ended = {"error": self.failure} if self.failure else {"response": {"@type": "type.googleapis.com/google.protobuf.Empty"}}
        return {"name": operation, "metadata": about, "done": is_done, **(ended if is_done else {})}

    # entries

    def _entries(self, request: Request, parent: str) -> Json:
        """A page of a group's entries; nothing says that it has aspects, so it has none."""
        if not self.may_list:
            raise _RefusedError("PERMISSION_DENIED", "Permission 'dataplex.entries.list' denied")
        self._object(parent.removesuffix("/entries"))
        size, begin = min(100, int(request.query.get("pageSize", 10))), int(request.query.get("pageToken", 0))
        found = [made for name, made in sorted(self.objects.items()) if name.startswith(f"{parent}/")]
        shown = [_shown("entries", {**made, "aspects": {}}) for made in found[begin : begin + size]]
        return {"entries": shown, "nextPageToken": str(begin + size) if len(found) > begin + size else ""}

    def _create_entry(self, request: Request, parent: str) -> Json:
        sent, id_ = _message("entries", request.body), request.query.get("entryId", "")
        _require(0 < len(id_) <= 4000, "entry_id must have 1 to 4000 characters")
        name = f"{parent}/{id_}"
        _require(sent.get("name", name).replace(f"projects/{PROJECT}/", f"projects/{NUMBER}/", 1) == name, "name is that of another entry")
        if name in self.objects:
            raise _RefusedError("ALREADY_EXISTS", f"{name} already exists")
        return self._put(sent, name, _MASKS, {self._key(key) for key in sent.get("aspects", ())}, drops=False)

    def _patch(self, request: Request, name: str) -> Json:
        sent, there = _message("entries", request.body), self.objects.get(name)
        if there is None and request.query.get("allowMissing") != "true":
            raise _RefusedError("NOT_FOUND", f"{name} is not there")
        mask = set(request.query.get("updateMask", "").split(",")) - {""} or _MASKS
        _require(mask <= _MASKS, f"update_mask has {sorted(mask - _MASKS)}, which cannot be changed")
        named = {self._key(key) for key in request.lists.get("aspectKeys", ()) or sent.get("aspects", ())}
        return self._put(sent, name, mask, named, drops=request.query.get("deleteMissingAspects") == "true")

    def _put(self, sent: Json, name: str, mask: set[str], named: set[str], *, drops: bool) -> Json:
        there = self.objects.get(name)
        self._object(name.partition("/entries/")[0])
        type_ = sent.get("entryType", "").replace(PROJECT, NUMBER)
        required = self._object(type_).get("requiredAspects", ())
        _require(there is None or there["entryType"] == type_, "entry_type is immutable")
        _require(len(sent.get("fullyQualifiedName", "")) <= 4000, "fully_qualified_name is too long")
        for member, longest in _SOURCE.items():
            _require(len(sent.get("entrySource", {}).get(member, "")) <= longest, f"entry_source.{member} is too long")
        aspects = {self._key(key): aspect for key, aspect in sent.get("aspects", {}).items()}
        for key, aspect in aspects.items():
            self._check_aspect(key, aspect)
        _require(aspects.keys() <= named, "aspects has keys that aspect_keys does not have")
        made = {"name": name, "entryType": type_, "aspects": {}, **(there or {})}
        made |= {member: sent[member] for member in mask & sent.keys() - {"aspects"}}
        if "aspects" in mask:
            dropped = named - aspects.keys() if drops else set()
            made["aspects"] = {key: aspect for key, aspect in {**made["aspects"], **aspects}.items() if key not in dropped}
        for aspect in required:
            _require(self._key(".".join(aspect["type"].split("/")[1::2])) in made["aspects"], f"{aspect['type']} is required")
        self.objects[name] = made
        return _shown("entries", made)

    def _key(self, key: str) -> str:
        parts = _KEY.fullmatch(key)
        _require(parts, f"{key} is no key of an aspect")
        assert parts
        project = {PROJECT: NUMBER, "dataplex-types": "655216118709"}.get(parts[1], parts[1])
        return f"{project}.{parts[2]}.{parts[3]}{parts[4] or ''}"

    def _check_aspect(self, key: str, aspect: Json) -> None:
        data = aspect.get("data", {})
        _require(len(json.dumps(data, ensure_ascii=False).encode()) <= LARGEST_ASPECT * 1.1, f"{key} has more than 120 kB")
        _require(len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()) <= LARGEST_ASPECT, f"{key} has more than 120 kB")
        project, location, type_ = key.partition("@")[0].split(".")
        if key.partition("@")[0] == SCHEMA:
            _check_data(data, _SCHEMA_TEMPLATE, key)
        else:
            _check_data(data, self._object(f"projects/{project}/locations/{location}/aspectTypes/{type_}")["metadataTemplate"], key)

    def _viewed(self, request: Request, found: Json) -> Json:
        view = request.query.get("view", "FULL")
        view = api.EntryView(int(view)).name if view.isdigit() else view
        if view == "CUSTOM":
            types = {".".join(name.split("/")[1::2]) for name in request.lists.get("aspectTypes", ())}
            shown = {self._key(type_) for type_ in types}
            return {**found, "aspects": {key: made for key, made in found["aspects"].items() if key.partition("@")[0] in shown}}
        _require(view == "ALL", f"the view {view} is not asked for")
        return {**found, "aspects": dict(list(found["aspects"].items())[:100])}

    def entries(self) -> Iterator[tuple[str, Json, Json]]:
        """The topic, the data of LineageBridge's aspect and the whole entry of each entry that has such an aspect."""
        for name, made in sorted(self.objects.items()):
            data = made.get("aspects", {}).get(f"{NUMBER}.{LOCATION}.lineagebridge-topic", {}).get("data") if "/entries/" in name else None
            if data:
                yield data["name"], data, made


def _check_template(template: Json) -> None:
    indexes = [field.get("index") for field in template.get("recordFields", ())]
    _require(all(indexes) and len(set(indexes)) == len(indexes), "each field needs an index of its own")
    for field in template.get("recordFields", ()):
        _require(re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,127}", field.get("name", "")), "a field has no name that is allowed")
        _require(field.get("type") in {*_TYPES, "array", "map", "record"}, "a field has no type")
        _require(field["type"] != "array" or field.get("arrayItems", {}).get("type"), "an array has no items")
        _check_template(field.get("arrayItems", {}))


def _check_data(data: Any, template: Json, where: str) -> None:
    """Data has the fields of its template, and no others."""
    template = _COLUMN if template.get("typeRef") == "column" else template
    type_ = template["type"]
    if type_ == "record":
        _require(isinstance(data, dict), f"{where} must be a record")
        fields = {field["name"]: field for field in template["recordFields"]}
        for name, value in data.items():
            _require(name in fields, f"{where} has no field {name}")
            _check_data(value, fields[name], f"{where}.{name}")
    elif type_ == "array":
        _require(isinstance(data, list), f"{where} must be an array")
        for value in data:
            _check_data(value, template["arrayItems"], where)
    else:
        _require(isinstance(data, _TYPES[type_]), f"{where} must be a {type_}")
        values = {value["name"] for value in template.get("enumValues", ())}
        _require(type_ != "enum" or data in values, f"{where}: there is no value {data}")


def _message(kind: str, body: bytes) -> Json:
    """A body, which has no members but those of its message."""
    message: Any = _KINDS[kind]
    try:
        found: Json = MessageToDict(ParseDict(json.loads(body), message.pb(message())))
    except (ParseError, TypeError, AttributeError) as error:
        raise _RefusedError("INVALID_ARGUMENT", str(error)) from error
    return found


def _shown(kind: str, found: Json) -> Json:
    message: Any = _KINDS[kind]
    shown: Json = MessageToDict(ParseDict(found, message.pb(message())), use_integers_for_enums=True)
    return shown
