"""The filters of templates. Each is a function of a text, the filter's argument, the settings and the names in scope. Each returns the
changed text, or None if the filter does not apply to the text.
"""

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from lineage_bridge.openlineage.jdbc.address import without_user
from lineage_bridge.openlineage.jdbc.drivers import read_jdbc
from lineage_bridge.openlineage.naming import as_stored, snowflake_identifier
from lineage_bridge.sources.common.connect.placeholders import TO_FILL_IN
from lineage_bridge.sources.common.connect.secrets import has_placeholder, is_secret
from lineage_bridge.sources.common.connect.transforms.patterns import compile_java, listed, replace_all_of

Scope = Mapping[str, str]
Filter = Callable[[str, str, Scope, Scope], str | None]

VARIABLE = re.compile(r"[$#]\{(?:source\.)?([\w.\-]+)\}|\$(topic)\b")
"""A variable within a setting: `${topic}`, `${source.table}`, `#{topic}`."""

_WEB_PORTS = {"http": "80", "https": "443"}
_PORT = re.compile(r":\d+$")
_NO_PORT = re.compile(r"[^:]:[A-Za-z_][\w-]*$")
"""A word in the position of the port, as in `https://host:port`."""
_NEXT_URL = re.compile(r"[,;\s]\s*[a-z][a-z0-9+.\-]*://", re.IGNORECASE)
_REPLICA_SET = re.compile(r"^[^/:]+/(?=[^/]+:\d+)")
_USER_INFO = re.compile(r"(?<=://)[^/?#]*@")
_HANDLE = re.compile(r"(?:http|ws)s?://([\w\-]+\.[\w.\-]+(?::\d+)?)/[^?#]*@", re.IGNORECASE)
"""A web address with an `@` in its path. After a port, the `@` may also be the end of a password."""
_OF_RECORDS = frozenset(("header", "headers", "key", "offset", "partition", "timestamp", "value"))
"""Variables whose values come from each record."""
_TRUE = "true"
_STREAMING = "SnowflakeStreamingSink"
"""The name of Snowflake's connector of the fourth generation."""
_NO_PROJECT = re.compile(r"[A-Z][A-Z0-9_-]*")
"""Capitals alone, such as `GCP_PROJECT_NAME`, are not the id of a Google project."""
_IDENTIFIER = re.compile(r"[^\W\d][\w$]*")
"""A name that SQL can have without quotes."""
_CAPTURED = re.compile(r"\$\{(\d+|topic)\}")
_TOPIC_OF_FILE, _PART_OF_FILE = re.compile(r"\{\{\s*topic\s*\}\}"), re.compile(r"\{\{")


def server(text: str) -> str:
    """The first `host` or `host:port` of an address, a list of addresses or a URL, without user and password."""
    if text.lower().startswith("jdbc:"):
        address = read_jdbc(text)
        return address.hosts.split(",")[0] if address else ""
    if handle := _HANDLE.match(text):
        return "" if ":" in handle[1] else handle[1]
    bare = _REPLICA_SET.sub("", _NEXT_URL.split(text, maxsplit=1)[0].split("://", 1)[-1])
    named = re.split(r"[/?;]", without_user(bare) or "", maxsplit=1)[0].split(",")[0].strip()
    return "" if _NO_PORT.search(named) or " " in named else named  # a sentence is not a host


def _address(text: str, key: str, config: Scope, _scope: Scope) -> str | None:
    """Return host and port. A text without a port gets the port in a setting, or the default port, which may depend on the URL's
    scheme: `port.setting=1883,ssl=8883`.
    """
    host = server(text)
    setting, _, defaults = key.partition("=")
    default, *of_schemes = defaults.split(",")
    by_scheme = dict(pair.split("=") for pair in of_schemes)
    port = config.get(setting, "").strip() or by_scheme.get(text.partition("://")[0].lower(), default)
    if not host or (not _PORT.search(host) and (has_placeholder(port) or TO_FILL_IN.search(port))):
        return None
    return host if not port.isdigit() or _PORT.search(host) else f"{host}:{port}"


