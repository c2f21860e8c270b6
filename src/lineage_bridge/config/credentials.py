"""The API key that a user's commands send to a server."""

from collections.abc import Mapping
from pathlib import Path

from lineage_bridge.config.loading import API_KEY
from lineage_bridge.config.settings import Settings
from lineage_bridge.errors import ConfigError


def user_credentials(settings: Settings, environ: Mapping[str, str]) -> str:
    """The API key in the file that the settings name or, if they name none, in the environment; empty if there is no key. Raises
    ConfigError.
    """
    origin, key = API_KEY, environ.get(API_KEY, "")
    if settings.api_key_file:
        origin = settings.api_key_file
        try:
            key = Path(origin).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read the API key in {origin!r}", "create a key: lineage-bridge key create --help") from error
    key = key.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"{origin} does not contain an API key", "an API key is a single word that begins with lb_")
    return key
