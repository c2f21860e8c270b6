"""Client of a schema registry. It fetches one listing, then only versions that are not known yet, because versions never change."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import quote

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.common.registry.answers import RegisteredSchema, RegistryState, Tagging
from lineage_bridge.sources.common.registry.parse import parse_version, taggings_of, text_of, try_to_parse_version
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.registry.subjects import Subject

_Where = tuple[str, int]
"""A subject and a version of it."""
_TAGGED = ("kafka_topic", "sr_schema", "sr_record", "sr_field")
"""The types of the catalog's entities whose tags are reported."""
PAGE = 1000
ASKED_AT_ONCE = 100
"""How many subjects per poll have their compatibility and mode requested, in rotation. A new subject's compatibility is requested at
once.
"""
_EVERYWHERE = {"subjectPrefix": ":*:"}
"""All contexts, for registries that have them."""
HEADERS = {
    "Accept": "application/vnd.schemaregistry.v1+json, application/json",
    "Confluent-Accept-Unknown-Properties": "true",
}


class RegistryClient:
    """Client of a schema registry with Confluent's API. `by_subject`: the number of subjects whose compatibility and mode are requested
    at each poll; 0: none.
    """

    def __init__(self, settings: RegistrySettings, http: HttpClient | None = None, by_subject: int = ASKED_AT_ONCE) -> None:
        self.settings, self.http, self.by_subject = settings, http or HttpClient(settings, HEADERS), by_subject
        self._lists_schemas = True

    def subjects(self, *, deleted: bool = False) -> list[str]:
        """Fetch the names of all subjects that the settings select, sorted. `deleted`: whether to include soft-deleted ones."""
        listed = self._pages("/subjects", {**_EVERYWHERE, **({"deleted": "true"} if deleted else {})}, text_of)
        return sorted(name for name in listed if self._is_selected(name))

    def look(self, known: Mapping[str, Subject], turn: int) -> RegistryState:
        """Fetch the subjects and their new versions. `turn`: the number of this poll. Raises SourceError if the listing is incomplete."""
        if self._lists_schemas:
            try:
                unseen: list[Unseen] = []
                newest, older = self._registered(unseen, everything=not known)
            except (MissingError, ForbiddenError):
                newest, older = None, {}
            if newest is not None:
                return self._answers(newest, older, known, turn, self._deleted(newest), unseen)
            self._lists_schemas = False
        return self._one_by_one(known, turn)

    def _deleted(self, listed: Iterable[str]) -> frozenset[str]:
        return frozenset(listed) - frozenset(self.subjects()) if self.settings.deleted else frozenset()

    def _one_by_one(self, known: Mapping[str, Subject], turn: int) -> RegistryState:
        """Fetch the newest version of each subject with a request of its own, for registries that cannot list schemas."""
        listed = self.subjects(deleted=self.settings.deleted)
        unseen: list[Unseen] = []
        newest: dict[str, RegisteredSchema | None] = {}
        for name, found in zip(listed, self.http.map(self.newest, listed), strict=True):
            if isinstance(found, SourceError):
                unseen += [] if isinstance(found, MissingError) else [Unseen(f"subject {name}", str(found))]
                newest[name] = None
            else:
                newest[name] = found
        return self._answers(newest, {}, known, turn, self._deleted(listed), unseen)

    def _answers(
        self,
        newest: Mapping[str, RegisteredSchema | None],
        older: Mapping[str, list[RegisteredSchema]],
        known: Mapping[str, Subject],
        turn: int,
        deleted: frozenset[str],
        unseen: list[Unseen],
    ) -> RegistryState:
        new: dict[str, tuple[RegisteredSchema, ...]] = {}
        for name, last in sorted(newest.items()):
            was = known.get(name)
            if last is not None and (was is None or (was.version, was.id) != (last.version, last.id)):
                first = was.version if was else 0
                between = older.get(name) if not known and name in older else self._between(last, first, unseen)
                if between is not None:
                    new[name] = (*(number for number in between if first < number.version < last.version), last)
        texts, lost = self._texts(new.values(), unseen)
        new = {name: versions for name, versions in new.items() if not any(_leads_to(number, lost, texts) for number in versions)}
        level, mode, levels, modes = self._configured(sorted(newest), set(new), turn, unseen)
        tagged = self._tagged(unseen) if self.settings.catalog else None
        return RegistryState(frozenset(newest), new, texts, levels, modes, level, mode, deleted, tagged, tuple(unseen))

    def _tagged(self, unseen: list[Unseen]) -> tuple[Tagging, ...] | None:
        """Fetch all tags in the stream catalog."""
        found: set[Tagging] = set()
        try:
            for kind in _TAGGED:
                path, asked = "/catalog/v1/search/basic", {"type": kind, "tag": "*"}
                for entity in self._pages(path, asked, lambda version: version["attributes"]["qualifiedName"], "entities"):
                    found.update(taggings_of(kind, entity))
        except SourceError as error:
            unseen.append(Unseen("stream catalog", str(error)))
            return None
        return tuple(sorted(found))

    def newest(self, subject: str) -> RegisteredSchema:
        """The newest version of a subject."""
        return self.version(subject, "latest")

    def version(self, subject: str, version: int | str) -> RegisteredSchema:
        """A version of a subject."""
        return parse_version(self.http.get(f"/subjects/{_in_path(subject)}/versions/{version}", **self._also_deleted()), subject)

    def _also_deleted(self) -> dict[str, str]:
        return {"deleted": "true"} if self.settings.deleted else {}

    def _is_selected(self, subject: str) -> bool:
        return any(fnmatchcase(subject, pattern) for pattern in self.settings.subjects)

    def _between(self, last: RegisteredSchema, first: int, unseen: list[Unseen]) -> list[RegisteredSchema] | None:
        """Fetch the versions of a subject after `first` and before `last`, as far as they still exist.

        None if one could not be fetched: the subject then waits for the next poll, so that no version is skipped.
        """
        if last.version - first <= 1:
            return []
        try:
            listed = self.http.get(f"/subjects/{_in_path(last.subject)}/versions", **self._also_deleted())
            numbers = sorted(number for number in _list(listed) if isinstance(number, int) and first < number < last.version)
        except SourceError as error:
            unseen.append(Unseen(f"subject {last.subject}: versions", str(error)))
            return None
        found = self.http.map(lambda number: self.version(last.subject, number), numbers)
        failed = [(number, version) for number, version in zip(numbers, found, strict=True) if isinstance(version, SourceError)]
        lost = [f"{number}: {error}" for number, error in failed if not isinstance(error, MissingError)]
        if lost:
            unseen.append(Unseen(f"subject {last.subject}: versions", "; ".join(lost)))
            return None
        return [version for version in found if isinstance(version, RegisteredSchema)]

    def _registered(
        self, unseen: list[Unseen], *, everything: bool
    ) -> tuple[dict[str, RegisteredSchema | None] | None, dict[str, list[RegisteredSchema]]]:
        """Fetch the newest version of each subject and, with `everything`, all its versions; None if the listing does not name
        subjects.

        A subject with an entry that cannot be read has no newest version.
        """
        asked = {**_EVERYWHERE, **self._also_deleted(), "latestOnly": "false" if everything else "true"}
        listed = self._pages(
            "/schemas", asked, lambda version: (version.get("subject"), version.get("version")) if isinstance(version, dict) else version
        )
        entries = [entry for entry in listed if isinstance(entry, dict) and isinstance(entry.get("subject"), str)]
        if listed and not any({"version", "id"} <= entry.keys() for entry in entries):
            return None, {}
        if len(entries) < len(listed):
            unseen.append(Unseen("schemas", f"{len(listed) - len(entries)} entries of the listing name no subject"))
        found: dict[str, list[RegisteredSchema]] = {}
        newest: dict[str, RegisteredSchema | None] = {}
        for entry in entries:
            name = entry["subject"]
            if self._is_selected(name):
                registered = try_to_parse_version(entry, name)
                if isinstance(registered, SourceError):
                    unseen.append(Unseen(f"subject {name}", str(registered), registered.hint))
                    newest[name] = None
                else:
                    found.setdefault(name, []).append(registered)
        versions = {name: sorted(every, key=lambda version: version.version) for name, every in found.items() if name not in newest}
        return newest | {name: every[-1] for name, every in versions.items()}, versions

    def _pages(self, path: str, parameters: Mapping[str, str], key: Any, member: str = "") -> list[Any]:  # noqa: ANN401  # of JSON
        """Fetch all pages of a listing. A registry may return fewer entries than requested, or all at once; duplicates are dropped."""
        found: dict[Any, Any] = {}
        while True:
            answer = self.http.get(path, **parameters, offset=len(found), limit=PAGE)
            page = _list(answer.get(member) or [] if member and isinstance(answer, dict) else answer)
            keyed = [(named, version) for version in page if (named := _try_to_name(key, version)) is not None]
            if page and not keyed:
                raise SourceError(f"GET {path} returned a list that cannot be read", "check that the registry has Confluent's API")
            new = {named: version for named, version in keyed if named not in found}
            found.update(new)
            if not new or len(page) > PAGE:
                return list(found.values())

    def _texts(
        self, new: Iterable[tuple[RegisteredSchema, ...]], unseen: list[Unseen]
    ) -> tuple[dict[_Where, RegisteredSchema], set[_Where]]:
        """Fetch all versions to which the new versions refer, directly or indirectly. Returns these and the new versions, and apart from
        them the versions that could not be fetched.
        """
        found = {(version.subject, version.version): version for versions in new for version in versions}
        lost: set[_Where] = set()
        missing: set[_Where] = set()
        while unread := sorted(
            {(r.subject, r.version) for version in found.values() for r in version.references} - found.keys() - lost - missing
        ):
            for where, answer in zip(unread, self.http.map(lambda where: self.version(*where), unread), strict=True):
                if isinstance(answer, SourceError):
                    (missing if isinstance(answer, MissingError) else lost).add(where)
                    unseen.append(Unseen(f"subject {where[0]} version {where[1]}", str(answer)))
                else:
                    found[where] = answer
        return found, lost

    def _configured(
        self, subjects: list[str], new: set[str], turn: int, unseen: list[Unseen]
    ) -> tuple[str | None, str | None, dict[str, str], dict[str, str]]:
        level, has_levels = self._general("/config", "compatibilityLevel", unseen)
        mode, has_modes = self._general("/mode", "mode", unseen)
        if not self.by_subject:
            return level or "", mode or "", {}, {}
        turns = max(1, -(-len(subjects) // self.by_subject))
        in_turn = subjects[turn % turns :: turns]
        levels = self._each_setting("/config", "compatibilityLevel", sorted(new.union(in_turn)), unseen) if has_levels else {}
        modes = self._each_setting("/mode", "mode", in_turn, unseen) if has_modes else {}
        return level, mode, levels, modes

    def _general(self, path: str, member: str, unseen: list[Unseen]) -> tuple[str | None, bool]:
        """Fetch a setting of the registry itself, which subjects may override; None if the request failed. Also returns whether the
        registry has such a setting.
        """
        try:
            setting = self._setting(path, "", member)
        except SourceError as error:
            unseen.append(Unseen(f"{path[1:]} of the registry", str(error)))
            return None, False
        return setting or "", setting is not None

    def _each_setting(self, path: str, member: str, subjects: list[str], unseen: list[Unseen]) -> dict[str, str]:
        answers = self.http.map(lambda name: self._setting(path, f"/{_in_path(name)}", member), subjects)
        failed = [error for error in answers if isinstance(error, SourceError)]
        if failed:
            unseen.append(Unseen(f"{path[1:]} of subjects", f"{len(failed)} of {len(subjects)}: {failed[0]}"))
        return {name: setting or "" for name, setting in zip(subjects, answers, strict=True) if not isinstance(setting, SourceError)}

    def _setting(self, path: str, below: str, member: str) -> str | None:
        """Fetch the setting of a subject or of the registry; None if it does not exist. Raises SourceError."""
        try:
            answer = self.http.get(path + below)
        except MissingError:
            return None
        return str(answer.get(member) or "") if isinstance(answer, dict) else None


def _leads_to(registered: RegisteredSchema, lost: set[_Where], texts: Mapping[_Where, RegisteredSchema]) -> bool:
    """Whether a version refers, directly or indirectly, to a version in `lost`, which could not be fetched."""
    seen: set[_Where] = set()
    waiting = [registered]
    while waiting:
        for reference in waiting.pop().references:
            where = (reference.subject, reference.version)
            if where in lost:
                return True
            if where in texts and where not in seen:
                seen.add(where)
                waiting.append(texts[where])
    return False


def _try_to_name(key: Callable[[Any], Hashable], entry: object) -> Hashable | None:
    """The name of an entry of a listing, for reporting it; None if it has no name, or one that is not a plain value."""
    try:
        named = key(entry)
        hash(named)
    except (KeyError, TypeError):
        return None
    return named


def _in_path(subject: str) -> str:
    return quote(subject, safe="")


def _list(answer: object) -> list[Any]:
    if not isinstance(answer, list):
        raise SourceError("the registry did not return a list", "check that `url` is that of its API; Apicurio's ends in /apis/ccompat/v7")
    return answer
