"""The plane of identities: the names of service accounts and users, and the owners of API keys.

E-mail addresses of users and secrets of keys are not stored.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.clients import list_all
from lineage_bridge.sources.confluent.plane import Plane, PlaneContext, Planes
from lineage_bridge.sources.confluent.settings import Credential

ORGANIZATION = "organization"
"""The scope of planes that cover the whole organization."""
_ACCOUNTS, _USERS, _KEYS = "service accounts", "users", "API keys"
_PATHS = {_ACCOUNTS: "/iam/v2/service-accounts", _USERS: "/iam/v2/users", _KEYS: "/iam/v2/api-keys"}


class IdentityListing(NamedTuple):
    """The names that a poll found. `names`: by kind and then id, the name; for API keys, the owner's id. Listings that failed are only
    in `unseen`.
    """

    names: Mapping[str, Mapping[str, str]]
    unseen: tuple[Unseen, ...] = ()


class IdentitiesPlane(Plane[IdentityListing]):
    """Observes the accounts, users and keys of an organization. Its snapshot is `IdentityListing.names`."""

    name, stage = "names", 0

    def unavailable_reason(self) -> str:
        """Why accounts and keys cannot be listed: the Cloud API key is missing. Empty if it is set."""
        return "" if self.settings.cloud else "no Cloud API key is set"

    def fetch(self, before: Snapshot | None, now_us: int) -> IdentityListing:
        """Fetch the three listings: service accounts, users and API keys. Raises SourceError if all of them fail."""
        del before, now_us
        http = self.clients.http(self.key, self.settings.url, self._credential(), "cloud")
        answers = dict(zip(_PATHS, http.map(lambda kind: _list_names(http, kind), _PATHS), strict=True))
        failed = {kind: answer for kind, answer in answers.items() if isinstance(answer, SourceError)}
        if len(failed) == len(answers):
            raise failed[_ACCOUNTS]
        names = {kind: answer for kind, answer in answers.items() if not isinstance(answer, SourceError)}
        return IdentityListing(names, tuple(Unseen(kind, str(error)) for kind, error in failed.items()))

    def translate(self, fetched: IdentityListing, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Return the names as the snapshot. There are no events: other planes use the names."""
        del shared, now_us
        return Observation({**(before or {}), **fetched.names}, unseen=fetched.unseen)

    def empty_answer(self) -> IdentityListing:
        """Return an answer without accounts, users or keys."""
        return IdentityListing({kind: {} for kind in _PATHS})

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the name of each id; for an API key, its owner's name."""
        names = {**snapshot.get(_ACCOUNTS, {}), **snapshot.get(_USERS, {})}
        keys = {key: names.get(owner, owner) for key, owner in snapshot.get(_KEYS, {}).items()}
        return SharedMetadata(names={**names, **keys})

    def _credential(self) -> Credential:
        if self.settings.cloud is None:
            raise SourceError(self.unavailable_reason())
        return self.settings.cloud


def planes(context: PlaneContext) -> Planes:
    """Create one plane for the organization."""
    yield IdentitiesPlane(context, ORGANIZATION)


def _list_names(http: HttpClient, kind: str) -> dict[str, str]:
    entries = list_all(http, _PATHS[kind])
    names = {str(entry.get("id") or ""): _parse_name(kind, entry) for entry in entries}
    return {id_: name for id_, name in sorted(names.items()) if id_ and name}


def _parse_name(kind: str, entry: Mapping[str, Any]) -> str:
    """Return the name of an account or user, or the id of an API key's owner; empty if it is missing or an e-mail address."""
    if kind == _KEYS:
        spec = entry.get("spec")
        owner = spec.get("owner") if isinstance(spec, Mapping) else None
        return str(owner.get("id") or "") if isinstance(owner, Mapping) else ""
    name = str(entry.get("full_name" if kind == _USERS else "display_name") or "").strip()
    return "" if "@" in name else name
