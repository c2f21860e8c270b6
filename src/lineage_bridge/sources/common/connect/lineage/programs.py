"""Recognises settings whose value is code: a member of an object in a program, such as `var.db_host`, `process.env.TOPIC` or
`options.tableName`.

Workers never have such values, but programs and templates in which configurations are stored do. A dotted name in small letters may be a
real value (`source.server` is a host, `input.orders` a topic). It counts as real unless other settings show that it is code.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

_CALLED = frozenset(
    (
        "account",
        "account_name",
        "accountname",
        "address",
        "bucket",
        "bucket_name",
        "bucketname",
        "connection_string",
        "connectionstring",
        "db_name",
        "dbname",
        "endpoint",
        "host",
        "hostname",
        "ip",
        "name",
        "server",
        "uri",
        "url",
    )
)
"""Names that programs give to members whose values belong in an address."""
_NEVER_NAMES = frozenset(("args", "cfg", "db_info", "dbinfo", "each", "kwargs", "module", "params", "self", "this", "var", "vars"))
"""Names of objects in programs, in lower case. If the member after such a name belongs in an address, the text is never the name of a
server.
"""
_OBJECTS = frozenset(
    (
        "conf",
        "config",
        "configuration",
        "ctx",
        "destination",
        "env",
        "input",
        "local",
        "locals",
        "options",
        "opts",
        "properties",
        "props",
        "settings",
        "sink",
        "source",
        "target",
    )
)
"""Names of objects in programs, in lower case, that also occur in the names of servers, topics and tables."""
_ENVIRONMENT = re.compile(r"(?:process\.env|os\.environ)\.", re.IGNORECASE)
_RESOURCE = re.compile(r"(?:data\.)?(?:aiven|aws|azurerm|confluent|google|kubernetes|mongodbatlas|terraform)_", re.IGNORECASE)
"""The beginning of a resource's attribute in Terraform: `aws_db_instance.main.address`."""
_ATTRIBUTES = _CALLED | {"arn", "fqdn", "id"}
_SERVERS = re.compile(r"(?:^|://|[@,])(?P<name>[A-Za-z]\w*(?:\.\w+)+)(?=[:/,]|$)")
_CAMEL = re.compile(r"[a-z][A-Z]")
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")

_MEMBER = re.compile(r"(?P<root>[a-z]+)(?:\.\w+)*\.(?P<last>\w+)")
_SURE = re.compile(
    r"(?:process\.env|os\.environ)(?:\.\w+)+|vars?(?:\.\w+)*\.(?:\w*_\w*|\w*[a-z][A-Z]\w*)|(?:this|each|args|kwargs)(?:\.\w+)*\.\w*[a-z][A-Z]\w*"
)
_ATTRIBUTE = re.compile(
    r"(?:data\.)?(?:aiven|aws|azurerm|confluent|google|kubernetes|mongodbatlas|snowflake|terraform)_\w+"
    r"(?:\[[^\[\]]*\])?\.[\w-]+(?:\[[^\[\]]*\])?(?:\.\w+)*\.(?:id|name|arn|\w*_\w*)|module(?:\.[\w-]+)+\.\w*_\w*"
)
"""An attribute of one of Terraform's resources or modules as a whole value: `confluent_kafka_topic.orders.topic_name`."""
_LONGEST = 249
"""The longest value that may be a member, in characters: the longest name of a topic."""
_SEVERAL = 3
_OWN = frozenset(("name", "client.id"))
"""Settings whose values are names that a user gives, which often resemble those of the topics."""
_OF_RECORDS = ("transforms.", "predicates.")
"""The beginnings of settings whose values are often fields within records."""


def is_member(address: str) -> bool:
    """Whether the server in an address, or the whole value of a setting, is a member of an object in a program. At most 512 characters
    are read.
    """
    return any(_is_of_program(server["name"]) for server in _SERVERS.finditer(address))


def without_code(settings: Mapping[str, str]) -> Mapping[str, str]:
    """Replace each value that is a member of a program's object by a placeholder, so that no name is made from it.

    The object's name may also begin real names of topics or tables. Then a value is only replaced if several settings have members of that
    object in a form that programs use: in camel case, or with the name of the setting (`bucket.name=options.bucket`).
    """
    found = {key: match for key, value in settings.items() if len(value) <= _LONGEST and (match := _MEMBER.fullmatch(value.strip()))}
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for key, match in found.items():
        if key not in _OWN and not key.startswith(_OF_RECORDS) and _is_called_by_program(match["last"], key):
            seen[match["root"]].add(match[0])
    objects = {root for root, values in seen.items() if root in _NEVER_NAMES | _OBJECTS and len(_separate_names(values)) >= _SEVERAL}
    members = {key for key, match in found.items() if match["root"] in objects or _SURE.fullmatch(match[0]) or _names_setting(match, key)}
    members |= {key for key, value in settings.items() if len(value) <= _LONGEST and _ATTRIBUTE.fullmatch(value.strip())}
    return {key: f"${{{value}}}" if key in members else value for key, value in settings.items()} if members else settings


def _is_of_program(name: str) -> bool:
    """Whether only a program can use this dotted name."""
    root, *_, last = name.split(".")
    has_sign = "_" in last or bool(_CAMEL.search(last))
    if _ENVIRONMENT.match(name):
        return True
    if _RESOURCE.match(name):
        return name.count(".") >= 2 and (has_sign or last.lower() in _ATTRIBUTES)
    if root.lower() in _NEVER_NAMES:
        return has_sign or last.lower() in _CALLED
    return root.lower() in _OBJECTS and has_sign


def _is_called_by_program(member: str, key: str) -> bool:
    """Whether a member has the name that a program would use for the value of this setting."""
    words = {word.lower().removesuffix("s") for word in _WORD.findall(key)}
    return bool(_CAMEL.search(member)) or member.lower() in _CALLED or {word.lower() for word in _WORD.findall(member)} <= words


def _names_setting(member: re.Match[str], key: str) -> bool:
    """Whether a member has all the words of the setting's name, as in `table.include.list=local.cdc_table_include_list`."""
    words, own = ({word.lower() for word in _WORD.findall(text)} for text in (key, member["last"]))
    return member["root"] in _NEVER_NAMES | _OBJECTS and len(words) >= _SEVERAL and words <= own


def _separate_names(values: Iterable[str]) -> set[str]:
    """The last parts of values. A value that begins with another one is left out, such as `input.orders.dlq` beside `input.orders`."""
    last, kept = "", set()
    for value in sorted(values):
        if not last or not value.startswith(last):
            last = value
            kept.add(value.rpartition(".")[2])
    return kept
