"""Converts Confluent Cloud's answers about managed connectors to the values for connectors of Kafka Connect. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.sources.common.connect.catalogue.catalogue import Catalogue, catalogue
from lineage_bridge.sources.common.connect.catalogue.family import SINK, SOURCE
from lineage_bridge.sources.common.connect.client import read_connector
from lineage_bridge.sources.common.connect.generation import plugins_of as plugin_classes
from lineage_bridge.sources.common.connect.services import plugins_used
from lineage_bridge.sources.common.connect.worker import FAILED, ConnectorState, ManagedService, Plugin, RunStatus

PRODUCER = EventBuilder("https://lineagebridge.dev/sources/confluent")
CUSTOM = "confluent.custom.plugin.id"
_NO_CLASS = "unknown"
"""The class of a connector whose class is unknown."""
_FAILED = frozenset((FAILED, "USER_ACTIONABLE_ERROR"))


class CustomPlugin(msgspec.Struct, frozen=True, omit_defaults=True):
    """A plugin that a user has uploaded. `secrets`: names of its sensitive settings."""

    name: str = ""
    plugin_class: str = ""
    description: str = ""
    secrets: tuple[str, ...] = ()


def parse_connector(name: str, entry: object, environment: str, cluster: str, custom: Mapping[str, CustomPlugin]) -> ConnectorState | None:
    """Parse a connector in the expanded listing; None if its id, configuration or status is missing.

    Masked settings are left out: they are secrets, and their masks may change.
    """
    seen = read_connector(name, entry)
    id_ = str((entry.get("id") or {}).get("id") or "") if isinstance(entry, dict) and isinstance(entry.get("id"), dict) else ""
    if seen is None or not id_ or not isinstance(entry, dict):
        return None
    config = {key: value for key, value in seen.config.items() if not _is_masked(value)}
    plugin = custom.get(config.get(CUSTOM, ""))
    if not config.get("connector.class", "").strip():
        config["connector.class"] = (plugin.plugin_class if plugin else "") or config.get(CUSTOM, "") or _NO_CLASS
    direction = seen.direction if seen.direction in (SOURCE, SINK) else catalogue().find(config).direction
    facet = {"connector_type": direction, "cluster_id": cluster, "environment_id": environment, "connector_id": id_}
    service = ManagedService(
        servers="",
        version="",
        settings={"connector.id": id_},
        facts={"connectorId": id_},
        job=_job_facets(config, facet, plugin),
        group=f"connect-{id_}",
        sources=True,
    )
    status = entry["status"]
    messages = {str(task.get("id")): str(task.get("msg") or "") for task in _list(status.get("tasks")) if isinstance(task, dict)}
    tasks = {number: _with_message(task, messages.get(str(number), "")) for number, task in seen.tasks.items()}
    status_ = _with_message(seen.status, _status_message(status))
    return seen._replace(config=config, direction=direction, status=status_, tasks=tasks, service=service)


def parse_custom_plugins(entries: Iterable[Mapping[str, Any]]) -> dict[str, CustomPlugin]:
    """Parse custom plugins, by id."""
    return {
        str(entry["id"]): CustomPlugin(
            str(entry.get("display_name") or ""),
            str(entry.get("connector_class") or ""),
            str(entry.get("description") or ""),
            tuple(sorted(map(str, _list(entry.get("sensitive_config_properties"))))),
        )
        for entry in entries
        if entry.get("id")
    }


def plugins_of(connectors: Iterable[ConnectorState], classes: Catalogue, custom: Mapping[str, CustomPlugin]) -> dict[str, Plugin]:
    """Return the plugins whose secret settings are known, by class.

    Confluent's own plugins need no secret settings here, because the service masks their values. The secret settings of a custom plugin are
    those that it declares, and those that `classes` (a catalogue of plugins) lists.
    """
    every = list(connectors)
    with_custom = [connector for connector in every if _has_custom_plugin(connector)]
    own = [connector for connector in every if not _has_custom_plugin(connector)]
    found = {name: Plugin(name, "", ()) for connector in own for name in plugin_classes(connector.config).values()}
    for name, plugin in plugins_used(with_custom, classes).items():
        users = [connector for connector in with_custom if connector.config.get("connector.class") == name]
        secrets = {key for connector in users for key in _declared_secrets(connector, custom)}
        found[name] = plugin._replace(passwords=tuple(sorted({*(plugin.passwords or ()), *secrets})))
    return found


def with_owner(connector: ConnectorState, names: Mapping[str, str]) -> ConnectorState:
    """Return a connector with an ownership facet: the service account as which it runs, or the owner of its API key, by name if known."""
    account, key = connector.config.get("kafka.service.account.id", ""), connector.config.get("kafka.api.key", "")
    owner = names.get(account, account) or names.get(key, "")
    if not owner or connector.service is None:
        return connector
    job = {**connector.service.job, "ownership": PRODUCER.ownership("Job", owner)}
    return connector._replace(service=connector.service._replace(job=job))


def _job_facets(config: Mapping[str, str], members: Mapping[str, str], plugin: CustomPlugin | None) -> dict[str, Json]:
    more = {"plugin_id": config[CUSTOM]} if config.get(CUSTOM) else {}
    connector_class = config.get("connector.class", "")
    facet = PRODUCER.own_facet("1-0-0", "ConfluentConnectorJobFacet", connector_class=connector_class, **members, **more)
    described = {"documentation": PRODUCER.documentation("Job", plugin.description)} if plugin and plugin.description else {}
    return {"confluent_connector": facet, **described}


def _with_message(status: RunStatus, message: str) -> RunStatus:
    """Convert the status of a connector or task to a state of Kafka Connect. If the status has no stack trace, the service's message takes
    its place.
    """
    return status._replace(state=FAILED if status.state in _FAILED else status.state, trace=status.trace or message)


def _status_message(status: Mapping[str, Any]) -> str:
    return str(status.get("override_message") or (status.get("connector") or {}).get("msg") or "")


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _has_custom_plugin(connector: ConnectorState) -> bool:
    """Whether a connector uses a custom plugin. The classes of Confluent's own plugins have short names, without a package."""
    name = connector.config.get("connector.class", "")
    return CUSTOM in connector.config or "." in name or name == _NO_CLASS


def _is_masked(value: str) -> bool:
    """Whether a value is the mask of a secret."""
    return bool(value) and not value.strip("*")


def _declared_secrets(connector: ConnectorState, custom: Mapping[str, CustomPlugin]) -> tuple[str, ...]:
    plugin = custom.get(connector.config.get(CUSTOM, ""))
    return plugin.secrets if plugin else ()
