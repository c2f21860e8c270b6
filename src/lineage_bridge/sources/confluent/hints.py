"""Hints for planes that cannot be observed: which key is missing or wrong, and which role its owner needs. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from lineage_bridge.config import PREFIX
from lineage_bridge.errors import ForbiddenError, LineageBridgeError, UnauthenticatedError
from lineage_bridge.sources.confluent.settings import ConfluentSettings

DISCOVERY = "discovery"
"""The step before all planes: environments and clusters are listed."""


class _PlaneAccess(NamedTuple):
    """The access that a plane needs: the setting of its API key, the resource of that key, and the role that the key's owner needs."""

    setting: str
    owner: str
    needs: str


_CLOUD, _KAFKA, _REGISTRY = "Cloud resource management", "this Kafka cluster", "this Schema Registry"
_ACCESS: Mapping[str, _PlaneAccess] = {
    DISCOVERY: _PlaneAccess("cloud", _CLOUD, "a role that sees environments and clusters, such as Operator"),
    "names": _PlaneAccess("cloud", _CLOUD, "a role that sees service accounts, users and API keys, such as AccountAdmin"),
    "connect": _PlaneAccess("cloud", _CLOUD, "a role that sees the cluster's connectors, such as Operator"),
    "metrics": _PlaneAccess("metrics", _CLOUD, "the role MetricsViewer"),
    "topics": _PlaneAccess(
        "kafka", _KAFKA, "DESCRIBE and DESCRIBE_CONFIGS on topics, and DESCRIBE on the cluster, or the role CloudClusterAdmin"
    ),
    "groups": _PlaneAccess("kafka", _KAFKA, "DESCRIBE on groups and their topics, or the role CloudClusterAdmin"),
    "links": _PlaneAccess("kafka", _KAFKA, "DESCRIBE on the cluster, or the role CloudClusterAdmin"),
    "registry": _PlaneAccess("registry", _REGISTRY, "the role DeveloperRead on all subjects"),
    "catalog": _PlaneAccess("registry", _REGISTRY, "the role DataDiscovery"),
    "schema-links": _PlaneAccess("registry", _REGISTRY, "the role EnvironmentAdmin, which may read exporters"),
    "flink": _PlaneAccess("flink", "Flink in this environment and region", "the role FlinkAdmin: others see only their own statements"),
    "ksqldb": _PlaneAccess("ksqldb", "this ksqlDB cluster", "the role KsqlAdmin"),
    "tableflow": _PlaneAccess("tableflow", "Tableflow", "a role that sees topics with Tableflow, such as CloudClusterAdmin"),
    "audit-log": _PlaneAccess("audit_log", "the audit log's cluster", "the right to read the topic of the audit log"),
}
_VARIABLES = {
    "cloud": "CONFLUENT_CLOUD",
    "kafka": "KAFKA",
    "registry": "SCHEMA_REGISTRY",
    "flink": "FLINK",
    "ksqldb": "KSQLDB",
    "tableflow": "TABLEFLOW",
    "audit_log": "AUDIT_LOG",
}
"""For each setting, the middle part of the names of the environment variables that set it."""
_UNSCOPED = frozenset(("cloud", "metrics", "audit_log"))


def missing_key_hint(settings: ConfluentSettings, plane: str, scope: str) -> str:
    """A hint where to set the API key of a plane; empty if the key is set."""
    access = _ACCESS.get(plane)
    if access is None or _has_key(settings, access.setting, scope):
        return ""
    setting = "cloud" if access.setting == "metrics" else access.setting
    where = f"`{setting}`" if setting in _UNSCOPED else f"`{setting}`, under its id or *"
    names = " and ".join(f"{PREFIX}{_VARIABLES[setting]}_API_{end}" for end in ("KEY", "SECRET"))
    return f"set an API key of {access.owner} in {where}, or {names} where the server runs"


def error_hint(plane: str, error: LineageBridgeError) -> str:
    """A hint about the error of a plane: what to do about it. The likeliest cause comes first."""
    access = _ACCESS.get(plane)
    if access is None or not isinstance(error, ForbiddenError):
        return error.hint
    if isinstance(error, UnauthenticatedError):
        other = "the key of a cluster" if access.owner == _CLOUD else "a Cloud API key or the key of another cluster"
        return f"set `{access.setting}` to an API key of {access.owner}, as {other} does not work; if it is one, its secret is wrong"
    return f"grant the owner of the API key in `{access.setting}` {access.needs}"


def _has_key(settings: ConfluentSettings, setting: str, scope: str) -> bool:
    if setting == "metrics":
        return (settings.metrics or settings.cloud) is not None
    if setting in _UNSCOPED:
        return getattr(settings, setting) is not None
    return settings.credential(setting, scope, *scope.split("/")) is not None
