"""Guesses how a connector class that is not in the catalogue names its datasets, from settings that connectors commonly have.

A guess needs a setting that names the dataset itself: a bucket, the resource of a URL, or a table of a database. A host alone names no
dataset, and a topic's name is not assumed to be that of a table. If several settings could name the dataset and have different values,
nothing is guessed.
"""

import re
from collections.abc import Mapping
from typing import Literal

from lineage_bridge.sources.common.connect.catalogue.family import SINK, SOURCE, ConnectorClass
from lineage_bridge.sources.common.connect.secrets import is_secret

_ADDRESSES = ("url", "uri", "endpoint")
_OBJECTS = ("table", "collection", "index", "queue", "stream", "container", "object")
_TOPICS = ("kafka.topic", "topic", "topic.name", "destination.topic", "output.topic")
"""Settings in which sources often name their topic."""
_TOPIC = re.compile(r"(?:.*[._\-])?topic(?:\.name)?", re.IGNORECASE)
_PLAIN = re.compile(r"[\w.\-]+")
_NO_LOCATION = frozenset(
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
"""Words in names of settings that do not say where the data is."""
_NO_DATA = frozenset(
    (
        "confluent",
        "control",
        "dead",
        "deadletter",
        "deadletterqueue",
        "default",
        "dlq",
        "error",
        "errors",
        "failed",
        "failure",
        "internal",
        "offset",
        "offsets",
        "poison",
        "quarantine",
        "rejected",
        "result",
    )
)
"""Words in names of settings whose topics do not carry the data."""
_ASIDE = (_NO_DATA - {"default"}) | {"backup", "check", "checkpoint", "claim", "claimcheck", "large", "oversize", "overflow"}
_ASIDE |= {"scratch", "stage", "staging", "temp", "temporary", "tmp"}
"""Words in names of settings for places that hold records only for a time, or those that could not be written."""
_SUFFIX = re.compile(r"(?:\.(?:address|format|list|names?))+$")
"""What may follow the word that says what a setting is: `bucket.name`, `table.name.format`."""
_STORES = (("s3", re.compile(r"s3|minio|aws", re.IGNORECASE)), ("gs", re.compile(r"gcs|\bgs\b|google", re.IGNORECASE)))
"""Object stores, by words in the name of a class or a setting."""
_LAST_WORD = re.compile(r"bucket(?:\.(?:address|format|list|names?))*$")
"""The end of the name of a setting that contains a bucket. The name of a setting for a folder in a bucket ends with other words."""
_WEB = re.compile(r"(?:http|ws)s?://", re.IGNORECASE)
_QUEUE = re.compile(r"https?://sqs\.[^/]+/\d+/[^/]+", re.IGNORECASE)
_NOT_ITS_OWN = ("transforms", "predicates", "errors", "key", "value", "producer", "consumer", "admin", "header", "reporter")


def guess(config: Mapping[str, str], direction: str = "") -> ConnectorClass:
    """Return the family of a class that is not in the catalogue, guessed from common settings and marked `inferred`."""
    name = config.get("connector.class", "")
    known_direction = _direction(name, config, direction)
    thing = _key(config, _OBJECTS)
    jdbc = namespace = made = ""
    bucket, url = _key(config, ("bucket",)), _key(config, _ADDRESSES)
    address = config.get(url, "")
    if bucket:
        store = next((scheme for scheme, words in _STORES if words.search(bucket) or words.search(name)), "")
        namespace, made = (
            (f"{store}://" + "{" + bucket + "}", "{topics.dir|" + _LAST_WORD.sub("prefix", bucket) + "|=/}") if store else ("", "")
        )
    elif _QUEUE.match(address):
        namespace = "arn:aws:sqs:{" + rf"{url}!match:sqs\.([^.]+)\." + "}:{" + rf"{url}!match:/(\d+)/" + "}"
        made = "{" + rf"{url}!match:/([^/]+)$" + "}"
    elif address.startswith("jdbc:") and thing:
        jdbc, made = "{" + url + "}", "{" + thing + ("!expand" if known_direction == SINK else "") + "}"
    elif _WEB.match(address) and not thing:
        namespace, made = "{" + f"{url}!scheme" + "}://{" + f"{url}!web" + "}", "{" + f"{url}!path!unless:/" + "}"
    return ConnectorClass(
        title=name,
        direction=known_direction,
        classes=(name,),
        namespace=namespace,
        jdbc=jdbc,
        object=made,
        topic="" if known_direction == SINK else _topics(config),
        inferred=True,
    )


def _topics(config: Mapping[str, str]) -> str:
    """The template for the topics of a source: settings whose names suggest a topic with data, unless the setting `topics` lists them."""
    if config.get("topics"):
        return ""
    words = {key: re.split(r"[._\-]", key.lower()) for key in config if config[key] and _TOPIC.fullmatch(key)}
    own = [key for key in sorted(words) if words[key][0] not in _NOT_ITS_OWN and (_NO_LOCATION | _NO_DATA).isdisjoint(words[key])]
    usual = next((key for key in _TOPICS if key in own), "")
    return ",".join("{" + key + "}" for key in ([usual] if usual in _TOPICS[:1] else own))


def _direction(name: str, config: Mapping[str, str], reported: str) -> Literal["source", "sink"]:
    """Whether a connector is a source or a sink: as the worker reports, else as its class name states, else a sink if it has the
    setting `topics`.
    """
    called = name.rpartition(".")[2].lower().removesuffix("connector")
    if reported in (SINK, SOURCE):
        return "sink" if reported == SINK else "source"
    if called.endswith(("sink", "source")):
        return "sink" if called.endswith("sink") else "source"
    return "sink" if any(config.get(key) for key in ("topics", "topics.regex")) else "source"


def _key(config: Mapping[str, str], hints: tuple[str, ...]) -> str:
    """Return the first of the connector's own settings whose key ends with one of the words, in the order of the words. None if these
    settings have different values.
    """
    plain = [key for key in sorted(config) if config[key] and _PLAIN.fullmatch(key) and "registry" not in key and not is_secret(key)]
    words = {key: re.split(r"[._\-]", key.removesuffix("name.format")) for key in plain}
    own = [key for key in plain if key.split(".")[0] not in _NOT_ITS_OWN and (_NO_LOCATION | _ASIDE).isdisjoint(words[key])]
    found = [key for hint in hints for key in own if _SUFFIX.sub("", key).rpartition(".")[2] == hint]
    return found[0] if len({config[key] for key in found}) == 1 else ""
