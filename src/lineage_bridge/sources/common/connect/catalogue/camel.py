"""Reads the endpoints of Camel connectors, configured by a kamelet (`camel.kamelet.NAME.option`), a URL (`camel.source.url`), or options
(`camel.sink.path.option`).

Only the options that name a dataset are read; all others may be secrets.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

from lineage_bridge.openlineage import naming
from lineage_bridge.sources.common.connect.catalogue.camel_sql import sql_datasets
from lineage_bridge.sources.common.connect.catalogue.filters import server
from lineage_bridge.sources.common.connect.catalogue.templates import is_unreadable
from lineage_bridge.sources.common.connect.secrets import has_placeholder, without_user


class _Endpoint(NamedTuple):
    """The templates for the names of the datasets that a component of Camel reads or writes.

    The names of options are in lower case without separators. `path`: the options that are in the path of a URL.
    """

    component: str
    namespace: str
    name: str
    path: str = ""


_SERVER = "server"
"""The URL's path is a server followed by a folder."""
_ENDPOINTS = (
    _Endpoint(r"aws2?s3|minio", "s3://{bucketnameorarn|bucketname!arn}", "{prefix|=/}", r"(?P<bucketnameorarn>[^/]+)"),
    _Endpoint(r"aws2?sqs(?:fifo)?", "arn:aws:sqs:{region}:", "{queuenameorarn|queuename!arn}", r"(?P<queuenameorarn>[^/]+)"),
    _Endpoint(r"aws2?sns(?:fifo)?", "arn:aws:sns:{region}:", "{topicnameorarn|topicname!arn}", r"(?P<topicnameorarn>[^/]+)"),
    _Endpoint(r"aws2?kinesis", "arn:aws:kinesis:{region}:", "stream/{streamname|stream}", r"(?P<streamname>[^/]+)"),
    _Endpoint(r"aws2?kinesisfirehose", "arn:aws:firehose:{region}:", "deliverystream/{streamname}", r"(?P<streamname>[^/]+)"),
    _Endpoint(r"aws2?(?:ddb|ddbstreams?)", "arn:aws:dynamodb:{region}:", "table/{tablename|table}", r"(?P<tablename>[^/]+)"),
    _Endpoint(r"aws2?lambda", "arn:aws:lambda:{region}:", "function/{function|functionname}", r"(?P<function>[^/]+)"),
    _Endpoint(r"aws2?eventbridge", "arn:aws:events:{region}:", "event-bus/{eventbusnameorarn!arn}", r"(?P<eventbusnameorarn>[^/]+)"),
    _Endpoint(r"file(?:watch)?", "file", "{file|directoryname|path}", r"(?P<directoryname>.+)"),
    _Endpoint(r"(?P<scheme>ftps?)", "{scheme}://{host|connectionhost!host}:{port|connectionport|=21}", "{file|directoryname|=/}", _SERVER),
    _Endpoint(r"sftp", "sftp://{host|connectionhost!host}:{port|connectionport|=22}", "{file|directoryname|=/}", _SERVER),
    _Endpoint(r"hdfs", "hdfs://{hostname|namenode!host}:{port|=8020}", "{path}", _SERVER),
    _Endpoint(r"mongodb(?:changesstream)?", "mongodb://{hosts!host}", "{database}.{collection}"),
    _Endpoint(r"elasticsearch(?:rest|index|search)?", "elasticsearch://{hostaddresses!host}", "{indexname}"),
    _Endpoint(r"https?(?:secured)?", "{httpuri|url!scheme}://{httpuri|url!web}", "{httpuri|url!path}", r"(?P<httpuri>.+)"),
    _Endpoint(r"jmsibmmq", "ibmmq://{servername}:{serverport|=1414}/{queuemanager}", "{destinationtype|=queue}/{destinationname}"),
    _Endpoint(
        r"(?P<scheme>jms|activemq|amqp|sjms2?)(?:amqp10|apacheartemis|apacheactivemq|pooledapacheactivemq)?",
        "{=jms}://{brokerurl|remoteuri!host}",
        "{destinationtype|=queue}/{destinationname}",
        r"(?:(?P<destinationtype>queue|topic):)?(?P<destinationname>[^:/]+)",
    ),
    _Endpoint(r"(?:spring)?rabbitmq", "rabbitmq://{addresses!host}", "exchange/{exchangename|=default}", r"(?P<exchangename>[^/]+)"),
    _Endpoint(
        r"rabbitmq", "rabbitmq://{hostname!host}:{portnumber|=5672}", "exchange/{exchangename|=default}", r"(?P<exchangename>[^:/]+)"
    ),
    _Endpoint(
        r"couchbase",
        "couchbase://{couchbasehostname|hostname}",
        "{bucket}.{scope|=_default}.{collection|=_default}",
        r"(?:https?://)?(?P<hostname>[^:/]+)(?::\d+)?/?",
    ),
    _Endpoint(
        r"azurestorageblob(?:changefeed)?",
        "wasbs://{containername}@{accountname}.dfs.core.windows.net",
        "{blobname|prefix|=/}",
        r"(?P<accountname>[^/]+)/(?P<containername>[^/]+)",
    ),
    _Endpoint(r"azurestoragedatalake", "abfss://{filesystemname}@{accountname}.dfs.core.windows.net", "{filename|=/}"),
    _Endpoint(
        r"azureeventhubs",
        "kafka://{namespace|namespacename}.servicebus.windows.net:9093",
        "{eventhubname}",
        r"(?P<namespace>[^/]+)/(?P<eventhubname>[^/]+)",
    ),
    _Endpoint(r"azureservicebus", "servicebus://{namespace}", "{servicebustype|=queue}/{topicorqueuename}", r"(?P<topicorqueuename>[^/]+)"),
    _Endpoint(
        r"googlepubsub",
        "pubsub",
        "{=kind}:{projectid}:{destinationname|subscriptionname}",
        r"(?P<projectid>[^:]+):(?P<destinationname>[^:]+)",
    ),
    _Endpoint(r"google(?:cloud)?storage", "gs://{bucketnameorarn|bucketname}", "{objectname|=/}", r"(?P<bucketname>[^/]+)"),
    _Endpoint(
        r"googlebigquery",
        "bigquery",
        "{projectid}.{datasetid|dataset}.{tableid|table}",
        r"(?P<projectid>[^:]+):(?P<datasetid>[^:]+):(?P<tableid>[^:]+)",
    ),
    _Endpoint(r"paho(?:mqtt5?)?|mqtt5?", "mqtt://{brokerurl!broker}", "{topic}", r"(?P<topic>.+)"),
    _Endpoint(r"redis", "redis://{redishost!host}:{redisport|=6379}", "channel/{channels}"),
    _Endpoint(r"infinispan", "infinispan://{hosts!host}", "{cachename}", r"(?P<cachename>[^?]+)"),
    _Endpoint(
        r"kafka(?:azureeventhubs|batch|notsecured|scram|ssl|azure)*",
        "kafka://{bootstrapservers|brokers!host}",
        "{topic}",
        r"(?P<topic>[^?]+)",
    ),
    _Endpoint(r"github", "github://api.github.com", "{repoowner}/{reponame}"),
    _Endpoint(r"graphql", "{url|httpuri!scheme}://{url|httpuri!web}", "{url|httpuri!path}", r"(?P<httpuri>.+)"),
    _Endpoint(
        r"azurecosmosdb",
        "azurecosmos://{databaseendpoint!bare}/dbs/{databasename}",
        "colls/{containername}",
        r"(?P<databasename>[^/]+)/(?P<containername>[^/]+)",
    ),
    _Endpoint(r"googlefunctions", "gcf://{projectid|project}/{region|location}", "function/{functionname}", r"(?P<functionname>[^/]+)"),
    _Endpoint(r"nats", "nats://{servers|url!host}", "{topic|subject}", r"(?P<topic>[^?]+)"),
    _Endpoint(r"salesforce(?:create|update|delete)?", "salesforce://{instanceurl|loginurl!own}", "{sobjectname|topicname|topic}"),
    _Endpoint(r"splunk(?:hec)?", "splunk://{splunkurl|splunkserver!host}", "index/{index}"),
    _Endpoint(r"solr", "solr://{url!host}", "{collection}", r"(?P<url>.+)"),
)
_SERVER_PATH = re.compile(r"(?:[^@]*@)?(?P<host>[^:/@]+)(?::(?P<port>\d+))?(?P<path>/.*)?")
_KEY = re.compile(
    r"camel\.(?:kamelet\.(?P<kamelet>[^.]+)|(?:source|sink)\.(?:path|endpoint)|component\.[^.]+(?:\.(?:configuration|connection-?[fF]actory|data-?[sS]ource))?)"
    r"\.(?P<option>[\w\-]+)"
)
_CLASS = re.compile(r"org\.apache\.camel\.kafkaconnector\.(\w+)\.")
_ROLE = re.compile(r"(?:source|sink)$")
_HOLE = re.compile(r"\{([^{}]+)\}")


