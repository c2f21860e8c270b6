"""The targets that environment variables define. The variables have the names that they had in LineageBridge's first releases."""

import logging
from collections.abc import Mapping
from typing import Any

from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.config import PREFIX
from lineage_bridge.errors import ConfigError

log = logging.getLogger(__name__)

VARIABLES = tuple(
    f"{PREFIX}{name}"
    for name in (
        "DATABRICKS_WORKSPACE_URL",
        "DATABRICKS_TOKEN",
        "DATABRICKS_WAREHOUSE_ID",
        "DATABRICKS_USE_NATIVE_LINEAGE",
        "AWS_REGION",
        "AWS_DATAZONE_DOMAIN_ID",
        "AWS_DATAZONE_PROJECT_ID",
        "GCP_PROJECT_ID",
        "GCP_LOCATION",
    )
)
"""All variables that configured catalogs; those that define no target are ignored."""
_REGION, _LOCATION = "us-east-1", "us"


def targets_from_environment(environ: Mapping[str, str], kinds: TargetKinds) -> dict[str, dict[str, Any]]:
    """Return the kind and settings of each target that the variables define, by name. Secrets are references to the variables.

    Targets with invalid settings are left out and logged: their values are not shown, since an address may contain a password.
    """
    return {name: found for name, found in _defined(environ).items() if _is_valid(name, found, kinds)}


def _is_valid(name: str, found: Mapping[str, Any], kinds: TargetKinds) -> bool:
    try:
        kinds.check(name, found["kind"], {setting: value for setting, value in found.items() if setting != "kind"})
    except ConfigError as error:
        log.warning("the environment variables %s* define no target: %s", PREFIX, error)
        return False
    return True


def _defined(environ: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    named = {name.removeprefix(PREFIX): environ[name] for name in VARIABLES if environ.get(name)}
    found: dict[str, dict[str, Any]] = {}
    if "DATABRICKS_WORKSPACE_URL" in named and "DATABRICKS_TOKEN" in named:
        token = f"${{env:{PREFIX}DATABRICKS_TOKEN}}"
        warehouse = {"warehouse_id": named["DATABRICKS_WAREHOUSE_ID"]} if "DATABRICKS_WAREHOUSE_ID" in named else {}
        found["databricks"] = {"kind": "databricks", "url": named["DATABRICKS_WORKSPACE_URL"], "token": token, **warehouse}
    if "AWS_DATAZONE_DOMAIN_ID" in named:
        region = named.get("AWS_REGION", _REGION)
        found["datazone"] = {"kind": "datazone", "region": region, "domain": named["AWS_DATAZONE_DOMAIN_ID"]}
    if "GCP_PROJECT_ID" in named:
        location = named.get("GCP_LOCATION", _LOCATION)
        found["google"] = {"kind": "google", "project": named["GCP_PROJECT_ID"], "location": location}
    return found
