"""Camel's kamelets, whose names are part of their settings' keys."""

import re
from collections.abc import Mapping

from lineage_bridge.openlineage import naming

_KAMELETS = {
    "aws-s3": ("s3://{}", ("bucketNameOrArn",), "{prefix}"),
    "aws-sqs": ("arn:aws:sqs:{}:", ("region",), "{queueNameOrArn}"),
    "aws-kinesis": ("arn:aws:kinesis:{}:", ("region",), "stream/{stream}"),
    "file": ("file", (), "{directoryName}"),
    "mongodb": ("mongodb://{}", ("hosts",), "{database}.{collection}"),
    "postgresql": ("postgres://{}", ("serverName",), "{databaseName}"),
}
"""Kamelets by the prefixes of their names: namespace, required settings, name."""


def kamelet_dataset(config: Mapping[str, str]) -> naming.DatasetName | None:
    """Return the dataset of the kamelet whose settings a configuration contains; None if it is unknown, or a setting is missing."""
    settings: dict[str, str] = {}
    kamelet = ""
    for key, value in sorted(config.items()):
        match = re.fullmatch(r"camel\.kamelet\.([^.]+)\.(.+)", key)
        if match:
            kamelet, settings[match[2]] = match[1], value
    for start, (space, needed, name) in _KAMELETS.items():
        if kamelet.startswith(start) and all(settings.get(key) for key in needed):
            filled = re.sub(r"\{(\w+)\}", lambda match: settings.get(match[1], ""), name)
            return naming.dataset(space.format(*(settings[key].removeprefix("arn:aws:s3:::") for key in needed)), filled)
    return None
