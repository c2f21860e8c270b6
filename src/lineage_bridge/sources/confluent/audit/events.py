"""Events of the audit log: who asked for what of which resource, and whether it was granted. Pure.

They are CloudEvents whose resource is a CRN (https://docs.confluent.io/cloud/current/monitoring/audit-logging/audit-log-schema.html).
An event of authorization tells who was checked for an action: a right, and no proof that data moved.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from lineage_bridge.openlineage.times import parse_time

TOPIC, CONNECTOR, STATEMENT, SUBJECT, OTHER = "topic", "connector", "statement", "subject", "other"
_CHANGING = re.compile(
    r"(Incremental)?(Alter|Bind|Create|Delete|Disable|Drop|Enable|Failover|Insert|Patch|Pause|Promote|Put|Register|Remove|Restart|Resume"
    r"|Set|Start|Stop|Terminate|Unbind|Update|Upsert)[A-Z].*"
)
_PREFIX = re.compile(r"Tableflow(?=[A-Z])")
_MOVING = re.compile(r"Produce|Fetch|FetchConsumer")
_CHECK = re.compile(r".*/(authentication|authorization)")
CHANGES, ACCESS = "changes", "access"
_LONGEST = 200


class Resource(NamedTuple):
    """What a request is about. `scope`: of a topic or connector its Kafka cluster, of a statement `env-../cloud.region`, of a subject the
    registry; empty if that was not told. `environment` and `cluster` are ids, empty if not told.
    """

    kind: str
    scope: str
    name: str
    environment: str = ""
    cluster: str = ""

    @property
    def key(self) -> str:
        """What it is called in snapshots."""
        return f"{self.kind} {self.scope} {self.name}"


class Request(NamedTuple):
    """A request. `method` as the audit log names it. `principal` and `client` may be empty. `granted`: allowed, and done.

    `part`: CHANGES if it changes its resource and was done, ACCESS if somebody was checked for its data or was denied a change, else empty.
    """

    id: str
    time_us: int
    method: str
    principal: str
    client: str
    granted: bool
    part: str
    resource: Resource


def read(value: bytes) -> Request | None:
    """The request that an event tells of; None if it is none, or says not of what."""
    try:
        event = msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return None
    data = event.get("data") if isinstance(event, Mapping) else None
    if not isinstance(data, Mapping):
        return None
    told = parse_time(_text(event, "time"))
    method = _text(data, "methodName", "method_name")
    resource = _resource(event, data)
    if told is None or not method or resource is None:
        return None
    named = method.rpartition(".")[2]
    granted = _granted(data)
    return Request(
        _text(event, "id") or f"{told.us} {method} {resource.key}",
        told.us,
        method[:_LONGEST],
        _principal(data),
        _text(_part(data, "request"), "clientId", "client_id")[:_LONGEST],
        granted,
        _part_of(_changes(_text(event, "type"), named, _part(data, "request")), granted, named),
        resource,
    )


def _part_of(changes: bool, granted: bool, method: str) -> str:
    if changes:
        return CHANGES if granted else ACCESS
    return ACCESS if _MOVING.fullmatch(method) else ""


def _changes(kind: str, method: str, request: Mapping[str, Any]) -> bool:
    if _CHANGING.fullmatch(_PREFIX.sub("", method)):
        return True
    return not _CHECK.fullmatch(kind) and _text(request, "accessType", "access_type") == "MODIFICATION"


def _granted(data: Mapping[str, Any]) -> bool:
    authorization, result = _part(data, "authorizationInfo"), _text(_part(data, "result"), "status").upper()
    return (
        authorization.get("granted") is not False and authorization.get("result") != "DENY" and result not in ("FAILURE", "FAILED", "ERROR")
    )


def _principal(data: Mapping[str, Any]) -> str:
    """The id of who asked: `sa-..`, `u-..`, a number of a user; never an e-mail address."""
    info = _part(data, "authenticationInfo")
    principal = info.get("principal")
    told = ""
    if isinstance(principal, Mapping):
        kinds = (one for one in principal.values() if isinstance(one, Mapping))
        told = next((ident for one in kinds if (ident := _text(one, "resourceId"))), "") or _text(principal, "resourceId")
    elif isinstance(principal, str):
        told = principal.removeprefix("User:")
    told = told or _text(info, "principalResourceId")
    return "" if "@" in told else told[:_LONGEST]


def _resource(event: Mapping[str, Any], data: Mapping[str, Any]) -> Resource | None:
    """The most that the CRNs of an event tell, and what was checked, if only its kind and name are told."""
    paths = [_segments(text) for text in (_text(data, "resourceName", "resource_name"), _text(event, "subject"))]
    path = max(paths, key=len)
    checked = _part(data, "authorizationInfo")
    kind, name = _text(checked, "resourceType").lower(), _text(checked, "resourceName")
    if kind in (TOPIC, CONNECTOR, SUBJECT) and kind not in path and name and not name.startswith("crn:"):
        path[kind] = name
    elif "schema-registry" in path and SUBJECT not in path and (plain := _text(data, "resourceName")) and not plain.startswith("crn:"):
        path[SUBJECT] = plain
    if not path:
        return None
    environment, cluster = path.get("environment", ""), path.get("kafka") or path.get("cloud-cluster", "")
    scopes = {
        TOPIC: cluster,
        CONNECTOR: cluster,
        STATEMENT: f"{environment}/{path.get('flink-region', '').lower()}",
        SUBJECT: path.get("schema-registry", ""),
    }
    for found, scope in scopes.items():
        if path.get(found):
            return Resource(found, scope, path[found][:1000], environment, cluster)
    return Resource(OTHER, "", "", environment, cluster)


def _segments(crn: str) -> dict[str, str]:
    """The parts of a CRN by their kinds: `crn://confluent.cloud/organization=../environment=env-../kafka=lkc-../topic=orders`."""
    if not crn.startswith("crn:"):
        return {}
    _, _, path = crn.partition("://")[2].partition("/")
    return {kind.lower(): unquote(name) for kind, found, name in (part.partition("=") for part in path.split("/")) if found and name}


def _part(whole: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = whole.get(name)
    return part if isinstance(part, Mapping) else {}


def _text(whole: Mapping[str, Any], *names: str) -> str:
    """The first of these members that is a text."""
    return next((told for name in names if isinstance(told := whole.get(name), str) and told), "")
