"""Parses records of the audit log: who requested what on which resource, and whether it was granted. Pure.

Records are CloudEvents whose resource is a CRN (https://docs.confluent.io/cloud/current/monitoring/audit-logging/audit-log-schema.html).
An authorization event records that a principal's right to an action was checked; it does not prove that data moved.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from lineage_bridge.openlineage.times import parse_time

TOPIC, CONNECTOR, STATEMENT, SUBJECT, OTHER = "topic", "connector", "statement", "subject", "other"
_CHANGING = re.compile(
    r"(Incremental)?(Alter|Bind|Create|Delete|Disable|Drop|Enable|Failover|Insert|Patch|Pause|Promote|Put|Register|Remove|Restart|Resume"
    r"|Set|Start|Stop|Terminate|Unbind|Update|Upsert)[A-Z].*"
)
_TABLEFLOW_PREFIX = re.compile(r"Tableflow(?=[A-Z])")
_DATA_ACCESS = re.compile(r"Produce|Fetch|FetchConsumer")
_CHECK = re.compile(r".*/(authentication|authorization)")
CHANGES, ACCESS = "changes", "access"
"""Categories of requests."""
_LONGEST = 200
_CLOUD_RESOURCES = {
    "ENVIRONMENT": "environment",
    "CLOUD_CLUSTER": "cloud-cluster",
    "KAFKA_CLUSTER": "kafka",
    "TOPIC": TOPIC,
    "CONNECTOR": CONNECTOR,
    "FLINK_REGION": "flink-region",
    "FLINK_STATEMENT": STATEMENT,
    "STATEMENT": STATEMENT,
    "SCHEMA_REGISTRY": "schema-registry",
    "SCHEMA_REGISTRY_CLUSTER": "schema-registry",
    "SUBJECT": SUBJECT,
}
"""Types of an event's `cloudResources`, and what CRNs call them."""


class Resource(NamedTuple):
    """The resource that a request in the audit log concerns. `environment` and `cluster` are ids, empty if unknown.

    `scope`: for a topic or connector its Kafka cluster, for a statement `env-../cloud.region`, for a subject the registry; else empty.
    """

    kind: str
    scope: str
    name: str
    environment: str = ""
    cluster: str = ""

    @property
    def key(self) -> str:
        """The text by which snapshots name the resource."""
        return f"{self.kind} {self.scope} {self.name}"


class Request(NamedTuple):
    """A request in the audit log. `method` is the request's name in the log; `principal` and `client` may be empty; `granted`: the request
    was allowed and succeeded.

    `category`: CHANGES if it changed its resource, ACCESS if it was a check of access to data or a denied change, else empty.
    """

    id: str
    time_us: int
    method: str
    principal: str
    client: str
    granted: bool
    category: str
    resource: Resource


def parse_request(value: bytes) -> Request | None:
    """Parse a record of the audit log. None if it contains no request, or a request without a known resource."""
    try:
        event = msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return None
    data = event.get("data") if isinstance(event, Mapping) else None
    if not isinstance(data, Mapping):
        return None
    time = parse_time(_text(event, "time"))
    method = _text(data, "methodName", "method_name")
    resource = _resource(event, data)
    if time is None or not method or resource is None:
        return None
    short_method = method.rpartition(".")[2]
    granted = _is_granted(data)
    is_change = _is_change(_text(event, "type"), short_method, _member(data, "request"))
    return Request(
        _text(event, "id") or f"{time.us} {method} {resource.key}",
        time.us,
        method[:_LONGEST],
        _principal(data),
        _text(_member(data, "request"), "clientId", "client_id")[:_LONGEST],
        granted,
        _category(short_method, is_change=is_change, granted=granted),
        resource,
    )


def _category(method: str, *, is_change: bool, granted: bool) -> str:
    if is_change:
        return CHANGES if granted else ACCESS
    return ACCESS if _DATA_ACCESS.fullmatch(method) else ""


def _is_change(kind: str, method: str, request: Mapping[str, Any]) -> bool:
    if _CHANGING.fullmatch(_TABLEFLOW_PREFIX.sub("", method)):
        return True
    return not _CHECK.fullmatch(kind) and _text(request, "accessType", "access_type") == "MODIFICATION"


def _is_granted(data: Mapping[str, Any]) -> bool:
    authorization, result = _member(data, "authorizationInfo"), _text(_member(data, "result"), "status").upper()
    is_denied = authorization.get("granted") is False or authorization.get("result") == "DENY"
    return not is_denied and result not in ("FAILURE", "FAILED", "ERROR")


def _principal(data: Mapping[str, Any]) -> str:
    """The id of the principal who sent the request: `sa-..`, `u-..`, or a user's number if there is no id; never an e-mail address."""
    info = _member(data, "authenticationInfo")
    principal = info.get("principal")
    id_ = ""
    if isinstance(principal, Mapping):
        kinds = (member for member in principal.values() if isinstance(member, Mapping))
        id_ = next((found for member in kinds if (found := _text(member, "resourceId"))), "") or _text(principal, "resourceId")
    elif isinstance(principal, str):
        id_ = principal.removeprefix("User:")
    if not id_ or id_.isdigit():
        id_ = _text(info, "principalResourceId") or id_
    return "" if "@" in id_ else id_[:_LONGEST]


def _resource(event: Mapping[str, Any], data: Mapping[str, Any]) -> Resource | None:
    """The resource of a request, from the most specific CRN or list of resources in its record.

    If these do not name the resource whose access was checked, its kind and name are added.
    """
    crns = (_text(data, "resourceName", "resource_name"), _text(event, "subject"), _text(event, "source"))
    path = max((*map(_crn_parts, crns), *_cloud_resources(data)), key=len, default={})
    checked = _member(data, "authorizationInfo")
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


def _crn_parts(crn: str) -> dict[str, str]:
    """The names in a CRN by their kinds: `crn://confluent.cloud/organization=../environment=env-../kafka=lkc-../topic=orders`."""
    if not crn.startswith("crn:"):
        return {}
    _, _, path = crn.partition("://")[2].partition("/")
    return {kind.lower(): unquote(name) for kind, found, name in (part.partition("=") for part in path.split("/")) if found and name}


def _cloud_resources(data: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The names of the event's `cloudResources`, and of what contains each of them, by their kinds."""
    listed = data.get("cloudResources")
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, Mapping):
            within = _member(entry, "scope").get("resources")
            resources = [*(within if isinstance(within, list) else ()), entry.get("resource")]
            yield {
                kind: name
                for resource in resources
                if isinstance(resource, Mapping)
                and (kind := _CLOUD_RESOURCES.get(_text(resource, "type")))
                and (name := _text(resource, "resourceId"))
            }


def _member(whole: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    member = whole.get(name)
    return member if isinstance(member, Mapping) else {}


def _text(whole: Mapping[str, Any], *names: str) -> str:
    """Return the value of the first of these members that is a text; empty if none is."""
    return next((text for name in names if isinstance(text := whole.get(name), str) and text), "")