def _web(text: str, _argument: str, _config: Scope, _scope: Scope) -> str | None:
    """Return host and port of a URL. Without a port, it is the default port of the URL's scheme."""
    host, port = server(text), _WEB_PORTS.get(text.partition("://")[0].lower())
    return (host or None) if not port or not host or _PORT.search(host) else f"{host}:{port}"


def _match(text: str, argument: str, _config: Scope, _scope: Scope) -> str | None:
    """Return what the first group of a regular expression matches in the text."""
    pattern = compile_java(argument)
    found = pattern.search(text) if pattern else None
    return found[1] if found else None


def _expand(text: str, joiner: str, config: Scope, scope: Scope) -> str | None:
    """Replace the variables in a text by the topic (its dots replaced by the argument), by the object, or by a setting that ends with
    the variable's name.

    Debezium's `${source.table}` is a field of the record, and the topic's name ends with its value. Other expressions are unknown.
    """
    known = _variables(scope, joiner)
    found = [known.get(match[1] or match[2]) or _by_last_word(config, match[1]) for match in VARIABLE.finditer(text)]
    if not all(found):
        return None
    values = iter(found)
    made = VARIABLE.sub(lambda _: next(values) or "", text)
    return None if "${" in made or "#{" in made else made


def _variables(scope: Scope, joiner: str) -> dict[str, str]:
    topic, thing = scope.get("topic", ""), scope.get("object", "")
    known = dict.fromkeys(("topic", "topic.name"), topic.replace(".", joiner) if joiner else topic)
    for parts in (thing.split("."), topic.split(".") if "." in topic else [""]):
        if parts[-1] and "table" not in known:
            known |= {"table": parts[-1], "tableName": parts[-1], "collection": parts[-1], "schema": parts[-2] if len(parts) > 1 else ""}
            known |= {"schemaName": known["schema"], "scope": known["schema"], "db": parts[-3] if len(parts) > 2 else known["schema"]}
            known["databaseName"] = known["db"]
    return {**known, **dict.fromkeys(("object", "resourceName", "entityName", "fullyQualifiedTableName", "stream"), thing)}


def _by_last_word(config: Scope, name: str | None) -> str:
    """The value of the only setting whose name ends with a variable's name; None if the variable denotes a field of the records, or if the
    setting may be secret.
    """
    ends = f".{name}" if name and name not in _OF_RECORDS else None
    found = [key for key in config if ends and key.endswith(ends) and not is_secret(key)]
    return config[found[0]] if len(found) == 1 else ""


def _path(text: str, _argument: str, _config: Scope, _scope: Scope) -> str | None:
    try:
        return urlsplit(text).path or "/"
    except ValueError:
        return None


def _either(text: str, argument: str, _config: Scope, _scope: Scope) -> str | None:
    """Return the first word of the argument if the text is not empty, else the second."""
    there, _, empty = argument.partition(",")
    return there if text else empty


def _jdbc(text: str, argument: str, _config: Scope, _scope: Scope) -> str | None:
    """The part of a JDBC URL that the argument names: its hosts or its database."""
    address = read_jdbc(text)
    return (address.database if argument == "database" else address.hosts) or None if address else None


def _unity(text: str, key: str, config: Scope, _scope: Scope) -> str | None:
    """If the address is one of Unity Catalog, return the text or, with an argument, the setting that names the catalog; otherwise None."""
    if "unity-catalog" not in text:
        return None
    return config.get(key, "").strip() or None if key else text


def _bigquery(text: str, _argument: str, config: Scope, _scope: Scope) -> str | None:
    """Return a table's name as the BigQuery sink builds it: sanitized if configured; it never contains dots. How Confluent Cloud treats
    other characters without such a setting is unknown.
    """
    chosen = (config.get("sanitizeTopics") or config.get("sanitize.topics") or "").strip().lower()
    plain, made = text.replace(".", "_"), re.sub(r"[^A-Za-z0-9_]", "_", text)
    if TO_FILL_IN.search(chosen) or (not chosen and "." not in config.get("connector.class", ".") and made != plain):
        return None
    return made if chosen == _TRUE else plain


