"""The organization of Confluent Cloud that variables of the environment name, as LineageBridge's first users know them."""

import json
from collections.abc import Mapping
from typing import Any

from lineage_bridge.config import PREFIX
from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.confluent.settings import EVERY

NAME = "confluent"
"""What the source is called."""
_SCOPED = {"KAFKA": "kafka", "SCHEMA_REGISTRY": "registry", "KSQLDB": "ksqldb", "FLINK": "flink", "TABLEFLOW": "tableflow"}


def in_environment(environ: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The source that the variables make, by its name, with its kind; none without a Cloud API key. Secrets are references to variables.

    Raises ConfigError for keys of clusters that are no JSON.
    """
    cloud = _credential(environ, "CONFLUENT_CLOUD")
    if cloud is None:
        return {}
    settings: dict[str, Any] = {"kind": "confluent", "cloud": cloud}
    for variable, plane in _SCOPED.items():
        if credential := _credential(environ, variable):
            settings[plane] = {EVERY: credential}
    settings["kafka"] = settings.get("kafka", {}) | _clusters(environ)
    if url := environ.get(f"{PREFIX}SCHEMA_REGISTRY_ENDPOINT"):
        settings["registry_urls"] = {EVERY: url}
    servers, audit = environ.get(f"{PREFIX}AUDIT_LOG_BOOTSTRAP_SERVERS"), _credential(environ, "AUDIT_LOG")
    if servers and audit:
        settings["audit_log"] = {"bootstrap_servers": servers, **audit}
    return {NAME: settings}


def _credential(environ: Mapping[str, str], of: str) -> dict[str, str] | None:
    key, secret = f"{PREFIX}{of}_API_KEY", f"{PREFIX}{of}_API_SECRET"
    return {"key": environ[key], "secret": f"${{env:{secret}}}"} if environ.get(key) and environ.get(secret) else None


def _clusters(environ: Mapping[str, str]) -> dict[str, dict[str, str]]:
    variable = f"{PREFIX}CLUSTER_CREDENTIALS"
    try:
        told = json.loads(environ.get(variable) or "{}")
        return {
            id_: {"key": pair["api_key"], "secret": f"${{env:{variable}/{id_}/api_secret}}"}
            for id_, pair in told.items()
            if pair["api_secret"]
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ConfigError(f"{variable} cannot be read", 'it is JSON: {"lkc-1": {"api_key": "...", "api_secret": "..."}}') from None
