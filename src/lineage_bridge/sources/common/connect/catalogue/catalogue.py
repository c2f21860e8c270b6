"""The catalogue of connector classes: how the configuration of each class names external datasets and topics. Its entries are in
`classes/*.toml`.
"""

import sys
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from lineage_bridge.conversion import convert
from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.connect.catalogue.family import ConnectorClass
from lineage_bridge.sources.common.connect.catalogue.guess import guess

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]  # installed before Python 3.11 only


class Catalogue:
    """Families of connector classes, by the class names that configurations use. `bases`: settings that several entries of the catalogue
    share, by name.
    """

    def __init__(self, connectors: Iterable[ConnectorClass], bases: Mapping[str, Mapping[str, Any]]) -> None:
        self.connectors = tuple(connectors)
        self.bases = bases
        self._patterns = [(name, connector) for connector in self.connectors for name in connector.names if "*" in name]
        self._by_name = {name: connector for connector in reversed(self.connectors) for name in connector.names}
        self._aliases = _aliases(self.connectors)

    def lookup(self, name: str) -> ConnectorClass | None:
        """Return the family of a class, given its name, an alias or a managed service's short name; None if it is unknown or fits
        several classes.
        """
        meant = self._aliases.get(name.strip(), [])
        known = self._by_name.get(name.strip()) or (meant[0] if len(meant) == 1 else None)
        return known or next((family for pattern, family in self._patterns if fnmatchcase(name.strip(), pattern)), None)

    def with_mappings(self, tables: Iterable[Mapping[str, Any]]) -> "Catalogue":
        """Return a copy with a user's entries, which go before the catalogue's own and have the same form. Raises ConfigError for
        an invalid entry.
        """
        return Catalogue([*(read_class(table, self.bases) for table in tables), *self.connectors], self.bases)

    def with_file(self, path: str) -> "Catalogue":
        """Return a copy with the entries of a TOML file, or of all TOML files in a folder, which go before the catalogue's own. An
        empty path adds none.

        Raises ConfigError if a file cannot be read, or an entry is invalid.
        """
        location = Path(path).expanduser()
        files = [] if not path else sorted(location.glob("*.toml")) if location.is_dir() else [location]
        try:
            documents = [tomllib.loads(file.read_text("utf-8")) for file in files]
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else " ".join(str(error).split())
            raise ConfigError(f"cannot read the connector classes in {path!r}: {reason}", "see docs/connectors.md") from error
        return self.with_mappings(table for document in documents for table in document.get("connector", ()))

    def find(self, config: Mapping[str, str], direction: str = "") -> ConnectorClass:
        """Return the family of the class in a configuration. A short name that several classes share denotes the one whose settings
        the configuration has. For an unknown class, the family is guessed from the settings and marked `inferred`.

        `direction`: source or sink, as the worker reports; empty if unknown.
        """
        name = config.get("connector.class", "").strip()
        return self.lookup(name) or _by_settings(self._aliases.get(name, []), config) or guess(config, direction)


def _by_settings(families: Iterable[ConnectorClass], config: Mapping[str, str]) -> ConnectorClass | None:
    """Return the family most of whose settings a configuration has; None if none has any, or several have as many."""
    counts = sorted(((len(family.settings & {key for key in config if config[key]}), at, family) for at, family in enumerate(families)))
    most = [family for count, _, family in counts if count and count == counts[-1][0]]
    return most[0] if len(most) == 1 else None


def _aliases(connectors: Iterable[ConnectorClass]) -> dict[str, list[ConnectorClass]]:
    """Return families by the short names that a worker accepts for their classes: the last part of the name, with or without
    `Connector`.
    """
    families: dict[str, list[ConnectorClass]] = {}
    for connector in connectors:
        simple = {name.rpartition(".")[2] for name in connector.classes if "*" not in name}
        for alias in simple | {name.removesuffix("Connector") for name in simple}:
            families.setdefault(alias, []).append(connector)
    return families


@cache
def catalogue() -> Catalogue:
    """Return the catalogue that comes with LineageBridge."""
    folder = resources.files(__package__) / "classes"
    texts = sorted((file.name, file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".toml"))
    documents = [tomllib.loads(text) for _, text in texts]
    bases = {name: base for document in documents for name, base in document.get("base", {}).items()}
    return Catalogue((read_class(table, bases) for document in documents for table in document.get("connector", ())), bases)


def lookup(name: str) -> ConnectorClass | None:
    """Return the family of a class or managed short name in the catalogue that comes with LineageBridge."""
    return catalogue().lookup(name)


def read_class(table: Mapping[str, Any], bases: Mapping[str, Mapping[str, Any]]) -> ConnectorClass:
    """Parse an entry of the catalogue, which describes a family of connector classes. Raises ConfigError if it is invalid."""
    shared = table.get("base")
    own = {key: value for key, value in table.items() if key != "base" or shared not in bases}
    values: dict[str, Any] = {**bases.get(str(shared), {}), **own}
    try:
        return convert(values, ConnectorClass)
    except msgspec.ValidationError as error:
        raise ConfigError(f"connector mapping {values.get('title') or values.get('classes')}: {error}", "see docs/connectors.md") from error
