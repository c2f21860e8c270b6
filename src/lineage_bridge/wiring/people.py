"""Creates the authenticators of people and programs without API keys, by tokens of issuers and by a proxy."""

from contextlib import ExitStack
from dataclasses import dataclass

from lineage_bridge.access.oidc.fetching import fetcher
from lineage_bridge.access.oidc.issuer_keys import IssuerKeys, TrustedIssuer
from lineage_bridge.access.oidc.tokens import TokenAuthenticator
from lineage_bridge.access.proxy import ProxyAuthenticator
from lineage_bridge.access.roles import Roles
from lineage_bridge.access.teams import Teams
from lineage_bridge.config import Settings
from lineage_bridge.wiring.processes import now_us


@dataclass(frozen=True)
class People:
    """The authenticators of people and programs without API keys, by tokens of issuers and by a proxy."""

    issuers: tuple[TrustedIssuer, ...]
    tokens: TokenAuthenticator
    proxy: ProxyAuthenticator
    roles: Roles

    def start(self, stack: ExitStack) -> None:
        """Begin to fetch the issuers' keys, until `stack` is closed."""
        for issuer in self.issuers:
            issuer.keys.start()
            stack.callback(issuer.keys.close)

    def problems(self) -> dict[str, str]:
        """The problem with each issuer's keys; empty for an issuer whose keys are available."""
        return {issuer.name: issuer.keys.problem for issuer in self.issuers}


def teams(settings: Settings) -> Teams:
    """The teams that the settings define."""
    return Teams(settings.teams, neighbours=settings.beyond_border == "names")


def people(settings: Settings) -> People:
    """Create the authenticators that the settings define. Keys of issuers are not fetched yet. Raises ConfigError."""
    roles = Roles(settings.roles, settings.oidc, teams(settings))
    issuers = tuple(
        TrustedIssuer(name, issuer, IssuerKeys(name, issuer, fetcher(issuer.ca_file))) for name, issuer in sorted(settings.oidc.items())
    )
    return People(issuers, TokenAuthenticator(issuers, roles, now_us), ProxyAuthenticator(settings.trusted_proxy, roles), roles)


def knows_people(settings: Settings) -> bool:
    """Whether a principal can authenticate without an API key. Raises ConfigError for settings that cannot be used."""
    people(settings)
    return bool(settings.oidc or (settings.trusted_proxy.addresses and settings.trusted_proxy.user_header))
