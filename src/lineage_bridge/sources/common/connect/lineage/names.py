"""Decides whether a text can be the name of a dataset or topic. An expression, a pattern or a placeholder cannot.

Every name that a configuration yields is checked here, by its form alone. Configurations may come from programs or templates, with
expressions in place of values; such an expression must not become a dataset.
"""

import re
from collections.abc import Iterable

from lineage_bridge.openlineage.jdbc.drivers import FILE_DATABASES
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.connect.lineage.programs import is_member
from lineage_bridge.sources.common.connect.placeholders import TO_FILL_IN, is_open_address, open_parts
from lineage_bridge.sources.common.connect.transforms.topics import is_topic

_IN_ADDRESS = re.compile(r"[<>{}()'\"`|^*?\\;=&\s]|\[(?![0-9A-Fa-f:.]*:)|\$(?!(?:web|root|logs)@)|%\w+%|\bYOUR[_-][A-Z]")
"""What no address contains: brackets other than those of IPv6, quotes, wildcards, variables and `YOUR_CLUSTER`. The names of Azure's own
containers have a `$`, too; several hosts are separated by commas.
"""
_LONGEST = 512
"""The longest address, in characters."""
_LONGEST_NAME = 2_000
"""The longest name, in characters: longer than the longest key of an object in S3."""
_CALL = re.compile(r"^[A-Za-z_]\w*(?:\.\w+)*(?:\[['\"\w]|\(['\"])")
"""A value that is a call, or an element of a list: `os.getenv('HOST')`, `options['queue']`, `hosts[0]`."""
_QUOTED = re.compile(r'(?:(?<=\.)|^)"[^"\x00-\x1f]{1,255}"(?=\.|$)')
"""A part of a name that keeps its quotes, as the database wants them: `"MyTable"`."""
_IN_NAME = re.compile(r"[*?|^\"`\\{}\x00-\x1f]|(?<!\w)'|'(?!\w)|\w\[(?:\d{1,9}|[a-z])\]|\(\)|(?:_|[a-z][A-Z])\w{0,200}\(")
"""What no name contains: wildcards, quotes around it, and the calls and indices of programs."""
_CONCATENATED = re.compile(r"[\"'] ?\+|\+ ?[\"']")
"""An expression that joins texts and variables: `"a" + b`."""
_PATHS = ("file", "sftp://", "ftp", "http", "ws", "hdfs://", "s3://", "gs://", "abfs", "wasb", "adl", "ibmcos", "smb")
"""The beginnings of namespaces whose names are paths, which may have quotes and brackets."""
_IN_PATH = re.compile(r"[*?|\"`\x00-\x1f]|\{[\w .-]{0,100}\}|^\w+(?:\.\w+)*(?:[\[(]'|\[[^\]]*\]$|\([^)]*\)$)")
_PATTERNS = ("redis://",)
"""The beginnings of namespaces whose names may be patterns, by which a system selects keys or channels."""
_WILDCARDS = ("activemq:", "bigquery", "jms:", "nats:", "rabbitmq:", "solace:", "tibco:")
"""The beginnings of namespaces whose names may have a `*`: for the levels of a destination, or for tables by date."""
_FILES = tuple(f"{driver}:" for driver in sorted(FILE_DATABASES))
_WEB = re.compile(r"https?://")


def is_dataset(name: DatasetName, existing: Iterable[str] = ()) -> bool:
    """Whether a namespace and a name can be those of a dataset. An address that is a secret itself cannot be a namespace.

    `existing`: topics that exist. A part of the name that looks like a placeholder, such as `TODO`, is a name if it is also a part
    of one of these.
    """
    namespace, text = name
    if len(namespace) > _LONGEST or len(text) > _LONGEST_NAME or TO_FILL_IN.search(text) or is_open_address(namespace):
        return False
    if not (_is_address(namespace) and _can_be_called(text, namespace) and not _is_filler(text, namespace, existing)):
        return False
    address = f"{namespace}/{text.lstrip('/')}" if _WEB.match(namespace) else ""
    return mask_text(address) == address


def is_code(text: str) -> bool:
    """Whether the value of a setting is an expression in a program."""
    return len(text) <= _LONGEST and bool(is_member(text) or _CALL.search(text))


def can_be_topic(name: str) -> bool:
    """Whether a text can be the name of a topic, and contains no unresolved placeholder."""
    return is_topic(name) and not TO_FILL_IN.search(name)


def _is_address(namespace: str) -> bool:
    """Whether a namespace has the form of a server's address or, for a database in a file, of a path."""
    if namespace.startswith(_FILES):
        return not _IN_PATH.search(namespace.partition("://")[2])
    return not (_IN_ADDRESS.search(namespace) or is_member(namespace))


def _is_filler(text: str, namespace: str, existing: Iterable[str]) -> bool:
    """Whether a part of a name is a placeholder, and no topic that exists has it too."""
    found = () if namespace.startswith(_PATTERNS) else open_parts(text)
    parts = [re.compile(rf"(?<![A-Za-z0-9]){re.escape(part)}(?![A-Za-z0-9])", re.IGNORECASE) for part in found]
    return bool(parts) and not all(any(part.search(topic) for topic in existing) for part in parts)


def _can_be_called(text: str, namespace: str) -> bool:
    if namespace.startswith(_PATTERNS):
        return True
    if _CONCATENATED.search(text):
        return False
    if namespace.startswith(_PATHS):
        return not _IN_PATH.search(text)
    plain = text.replace("*", "") if namespace.startswith(_WILDCARDS) else text
    return not _IN_NAME.search(_QUOTED.sub("x", plain))
