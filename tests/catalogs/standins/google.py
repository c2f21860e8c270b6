"""Google Data Lineage as far as publications meet it, with what the service refuses.

Requests and answers are messages of Google's own client: what its descriptors do not have is refused, or never answered.
"""

import json
import re
from hashlib import sha256
from itertools import count
from typing import Any, Final

from google.cloud import datacatalog_lineage_v1 as api
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.struct_pb2 import Struct
from tests.catalogs.google_login import is_authorized
from tests.catalogs.standins.server import Answer, Request

PROJECT, NUMBER, LOCATION = "lineage-test", "123456789012", "europe-west3"
Json = dict[str, Any]
_STATUSES: Final = {"INVALID_ARGUMENT": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404, "ALREADY_EXISTS": 409}
_SEGMENT: Final = r"(?:[^`:.\s]+|`(?:[^`]|``)+`)"
_SYSTEMS: Final = {"bigquery": "2,3", "pubsub:topic": "2", "pubsub:subscription": "2", "gcs": "1,2", "custom": "1,"}
_NAMES: Final = [
    re.compile(rf"{system}:{_SEGMENT}(?:\.{_SEGMENT}){{{','.join(str(int(n) - 1) if n else '' for n in counts.split(','))}}}")
    for system, counts in _SYSTEMS.items()
]
_ID: Final = re.compile(r"[a-zA-Z0-9_\-:.]{1,200}")
_DISPLAYED: Final = re.compile(r"[\w :&.-]{0,200}")
_KINDS: Final = {"processes": api.Process, "runs": api.Run, "lineageEvents": api.LineageEvent}
_PARENTS: Final = {"runs": "processes", "lineageEvents": "runs"}
_STATES: Final = {"START": 1, "RUNNING": 1, "COMPLETE": 2, "FAIL": 3, "ABORT": 4, "OTHER": 0}
LARGEST, MOST_LINKS, MOST_OF_EVENT = 5_000_000, 1000, 100


class _RefusedError(Exception):
    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        code = _STATUSES[status]
        self.answer = Answer(code, {"error": {"code": code, "message": message, "status": status}})


def _authorize(request: Request, key: bytes) -> None:
    if not is_authorized(request, key):
        raise _RefusedError("UNAUTHENTICATED", "Request had invalid authentication credentials.")


def _require(is_met: object, message: str) -> None:
    if not is_met:
        raise _RefusedError("INVALID_ARGUMENT", message)


