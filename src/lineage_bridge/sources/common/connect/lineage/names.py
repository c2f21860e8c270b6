"""What can be the name of a dataset or a topic: whatever cannot is an expression, a pattern or a placeholder, and names nothing.

Every name that a configuration yields passes here, however it was put together. A name is refused for what it looks like, so that a value
of a program or a template, which no worker has but which configurations are stored with, does not become a dataset.
"""

import re
from collections import Counter
from collections.abc import Mapping

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.connect.secrets import TO_FILL_IN
from lineage_bridge.sources.common.connect.transforms.topics import is_topic

_IN_ADDRESS = re.compile(r"[<>{}()'\"`|^*?\\;,=&\s]|\[(?![0-9A-Fa-f:.]*:)|\$(?!(?:web|root|logs)@)|%\w+%")
"""What no address contains: brackets other than those of IPv6, quotes, wildcards, separators and variables. The names of Azure's own
containers have a `$`, too.
"""
_CALLED = r"host_?name|host|server|ur[il]|endpoint|address|ip|bucket(?:_?name)?|connection_?string|db_?name|name|account(?:_?name)?"
"""What programs call the members that belong in an address."""
_CODE = re.compile(
    r"(?:^|://|[@/])"
    r"(?:(?:process\.env|os\.environ)\."
    r"|(?:vars?|locals?|module|each|self|this|args|params|kwargs)"
    rf"(?:\.(?!com|net|org|io|lan|local|internal|svc)\w+(?=[:/]|$)|(?:\.\w+)*\.(?:\w*(?:_|(?-i:[a-z][A-Z]))\w*|(?:{_CALLED})(?=[:/]|$)))"
    r"|data\.(?:aws|azurerm|confluent|google|terraform)_"
    r"|(?:aiven|aws|azurerm|confluent|google|kubernetes|mongodbatlas)_[a-z0-9_]+\."
    rf"|(?:[A-Za-z]\w*\.)*(?:cfg|conf|config|configuration|db_?info|destination|env|options|props|properties|settings|sink|source|target)"
    rf"(?:\.\w+)*\.(?:{_CALLED})(?=[:/]|$))",
    re.IGNORECASE,
)
"""An address that is a value of a program: `var.host`, `aws_db_instance.main.address`, `source.hostName`."""
_MEMBER = re.compile(
    r"(?:process\.env|os\.environ)(?:\.\w+)+|(?:vars?|each|self|this|args|kwargs)(?:\.\w+)*\.(?:\w*_\w*|\w*[a-z][A-Z]\w*)"
    r"|(?P<root>options|opts|config|cfg|conf|env|settings|props|params|locals?|input|ctx)(?:\.\w+)+"
)
"""A value that is a member of a program's object. Those with a `root` may be names, too, unless several values have the same."""
_SEVERAL = 3
_LONGEST = 512
"""The longest address, in characters."""
_CALL = re.compile(r"^[A-Za-z_]\w*(?:\.\w+)*(?:\[['\"\w]|\(['\"])")
"""A value that is a call, or an element of a list: `os.getenv('HOST')`, `options['queue']`, `hosts[0]`."""
_IN_NAME = re.compile(r"[*?|^\"`'\\{}\x00-\x1f]|\w\[[^\]]*\]|\w\([^)]*\)")
"""What no name contains: wildcards, quotes, and the calls and indices of programs."""
_PATHS = ("file", "sftp://", "ftp", "http", "ws", "hdfs://", "s3://", "gs://", "abfs", "wasb")
"""The beginnings of namespaces whose names are paths, which may have quotes and brackets."""
_IN_PATH = re.compile(r"[*?|\"`\x00-\x1f]|^\w+(?:\.\w+)*\[[^\]]*\]|^\w+(?:\.\w+)*\([^)]*\)")
_PATTERNS = ("redis://",)
"""The beginnings of namespaces whose names may be patterns, by which a system selects keys or channels."""
_WEB = re.compile(r"https?://")


def is_dataset(name: DatasetName) -> bool:
    """Whether both parts can be a dataset's, and its address is not itself a secret."""
    namespace, text = name
    if len(namespace) > _LONGEST or any(map(TO_FILL_IN.search, name)) or _IN_ADDRESS.search(namespace) or _CODE.search(namespace):
        return False
    if not namespace.startswith(_PATTERNS) and (_IN_PATH if namespace.startswith(_PATHS) else _IN_NAME).search(text):
        return False
    address = f"{namespace}/{text.lstrip('/')}" if _WEB.match(namespace) else ""
    return mask_text(address) == address


def is_code(text: str) -> bool:
    """Whether a setting is an expression of a program."""
    return len(text) <= _LONGEST and bool(_CODE.search(text) or _CALL.search(text))


def without_code(settings: Mapping[str, str]) -> Mapping[str, str]:
    """The settings, with a placeholder for each value that is a member of a program's object: no name is made with it."""
    found = {key: match for key, value in settings.items() if len(value) <= _LONGEST and (match := _MEMBER.fullmatch(value.strip()))}
    if not found:
        return settings
    roots = Counter(match["root"] for match in found.values())
    members = {key for key, match in found.items() if match["root"] is None or roots[match["root"]] >= _SEVERAL}
    return {key: f"${{{value}}}" if key in members else value for key, value in settings.items()}


def can_be_topic(name: str) -> bool:
    """Whether a name can be a topic's, and has no unresolved placeholder."""
    return is_topic(name) and not TO_FILL_IN.search(name)
