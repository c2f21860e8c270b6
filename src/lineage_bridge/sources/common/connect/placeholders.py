"""Recognises what a configuration leaves for its user to fill in: signs such as `<host>` and `${BUCKET}`, and words that documentation
writes in place of a server, a bucket, a table or a topic, such as `your-bucket`, `NEO4J_URI` and `xxx`.

This is their one meaning: names of datasets and topics, settings that are told to be missing, and transforms are all judged by it.
Placeholders that a worker's config provider fills in are another thing (see secrets.py).
"""

import re

TO_FILL_IN = re.compile(
    r"<[^<>]*>|\$\{[^{}]*\}|\$\([^()]*\)|\{\{.*\}\}|(?<!\\[pP])\{[A-Z][A-Z0-9_ /.-]*\}|\.\.\."
    r"|(?<![\w$\\])\$(?!(?:topic|web|logs|root)\b)[A-Za-z_]\w+\b"
    r"|%(?![A-F][0-9A-F]%[0-9A-F]{2})[A-Z][A-Z0-9_]*%|@[A-Z][A-Z0-9_.]*@|(?<![A-Za-z0-9])__[A-Z][A-Z0-9_]*__(?![A-Za-z0-9])"
    r"|\b(?:[A-Z0-9_]*(?:PLACEHOLDER|FIXME)|YOUR_[A-Z0-9_]*(?:URL|URI|HOST|HOSTNAME|SERVER|ENDPOINT|ADDRESS|_IP|USERNAME))\b"
    r"|\b(?i:change|replace)[_-]?(?i:me)\b|\bREPLACE[_-](?i:with)\b|\b(?:ADD|ENTER|INSERT|PUT)_[A-Z0-9_]*HERE\b"
)
"""Placeholders that a configuration leaves for its user to fill in: `<host>`, `${BUCKET}`, `$(BUCKET)`, `{{ bucket }}`, `{YOUR/HOME}`,
`$BUCKET`, `...`, `%BUCKET%`, `@BUCKET@`, `__BUCKET__`, `PLACEHOLDER`, `FIXME`, `YOUR_CLUSTER_URL`, `change_me`, `REPLACE_WITH_BUCKET`,
`INSERT_BUCKET_HERE`. Not `$topic`, which the connector fills in, nor `$web`, `$logs` and `$root`, which are containers of Azure.
"""

_NAMES_ITSELF = re.compile(
    r"(?:^|(?<!/)//|[@,])(?:"
    r"(?:(?:[A-Z0-9]+_)*(?:URL|URI|HOST|HOSTNAME|ENDPOINT|ADDRESS|IP)"
    r"|(?:[A-Z0-9]+_)+(?:SERVER|BUCKET|CONTAINER|NAME|LOCATOR|IDENTIFIER|ACCOUNT))(?=[:,/@.]|$)"
    r"|(?!localHost\b)[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*){0,9}(?:Url|Uri|Host|Hostname|Endpoint|Address|Ip)(?=[:,/@]|$)"
    r"|(?:[A-Za-z0-9]+-)?[Xx]{3,}(?=[:,/@.]|$)"
    r"|(?:host|hostname|endpoint|ip[_-]?address)(?=[:,/@]|$)|(?:cluster|server|account)[_-]?name(?=[.:,/@]|$)"
    r"|YOUR[_-][A-Z0-9_-]+(?=[:,/@.]|$))"
    r"|^snowflake://(?:org(?:name)?[_-])?account(?:[_-]?(?:name|id|identifier))?$"
)
"""A server or bucket that is only called what belongs there: `NEO4J_URI`, `IP`, `hostname`, `server_name`, `opensearchUrl`,
`ACCOUNT_LOCATOR`, `XXXX`, `pkc-xxxxx`, `YOUR-QUERY-URL`.
"""
_YOURS = (
    r"(?i:(?<![a-z0-9])(?!your-server\.de\b)your(?:[-_](?:[a-z0-9]{1,40}[-_]){0,6})?"
    r"(?:account|address|api|app|application|broker|bucket|catalog|cluster|collection|company|connection|container"
    r"|database|dataset|db|dbname|dir|directory|domain|endpoint|env|environment|file|folder|function|gateway|host"
    r"|hostname|hub|index|instance|ip|key|keyspace|lake|machine|name|namespace|node|object|org|organization|password"
    r"|path|port|prefix|project|queue|region|resource|schema|secret|server|service|sink|site|source|storage|stream"
    r"|subdomain|subscription|system|table|target|tenant|topic|uri|url|user|username|value|vault|view|vm|warehouse"
    r"|webhook|website|workspace|zone)s?(?:[-_]?(?:address|here|id|name|string|uri|url)){0,2}(?![a-z0-9]))"
)
"""What documentation writes in place of a name: `your-storage-account`, `your_bucket`, `YOUR_GCP_PROJECT_ID`, `yourdomain`. Not
`your-server.de`, a domain of many servers.
"""
_FILLER = re.compile(
    r"(?:(?:^|(?<=[./:]))(?:[Xx]{3,}|TODO|TBD|\[\[[^\[\]]{0,255}\]\]|\[(?i:add|change|enter|insert|put|replace|your)[ _-][^\[\]]{0,255}\])"
    r"(?=$|[./:])|(?:^|(?<=/))(?i:path/to)(?=/)|" + _YOURS + ")"
)
"""A part of a name that is a placeholder: `xxx`, `TODO`, `[[table]]`, `[REPLACE DATABASE]`, `path/to/file`, `your_table`."""
_FILLED_LATER = re.compile(
    r"://(?:TODO|TBD)(?=$|[/:])|(?<=[.])(?:[A-Za-z0-9]{1,63}-){0,9}[Xx]{3,}(?=[.])|(?<=[0-9][.])[Xx]{3,}(?=[:,/]|$)|(?<=[.-])[Xx]{4,}(?=[:,/.-]|$)|"
    + _YOURS
)
"""An address whose server is a placeholder: `https://TODO`, `192.168.xxx.xxx`, `db.xxx.example.com`, `your-server`. The domain
`.xxx` is none.
"""
_OPTIONS = re.compile(r"[?;]")
_SERVER = re.compile(r"((?:.*@|[^/]*//)?[^/]*).*", re.DOTALL)
"""An address, and what of it is before the path: `jdbc:oracle:thin:@HOST:1521`, `s3://bucket`."""


def is_open_address(address: str) -> bool:
    """Whether a part of an address is still to be filled in, whatever its options are: mostly its server, bucket or account."""
    text = _OPTIONS.split(address, maxsplit=1)[0]
    return bool(TO_FILL_IN.search(text) or _FILLED_LATER.search(text) or _NAMES_ITSELF.search(_SERVER.sub(r"\1", text, count=1)))


def open_parts(name: str) -> list[str]:
    """Return the parts of a name that only say what belongs there. A table or topic may be called so nevertheless."""
    return [found[0] for found in _FILLER.finditer(name)]


def is_left_open(value: str) -> bool:
    """Whether a setting's value, an address or a name, is still to be filled in."""
    return bool(TO_FILL_IN.search(value) or open_parts(value)) or is_open_address(value)