def _underscore(text: str, signs: str, _config: Scope, _scope: Scope) -> str | None:
    """Replace characters by underscores: those in the argument, or by default all except letters and digits. Unresolved placeholders are
    kept, so that they can be recognised later.
    """
    return text if TO_FILL_IN.search(text) else re.sub(signs or r"[^A-Za-z0-9_]", "_", text)


def _replaced(text: str, key: str, config: Scope, _scope: Scope) -> str | None:
    """Apply the first of the pairs `regex=replacement` in a setting whose regex matches the whole text. If none does, return the text."""
    pairs = (pair.partition("=") for pair in listed(config.get(key, "")))
    made = (replace_all_of(regex.strip(), replacement.strip(), text) for regex, sign, replacement in pairs if sign)
    return next((name for name in made if name is not None), text)


def _snowflake(text: str, _argument: str, config: Scope, _scope: Scope) -> str | None:
    """Return the table to which the Snowflake sink writes a topic, as an identifier of SQL. The streaming connector quotes the topic's
    name, unless it is configured to be compatible; otherwise the name contains a hash if the topic's name is not an identifier.
    """
    sanitized = config.get("snowflake.compatibility.enable.autogenerated.table.name.sanitization", "").strip().lower()
    if _STREAMING in config.get("connector.class", "") and sanitized != _TRUE:
        return None if TO_FILL_IN.search(sanitized) else f'"{text}"'
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_$]+", text):
        return text
    code = 0
    for character in text:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    code = abs(code - (1 << 32) if code >= 1 << 31 else code)
    lead = "" if re.match(r"[A-Za-z_]", text) else "_"
    return f"{lead}{re.sub(r'[^A-Za-z0-9_$]', '_', text)}_{code}"


def _normalized(text: str, _argument: str, config: Scope, _scope: Scope) -> str | None:
    """Return a table's name as Aiven's JDBC sink builds it. If a setting says so, characters that are not allowed become underscores."""
    if TO_FILL_IN.search(config.get("table.name.normalize", "")):
        return None
    return re.sub(r"[^A-Za-z0-9_]", "_", text) if config.get("table.name.normalize", "").strip().lower() == _TRUE else text


def _cased(text: str, rule: str, config: Scope, _scope: Scope) -> str | None:
    """Return a table's name in the case in which its database stores it, if the connector does not quote names. The argument
    `setting=value,default,scheme` names the setting and its value with which names are not quoted, the default value, and the database if
    no setting has its URL. A name that SQL requires to be quoted (`sales-Orders`) is always quoted.
    """
    setting, _, values = rule.partition("=")
    bare, default, *scheme = values.split(",")
    quoting = config.get(setting, "").strip().lower() or default
    address = None if scheme else read_jdbc(config.get("connection.url", "") or config.get("connection.urls", ""))
    stored = address.scheme if address else "".join(scheme)
    made = ".".join(as_stored(stored, part) if _IDENTIFIER.fullmatch(part) else part for part in text.split("."))
    unknown = made != text and (has_placeholder(quoting) or TO_FILL_IN.search(quoting))
    return None if unknown else made if quoting == bare else text


def _clickhouse(text: str, _argument: str, config: Scope, _scope: Scope) -> str | None:
    """Return the full name of a ClickHouse table. The database is in a setting or, if the connector is configured so, in the topic's
    name.
    """
    sign = config.get("dbTopicSplitChar", "").strip() if config.get("enableDbTopicSplit", "").strip().lower() == _TRUE else ""
    parts = text.split(sign) if sign else [text]
    return ".".join(parts) if len(parts) == 2 else f"{config.get('database', '').strip() or 'default'}.{text}"


def _captured(text: str, _argument: str, config: Scope, scope: Scope) -> str | None:
    """Replace `${1}` in the text by a group of the regex that the topic's name matches, `${0}` by the match, and `${topic}` by the
    topic's name.
    """
    topic, pattern = scope.get("topic", ""), compile_java(config.get("topic.capture.groups.regex", "").strip())
    match = pattern.fullmatch(topic) if pattern else None
    values = dict(enumerate((match[0], *(group or "" for group in match.groups())))) if match else {}
    made = _CAPTURED.sub(lambda found: topic if found[1] == "topic" else values.get(int(found[1]), found[0]), text)
    return None if _CAPTURED.search(made) else made


