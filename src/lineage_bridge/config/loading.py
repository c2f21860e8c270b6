"""Loads the settings of a process from four places.

Flags override environment variables (`LINEAGE_BRIDGE_PORT`), which override the file, which overrides the defaults. The file is the one
that `--config` or `LINEAGE_BRIDGE_CONFIG` names, or `lineage-bridge.toml` in the current folder.
"""

import difflib
import json
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lineage_bridge.config.settings import CONFIG_VARIABLE, PREFIX, Settings, flag_of, variable_of
from lineage_bridge.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]  # installed before Python 3.11 only

FILE_NAME = "lineage-bridge.toml"
SECRETS_FILE, SECRETS_KEY, SECRETS_KEY_FILE = (f"{PREFIX}SECRETS_{name}" for name in ("FILE", "KEY", "KEY_FILE"))
"""Environment variables with the path of the sealed secrets, with their keys, and with the path of the file of keys."""
API_KEY = f"{PREFIX}API_KEY"
"""The variable with the API key that commands send."""
OTHER_VARIABLES = (CONFIG_VARIABLE, API_KEY, f"{PREFIX}IVY_SETTINGS", SECRETS_FILE, SECRETS_KEY, SECRETS_KEY_FILE)
"""Environment variables with LineageBridge's prefix that are not settings of the server."""
_UNPRINTED = frozenset({"store", "store_replica"})
"""Settings whose values no error repeats: somebody may have put a password there."""


@dataclass(frozen=True)
class _Origin:
    """One place of settings: flags, variables or the file. It has the spelling of settings' names there, and the text that follows a name
    in messages.
    """

    spelt: Callable[[str], str]
    suffix: str
    typed: bool = False

    def named(self, setting: str) -> str:
        return self.spelt(setting) + self.suffix


def load_settings(
    flags: Mapping[str, str], environ: Mapping[str, str], folder: Path, config: Path | None = None, ignored: Collection[str] = ()
) -> Settings:
    """Load the settings of a process that was started in `folder`. `flags` has the given flags, by setting; `config` is the file of
    `--config`.

    `ignored` are variables with LineageBridge's prefix that are not settings. Raises ConfigError for an unknown or ill-typed setting, even
    if another place overrides it; the message says where the setting is.
    """
    path = _file(environ, folder, config)
    variables = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and name not in {*OTHER_VARIABLES, *ignored}
    }
    in_file = _read(path) if path else {}
    given = {
        **_validated(in_file, _Origin(str, f" in {path}", typed=True)),
        **_validated(variables, _Origin(variable_of, " in the environment")),
        **_validated(dict(flags), _Origin(flag_of, "")),
    }
    return Settings.model_validate(given)


def _validated(values: dict[str, Any], origin: _Origin) -> dict[str, Any]:
    """The values from one place, converted to their types. Each place is validated separately, so that an error can name it."""
    for name in sorted(values):
        if name not in Settings.model_fields:
            raise ConfigError(f"{origin.named(name)} is not a setting", _near(name, origin))
    try:
        settings = Settings.model_validate_json(json.dumps(values, default=str), strict=origin.typed)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        name, *inside = map(str, first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        found = f"used: {'.'.join(inside)}" if inside else "used" if name in _UNPRINTED else repr(values[name])
        raise ConfigError(f"{origin.named(name)} cannot be {found}: {reason}", _default_of(name)) from error
    return {name: getattr(settings, name) for name in sorted(settings.model_fields_set)}


def _near(name: str, origin: _Origin) -> str:
    near = difflib.get_close_matches(name, list(Settings.model_fields), n=3)
    return f"did you mean {' or '.join(map(origin.spelt, near))}?" if near else "see docs/settings.md for all settings"


def _default_of(name: str) -> str:
    field = Settings.model_fields[name]
    return f"{field.description}; the default is {field.get_default(call_default_factory=True)}"


def _file(environ: Mapping[str, str], folder: Path, config: Path | None) -> Path | None:
    named = config or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    if named is None:
        found = folder / FILE_NAME
        return found if found.is_file() else None
    path = folder / named.expanduser()
    if not path.exists():
        origin = "--config" if config else f"{CONFIG_VARIABLE} in the environment"
        raise ConfigError(f"there is no settings file {str(path)!r}", f"named by {origin}")
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read the settings file {str(path)!r}: {error}", "the file must be TOML") from error
    return values
