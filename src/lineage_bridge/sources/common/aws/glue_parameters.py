"""The parameters by which LineageBridge marks what it wrote into the definition of a table in AWS Glue. Pure."""

import json
from collections.abc import Mapping
from typing import Any, Final

PREFIX: Final = "lineagebridge."
DESCRIBED: Final = f"{PREFIX}described"
"""The name of the parameter that records which descriptions LineageBridge wrote."""


def own_descriptions(parameters: Mapping[str, Any]) -> dict[str, str]:
    """By column name, the digest of the description that LineageBridge wrote. An empty name stands for the table itself."""
    try:
        found = json.loads(parameters.get(DESCRIBED, "{}"))
    except (TypeError, ValueError, RecursionError):
        return {}
    return {str(name): str(mark) for name, mark in found.items()} if isinstance(found, dict) else {}