def camel_datasets(config: Mapping[str, str], direction: str) -> list[naming.DatasetName]:
    """The datasets of the endpoint in a configuration; none if its component is unknown or an option is missing.

    An endpoint has a single dataset, except one with a query, which may use several tables.
    """
    component, options, path = _read(config, direction)
    made = _endpoint(component, options, path, direction)
    return [made] if made is not None else sql_datasets(component, options, direction)


def _endpoint(component: str, options: Mapping[str, str], path: str, direction: str) -> naming.DatasetName | None:
    for endpoint in _ENDPOINTS:
        match = re.fullmatch(endpoint.component, component)
        if match:
            values = {**_in_path(endpoint.path, path), **options, "kind": "subscription" if direction == "source" else "topic"}
            scheme = match.groupdict().get("scheme") or ""
            values |= {"scheme": scheme, "jms": scheme.rstrip("2").replace("sjms", "jms"), "file": _file(values)}
            space, name = _filled(endpoint.namespace, values), _filled(endpoint.name, values)
            if space and name:
                return naming.dataset(space, name)
    return None


def _file(values: Mapping[str, str]) -> str:
    """The single file that the options name; none if an expression generates its name."""
    name, folder = values.get("filename", ""), values.get("directoryname", "")
    return f"{folder.rstrip('/')}/{name}" if folder and name and not re.search(r"[${}*]", name) else ""


