"""One transform of a chain, as configured."""

from collections.abc import Mapping
from dataclasses import dataclass

from lineage_bridge.sources.common.connect.transforms.patterns import listed
from lineage_bridge.sources.common.connect.transforms.records import KEY, VALUE


@dataclass(frozen=True)
class Transform:
    """A transform of a connector's configuration.

    `alias`: its name in the configuration. `kind`: its class without `$Key` or `$Value`. `options`: its settings, without the prefix
    `transforms.ALIAS.`. `on`: the part of the record that it changes. `predicate`: the alias of its predicate; empty if it has none.
    """

    alias: str
    kind: str
    on: str
    options: Mapping[str, str]
    predicate: str = ""
    negated: bool = False

    def option(self, *names: str, default: str = "") -> str:
        """Return the first of these settings that exists, otherwise the default."""
        return next((self.options[name].strip() for name in names if name in self.options), default)

    def options_list(self, *names: str) -> list[str]:
        """Return a setting that is a comma-separated list."""
        return listed(self.option(*names))

    def pairs(self, *names: str) -> dict[str, str]:
        """Return a setting that is a list of `name:other` pairs."""
        split = (pair.partition(":") for pair in self.options_list(*names))
        return {name.strip(): other.strip() for name, colon, other in split if colon}

    def is_on(self, name: str, default: bool = False) -> bool:
        """Return a setting that is true or false."""
        return self.option(name, default=str(default)).lower() == "true"


def part_of(kind: str) -> tuple[str, str]:
    """Split a transform's class into the name without suffix and the part of the record that it changes: the key for `$Key`, else the
    value.
    """
    bare, _, suffix = kind.partition("$")
    return bare, KEY if suffix.lower() == "key" else VALUE
