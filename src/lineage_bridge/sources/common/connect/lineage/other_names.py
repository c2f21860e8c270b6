"""Derives the names that other producers of OpenLineage give to a connector and its datasets: Debezium itself, and Factor House's
transform.

Debezium 3.5: job `<topic.prefix>.<task>` of a source, `<connector>.<task>` of the JDBC sink, in `openlineage.integration.job.namespace`;
datasets of most sources in `<kind>://<database.hostname>:<database.port>` as configured, with `null` for a missing port.
OpenLineageLifecycleSmt: job `connector.name` in OPENLINEAGE_NAMESPACE; topics in `kafka://$BOOTSTRAP`; tables of sinks named by the topic
or by `dataset.names`, in `dataset.namespace`.
"""

import ipaddress
from collections.abc import Mapping

from lineage_bridge.openlineage.naming import DatasetName, first_server
from lineage_bridge.sources.common.connect.lineage.connection import Connection
from lineage_bridge.sources.common.connect.secrets import has_placeholder
from lineage_bridge.sources.common.connect.settings import ConnectorSettings
from lineage_bridge.sources.common.connect.transforms.patterns import listed
from lineage_bridge.sources.common.connect.worker import ConnectorState
from lineage_bridge.sources.common.observer import SameJob, SameNamespace

SMT = "io.factorhouse.smt.OpenLineageLifecycleSmt"
_INTEGRATION = "openlineage.integration."
_KINDS = {
    "io.debezium.connector.mysql.MySqlConnector": "mysql",
    "io.debezium.connector.mariadb.MariaDbConnector": "mariadb",
    "io.debezium.connector.sqlserver.SqlServerConnector": "sqlserver",
    "io.debezium.connector.oracle.OracleConnector": "oracle",
    "io.debezium.connector.db2.Db2Connector": "db2",
    "io.debezium.connector.informix.InformixConnector": "informix",
    "io.debezium.connector.vitess.VitessConnector": "vitess",
}
"""Debezium's scheme for a database, if its namespaces are built from the configuration."""


def same_names(
    connector: ConnectorState,
    job: DatasetName,
    connection: Connection,
    space: str,
    settings: Mapping[str, str],
    asked: ConnectorSettings,
    *,
    alone: bool,
) -> list[SameJob | SameNamespace]:
    """Return the names that other producers give to a connector's job and to the namespaces of its datasets, each with the connector's
    own name.

    `space`: the namespace of its topics. `settings`: its configuration, in which placeholders have their values if these are known.
    `alone`: no other Kafka cluster is known, so an ambiguous name (`kafka:9092`) denotes this one.
    """
    found: list[SameJob | SameNamespace] = []
    if settings.get(f"{_INTEGRATION}enabled", "").strip().lower() == "true":
        found += _debezium_jobs(connector, job, connection, settings)
        found += _debezium_spaces(connector, connection, space, settings, alone=alone)
    for prefix in _smts(settings):
        if name := _plain(settings, f"{prefix}connector.name"):
            found.append(SameJob(*job, asked.smt_namespace, name, f"connector {connector.name}: {prefix}connector.name"))
            if alone or "smt_bootstrap" in asked.model_fields_set:
                found.append(
                    SameNamespace(space, f"kafka://{asked.smt_bootstrap}", f"connector {connector.name}: BOOTSTRAP of {prefix}type")
                )
    return [pair for pair in found if not _is_same(pair)]


def links_of(connection: Connection, settings: Mapping[str, str]) -> dict[DatasetName, list[DatasetName]]:
    """Return the names that Factor House's transform gives to a sink's datasets."""
    links: dict[DatasetName, list[DatasetName]] = {}
    for prefix in () if connection.is_source else _smts(settings):
        space = _plain(settings, f"{prefix}dataset.namespace")
        names = listed(settings.get(f"{prefix}dataset.names", ""))
        outside = [dataset.dataset for dataset in connection.datasets]
        if not space:
            continue
        if len(names) == len(outside) == 1:
            links.setdefault(outside[0], []).append((space, names[0]))
        if not names:
            for flow in connection.flows:
                if flow.outside is not None and not flow.is_pattern:
                    links.setdefault(flow.outside, []).append((space, flow.topic))
    return links


def _debezium_jobs(
    connector: ConnectorState, job: DatasetName, connection: Connection, settings: Mapping[str, str]
) -> list[SameJob | SameNamespace]:
    lead = _plain(settings, "topic.prefix", "database.server.name") if connection.is_source else connector.name
    space = _plain(settings, f"{_INTEGRATION}job.namespace") or _plain(settings, "topic.prefix")
    if not lead or not space:
        return []
    tasks = sorted(connector.tasks) if connector.service is None else [0]  # a managed service reports no tasks; task 0 always exists
    return [SameJob(*job, space, f"{lead}.{task}", f"connector {connector.name}: {_INTEGRATION}enabled") for task in tasks]


def _debezium_spaces(
    connector: ConnectorState, connection: Connection, space: str, settings: Mapping[str, str], *, alone: bool
) -> list[SameJob | SameNamespace]:
    found: list[SameJob | SameNamespace] = []
    servers = _plain(settings, f"{_INTEGRATION}dataset.kafka.bootstrap.servers", "schema.history.internal.kafka.bootstrap.servers")
    if servers and (alone or not _is_ambiguous(first_server(servers))):
        evidence = f"connector {connector.name}: {_INTEGRATION}dataset.kafka.bootstrap.servers"
        found.append(SameNamespace(space, f"kafka://{first_server(servers)}", evidence))
    kind, host = _KINDS.get(settings.get("connector.class", "").strip()), _plain(settings, "database.hostname")
    spaces = {outside.dataset[0] for outside in connection.datasets}
    if kind and host and len(spaces) == 1:
        debezium_space = f"{kind}://{host}:{_plain(settings, 'database.port') or 'null'}"
        found.append(
            SameNamespace(
                spaces.pop(), debezium_space, f"connector {connector.name}: Debezium's name of database.hostname and database.port"
            )
        )
    return found


def _is_ambiguous(server: str) -> bool:
    """Whether a server's name may denote different machines: a host without a domain, a loopback or a private address."""
    host = server.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host


def _smts(settings: Mapping[str, str]) -> list[str]:
    """Return the prefix of the settings of each OpenLineageLifecycleSmt in the configuration."""
    prefixes = [f"transforms.{alias}." for alias in listed(settings.get("transforms", ""))]
    return [prefix for prefix in prefixes if settings.get(f"{prefix}type", "").strip() == SMT]


def _plain(settings: Mapping[str, str], *keys: str) -> str:
    values = (settings.get(key, "").strip() for key in keys)
    return next((value for value in values if value and not has_placeholder(value)), "")


def _is_same(pair: SameJob | SameNamespace) -> bool:
    if isinstance(pair, SameNamespace):
        return pair.namespace == pair.other
    return (pair.namespace, pair.name) == (pair.other_namespace, pair.other_name)
