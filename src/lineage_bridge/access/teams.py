"""Teams, which own namespaces, and the limits of principals that belong to teams or are limited to namespaces."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from lineage_bridge.config.people import TeamSettings
from lineage_bridge.errors import ConfigError
from lineage_bridge.model.access import AccessScope, Principal, Visibility

LIMITABLE: Final = frozenset({AccessScope.INGEST, AccessScope.READ})
"""The scopes that can be limited to namespaces; the others apply to the whole server."""
NO_NAMESPACE: Final = "\0"
"""A glob that matches no namespace, because no namespace contains this character."""


class NamespaceLimits(NamedTuple):
    """Limits to namespaces: globs on their names, and teams whose namespaces are added."""

    namespaces: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()


class Teams:
    """The teams in the settings. `neighbours`: whether a team may see the names of nodes next to its own part of the graph."""

    def __init__(self, settings: Mapping[str, TeamSettings] | None = None, *, neighbours: bool = True) -> None:
        self._namespaces = {name: team.namespaces for name, team in (settings or {}).items()}
        self._neighbours = neighbours

    def require(self, names: Iterable[str], whose: str) -> None:
        """Check that the settings have these teams. Raises ConfigError otherwise."""
        for name in names:
            if name not in self._namespaces:
                known = ", ".join(sorted(self._namespaces)) or "none"
                raise ConfigError(f"{whose} names {name!r}, which is not a team", f"teams are sections [teams.NAME]; the teams are {known}")

    def globs(self, limits: NamespaceLimits) -> tuple[str, ...]:
        """The globs of namespaces that result from limits: the globs themselves, and those of the teams. Without limits, there are none. A
        team that is not in the settings owns nothing.
        """
        if not any(limits):
            return ()
        owned = (glob for team in limits.teams for glob in self._namespaces.get(team, ()))
        return tuple(sorted({*limits.namespaces, *owned})) or (NO_NAMESPACE,)

    def principal(self, name: str, scopes: frozenset[AccessScope], ingest: NamespaceLimits, read: NamespaceLimits) -> Principal:
        """Make a principal with these scopes. `ingest` are the limits of what it may send, `read` those of what it may see."""
        seen = self.globs(read) if AccessScope.READ in scopes else ()
        return Principal(name, scopes, self.globs(ingest), Visibility(seen, self._neighbours) if seen else None)