class DataLineage:
    """One location of a project: objects by their names, which the answers have with the project's number.

    Deletions end after `polls` questions, with `failure` as their error if there is one. `page` is how many objects a page has at most,
    `key` the public key of a service account.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.operations: dict[str, tuple[str, int]] = {}
        self.replays: dict[str, Answer] = {}
        self.requests: list[str] = []
        self.polls, self.page, self.may_write, self.key, self.failure = 1, 1, True, b"", Json()
        self._numbers = count(1)

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        self.requests.append(f"{request.method} /{'/'.join(request.parts)}")
        asked = request.query.get("requestId", "")
        try:
            _authorize(request, self.key)
            _require(len(asked) <= 36 and asked.isascii(), "request_id must be at most 36 ASCII characters")
            if asked and asked in self.replays:
                return self.replays[asked]
            answer = Answer(200, self._answer(request))
        except _RefusedError as error:
            return error.answer
        if asked:
            self.replays[asked] = answer
        return answer

    def _answer(self, request: Request) -> Json:
        if request.method != "GET" and not self.may_write and ":search" not in request.parts[-1]:
            raise _RefusedError("PERMISSION_DENIED", "Permission 'datalineage.processes.create' denied")
        location, _, method = "/".join(request.parts[1:5]).partition(":")
        if request.parts[0] != "v1" or location not in {f"projects/{name}/locations/{LOCATION}" for name in (PROJECT, NUMBER)}:
            raise _RefusedError("NOT_FOUND", "no such location")
        if method:
            found: Json = {"processOpenLineageRunEvent": self._send, "searchLinks": self._search}[method](request)
            return found
        if request.parts[5] == "operations":
            return self._polled(request.parts[6])
        name = "/".join((_PARENT, *request.parts[5:]))
        is_list = len(request.parts[5:]) % 2 == 1
        return self._of_list(request, name) if is_list else self._of_one(request, name)

    def _of_list(self, request: Request, name: str) -> Json:
        kind = name.rpartition("/")[2]
        if request.method == "GET":
            return self._listed(request, name, kind)
        made = _message(_KINDS[kind], request.body)
        name = f"{name}/{made.name.rpartition('/')[2] or next(self._numbers)}"
        if name in self.objects:
            raise _RefusedError("ALREADY_EXISTS", f"{name} already exists")
        return self._put(name, kind, request.body)

    def _of_one(self, request: Request, name: str) -> Json:
        kind = name.split("/")[-2]
        if request.method == "GET":
            return _shown(self._object(name))
        if request.query.get("allowMissing") != "true":
            self._object(name)
        if request.method == "DELETE":
            return self._delete(name, kind)
        _require(request.method == "PATCH" and kind != "lineageEvents", "there is no such method")
        return self._put(name, kind, request.body)

    def _object(self, name: str) -> Any:
        if name not in self.objects:
            raise _RefusedError("NOT_FOUND", f"{name} is not there")
        return self.objects[name]

    def _put(self, name: str, kind: str, body: bytes) -> Json:
        made = _message(_KINDS[kind], body)
        _require(_ID.fullmatch(name.rpartition("/")[2]), "the id has characters that are not allowed")
        if kind in _PARENTS:
            self._object(name.rpartition(f"/{kind}/")[0])
        if kind == "lineageEvents":
            _check_event(made)
        else:
            _require(_DISPLAYED.fullmatch(made.display_name), "display_name has characters that are not allowed")
            _require(len(made.attributes) <= 100, "more than 100 attributes")
        if kind == "processes":
            _require(made.origin.source_type == api.Origin.SourceType.CUSTOM, "origin must be CUSTOM")
        if kind == "runs":
            _require(made.HasField("start_time") and made.state, "start_time and state are required")
        made.name = name
        self.objects[name] = made
        return _shown(made)

    def plant(self, process: str, run: str, start: str, *links: tuple[str, str], **members: Any) -> None:
        """Put a run of somebody else's process there, with links; an end is a fully qualified name, and possibly a column after a blank."""
        made = {"links": [dict(zip(("source", "target"), map(_planted, link), strict=True)) for link in links], "startTime": start}
        _check_event(_message(api.LineageEvent, json.dumps(made).encode()))
        of = f"{_PARENT}/processes/{process}"
        self._keep(of, api.Process, members)
        self._keep(f"{of}/runs/{run}", api.Run, {"startTime": start, "state": 2})
        self._keep(f"{of}/runs/{run}/lineageEvents/e", api.LineageEvent, made)

    def children(self, name: str, kind: str) -> list[Any]:
        """The objects of a kind directly below another one."""
        below = f"{name}/{kind}/" if not name.endswith(f"/{kind}") else f"{name}/"
        return [self.objects[key] for key in sorted(self.objects) if key.startswith(below) and "/" not in key[len(below) :]]

    def _listed(self, request: Request, name: str, kind: str) -> Json:
        if kind in _PARENTS:
            self._object(name.rpartition("/")[0])
        found = self.children(name, kind)
        if kind == "runs":
            found.sort(key=lambda run: -run.start_time.ToNanoseconds())
        at = int(request.query.get("pageToken", "0") or 0)
        shown = found[at : at + min(self.page, int(request.query.get("pageSize", 50)), 100)]
        following = {"nextPageToken": str(at + len(shown))} if at + len(shown) < len(found) else {}
        return {kind: [_shown(made) for made in shown], **following}

    def _delete(self, name: str, kind: str) -> Json:
        if kind == "lineageEvents":
            self.objects.pop(name, None)
            return {}
        operation = f"operation-{next(self._numbers)}"
        self.operations[operation] = (name, self.polls)
        return self._operation(operation, is_done=False)

    def _polled(self, operation: str) -> Json:
        name, left = self.operations[operation]
        if left <= 1 and not self.failure:
            self.objects = {key: made for key, made in self.objects.items() if key != name and not key.startswith(f"{name}/")}
        self.operations[operation] = (name, left - 1)
        return self._operation(operation, is_done=left <= 1)

    def _operation(self, operation: str, *, is_done: bool) -> Json:
        about = {"@type": f"type.googleapis.com/{_PACKAGE}.OperationMetadata", "operationType": "DELETE", "state": "RUNNING"}
        ended = {"error": self.failure} if self.failure else {"response": {"@type": "type.googleapis.com/google.protobuf.Empty"}}
        name = f"projects/{NUMBER}/locations/{LOCATION}/operations/{operation}"
        return {"name": name, "metadata": about, "done": is_done, **(ended if is_done else {})}

    # links

    def links(self) -> dict[tuple[Any, Any], set[str]]:
        """The processes of each link, by its ends; an end is a name and the path of a column."""
        found: dict[tuple[Any, Any], set[str]] = {}
        for name, made in self.objects.items():
            for link in getattr(made, "links", ()):
                ends = (
                    (link.source.fully_qualified_name, tuple(link.source.field)),
                    (link.target.fully_qualified_name, tuple(link.target.field)),
                )
                found.setdefault(ends, set()).add(name.partition("/runs/")[0])
        return found

    def _search(self, request: Request) -> Json:
        asked = _message(api.SearchLinksRequest, request.body)
        side = 0 if asked.HasField("source") else 1
        end = asked.source if side == 0 else asked.target
        _check_entity(end)
        links = sorted(ends for ends in self.links() if ends[side] == (end.fully_qualified_name, tuple(end.field)))
        shown = [
            {key: {"fullyQualifiedName": of[0], "field": list(of[1])} for key, of in zip(("source", "target"), ends, strict=True)}
            for ends in links
        ]
        return _shown(ParseDict({"links": shown}, api.SearchLinksResponse.pb(api.SearchLinksResponse())))

    # OpenLineage

    def _send(self, request: Request) -> Json:
        _require(len(request.body) <= LARGEST, "Request payload size exceeds the limit: 5000000 bytes.")
        event = json.loads(request.body)
        _require(isinstance(event, dict), "Invalid JSON payload received. Root element must be a message.")
        MessageToDict(ParseDict(event, Struct()))
        members = {member for member in ("eventTime", "eventType", "producer", "schemaURL", "run", "job") if event.get(member)}
        _require(len(members) == 6 and event["schemaURL"].endswith("/RunEvent"), "the message is no RunEvent of OpenLineage")
        _require(event["eventType"] in _STATES and event["run"].get("runId"), "the run has no id or state")
        job = event["job"]
        sources, targets = (
            [{"fullyQualifiedName": f"{of['namespace']}:{of['name']}"} for of in event.get(side, ())] for side in ("inputs", "outputs")
        )
        links = [{"source": source, "target": target} for source in sources for target in targets]
        _require(len(links) <= MOST_LINKS, "more than 1000 links")
        process = f"{_PARENT}/processes/{_hashed(job['namespace'], job['name'])}"
        run = f"{process}/runs/{_hashed(event['run']['runId'])}"
        time = {"startTime": event["eventTime"], "endTime": event["eventTime"]}
        portions = [links[at : at + MOST_OF_EVENT] for at in range(0, len(links), MOST_OF_EVENT)]
        made = {f"{run}/lineageEvents/{_hashed(json.dumps([job['name'], run, links]))}": {"links": links, **time} for links in portions}
        for found in made.values():
            _check_event(_message(api.LineageEvent, json.dumps(found).encode()))
        attributes = dict(list(job.get("facets", {}).items())[:100])
        self._keep(process, api.Process, {"displayName": f"{job['namespace']}:{job['name']}", "attributes": attributes})
        self._keep(run, api.Run, {"displayName": event["run"]["runId"], "state": _STATES[event["eventType"]], **time})
        for name, found in made.items():
            self._keep(name, api.LineageEvent, found)
        answer = api.ProcessOpenLineageRunEventResponse(process=process, run=run, lineage_events=list(made))
        return _shown(api.ProcessOpenLineageRunEventResponse.pb(answer))

    def _keep(self, name: str, kind: Any, found: Json) -> None:
        self.objects[name] = ParseDict({"name": name, **found}, kind.pb(kind()))

    def edges(self) -> set[tuple[str, str, str]]:
        """Job, input and output, by name, as the newest run of each process has them."""
        found = set()
        for process in self.children(f"{_PARENT}/processes", "processes"):
            job = process.attributes["name"].string_value if "name" in process.attributes else process.display_name.rpartition(":")[2]
            runs = self.children(process.name, "runs")
            newest = max((run.start_time.ToNanoseconds() for run in runs), default=0)
            for run in (run for run in runs if run.start_time.ToNanoseconds() == newest):
                for event in self.children(run.name, "lineageEvents"):
                    ends = [(link.source, link.target) for link in event.links if not link.source.field]
                    found |= {(job, _last(source.fully_qualified_name), _last(target.fully_qualified_name)) for source, target in ends}
        return found


