"""A stand-in of Confluent's schema registry, for what Apicurio lacks: contexts, paging, soft deletion, modes, metadata and rules.

Shapes and error codes are those of its published API.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from tests.sources.http import Reply, Request

MOST = 1000


@dataclass
class Version:
    """A version of a subject; `more` are further members (schemaType, references, metadata, ruleSet, ts)."""

    subject: str
    version: int
    id: int
    schema: str
    more: dict[str, Any] = field(default_factory=dict)
    deleted: bool = False

    def body(self) -> dict[str, Any]:
        return {"subject": self.subject, "version": self.version, "id": self.id, "schema": self.schema, **self.more}


@dataclass
class Confluent:
    """The registry's state. `most`: the longest page it gives."""

    versions: list[Version] = field(default_factory=list)
    levels: dict[str, str] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)
    most: int = MOST
    catalog: list[dict[str, Any]] = field(default_factory=list)
    """Tagged entities of the stream catalog."""

    def register(self, subject: str, schema: str, **more: Any) -> Version:
        mine = [known.version for known in self.versions if known.subject == subject]
        made = Version(subject, max(mine, default=0) + 1, 1 + len(self.versions), schema, more)
        self.versions.append(made)
        return made

    def delete(self, subject: str) -> None:
        self.versions = [replace(version, deleted=True) if version.subject == subject else version for version in self.versions]

    def __call__(self, request: Request) -> Reply:  # noqa: PLR0911 - a return for each path
        if request.method != "GET":
            return Reply(405, {"error_code": 405, "message": "HTTP 405 Method Not Allowed"})
        match request.parts:
            case ("subjects",):
                return self._page(sorted({version.subject for version in self._seen(request)}), request)
            case ("schemas",):
                every = self._seen(request)
                if request.query.get("latestOnly") == "true":
                    every = [
                        version for version in every if version.version == max(o.version for o in every if o.subject == version.subject)
                    ]
                return self._page([version.body() for version in every], request)
            case ("subjects", subject, "versions", *which):
                return self._of_subject(subject, which, request)
            case ("config", *subject):
                return self._setting(subject, self.levels, "compatibilityLevel", "BACKWARD", 40408)
            case ("mode", *subject):
                return self._setting(subject, self.modes, "mode", "READWRITE", 40409)
            case ("catalog", "v1", "search", "basic"):
                assert request.query["tag"] == "*"
                found = [entity for entity in self.catalog if entity["typeName"] == request.query["type"]]
                return Reply(200, {"searchParameters": {}, "types": [request.query["type"]], "entities": self._page(found, request).body})
            case ("contexts",):
                return Reply(
                    200,
                    sorted(
                        {
                            ":.:",
                            *(
                                version.subject[: version.subject.index(":", 1) + 1]
                                for version in self.versions
                                if version.subject[0] == ":"
                            ),
                        }
                    ),
                )
        return Reply(404, {"error_code": 404, "message": "HTTP 404 Not Found"})

    def _seen(self, request: Request) -> list[Version]:
        with_deleted = request.query.get("deleted") == "true"
        everywhere = request.query.get("subjectPrefix") == ":*:"
        seen = [version for version in self.versions if with_deleted or not version.deleted]
        return [version for version in seen if everywhere or not version.subject.startswith(":.")]

    def _page(self, every: list[Any], request: Request) -> Reply:
        start, limit = int(request.query.get("offset", 0)), int(request.query.get("limit", -1))
        most = self.most if limit < 0 else min(limit, self.most)
        return Reply(200, every[start : start + most])

    def _of_subject(self, subject: str, which: list[str], request: Request) -> Reply:
        with_deleted = request.query.get("deleted") == "true"
        mine = [version for version in self.versions if version.subject == subject and (with_deleted or not version.deleted)]
        if not mine:
            return Reply(404, {"error_code": 40401, "message": f"Subject '{subject}' not found."})
        if not which:
            return Reply(200, [version.version for version in mine])
        found = mine[-1] if which[0] == "latest" else next((version for version in mine if str(version.version) == which[0]), None)
        return Reply(200, found.body()) if found else Reply(404, {"error_code": 40402, "message": f"Version {which[0]} not found."})

    def _setting(self, subject: list[str], own: dict[str, str], member: str, default: str, code: int) -> Reply:
        if not subject:
            return Reply(200, {member: own.get("", default)})
        if subject[0] in own:
            return Reply(200, {member: own[subject[0]]})
        return Reply(404, {"error_code": code, "message": f"Subject '{subject[0]}' does not have subject-level configuration"})