def _filename(text: str, _argument: str, config: Scope, _scope: Scope) -> str | None:
    """Return the folder of a topic's files, or the prefix of their names, from the file name template of Aiven's sinks for object
    stores.
    """
    template = config.get("file.name.template", "").strip()
    if not template:
        return text
    lead, *more = _PART_OF_FILE.split(_TOPIC_OF_FILE.sub(lambda _: text, template), maxsplit=1)
    folder, _, name = lead.rpartition("/")
    named = (name if TO_FILL_IN.search(name) else name.rstrip("-_.")) if text in name or not more else ""
    return "/".join(part for part in (folder, named) if part)


def _catalog(text: str, _argument: str, _config: Scope, _scope: Scope) -> str | None:
    """Return the address of a catalog without user and password. If a Hive metastore has several servers, return the first one."""
    first = text.split(",", maxsplit=1)[0].strip() if text.startswith("thrift://") else text
    return re.sub(r"^thrift:", "hive:", re.split(r"[?#]", _USER_INFO.sub("", first), maxsplit=1)[0])


def _lake(text: str, _argument: str, config: Scope, _scope: Scope) -> str | None:
    """Return the path of a table below a catalog's warehouse: `database.db/table` for Hive and some others, otherwise `database/table`.
    Hive's database `default` is in the metastore's own warehouse, and the path of a table of Nessie ends with a random id.
    """
    kind = config.get("iceberg.catalog.type", "") + config.get("iceberg.catalog.catalog-impl", "")
    if has_placeholder(kind) or TO_FILL_IN.search(kind):
        return None
    kind = kind.lower()
    database, _, table = text.rpartition(".")
    suffix = ".db" if any(name in kind for name in ("bigquery", "dynamodb", "glue", "hive")) else ""
    if "nessie" in kind or ("hive" in kind and database.lower() == "default"):
        return None
    return f"{database.replace('.', '/')}{suffix}/{table}" if database else table


FILTERS: dict[str, Filter] = {
    "address": _address,
    "anonymous": lambda text, _argument, _config, _scope: re.split(r"[?#]", _USER_INFO.sub("", text), maxsplit=1)[0],
    "bigquery": _bigquery,
    "captured": _captured,
    "cased": _cased,
    "catalog": _catalog,
    "clickhouse": _clickhouse,
    "delimited": lambda text, key, config, _scope: text.replace(".", config.get(key) or "."),
    "either": _either,
    "expand": _expand,
    "filename": _filename,
    "first": lambda text, _argument, _config, _scope: next(iter(listed(text)), None),
    "folder": lambda text, _argument, _config, _scope: text.strip("/"),
    "host": lambda text, _argument, _config, _scope: _PORT.sub("", server(text)) or None,
    "identifier": lambda text, _argument, _config, _scope: snowflake_identifier(text),
    "jdbc": _jdbc,
    "lake": _lake,
    "last": lambda text, _argument, _config, _scope: text.rpartition(".")[2],
    "lower": lambda text, _argument, _config, _scope: text.lower(),
    "match": _match,
    "normalized": _normalized,
    "path": _path,
    "project": lambda text, _argument, _config, _scope: None if _NO_PROJECT.fullmatch(text) else text,
    "qualified": lambda text, lead, _config, _scope: text if "." in text else f"{lead}.{text}",
    "region": lambda text, _argument, _config, _scope: text.lower().replace("_", "-"),
    "replaced": _replaced,
    "scheme": lambda text, _argument, _config, _scope: text.partition("://")[0].lower() if "://" in text else None,
    "snowflake": _snowflake,
    "some": lambda text, _argument, _config, _scope: text or None,
    "underscore": _underscore,
    "unity": _unity,
    "unless": lambda text, argument, _config, _scope: None if text.lower() == argument else text,
    "upper": lambda text, _argument, _config, _scope: text.upper(),
    "unquoted": lambda text, _argument, _config, _scope: re.sub(r"[\"`]", "", text),
    "web": _web,
    "without": lambda text, argument, _config, _scope: text.removesuffix(argument),
}
"""The filters by the names that templates use."""
