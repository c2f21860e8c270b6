"""Roles and groups that others say somebody has, to what that principal may do."""

from collections.abc import Iterable, Mapping
from typing import Final

from lineage_bridge.config.people import PROXY, RoleSettings
from lineage_bridge.errors import ConfigError
from lineage_bridge.model.access import AccessScope, Principal

EVERYBODY: Final = "*"
"""The role of all whom an issuer or the proxy knows."""
_INGEST: Final = frozenset({AccessScope.INGEST})


class Roles:
    """The roles of the settings. Raises ConfigError for a scope or an issuer that does not exist."""

    def __init__(self, settings: Mapping[str, RoleSettings], issuers: Iterable[str]) -> None:
        self._roles = {name: (_scopes(name, role), role) for name, role in settings.items()}
        known = {*issuers, PROXY}
        for name, role in settings.items():
            for granting in role.granted_by:
                if granting not in known:
                    raise ConfigError(
                        f"the role {name!r} is granted by {granting!r}, which is no issuer", f"there is {', '.join(sorted(known))}"
                    )

    def known(self, roles: Iterable[str]) -> tuple[str, ...]:
        """Those of some roles that the settings have, sorted."""
        return tuple(sorted(self._roles.keys() & set(roles)))

    def principal(self, name: str, granted_by: str, roles: Iterable[str]) -> Principal:
        """The principal with this name, of whom `granted_by` says that it has these roles. Roles without settings count for nothing."""
        scopes: frozenset[AccessScope] = frozenset()
        namespaces: set[str] = set()
        everywhere = False
        for role_name in {EVERYBODY, *roles} & self._roles.keys():
            granted, role = self._roles[role_name]
            if role.granted_by and granted_by not in role.granted_by:
                continue
            scopes |= granted
            namespaces.update(role.namespaces)
            everywhere |= AccessScope.INGEST in granted and not role.namespaces
        return Principal(name, scopes, () if everywhere else tuple(sorted(namespaces)))


def _scopes(name: str, role: RoleSettings) -> frozenset[AccessScope]:
    try:
        scopes = frozenset(map(AccessScope, role.scopes))
    except ValueError as error:
        raise ConfigError(f"the role {name!r} has an unknown scope: {error}", f"there is {', '.join(AccessScope)}") from error
    if role.namespaces and scopes != _INGEST:
        raise ConfigError(
            f"the role {name!r} is limited to namespaces, so it can only have the scope 'ingest'", "make a second role for the other scopes"
        )
    return scopes
