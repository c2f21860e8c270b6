"""Settings that all targets have: which part of the graph is published, under which names, and how."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from lineage_bridge.sources.common.settings import HttpSettings, Secret, SourceSettings

HIDDEN = frozenset({"interval_s"})
"""Settings of sources that targets do not have."""
CONTINUOUS: Final = "continuous"
"""The value of `publish` for continuous publishing."""
_MOST = 1000
MIB = 1024 * 1024


def _texts(texts: tuple[str, ...]) -> tuple[str, ...]:
    if len(texts) > _MOST or not all(texts):
        raise ValueError(f"give up to {_MOST} texts, none of them empty")
    return texts


def _mapping(mapping: Mapping[str, str]) -> Mapping[str, str]:
    if len(mapping) > _MOST or not all(mapping) or any("*" in key[:-1] for key in mapping):
        raise ValueError(f"give up to {_MOST} names, none of them empty; * may only be the last character of a name")
    return mapping


Texts = Annotated[tuple[str, ...], AfterValidator(_texts)]
Renames = Annotated[dict[str, str], AfterValidator(_mapping)]


class TargetSettings(SourceSettings):
    """What is published to a target, whatever its kind. An empty filter has no effect."""

    namespaces: Texts = Field(default=(), description="globs: only jobs in these namespaces, and jobs that read or write datasets in them")
    exclude_namespaces: Texts = Field(default=(), description="globs: leave out jobs in these namespaces, and datasets there without jobs")
    systems: Texts = Field(default=(), description="only what belongs to one of these systems (confluent, aws, ...), or is next to it")
    tags: Texts = Field(default=(), description="only what has one of these tags (pii, owner=finance), or is next to it")
    environments: Texts = Field(default=(), description="only what is in one of these environments, by id or name, or is next to it")
    map_namespaces: Renames = Field(
        default={}, description="the namespaces to use at the target; `prefix*` replaces a prefix, and the longest one that matches is used"
    )
    map_names: Renames = Field(default={}, description="the names to use at the target, in every namespace, in the form of map_namespaces")
    read_at: Texts = Field(
        default=(), description="further addresses of this catalog, at which sources read it: lineage read there is not published back"
    )
    names: Literal["standard", "lineagebridge"] = Field(default="standard", description="name style, before it is mapped")
    at_once: int = Field(default=4, ge=1, le=64, description="maximum concurrent calls")
    tries: int = Field(default=6, ge=1, le=50, description="maximum attempts of a call that may succeed later")
    calls_per_s: float | None = Field(default=None, ge=0.01, le=10_000, description="maximum calls a second; by default no maximum")
    max_bytes: int = Field(default=4 * MIB, ge=1024, le=16 * MIB, description="largest event; larger ones lose facets, then are left out")

    publish: Literal["on_request", "continuous"] = Field(
        default="on_request", description="continuous: changes of the graph are published automatically; on_request: only when requested"
    )
    prune: bool = Field(default=False, description="continuous publishing also deletes what left the graph, if it was created from here")
    debounce_s: float = Field(
        default=5.0, ge=0.1, le=3600, description="continuous publishing begins when the graph has not changed for this many seconds"
    )
    max_wait_s: float = Field(default=60.0, ge=0.1, le=86_400, description="... or at the latest this many seconds after the first change")

    @model_validator(mode="before")
    @classmethod
    def _without_hidden(cls, value: Any) -> Any:  # noqa: ANN401  # pydantic: what was given
        if isinstance(value, dict) and (hidden := sorted(HIDDEN & value.keys())):
            raise ValueError(f"there is no setting {hidden[0]}")
        return value

    @property
    def has_filters(self) -> bool:
        """Whether any filter is set."""
        return any((self.namespaces, self.exclude_namespaces, self.systems, self.tags, self.environments))

    @property
    def destination(self) -> str:
        """The text that identifies where objects are published. Objects that were published to another destination are not known at this
        one.
        """
        return self.address


class EventSettings(TargetSettings):
    """Settings of a target that takes OpenLineage events of any kind."""

    events: Literal["jobs", "runs"] = Field(
        default="runs",
        description="runs: a completed run for each state of a job, which most catalogs need; jobs: JobEvents and DatasetEvents",
    )


class HttpTargetSettings(HttpSettings, TargetSettings):
    """Settings of a target with an HTTP API."""


class LoginSettings(HttpTargetSettings):
    """Settings of a target to which one logs in with a token, or as an OAuth client."""

    OWNER: ClassVar[str] = "the target"
    """Whose API it is, for messages."""

    client_id: str = Field(default="", description="id of an OAuth client or service principal, with client_secret instead of token")
    client_secret: Secret | None = Field(default=None, description="secret of the OAuth client, as a reference")

    @model_validator(mode="after")
    def _one_way_in(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        if self.username or self.password:
            raise ValueError(f"set token, or client_id and client_secret; {self.OWNER} takes no user and password")
        if bool(self.client_id) != bool(self.client_secret):
            raise ValueError("set client_id and client_secret together")
        if bool(self.client_id) == bool(self.token):
            raise ValueError("set either token, or client_id and client_secret")
        return self
