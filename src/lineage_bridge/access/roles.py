"""Derives the rights of a principal from the roles and groups that an issuer or a proxy states."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from lineage_bridge.access.teams import LIMITABLE, NamespaceLimits, Teams
from lineage_bridge.config.people import PROXY, RoleSettings
from lineage_bridge.errors import ConfigError
from lineage_bridge.model.access import AccessScope, Principal

EVERYBODY: Final = "*"
"""The role of everyone whom an issuer or the proxy knows."""


class Roles:
    """The roles of the settings. Raises ConfigError for a scope, a team or an issuer that does not exist."""

    def __init__(self, settings: Mapping[str, RoleSettings], issuers: Iterable[str], teams: Teams | None = None) -> None:
        self._teams = teams or Teams()
        self._roles = {name: (_scopes(name, role), role) for name, role in settings.items()}
        for name, role in settings.items():
            self._teams.require(role.teams, f"the role {name!r}")
        known = {*issuers, PROXY}
        for name, role in settings.items():
            for granting in role.granted_by:
                if granting not in known:
                    raise ConfigError(
                        f"the role {name!r} is granted by {granting!r}, which is not an issuer",
                        f"the issuers are {', '.join(sorted(known))}",
                    )

    def known(self, roles: Iterable[str]) -> tuple[str, ...]:
        """Those of the given roles that the settings define, sorted by name."""
        return tuple(sorted(self._roles.keys() & set(roles)))

    def principal(self, name: str, granted_by: str, roles: Iterable[str]) -> Principal:
        """Make the principal with this name, to whom `granted_by` gives these roles. Roles that are not in the settings have no effect."""
        has = [self._roles[role] for role in {EVERYBODY, *roles} & self._roles.keys()]
        granted = [(scopes, role) for scopes, role in has if not role.granted_by or granted_by in role.granted_by]
        scopes = frozenset(scope for some, _ in granted for scope in some)
        ingest, read = (_limits([role for some, role in granted if scope in some]) for scope in (AccessScope.INGEST, AccessScope.READ))
        return self._teams.principal(name, scopes, ingest, read)


def _limits(roles: Sequence[RoleSettings]) -> NamespaceLimits:
    """The namespaces to which several roles together limit a scope; no limits if one of the roles gives the scope without limits."""
    if any(not role.namespaces and not role.teams for role in roles):
        return NamespaceLimits()
    namespaces = {glob for role in roles for glob in role.namespaces}
    return NamespaceLimits(tuple(sorted(namespaces)), tuple(sorted({team for role in roles for team in role.teams})))


def _scopes(name: str, role: RoleSettings) -> frozenset[AccessScope]:
    try:
        scopes = frozenset(map(AccessScope, role.scopes))
    except ValueError as error:
        raise ConfigError(f"the role {name!r} has an unknown scope: {error}", f"use {', '.join(AccessScope)}") from error
    if (role.namespaces or role.teams) and not scopes <= LIMITABLE:
        raise ConfigError(
            f"the role {name!r} is limited to namespaces, so it can only have the scopes 'ingest' and 'read'",
            "make a second role for the other scopes",
        )
    return scopes
