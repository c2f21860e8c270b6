"""Applies an extraction's order to the settings of an organization: credentials, addresses, hours of metrics, planes to leave out."""

from collections.abc import Mapping
from typing import Any

from lineage_bridge.model.tasks import ExtractOrder
from lineage_bridge.sources.common.stepwise import OrderedSettings

HOW_TO_ADD = (
    "add a source of kind confluent (lineage-bridge source add), set CONFLUENT_CLOUD_API_KEY and CONFLUENT_CLOUD_API_SECRET where"
    " the server runs, or send cloud_credentials"
)
_UNSCOPED = frozenset(("cloud", "metrics"))
"""Planes with a single credential instead of one per scope."""


def is_self_contained(order: ExtractOrder) -> bool:
    """Whether an order has a Cloud API key, the only required credential."""
    return ("cloud", "") in order.credentials


def apply_order(before: Mapping[str, Any], order: ExtractOrder) -> OrderedSettings:
    """Return the settings with the order's credentials, as references to the secrets given with it."""
    settings, given = dict(before), dict[str, str]()
    for (plane, scope), credential in sorted(order.credentials.items()):
        name = str(len(given) + 1)
        given[name] = credential.secret
        pair = {"key": credential.key, "secret": f"${{given:{name}}}"}
        settings[plane] = pair if plane in _UNSCOPED else {**settings.get(plane, {}), scope: pair}
    if order.addresses:
        settings["registry_urls"] = {**settings.get("registry_urls", {}), **order.addresses}
    if order.hours is not None:
        settings["metrics_hours"] = order.hours
    if order.off:
        settings["off"] = [*settings.get("off", ()), *order.off]
    return OrderedSettings(settings, given)
