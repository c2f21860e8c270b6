"""What Confluent Cloud tells of managed connectors, as Kafka Connect's. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.sources.common.connect.catalogue.catalogue import Catalogue, catalogue
from lineage_bridge.sources.common.connect.catalogue.family import SINK, SOURCE
from lineage_bridge.sources.common.connect.client import read_connector
from lineage_bridge.sources.common.connect.generation import fingerprint, plugins_of
from lineage_bridge.sources.common.connect.lineage.evidence import sums_of
from lineage_bridge.sources.common.connect.services import plugins_used
from lineage_bridge.sources.common.connect.worker import FAILED, RUNNING, ConnectorDetail, ConnectorState, ManagedService, Plugin, RunStatus

TELLER = EventBuilder("https://lineagebridge.dev/sources/confluent")
CUSTOM = "confluent.custom.plugin.id"
_NO_CLASS = "unknown"
"""The class of a connector that tells none."""
_FAILED = frozenset((FAILED, "USER_ACTIONABLE_ERROR"))
_AGAIN_US = {"sink": 900_000_000, "source": 3_600_000_000}
"""After how long offsets are asked again: a sink's are rows, a source's only name what it reads."""


class Place(NamedTuple):
    """Where connectors are: ids of the environment and the Kafka cluster."""

    environment: str
    cluster: str


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """When a connector's offsets were asked, of which configuration, and what they were by topic; `why` there are none."""

    at_us: int
    config: str
    sums: dict[str, int] = msgspec.field(default_factory=dict)
    why: str = ""


class Custom(msgspec.Struct, frozen=True, omit_defaults=True):
    """A plugin that a user has uploaded."""

    name: str = ""
    plugin_class: str = ""
    description: str = ""
    secrets: tuple[str, ...] = ()


def read_managed(name: str, entry: object, place: Place, custom: Mapping[str, Custom]) -> ConnectorState | None:
    """A connector of the expanded listing; None if its id, its configuration or its status is not in it.

    Settings that the service masks are left out: they are secrets, and what stands for them may change.
    """
    seen = read_connector(name, entry)
    ident = str((entry.get("id") or {}).get("id") or "") if isinstance(entry, dict) and isinstance(entry.get("id"), dict) else ""
    if seen is None or not ident or not isinstance(entry, dict):
        return None
    config = {key: value for key, value in seen.config.items() if not _is_masked(value)}
    plugin = custom.get(config.get(CUSTOM, ""))
    if not config.get("connector.class", "").strip():
        config["connector.class"] = (plugin.plugin_class if plugin else "") or config.get(CUSTOM, "") or _NO_CLASS
    direction = seen.direction if seen.direction in (SOURCE, SINK) else catalogue().find(config).direction
    service = ManagedService(
        servers="",
        version="",
        settings={"connector.id": ident},
        facts={"connectorId": ident},
        job=_facets(config, direction, place, ident, plugin),
        group=f"connect-{ident}",
        sources=True,
    )
    status = entry["status"]
    messages = {str(task.get("id")): str(task.get("msg") or "") for task in _list(status.get("tasks")) if isinstance(task, dict)}
    tasks = {number: _part(part, messages.get(str(number), "")) for number, part in seen.tasks.items()}
    return seen._replace(config=config, direction=direction, status=_part(seen.status, _errors(status)), tasks=tasks, service=service)


def read_custom(entries: Iterable[Mapping[str, Any]]) -> dict[str, Custom]:
    """Plugins that users have uploaded, by their ids."""
    return {
        str(one["id"]): Custom(
            str(one.get("display_name") or ""),
            str(one.get("connector_class") or ""),
            str(one.get("description") or ""),
            tuple(sorted(map(str, _list(one.get("sensitive_config_properties"))))),
        )
        for one in entries
        if one.get("id")
    }


