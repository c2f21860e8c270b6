"""The Confluent Cloud source that environment variables define.

The variables have the names of LineageBridge's first releases, or those that Confluent's command line and Terraform provider use.
"""

import json
from collections.abc import Mapping
from typing import Any

from lineage_bridge.config import PREFIX
from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.confluent.settings import EVERY

NAME = "confluent"
"""The name of the source."""
_SCOPED = {"KAFKA": "kafka", "SCHEMA_REGISTRY": "registry", "KSQLDB": "ksqldb", "FLINK": "flink", "TABLEFLOW": "tableflow"}


def source_from_environment(environ: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the kind and the settings of the source that the variables define, by its name; nothing without a Cloud API key. Secrets
    are references to the variables.

    Raises ConfigError if the keys of clusters are not valid JSON.
    """
    cloud = _credential(environ, "CONFLUENT_CLOUD")
    if cloud is None:
        return {}
    settings: dict[str, Any] = {"kind": "confluent", "cloud": cloud}
    for variable, setting in _SCOPED.items():
        if credential := _credential(environ, variable):
            settings[setting] = {EVERY: credential}
    settings["kafka"] = settings.get("kafka", {}) | _cluster_credentials(environ)
    if url := environ.get(f"{PREFIX}SCHEMA_REGISTRY_ENDPOINT") or environ.get("SCHEMA_REGISTRY_REST_ENDPOINT"):
        settings["registry_urls"] = {EVERY: url}
    servers, audit = environ.get(f"{PREFIX}AUDIT_LOG_BOOTSTRAP_SERVERS"), _credential(environ, "AUDIT_LOG")
    if servers and audit:
        settings["audit_log"] = {"bootstrap_servers": servers, **audit}
    return {NAME: settings}


def _credential(environ: Mapping[str, str], name: str) -> dict[str, str] | None:
    """The API key in variables with LineageBridge's prefix, or else in those of Confluent's command line and Terraform provider."""
    for prefix in (PREFIX, ""):
        key, secret = f"{prefix}{name}_API_KEY", f"{prefix}{name}_API_SECRET"
        if environ.get(key) and environ.get(secret):
            return {"key": environ[key], "secret": f"${{env:{secret}}}"}
    return None


def _cluster_credentials(environ: Mapping[str, str]) -> dict[str, dict[str, str]]:
    variable = f"{PREFIX}CLUSTER_CREDENTIALS"
    try:
        credentials = json.loads(environ.get(variable) or "{}")
        return {
            id_: {"key": pair["api_key"], "secret": f"${{env:{variable}/{id_}/api_secret}}"}
            for id_, pair in credentials.items()
            if pair["api_secret"]
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        hint = 'write JSON: {"lkc-1": {"api_key": "...", "api_secret": "..."}}'
        raise ConfigError(f"the value of {variable} is not valid", hint) from None
