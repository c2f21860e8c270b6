"""The settings of a source for OpenMetadata."""

from fnmatch import fnmatchcase
from typing import Any

from pydantic import Field, PrivateAttr, model_validator

from lineage_bridge.sources.common.settings import HttpSettings
from lineage_bridge.sources.openmetadata.names import OpenMetadataNames


class OpenMetadataSourceSettings(HttpSettings):
    """OpenMetadata's server. `token` is the token of a bot, or a personal access token."""

    interval_s: float = Field(default=900.0, ge=1, le=86_400, description="seconds between polls")
    timeout_s: float = Field(default=30.0, gt=0, le=600, description="timeout of one call in seconds")
    services: dict[str, str] = Field(
        default={}, description="services there, by the namespace of their datasets ({'kafka://broker:9092': 'kafka_prod'})"
    )
    assets: tuple[str, ...] = Field(default=("*",), description="patterns of tables and topics to observe, by their fully qualified names")
    topics: bool = Field(default=True, description="observe topics, with their descriptions and lineage, too")
    openlineage: bool = Field(
        default=False, description="observe lineage that OpenMetadata got from OpenLineage events, too; published lineage is among it"
    )
    published_by: tuple[str, ...] = Field(
        default=(), description="users (bots) by which lineage is published there: what they changed last is not observed, except lineage"
    )
    _names: OpenMetadataNames = PrivateAttr()

    @model_validator(mode="after")
    def _one_namespace_for_each_service(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        self._names = OpenMetadataNames(self.services)
        for first, other in self._names.ambiguous:
            raise ValueError(f"{first} and {other} have the same service: a service has one namespace")
        return self

    @property
    def names(self) -> OpenMetadataNames:
        """The names of tables and topics in this OpenMetadata."""
        return self._names

    def selects(self, name: str) -> bool:
        """Whether a table or topic is observed, by its fully qualified name."""
        return any(fnmatchcase(name, pattern) for pattern in self.assets)
