"""Settings of a process, and the files in its data folder."""

from lineage_bridge.config.credentials import user_credentials
from lineage_bridge.config.loading import API_KEY, SECRETS_FILE, SECRETS_KEY, SECRETS_KEY_FILE, load_settings
from lineage_bridge.config.paths import DataFolder
from lineage_bridge.config.settings import CONFIG_VARIABLE, PREFIX, Settings, flag_of, variable_of

__all__ = [
    "API_KEY",
    "CONFIG_VARIABLE",
    "PREFIX",
    "SECRETS_FILE",
    "SECRETS_KEY",
    "SECRETS_KEY_FILE",
    "DataFolder",
    "Settings",
    "flag_of",
    "load_settings",
    "user_credentials",
    "variable_of",
]