_PARENT: Final = f"projects/{NUMBER}/locations/{LOCATION}"
_PACKAGE: Final = "google.cloud.datacatalog.lineage.v1"


def _check_event(event: Any) -> None:
    _require(event.HasField("start_time"), "start_time is required")
    _require(len(event.links) <= MOST_OF_EVENT, "more than 100 links")
    for link in event.links:
        _check_entity(link.source)
        _check_entity(link.target)
        _require(bool(link.source.field) == bool(link.target.field), "a link of a dataset and a column")


def _check_entity(entity: Any) -> None:
    name = entity.fully_qualified_name
    _require(0 < len(name) <= 4000, "fully_qualified_name must have 1 to 4000 characters")
    _require(any(known.fullmatch(name) for known in _NAMES), f"{name[:100]} is no fully qualified name")
    _require(len(entity.field) <= 20 and all(0 < len(level) <= 500 for level in entity.field), "field is too long or too deep")


def _message(kind: Any, body: bytes) -> Any:
    """A body, which has no members but those of its message."""
    try:
        return ParseDict(json.loads(body), kind.pb(kind()))
    except (ParseError, TypeError, AttributeError) as error:
        raise _RefusedError("INVALID_ARGUMENT", str(error)) from error


def _shown(message: Any) -> Json:
    found: Json = MessageToDict(message, use_integers_for_enums=True)
    return found


def _planted(end: str) -> Json:
    name, _, column = end.partition(" ")
    return {"fullyQualifiedName": name, "field": column.split(".") if column else []}


def _hashed(*texts: str) -> str:
    return sha256("\n".join(texts).encode()).hexdigest()


def _last(name: str) -> str:
    """The last segment of a fully qualified name."""
    return str(re.findall(_SEGMENT, name)[-1]).strip("`").replace("``", "`")
