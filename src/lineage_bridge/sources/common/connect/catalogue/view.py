"""A connector's configuration with its class and all other evidence, in the form in which the readers use it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lineage_bridge.openlineage import naming
from lineage_bridge.openlineage.jdbc.datasets import jdbc_dataset
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.connect.catalogue.family import ConnectorClass
from lineage_bridge.sources.common.connect.catalogue.templates import fill, holes, is_unreadable
from lineage_bridge.sources.common.connect.lineage.connection import ConnectorEvidence
from lineage_bridge.sources.common.connect.lineage.names import is_code
from lineage_bridge.sources.common.connect.placeholders import TO_FILL_IN, is_left_open, is_open_address
from lineage_bridge.sources.common.connect.secrets import has_placeholder
from lineage_bridge.sources.common.connect.transforms.patterns import compile_java, listed

_METACHARACTERS = re.compile(r"[*+?()\[\]{}|^$\\]")
_NO_NAME = re.compile(r"[*+?()\[\]{}|^%\\]")
"""Characters that names in a list hardly ever contain. They show that an element is meant as a regular expression."""
_ESCAPED = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\([^A-Za-z0-9])|\[([^\[\]^\\])\]")
"""Characters that a regular expression takes literally: `\\Qa$b\\E`, `\\$`, `[$]`."""

_ALTERNATIVES = re.compile(r"\((?:\?:)?([^()?*+{}]*)\)(?![?*+{])")
_ANY_TEXT = "%"
"""SQL's wildcard for any text in a pattern."""
_MOST_BARS, _MOST_BRACKETS = 32, 3


@dataclass(frozen=True)
class ConnectorView:
    """A connector's configuration and evidence. In `config`, placeholders have their values if these are known from other evidence."""

    connector: ConnectorClass
    config: Mapping[str, str]
    evidence: ConnectorEvidence

    def text(self, template: str, **scope: str) -> str | None:
        """Fill a template with this configuration; None if a setting is missing."""
        return fill(template, self.config, scope)

    def setting(self, *keys: str, default: str = "") -> str:
        """Return the first of these settings that exists, otherwise the default; empty if only the worker can read it."""
        values = (self.config.get(key, "").strip() for key in keys)
        value = next(filter(None, values), default)
        return "" if has_placeholder(value) else value

    def first_of(self, keys: Iterable[str]) -> str:
        """Return the first of these settings that exists; empty if none does."""
        return next((key for key in keys if self.config.get(key, "").strip()), "")

    def list_of(self, keys: Iterable[str]) -> list[str]:
        """Return the elements of the first of these settings that exists."""
        return listed(self.setting(*keys))

    def is_unreadable(self, keys: Iterable[str]) -> bool:
        """Whether the first of these settings that exists has a value that only the worker can read, or an unresolved placeholder."""
        return is_unreadable(next(filter(None, (self.config.get(key, "").strip() for key in keys)), ""))

    def names(self, topic: str) -> bool:
        """Whether the configuration mentions a topic, by its name as a separate word."""
        text = "\n".join([*self.config, *self.config.values()])
        return topic in text and bool(re.search(rf"(?<![\w.\-]){re.escape(topic)}(?![\w\-])(?!\.\w)", text))

    def dataset(self, thing: str, topic: str = "") -> DatasetName | None:
        """Return the dataset of an external object; None if the configuration does not determine it."""
        scope = {"object": thing, "topic": topic}
        if self.connector.jdbc:
            url = fill(self.connector.jdbc, self.config, scope)
            name, schema, user = (
                fill(template, self.config, scope) for template in (self.connector.name, self.connector.schema, self.connector.user)
            )
            if not url or not name or schema is None or _ANY_TEXT in schema or is_open_address(url):
                return None
            return jdbc_dataset(url, name, schema, user or "", in_full=True)
        if self.connector.path:
            uri = fill(self.connector.path, self.config, scope)
            named = naming.path(uri) if uri else None
            is_open = named is None or is_open_address(named[0]) or TO_FILL_IN.search(named[1])
            return next(iter(self.symlinks(thing, topic)), None) if is_open else named
        return self._named(self.connector.namespace, self.connector.name, scope)

    def symlinks(self, thing: str, topic: str = "") -> tuple[DatasetName, ...]:
        """Return the other names of an external object's dataset."""
        scope = {"object": thing, "topic": topic}
        made = (self._named(link.namespace, link.name, scope) for link in self.connector.symlinks)
        return tuple(name for name in made if name is not None)

    def missing(self) -> list[str]:
        """Return the settings that are missing, unreadable or still a placeholder, so that a dataset has no name; sorted."""
        parts = [self.connector.jdbc, self.connector.path, self.connector.namespace, self.connector.name]
        scope = {**_ANY, "object": "object.object.object"} if self.list_of(self.connector.within) else _ANY
        lacking = {key for part in parts if part and fill(part, self.config, scope) is None for key in holes(part) if not self.setting(key)}
        given = {key for part in parts if part for key in holes(part) if self.setting(key) or has_placeholder(self.config.get(key, ""))}
        return sorted({*lacking, *(key for key in given if self._is_left_open(key))} - {*_ANY})

    def is_named_by(self, thing: str) -> bool:
        """Whether an object has all the parts of a name from which the name of its dataset is built."""
        return fill(self.connector.name, _Anything(), {"object": thing, "topic": thing}) is not None

    def _is_left_open(self, key: str) -> bool:
        text = self.config.get(key, "").replace("${topic}", "")
        return self.is_unreadable([key]) or is_code(text) or is_left_open(text)

    def _named(self, namespace: str, name: str, scope: Mapping[str, str]) -> DatasetName | None:
        space, filled = fill(namespace, self.config, scope), fill(name, self.config, scope)
        return naming.dataset(space, filled) if space and filled is not None else None


class _Anything(dict[str, str]):
    """A mapping of settings in which every setting has a value, for checking templates."""

    def get(self, key: str, default: str | None = None) -> str:  # type: ignore[override]  # never None
        """Return a value for any setting."""
        return super().get(key) or default or "x"


_ANY = {"object": "object", "topic": "topic"}


def literal(pattern: str) -> str | None:
    """Return the only name that an anchored regular expression is meant to match; None if it contains more than dots and escapes."""
    bare = pattern.strip().removeprefix("^")
    text = bare if bare.endswith(r"\$") else bare.removesuffix("$")
    if _METACHARACTERS.search(_ESCAPED.sub("", text)):
        return None
    return _ESCAPED.sub(lambda found: next(part for part in found.groups() if part is not None), text)


def name_in_list(element: str) -> str | None:
    """Return an element of a list as a name; None if it is meant as a regular expression."""
    return None if _NO_NAME.search(element) else element


def alternatives(pattern: str) -> list[str]:
    """Return the names that an anchored regular expression is meant to match if it consists of a few alternatives in brackets;
    otherwise none.
    """
    if pattern.count("|") > _MOST_BARS or pattern.count("(") > _MOST_BRACKETS:
        return []
    group = _ALTERNATIVES.search(pattern)
    if group is None:
        name = literal(pattern)
        return [] if name is None else [name]
    lead, rest = pattern[: group.start()], pattern[group.end() :]
    spelled = [alternatives(lead + alternative + rest) for alternative in group[1].split("|")]
    return [name for names in spelled for name in names] if all(spelled) else []


def matches_any(patterns: Iterable[str], *names: str) -> bool:
    """Whether one of the patterns matches the whole name; case is ignored."""
    compiled = [found for found in (compile_java(pattern, re.IGNORECASE) for pattern in patterns) if found is not None]
    return any(pattern.fullmatch(name) for pattern in compiled for name in names)