def _read(config: Mapping[str, str], direction: str) -> tuple[str, dict[str, str], str]:
    """Parse the configuration of an endpoint into its component, its options, and the path in its URL."""
    options: dict[str, str] = {}
    component = path = ""
    for key, value in sorted(config.items()):
        if (match := _KEY.fullmatch(key)) and value:
            component = _ROLE.sub("", _plain(match["kamelet"])) if match["kamelet"] else component
            options.setdefault(_plain(match["option"]), without_user(value.strip()))
    url = without_user(config.get(f"camel.{direction}.url", "").strip())
    if url and not has_placeholder(url):
        head, _, query = url.partition("?")
        component, _, path = head.partition(":")
        named = {_plain(key): unquote(value) for key, value in parse_qsl(query)}
        options = {**options, **named}
        path = path if component.startswith("http") else path.removeprefix("//").rpartition("@")[2]
        path = f"{component}:{path}" if component in ("http", "https") else path
    elif not component and (match := _CLASS.match(config.get("connector.class", "").strip())):
        component = _ROLE.sub("", match[1])
    return _plain(component), options, path


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _in_path(pattern: str, path: str) -> dict[str, str]:
    if not path:
        return {}
    if pattern == _SERVER:
        match = _SERVER_PATH.fullmatch(path)
        found = {"host": match["host"], "hostname": match["host"], "port": match["port"], "path": match["path"]} if match else {}
        return {key: value for key, value in {**found, "directoryname": (found.get("path") or "/")}.items() if value}
    match = re.fullmatch(pattern, path) if pattern else None
    return {key: value for key, value in match.groupdict().items() if value} if match else {}


def _filled(template: str, values: Mapping[str, str]) -> str | None:
    """Fill a template: each `{option|other|=constant!form}` is replaced by the first of the options that is set, else by the constant."""
    missing = False

    def fill(hole: re.Match[str]) -> str:
        nonlocal missing
        names, _, form = hole[1].partition("!")
        if names in ("=kind", "=jms"):
            return values[names[1:]]
        found = (name[1:] if name.startswith("=") else values.get(name, "") for name in names.split("|"))
        text = next((value for value in found if value), "")
        text = _FORMS[form](text) if form and text else text
        missing = missing or not text or is_unreadable(text)
        return text

    made = _HOLE.sub(fill, template)
    return None if missing else made


_WEB_PORTS = {"http": "80", "https": "443"}


def _web(text: str) -> str:
    host = server(text)
    return host if re.search(r":\d+$", host) else f"{host}:{_WEB_PORTS.get(text.partition('://')[0], '')}".rstrip(":")


_SHARED = ("login.salesforce.com", "test.salesforce.com")
"""Login hosts that all organizations share."""
_BROKER_PORTS = {"ssl": "8883", "tls": "8883", "mqtts": "8883", "ws": "80", "wss": "443"}


def _broker(text: str) -> str:
    host, port = server(text), _BROKER_PORTS.get(text.partition("://")[0].lower(), "")
    return host if not host or re.search(r":\d+$", host) else f"{host}:{port}".rstrip(":")


_FORMS = {
    "arn": lambda text: re.split(r"[:/]", text)[-1] if text.startswith("arn:") else text,
    "broker": _broker,
    "bare": lambda text: re.sub(r":\d+$", "", server(text)),
    "host": server,
    "own": lambda text: "" if server(text).lower() in _SHARED else server(text),
    "path": lambda text: "/" + re.split(r"[?#]", text.partition("://")[2].partition("/")[2], maxsplit=1)[0],
    "scheme": lambda text: text.partition("://")[0].lower(),
    "web": _web,
}
