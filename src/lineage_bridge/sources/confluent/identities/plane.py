"""Who is behind an id: service accounts, users, and whose an API key is. Of people no e-mail addresses are kept, of keys no secrets."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.clients import listed
from lineage_bridge.sources.confluent.plane import Around, Plane, Planes
from lineage_bridge.sources.confluent.settings import Credential

ORGANIZATION = "organization"
"""The scope of what an organization has one of."""
_ACCOUNTS, _USERS, _KEYS = "service accounts", "users", "API keys"
_PATHS = {_ACCOUNTS: "/iam/v2/service-accounts", _USERS: "/iam/v2/users", _KEYS: "/iam/v2/api-keys"}


class Listings(NamedTuple):
    """What was listed, by kind: id to the name, of a key to its owner's id. What failed is `unseen` and not in `of`."""

    of: Mapping[str, Mapping[str, str]]
    unseen: tuple[Unseen, ...] = ()


class Names(Plane[Listings]):
    """The names of an organization's accounts, people and keys. Its snapshot is `Listings.of`."""

    name, stage = "names", 0

    def lacks(self) -> str:
        """Names take the Cloud API key."""
        return "" if self.settings.cloud else "no Cloud API key is set"

    def fetch(self, before: Snapshot | None, now_us: int) -> Listings:
        """Three listings. Raises SourceError if all of them fail."""
        del before, now_us
        http = self.clients.http(self.key, self.settings.url, self._key(), "cloud")
        answers = dict(zip(_PATHS, http.map(lambda kind: _listed(http, kind), _PATHS), strict=True))
        failed = {kind: answer for kind, answer in answers.items() if isinstance(answer, SourceError)}
        if len(failed) == len(answers):
            raise failed[_ACCOUNTS]
        seen = {kind: answer for kind, answer in answers.items() if not isinstance(answer, SourceError)}
        return Listings(seen, tuple(Unseen(kind, str(error)) for kind, error in failed.items()))

    def tell(self, fetched: Listings, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """Names make no events of their own: others use them."""
        del around, now_us
        return Observation({**(before or {}), **fetched.of}, unseen=fetched.unseen)

    def nothing(self) -> Listings:
        """Nobody."""
        return Listings({kind: {} for kind in _PATHS})

    def know(self, snapshot: Snapshot) -> SharedMetadata:
        """Ids and their names; a key has its owner's."""
        names = {**snapshot.get(_ACCOUNTS, {}), **snapshot.get(_USERS, {})}
        keys = {key: names.get(owner, owner) for key, owner in snapshot.get(_KEYS, {}).items()}
        return SharedMetadata(names={**names, **keys})

    def _key(self) -> Credential:
        if self.settings.cloud is None:
            raise SourceError(self.lacks())
        return self.settings.cloud


def planes(around: Around) -> Planes:
    """One for the organization."""
    yield Names(around, ORGANIZATION)


def _listed(http: HttpClient, kind: str) -> dict[str, str]:
    entries = listed(http, _PATHS[kind])
    found = {str(entry.get("id") or ""): _told(kind, entry) for entry in entries}
    return {ident: told for ident, told in sorted(found.items()) if ident and told}


def _told(kind: str, entry: Mapping[str, Any]) -> str:
    """The name, or of a key its owner; empty if there is none. An address stands for no name."""
    if kind == _KEYS:
        spec = entry.get("spec")
        owner = spec.get("owner") if isinstance(spec, Mapping) else None
        return str(owner.get("id") or "") if isinstance(owner, Mapping) else ""
    name = str(entry.get("full_name" if kind == _USERS else "display_name") or "").strip()
    return "" if "@" in name else name
