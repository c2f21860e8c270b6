"""Applies the options of an extraction to a source's settings: credentials, addresses, hours of metrics, planes to leave out."""

from collections.abc import Mapping
from typing import Any

from lineage_bridge.model.tasks import ExtractionOptions
from lineage_bridge.sources.common.stepwise import CompletedSettings

HOW_TO_ADD = (
    "add a source of kind confluent (lineage-bridge source add), set CONFLUENT_CLOUD_API_KEY and CONFLUENT_CLOUD_API_SECRET where"
    " the server runs, or send cloud_credentials"
)
_UNSCOPED = frozenset(("cloud", "metrics"))
"""Planes with a single credential instead of one per scope."""


def is_self_contained(options: ExtractionOptions) -> bool:
    """Whether the options contain a Cloud API key, which is the only required credential."""
    return ("cloud", "") in options.credentials


def apply_options(before: Mapping[str, Any], options: ExtractionOptions) -> CompletedSettings:
    """Return the settings with the credentials of the options. Each is a reference to a secret that was sent with the options."""
    settings, given = dict(before), dict[str, str]()
    for (plane, scope), credential in sorted(options.credentials.items()):
        name = str(len(given) + 1)
        given[name] = credential.secret
        pair = {"key": credential.key, "secret": f"${{given:{name}}}"}
        settings[plane] = pair if plane in _UNSCOPED else {**settings.get(plane, {}), scope: pair}
    if options.addresses:
        settings["registry_urls"] = {**settings.get("registry_urls", {}), **options.addresses}
    if options.hours is not None:
        settings["metrics_hours"] = options.hours
    if options.off:
        settings["off"] = [*settings.get("off", ()), *options.off]
    return CompletedSettings(settings, given)