def plugins_told(connectors: Iterable[ConnectorState], classes: Catalogue, custom: Mapping[str, Custom]) -> dict[str, Plugin]:
    """The plugins whose secrets are known: Confluent's own, for the service masks them; of a user's, as of MSK Connect's."""
    every = list(connectors)
    own = [one for one in every if _is_users(one)]
    told = {name: Plugin(name, "", ()) for one in every if not _is_users(one) for name in plugins_of(one.config).values()}
    for name, plugin in plugins_used(own, classes).items():
        secrets = {key for one in own if one.config.get("connector.class") == name for key in _secrets(one, custom)}
        told[name] = plugin._replace(passwords=tuple(sorted({*(plugin.passwords or ()), *secrets})))
    return told


def with_owner(one: ConnectorState, names: Mapping[str, str]) -> ConnectorState:
    """A connector with its owner: the service account that it works as, or whose key it has, by its name if that is known."""
    account, key = one.config.get("kafka.service.account.id", ""), one.config.get("kafka.api.key", "")
    owner = names.get(account, account) or names.get(key, "")
    if not owner or one.service is None:
        return one
    return one._replace(service=one.service._replace(job={**one.service.job, "ownership": TELLER.ownership("Job", owner)}))


def is_due(one: ConnectorState, asked: Asked | None, now_us: int) -> bool:
    """Whether a connector's offsets are to be asked."""
    if not any(part.state == RUNNING for part in (one.status, *one.tasks.values())):
        return False
    known = asked is not None and asked.config == mark_of(one)
    return not known or asked is None or now_us - asked.at_us >= _AGAIN_US.get(one.direction, 0)


def mark_of(one: ConnectorState) -> str:
    """The fingerprint of what a connector's offsets depend on."""
    return fingerprint(one.config, frozenset())


def answered(one: ConnectorState, offsets: tuple[Mapping[str, Any], ...], now_us: int) -> Asked:
    """What to remember of a connector's offsets."""
    return Asked(now_us, mark_of(one), sums_of(one, ConnectorDetail(offsets=offsets), None) if one.direction == SINK else {})


def remembered(one: ConnectorState, asked: Asked) -> ConnectorDetail:
    """The offsets of a sink as they were when they were asked last."""
    entries = tuple({"partition": {"kafka_topic": topic}, "offset": {"kafka_offset": at}} for topic, at in sorted(asked.sums.items()))
    return ConnectorDetail(offsets=entries) if one.direction == SINK and entries else ConnectorDetail()


def _facets(config: Mapping[str, str], direction: str, place: Place, ident: str, plugin: Custom | None) -> dict[str, Json]:
    """The facets of a connector's job."""
    facet = TELLER.own_facet(
        "1-0-0",
        "ConfluentConnectorJobFacet",
        connector_class=config.get("connector.class", ""),
        connector_type=direction,
        cluster_id=place.cluster,
        environment_id=place.environment,
        connector_id=ident,
        **({"plugin_id": config[CUSTOM]} if config.get(CUSTOM) else {}),
    )
    prose = {"documentation": TELLER.documentation("Job", plugin.description)} if plugin and plugin.description else {}
    return {"confluent_connector": facet, **prose}


def _part(part: RunStatus, message: str) -> RunStatus:
    """A part whose state is one of Kafka Connect's, with what the service says of it where there is no trace."""
    return part._replace(state=FAILED if part.state in _FAILED else part.state, trace=part.trace or message)


def _errors(status: Mapping[str, Any]) -> str:
    """What the service says of a connector beside a trace."""
    told = status.get("override_message") or (status.get("connector") or {}).get("msg") or ""
    return str(told)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_users(one: ConnectorState) -> bool:
    """Whether a connector is of a plugin that a user has uploaded: Confluent's own classes have short names there, without a package."""
    named = one.config.get("connector.class", "")
    return CUSTOM in one.config or "." in named or named == _NO_CLASS


def _is_masked(value: str) -> bool:
    """Whether the service tells this value in the place of a secret."""
    return bool(value) and not value.strip("*")


def _secrets(one: ConnectorState, custom: Mapping[str, Custom]) -> tuple[str, ...]:
    plugin = custom.get(one.config.get(CUSTOM, ""))
    return plugin.secrets if plugin else ()
