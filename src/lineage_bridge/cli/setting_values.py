"""Reads and writes the settings of sources, inputs and targets, as commands take and show them."""

import json
from typing import Any

from lineage_bridge.cli.client import Json
from lineage_bridge.errors import RequestError


def parse_setting(text: str) -> tuple[str, Any]:
    """Parse SETTING=VALUE. VALUE is JSON or, if it is not valid JSON, plain text. Raises RequestError."""
    setting, equals, value = text.partition("=")
    if not equals or not setting:
        raise RequestError(f"{text!r} is not SETTING=VALUE", "write it as url=http://connect:8083")
    try:
        return setting, json.loads(value)
    except ValueError:
        return setting, value


def setting_row(item: Json) -> list[str]:
    """The row of a setting in a table."""
    shown = "(required)" if item["required"] else "" if item["default"] in (None, "") else json.dumps(item["default"])
    return [item["name"], shown, item["description"]]
