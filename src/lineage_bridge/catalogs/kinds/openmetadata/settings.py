"""The settings of the target OpenMetadata."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from lineage_bridge.catalogs.settings import HttpTargetSettings, Renames
from lineage_bridge.sources.common.openmetadata.fqn import split_name


def _service(text: str) -> str:
    if not text or "::" in text or '"' in text or "." in text or not text.isprintable():
        raise ValueError('use a name without dots, quotes and "::"')
    return text


def _services(services: dict[str, str]) -> dict[str, str]:
    for prefix in services.values():
        if not 1 <= len(split_name(prefix)) <= 3:
            raise ValueError("give each namespace a service (warehouse), or a service with its database and schema (warehouse.shop.public)")
    return services


class OpenMetadataSettings(HttpTargetSettings):
    """Settings of a target: the address of OpenMetadata, `token`, which is that of a bot, and what its services are."""

    form: Literal["events", "entities"] = Field(
        default="events",
        description="events: an OpenLineage event for each state of a job, to OpenMetadata's OpenLineage endpoint; "
        "entities: a pipeline for each job and lineage between tables, topics and containers, which are read back, changed and deleted",
    )
    service: Annotated[str, AfterValidator(_service)] = Field(
        default="lineage-bridge",
        max_length=100,
        description="with form = entities: pipeline service of jobs there; nobody else may add pipelines to it",
    )
    services: Annotated[Renames, AfterValidator(_services)] = Field(
        default={},
        description="with form = entities: services of datasets by namespace, as in OpenMetadata's namespaceToServiceMapping; "
        "`prefix*` stands for all namespaces that begin with the prefix",
    )

    @model_validator(mode="after")
    def _form_has_these(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        if self.form == "events" and (unused := sorted({"service", "services"} & self.model_fields_set)):
            raise ValueError(f"leave out {unused[0]}, or set form = entities")
        if self.form == "entities" and not self.services:
            raise ValueError("set services: without the services of namespaces, no table or topic is found")
        return self

    @property
    def destination(self) -> str:
        """The text that identifies the target: the address, with form = entities also the pipeline service of its jobs."""
        return self.url if self.form == "events" else f"{self.url} {self.service}"
