"""Converts the answers of MSK Connect's API to the values for connectors of Kafka Connect. Pure.

In MSK Connect each connector has its own workers. The API reports a connector's configuration and state, but no tasks, stack traces, topics
or offsets.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lineage_bridge.sources.common.connect.catalogue.catalogue import Catalogue
from lineage_bridge.sources.common.connect.worker import FAILED, PAUSED, ConnectorState, ManagedService, RunStatus
from lineage_bridge.sources.common.shared_metadata import SharedMetadata

_STATES = {"PAUSING": PAUSED}
"""States that have another name in Kafka Connect; transitional states keep their names."""
_AMAZON = (".amazonaws.com", ".amazonaws.com.cn")


class ListedConnector:
    """A connector in the answer of ListConnectors. Members missing from the answer are empty."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        members = (str(entry.get(key) or "") for key in ("connectorArn", "connectorName", "currentVersion", "connectorState"))
        self.arn, self.name, current, state = members
        self.version = (self.arn, current, state)


class ArnOwner(NamedTuple):
    """The region and account of a connector: `arn:aws:kafkaconnect:region:account:connector/name/id`."""

    region: str
    account: str


def owner_of(arn: str) -> ArnOwner | None:
    """The region and account in an ARN; None if it is not an ARN."""
    parts = arn.split(":")
    return ArnOwner(parts[3], parts[4]) if len(parts) > 5 and parts[0] == "arn" and parts[3] and parts[4] else None


def read_described(answer: Mapping[str, Any], classes: Catalogue) -> ConnectorState | None:
    """Parse an answer of DescribeConnector; None if the connector's name, configuration, state or cluster is missing."""
    name, config, state = (answer.get(key) for key in ("connectorName", "connectorConfiguration", "connectorState"))
    servers = ((answer.get("kafkaCluster") or {}).get("apacheKafkaCluster") or {}).get("bootstrapServers")
    if not name or not isinstance(config, dict) or not state or not servers:
        return None
    settings = {str(key): str(value) for key, value in config.items() if value is not None}
    why = answer.get("stateDescription") or {}
    trace = ": ".join(filter(None, (str(why.get("code") or ""), str(why.get("message") or "")))) if state == FAILED else ""
    owner = owner_of(str(answer.get("connectorArn") or ""))
    service = ManagedService(
        servers=",".join(server.strip() for server in str(servers).split(",")),
        version=str(answer.get("kafkaConnectVersion") or ""),
        settings={"aws.account": owner.account} if owner else {},
        facts={key: answer[key] for key in ("connectorArn", "connectorDescription", "capacity", "workerConfiguration") if answer.get(key)},
    )
    status = RunStatus(_STATES.get(state, str(state)), "", trace, _plugins(answer))
    return ConnectorState(str(name), settings, classes.find(settings).direction, status, {}, service)


def as_known(connector: ConnectorState, shared: SharedMetadata) -> ConnectorState:
    """Replace a connector's bootstrap server by one under which another source knows the cluster, because Amazon's brokers have a port
    for each access method.
    """
    if connector.service is None or shared.cluster(connector.service.servers) is not None:
        return connector
    hosts = {host for server in connector.service.servers.split(",") if (host := server.rpartition(":")[0]).endswith(_AMAZON)}
    servers = sorted(server for cluster in shared.clusters for server in cluster.servers if server.rpartition(":")[0] in hosts)
    return connector._replace(service=connector.service._replace(servers=servers[0])) if servers else connector


def _plugins(answer: Mapping[str, Any]) -> str:
    """The custom plugins of a connector, each with its revision: `debezium revision 2`."""
    custom = [plugin.get("customPlugin") or {} for plugin in answer.get("plugins") or ()]
    names = ((str(plugin.get("customPluginArn") or "").split("/"), plugin.get("revision")) for plugin in custom)
    return ", ".join(sorted(f"{arn[1]} revision {revision}" for arn, revision in names if len(arn) > 1))
