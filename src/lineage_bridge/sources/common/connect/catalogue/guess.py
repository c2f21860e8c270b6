"""Guesses the family of connector classes that are not in the catalogue, from settings that connectors commonly have."""

import re
from collections.abc import Mapping
from typing import Literal

from lineage_bridge.sources.common.connect.catalogue.family import SINK, SOURCE, ConnectorClass
from lineage_bridge.sources.common.connect.secrets import is_secret

_BUCKETS = ("bucket",)
_ADDRESSES = ("url", "uri", "endpoint")
_HOSTS = ("host", "hostname", "hosts", "server", "servers")
_OBJECTS = ("table", "collection", "index", "queue", "stream", "container", "object")
_DATABASES = ("database", "dbname", "db", "keyspace")
TOPICS = ("kafka.topic", "topic", "topic.name", "destination.topic", "output.topic")
"""Settings in which sources often name their topic."""
_PLAIN = re.compile(r"[\w.\-]+")
_NOT_A_PLACE = frozenset(
    (
        "auth",
        "bootstrap",
        "catalog",
        "class",
        "enabled",
        "format",
        "heartbeat",
        "history",
        "iceberg",
        "license",
        "location",
        "login",
        "oauth",
        "oauth2",
        "offload",
        "offloading",
        "proxy",
        "region",
        "reporter",
        "schema",
        "signal",
        "state",
        "status",
        "sts",
        "timeout",
        "token",
        "type",
        "verify",
    )
)
"""Words of settings that do not say where the data is."""
_SUFFIX = re.compile(r"(?:\.(?:address|format|list|names?))+$")
"""What may follow the word that says what a setting is: `bucket.name`, `table.name.format`."""
_HOST = re.compile(r"[\w.\-:,/@\[\] ]*[A-Za-z\]][\w.\-:,/@\[\] ]*")
_NOT_ITS_OWN = ("transforms", "predicates", "errors", "key", "value", "producer", "consumer", "admin", "header", "reporter")


def guess(config: Mapping[str, str], direction: str = "") -> ConnectorClass:
    """Return the family of a class that is not in the catalogue, guessed from common settings and marked `inferred`."""
    name = config.get("connector.class", "")
    way = _direction(name, config, direction)
    thing = _key(config, _OBJECTS)
    database = _key(config, _DATABASES)
    last = "|topic!expand" if way == SINK else ""
    made = "{" + thing + last + "}" if thing else "{topic}" if way == SINK else ""
    jdbc = namespace = ""
    if bucket := _key(config, _BUCKETS):
        namespace = ("gs" if "gcs" in bucket or "gs" in bucket.split(".") else "s3") + "://{" + bucket + "}"
        made = "[{topics.dir|prefix}/]{topic}" if way == SINK else "{prefix|topics.dir|=/}"
    elif url := _key(config, _ADDRESSES):
        if config[url].startswith("jdbc:"):
            jdbc = "{" + url + "}"
        else:
            place = "{" + f"{url}!path!unless:/" + "}"
            namespace, made = "{" + f"{url}!scheme" + "}://{" + f"{url}!web" + "}", made if thing else place
    elif (host := _key(config, _HOSTS)) and _HOST.fullmatch(config[host]) and config[host].lower() not in ("true", "false"):
        port = _key(config, ("port",))
        namespace = "external://{" + f"{host}!address" + "}" + (":{" + port + "}" if port else "")
    lead = "{" + database + "}." if database and made and namespace.startswith("external") else ""
    topic = "" if way == SINK else next(("{" + key + "}" for key in TOPICS if config.get(key)), "")
    return ConnectorClass(
        title=name,
        direction=way,
        classes=(name,),
        namespace=namespace,
        jdbc=jdbc,
        name=lead + "{object}",
        object=made,
        topic=topic,
        inferred=True,
    )


def _direction(name: str, config: Mapping[str, str], reported: str) -> Literal["source", "sink"]:
    """The direction that the worker reports; else that in the name of the class; else a connector with `topics` is a sink."""
    called = name.rpartition(".")[2].lower().removesuffix("connector")
    if reported in (SINK, SOURCE):
        return "sink" if reported == SINK else "source"
    if called.endswith(("sink", "source")):
        return "sink" if called.endswith("sink") else "source"
    return "sink" if any(config.get(key) for key in ("topics", "topics.regex")) else "source"


def _key(config: Mapping[str, str], hints: tuple[str, ...]) -> str:
    """Return the first of the connector's own settings whose key ends with one of the words, in the order of the words."""
    plain = [key for key in sorted(config) if config[key] and _PLAIN.fullmatch(key) and "registry" not in key and not is_secret(key)]
    words = {key: re.split(r"[._\-]", key.removesuffix("name.format")) for key in plain}
    own = [key for key in plain if key.split(".")[0] not in _NOT_ITS_OWN and _NOT_A_PLACE.isdisjoint(words[key])]
    return next((key for hint in hints for key in own if _SUFFIX.sub("", key).rpartition(".")[2] == hint), "")
